"""The verdict: everything that was declared, observed and concluded; the content of verdict.json.

The judge makes it, and reports, JUnit, the night and the terminal read it: nobody judges again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from harness.base.json_schema import Count, Keywords, Positive, Seconds, Sha256, Text
from harness.model.arms import Arm, Role
from harness.model.candidate_kind import CandidateKind
from harness.model.claims import Claim, Expected
from harness.model.costs import Cost
from harness.model.expectations import Expectations, Met
from harness.model.findings import Contrast
from harness.model.proof import EXPECTED_LEVEL, Coverage, Proof
from harness.model.runs import Evidence, RunResult, Verdict

SCHEMA = 2


class Check(StrEnum):
    """A run's result in the words of test runners."""

    PASSED = "passed"
    EXPECTED_FAILURE = "expected failure"  # it failed as the claims say
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"

    @property
    def is_fine(self) -> bool:
        """Whether the run is as claimed, or no worse than base where nothing is claimed."""
        return self in (Check.PASSED, Check.EXPECTED_FAILURE)


class Standing(StrEnum):
    """How a cell compares with what is claimed of its arm, or where nothing is, with base."""

    AS_CLAIMED = "as claimed"
    NOT_AS_CLAIMED = "not as claimed"
    UNDECIDED = "undecided"  # INCONCLUSIVE, BROKEN or MISSING: says nothing of the build
    UNSUPPORTED = "unsupported"  # this host does not support it


class CellState(StrEnum):
    """What all repeats of a cell showed together."""

    PASSED = "PASSED"
    FAILED = "FAILED"
    INCONCLUSIVE = "INCONCLUSIVE"
    BROKEN = "BROKEN"
    UNSUPPORTED = "UNSUPPORTED"
    UNSTABLE = "UNSTABLE"  # some repeats passed and some failed, or they failed by different names
    MISSING = "MISSING"  # at least one declared repeat has no result


class Effect(StrEnum):
    """What the pair base/on means."""

    SUPPORTS = "supports the claim"
    IMPROVES = "improvement"
    SAME = "no difference"
    NOT_FIXED = "not fixed"
    UNSUPPORTED = "unsupported"
    CLAIM_REFUTED = "claim refuted"
    REGRESSION = "regression"
    UNSTABLE = "unstable"
    BLIND = "does not discriminate"
    CONTROL_UNDECIDED = "control undecided"
    CANDIDATE_UNDECIDED = "candidate undecided"
    NOT_RUN = "not run"


class Inertness(StrEnum):
    """What the pair base/off means."""

    INERT = "inert"
    NOT_INERT = "not inert"
    UNDECIDED = "undecided"
    UNSUPPORTED = "unsupported"
    NO_FLAG = "no flag"  # the jar does not know the flag, so there is no such arm


class ClaimStatus(StrEnum):
    """What runs, source and tests say of a claim."""

    HELD = "held"
    REFUTED = "refuted"
    UNTESTED = "untested"


class ReasonSource(StrEnum):
    """What a reason was drawn from."""

    PROOF = "proof"  # differences of the jar, tests on it, answers of its source
    FIGURES = "figures"  # what things cost, and how long they took
    LOGS = "logs"
    EFFECT = "effect"  # base and on in a scenario
    FLAG = "flag"  # base and off in a scenario
    ARM = "arm"  # one that is not there
    CLAIM = "claim"  # one that could not be tested
    NOTHING = "nothing"  # nothing at all could be tested


@dataclass(frozen=True, slots=True)
class CellName:
    """A scenario on an arm."""

    scenario: str
    arm: str


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that speaks for a verdict: its `weight`, None where nothing was tested, and the cell it is about."""

    source: ReasonSource
    weight: Verdict | None
    cell: CellName | None
    sentence: Text


Reasons = Annotated[tuple[Reason, ...], Keywords({"minItems": 1})]


@dataclass(frozen=True, slots=True)
class CellOutcome:
    """One scenario on one arm over all declared repeats.

    `expectation` names what failed, or the guard that was unmet, where every repeat missed one (the most frequent).
    `agreeing` of `declared` repeats show the most frequent outcome. UNSTABLE is repeats that passed and failed, or
    failed by different names. `failed` names what the decided repeats failed where others are undecided.
    """

    state: CellState
    expectation: str = ""
    reason: str = ""
    agreeing: Count = 0
    declared: Count = 1
    failed: str = ""

    def __str__(self) -> str:
        named = self.state is CellState.FAILED and self.expectation
        return f"{self.state}({self.expectation})" if named else str(self.state)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCell(CellOutcome):
    """A judged cell: what is claimed of it, how it compares with that, and the command that runs it again."""

    role: Role
    arm: str
    expected: tuple[Expected, ...]
    standing: Standing
    rerun: str

    @property
    def is_expected_failure(self) -> bool:
        """Whether it failed as the claims say."""
        return self.state is CellState.FAILED and self.standing is Standing.AS_CLAIMED and bool(self.expected)

    @property
    def label(self) -> str:
        """Its state as it is written everywhere: `FAILED(observer_recovers)`, `INCONCLUSIVE(follows_leader)`."""
        return f"{self.state}({self.expectation})" if self.expectation else str(self.state)


@dataclass(frozen=True, slots=True)
class JudgedScenario:
    """A row of the matrix: its weight in the verdict (None when nothing was tested) and what it means.

    `discriminates` says whether base fails for the named reason; a scenario that does not proves nothing.
    """

    name: Text
    question: str
    verdict: Verdict | None
    effect: Effect
    inertness: Inertness
    discriminates: bool
    cells: tuple[JudgedCell, ...]

    def cell(self, arm: str) -> JudgedCell | None:
        """Return the cell of an arm, None for one that cannot exist."""
        return next((cell for cell in self.cells if cell.arm == arm), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun(RunResult):
    """A run's result, and how it compares with what is claimed of its arm."""

    json_schema: ClassVar[Mapping[str, Any]] = {
        "if": {"properties": {"outcome": {"const": "FAILED"}}},
        "then": {"properties": {"expectation": {"minLength": 1}}},
    }
    check: Check


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedClaim(Claim):
    """A claim with what runs, source and tests say of it and `why`; some have no scenario.

    `expected_log` is the pattern of a log line on the `on` arm, `expected_level` the worst level at which it is
    expected, `logged` such a line; empty and None where the claim expects none, or none was found. `logged_off` is one
    that only the `off` arm has beside it, and so no control: the flag is not inert.
    """

    status: ClaimStatus
    why: Text
    expected_log: str = ""
    logged: Evidence | None = None
    expected_level: str = EXPECTED_LEVEL
    logged_off: Evidence | None = None


@dataclass(frozen=True, slots=True)
class FileDigest:
    """A file below the run directory that was judged: its path there, size in bytes and SHA-256 as hex."""

    path: Text
    bytes: Count
    sha256: Sha256


@dataclass(frozen=True, slots=True)
class VerdictRecord:
    """The answer to "may I roll this out?" with everything it rests on.

    `against` is the strongest reason against the verdict. `timings` and `cpu_seconds` are per stage, `repeats` the
    declared runs per cell. `proof` is None when the jar was not proved, `coverage` when no run measured it. `reasons`
    are all that were found, whatever they weigh; `rests_on` chooses those that decide. `kind` is the candidate's.
    `would_show` names the smallest defects that the suite was seen to notice, where it was asked as then, and
    `would_show_measured` says when that was measured and which rules have changed since; empty where nothing is named.
    `costs` are what the candidate's arms cost beside base. `reused` says in sentences what was taken over from earlier
    verifications, `remarks` what is worth knowing and weighs nothing. `not_fixed` names, whatever the verdict, where
    the candidate fails as base does, and what its source lacks and nobody promises. `expectations` are the answer where
    there is no candidate: nothing is said of a rollout then, and `verdict` is INCONCLUSIVE.
    """

    schema: int
    verdict: Verdict
    sentence: Text
    against: Text
    reasons: Reasons
    kafka_version: str
    started_at: str
    argv: tuple[str, ...]
    host: Mapping[str, str]
    repeats: Positive
    arms: tuple[Arm, ...]
    scenarios: tuple[JudgedScenario, ...]
    claims: tuple[JudgedClaim, ...]
    runs: tuple[JudgedRun, ...]
    contrasts: tuple[Contrast, ...]
    proof: Proof | None = None
    coverage: Coverage | None = None
    evidence: tuple[FileDigest, ...] = ()
    not_tested: tuple[Text, ...] = ()
    timings: Mapping[str, Seconds] = field(default_factory=dict)
    cpu_seconds: Mapping[str, Seconds] = field(default_factory=dict)
    kind: CandidateKind = CandidateKind.SERIES
    would_show: tuple[Text, ...] = ()
    would_show_measured: str = ""
    costs: tuple[Cost, ...] = ()
    reused: tuple[Text, ...] = ()
    remarks: tuple[Text, ...] = ()
    not_fixed: tuple[Text, ...] = ()
    expectations: Expectations | None = None

    @property
    def answer(self) -> Verdict | Met:
        """The verdict, or without a candidate whether Kafka as it is shows what is expected of it."""
        return self.expectations.answer if self.expectations else self.verdict

    @property
    def proving(self) -> tuple[str, ...]:
        """The scenarios that are evidence for a claim: a claim is about them, and the control fails as it names."""
        claimed = {claim.scenario for claim in self.claims}
        return tuple(each.name for each in self.scenarios if each.discriminates and each.name in claimed)

    def beside_claims(self, scenario: JudgedScenario) -> str:
        """Return in words that a scenario is no evidence for a claim; empty where it is, or nothing is claimed."""
        if not self.claims or scenario.name in self.proving:
            return ""
        return "no claim is about it" if scenario.discriminates else "no evidence"

    def arm(self, role: Role) -> Arm | None:
        """Return the arm that plays a role, if there is one."""
        return next((arm for arm in self.arms if arm.role is role), None)

    def runs_of(self, scenario: str, arm: str) -> tuple[JudgedRun, ...]:
        """Return the runs of a cell."""
        return tuple(run for run in self.runs if (run.scenario, run.arm) == (scenario, arm))

    def about(self, scenario: str) -> tuple[str, ...]:
        """Return what base and on, and base and off, mean in a scenario, in sentences."""
        of_scenario = (ReasonSource.EFFECT, ReasonSource.FLAG)
        found = (each for each in self.reasons if each.source in of_scenario and each.cell)
        return tuple(each.sentence for each in found if each.cell and each.cell.scenario == scenario)
