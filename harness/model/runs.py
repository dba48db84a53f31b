"""Runs: their names, their outcomes, and the evidence for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from harness.base.json_schema import Count, Positive, Seconds, Text
from harness.model.arms import Role
from harness.model.reuse import Origin


class Outcome(StrEnum):
    """What one run showed."""

    PASSED = "PASSED"
    FAILED = "FAILED"
    INCONCLUSIVE = "INCONCLUSIVE"  # a guard was unmet or the host starved: nothing was tested
    BROKEN = "BROKEN"  # the harness or the host failed
    UNSUPPORTED = "UNSUPPORTED"  # this host cannot run the scenario

    @property
    def is_decided(self) -> bool:
        """Whether the run came to its end and its question was answered."""
        return self in (Outcome.PASSED, Outcome.FAILED)


class Verdict(StrEnum):
    """The answer to "may I roll this out?"."""

    SHIP = "SHIP"
    HOLD = "HOLD"
    INCONCLUSIVE = "INCONCLUSIVE"

    @property
    def exit_code(self) -> int:
        """Process exit code; 2 is left to usage and harness errors."""
        return {Verdict.SHIP: 0, Verdict.HOLD: 1, Verdict.INCONCLUSIVE: 3}[self]


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

    path: Text
    line: Count = 0
    excerpt: str = ""

    @property
    def place(self) -> str:
        """File and line, as compilers write them."""
        return f"{self.path}:{self.line}" if self.line else self.path


AT_THE_END = ""  # the phase of a shutdown after the plan


@dataclass(frozen=True, slots=True)
class Shutdown:
    """How a node took SIGTERM: whether it ended by itself, after how many seconds it did or was killed.

    `node_role` is `voter`, `observer` or (in ZooKeeper mode) `broker`, `phase` the plan's, or AT_THE_END. `failed` says
    that it was up and ended by itself with an error: by another exit code than that of an orderly end.
    """

    node: Count
    node_role: Text
    ended: bool
    seconds: Seconds
    phase: str = AT_THE_END
    failed: bool = False


@dataclass(frozen=True, slots=True)
class RunResult:
    """The outcome of one run.

    `expectation` names what failed (or the guard that was unmet); empty when the run passed.
    `measures` are figures by name, the unit in the name (`longest_stall_seconds`, `acked_records`). `shutdowns` are of
    all nodes that were asked to stop, in the plan and after it. `unasked` are expectations that the plan's end came
    before. `by_phase` are, of some measures, those of each phase that the run reached. `told` is what nodes told in
    words, by subject and name (harness.model.told). `origin` is the earlier verification that made the run, None where
    this one did.
    """

    scenario: str
    arm: str
    role: Role
    repeat: Positive
    outcome: Outcome
    expectation: str = ""
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    seconds: Seconds = 0.0
    measures: Mapping[str, float] = field(default_factory=dict)
    shutdowns: tuple[Shutdown, ...] = ()
    unasked: tuple[str, ...] = ()
    by_phase: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    told: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    origin: Origin | None = None

    @property
    def key(self) -> RunKey:
        """The run's name."""
        return RunKey(self.scenario, self.arm, self.repeat)

    @property
    def label(self) -> str:
        """The outcome as it is written everywhere: `FAILED(observer_recovers)`, `INCONCLUSIVE(follows_leader)`."""
        return f"{self.outcome}({self.expectation})" if self.expectation else str(self.outcome)

    @property
    def summary(self) -> str:
        """The outcome with its reason, where there is one."""
        return f"{self.label}: {self.reason}" if self.reason else self.label
