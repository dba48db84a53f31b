"""Frozen records that pass between stages; no I/O, nothing imported from the rest of the harness.

The words are those of docs/words.md: build, arm, scenario, run, contrast, claim, finding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Role(StrEnum):
    """What an arm is for: the control, the candidate with its flag off, the candidate as claimed."""

    BASE = "base"
    OFF = "off"
    ON = "on"


class Outcome(StrEnum):
    """What one run showed."""

    HELD = "HELD"
    REFUTED = "REFUTED"
    INCONCLUSIVE = "INCONCLUSIVE"  # a guard was unmet or the host starved: the question was not asked
    BROKEN = "BROKEN"  # the harness or the host failed
    UNSUPPORTED = "UNSUPPORTED"  # this host cannot ask the question


class Verdict(StrEnum):
    """The answer to "may I roll this out?"."""

    SHIP = "SHIP"
    HOLD = "HOLD"
    INCONCLUSIVE = "INCONCLUSIVE"

    @property
    def exit_code(self) -> int:
        """Process exit code; 2 is left to usage and harness errors."""
        return {Verdict.SHIP: 0, Verdict.HOLD: 1, Verdict.INCONCLUSIVE: 3}[self]


@dataclass(frozen=True, slots=True)
class Flag:
    """A feature flag as a jar's own ConfigDef declares it.

    `known` is False when the jar does not define the key; `default` is then empty.
    """

    key: str
    known: bool
    default: str = ""


@dataclass(frozen=True, slots=True)
class Build:
    """One raft jar under test and where it came from; identified by `jar_sha256`.

    `jar` is the path of the jar; relative paths are relative to the run directory.
    `series` names the patches applied, in order; empty for a release or a given jar.
    `builder` is how it was made: `release`, `javac 17.0.15`, `ecj 3.45`, `given`.
    """

    name: str
    kafka_version: str
    jar: str
    jar_sha256: str
    builder: str
    flag: Flag
    series: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Arm:
    """A build with a flag setting. `flag` is `absent` (key not in the config), `true` or `false`."""

    name: str
    role: Role
    build: Build
    flag: str
    java: str = ""


@dataclass(frozen=True, slots=True, order=True)
class RunKey:
    """Names one run: scenario, arm and repeat (from 1)."""

    scenario: str
    arm: str
    repeat: int

    @property
    def folder(self) -> str:
        """Folder below the run directory that holds everything about this run."""
        return f"runs/{self.scenario}/{self.arm}/{self.repeat}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A place in the run directory: a file relative to it, optionally a line (from 1) and an excerpt."""

    path: str
    line: int = 0
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class RunResult:
    """The outcome of one run.

    `expectation` names what was refuted (or the guard that was unmet); empty when held.
    `measures` are figures by name, the unit in the name (`longest_stall_seconds`, `acked_records`).
    """

    scenario: str
    arm: str
    role: Role
    repeat: int
    outcome: Outcome
    expectation: str = ""
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    seconds: float = 0.0
    measures: Mapping[str, float] = field(default_factory=dict)

    @property
    def key(self) -> RunKey:
        """The run's name."""
        return RunKey(self.scenario, self.arm, self.repeat)


@dataclass(frozen=True, slots=True)
class Expected:
    """What a claim says of one role: HELD, or REFUTED with the name of the expectation."""

    outcome: Outcome
    expectation: str = ""

    def __str__(self) -> str:
        return f"{self.outcome}({self.expectation})" if self.expectation else str(self.outcome)


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the patch's description, and what it says each role shows in a scenario.

    `source` is where the sentence is implemented (`path: method`), as text.
    """

    id: str
    says: str
    scenario: str
    expected: Mapping[Role, Expected]
    source: str = ""


class FindingKind(StrEnum):
    """How a template differs across a contrast."""

    NEW = "new"
    VANISHED = "vanished"
    RATE = "rate"
    LEVEL = "level"
    ORDER = "order"
    VALUE = "value"
    SHIFT = "shift"


class Significance(StrEnum):
    """How a difference compares with the noise, which is what runs of one arm differ by."""

    BEYOND = "beyond the noise"
    WITHIN = "within the noise"
    UNKNOWN = "unknown"  # too few runs to tell


@dataclass(frozen=True, slots=True)
class Finding:
    """One family of log templates that differs between two arms in one scenario.

    Counts are summed over all repeats and nodes of the arm; `base_runs` and `candidate_runs` are those of each repeat,
    and where the level differs only those at `level`.
    `phase` is where the difference is largest. `says` is what counts do not tell, in words. `q` is the false discovery
    rate of a rate that could be tested.
    Of a value, `template` is the statement with `{}` where the value stands, and what is counted are the lines with
    values that the other arm does not write. `base_lasting` and `candidate_lasting` say whether in every run of the
    arm such lines still came in its last stretch. `logged_by` says what the nodes were that logged it in `phase`.
    `base_excerpt` and `candidate_excerpt` are real log lines (empty where the arm has none). `statement` is the file
    and line of the sources that wrote them (`org/apache/…/X.java:12`), empty where it is not known.
    """

    kind: FindingKind
    template: str
    scenario: str
    node_role: str
    phase: str
    level: str
    logger: str
    base_count: int
    candidate_count: int
    base_excerpt: str
    candidate_excerpt: str
    evidence: tuple[Evidence, ...]
    statement: str = ""
    significance: Significance = Significance.UNKNOWN
    q: float | None = None
    base_runs: tuple[int, ...] = ()
    candidate_runs: tuple[int, ...] = ()
    says: str = ""
    base_lasting: bool = False
    candidate_lasting: bool = False
    logged_by: str = ""


@dataclass(frozen=True, slots=True)
class Contrast:
    """The log differences between two arms: base/off (is the flag inert?), off/on (effect), base/on (rollout)."""

    base: str
    candidate: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class PhaseSpan:
    """A phase of a run: from `start` to `end`, seconds since the Unix epoch (UTC)."""

    name: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class NodeLogs:
    """The log of one node in one run, in the order in which its files were written.

    `files` are relative to the run directory; `pattern` is the log4j conversion pattern of the node's layout.
    `node_role` is `voter` or `observer`. `names` are texts that differ in every run and what they stand for:
    `127.0.0.1:22001` for `<voter's controller>`. `roles` says what the node was in each phase, where that is known:
    `leader`, `restarted follower` (harness.plan.roles).
    """

    scenario: str
    arm: str
    repeat: int
    node: int
    node_role: str
    files: tuple[str, ...]
    pattern: str
    phases: tuple[PhaseSpan, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
