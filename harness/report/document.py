"""verdict.json as records: everything that reports are rendered from, beside the journals; no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.judge.cells import CellState
from harness.judge.checks import Check
from harness.judge.decision import ClaimStatus
from harness.model.arms import Role
from harness.model.findings import FindingKind, Significance
from harness.model.proof import Coverage, Proof
from harness.model.runs import Evidence, Outcome, RunKey, Verdict
from harness.report.inventory import FileDigest

SCHEMA = 2


@dataclass(frozen=True, slots=True)
class ArmDoc:
    """An arm and the build it runs; `flag` is `absent`, `true` or `false`, `flag_default` the jar's own."""

    name: str
    role: Role
    jar_sha256: str
    flag: str
    builder: str
    java: str
    build: str
    kafka_version: str
    flag_key: str
    flag_known: bool
    flag_default: str
    series: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class RunDoc:
    """A run's result; `check` is how it compares with what is claimed of its arm."""

    scenario: str
    arm: str
    role: Role
    repeat: int
    outcome: Outcome
    expectation: str
    reason: str
    evidence: tuple[Evidence, ...]
    seconds: float
    measures: Mapping[str, float]
    check: Check

    @property
    def key(self) -> RunKey:
        """The run's name."""
        return RunKey(self.scenario, self.arm, self.repeat)

    @property
    def folder(self) -> str:
        """Folder of the run below the run directory."""
        return self.key.folder


@dataclass(frozen=True, slots=True)
class CellDoc:
    """A cell of the matrix: what its repeats showed together and the command that asks it again."""

    role: Role
    arm: str
    state: CellState
    expectation: str
    reason: str
    agreeing: int
    declared: int
    expected: tuple[str, ...]
    rerun: str


@dataclass(frozen=True, slots=True)
class ScenarioDoc:
    """A row of the matrix: its weight in the verdict (None when nothing was asked) and what it means."""

    name: str
    question: str
    verdict: Verdict | None
    effect: str
    inertness: str
    discriminates: bool
    says: tuple[str, ...]
    cells: tuple[CellDoc, ...]


@dataclass(frozen=True, slots=True)
class ClaimDoc:
    """A claim and what runs, source and tests say of it; `expected` is by role, empty where no scenario is asked.

    `logged` is a line of a log on the `on` arm that the claim foretells, None when none was found or foretold.
    """

    id: str
    says: str
    source: str
    scenario: str
    expected: Mapping[str, str]
    status: ClaimStatus
    why: str
    foretells: str
    logged: Evidence | None


@dataclass(frozen=True, slots=True)
class FindingDoc:
    """A family of log lines that differs across a contrast; `role` is the node's: voter or observer."""

    kind: FindingKind
    template: str
    scenario: str
    role: str
    phase: str
    level: str
    logger: str
    base_count: int
    candidate_count: int
    base_excerpt: str
    candidate_excerpt: str
    evidence: tuple[Evidence, ...]
    statement: str
    significance: Significance
    q: float | None
    base_runs: tuple[int, ...]
    candidate_runs: tuple[int, ...]
    says: str
    base_lasting: bool = False
    candidate_lasting: bool = False
    logged_by: str = ""


@dataclass(frozen=True, slots=True)
class ContrastDoc:
    """The findings between two arms."""

    base: str
    candidate: str
    findings: tuple[FindingDoc, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """The content of verdict.json; `timings` and `cpu_seconds` are per stage, `repeats` the declared runs per cell.

    `proof` is None when the jar was not proved, `coverage` when no run told which changed lines it reached.
    """

    schema: int
    verdict: Verdict
    sentence: str
    against: str
    reasons: tuple[str, ...]
    kafka_version: str
    started_at: str
    argv: tuple[str, ...]
    host: Mapping[str, str]
    repeats: int
    arms: tuple[ArmDoc, ...]
    scenarios: tuple[ScenarioDoc, ...]
    claims: tuple[ClaimDoc, ...]
    runs: tuple[RunDoc, ...]
    contrasts: tuple[ContrastDoc, ...]
    proof: Proof | None
    coverage: Coverage | None
    evidence: tuple[FileDigest, ...]
    not_tested: tuple[str, ...]
    timings: Mapping[str, float]
    cpu_seconds: Mapping[str, float]
