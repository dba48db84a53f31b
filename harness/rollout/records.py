"""What a rehearsal leaves: frozen records, written as JSON and read by the judge, the report and the runbook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from harness.model.runs import Evidence
from harness.rollout.accounts import Account

SCHEMA = 2
# Rehearsals and stretches of them that others know by name: the yardstick; what the runbook is made of; whose logs are
# compared while every node is stopped and started once.
CONTROL, FORWARD_AND_BACK = "control", "forward-and-back"
RESTART, FORWARD, BACK = "restart base node by node", "forward", "back from complete"


class Ending(StrEnum):
    """How a rehearsal, or all of them, ended."""

    PASSED = "PASSED"
    STOPPED = "STOPPED"
    INCONCLUSIVE = "INCONCLUSIVE"

    @property
    def exit_code(self) -> int:
        """Process exit code; 2 is left to usage and harness errors."""
        return {Ending.PASSED: 0, Ending.STOPPED: 1, Ending.INCONCLUSIVE: 3}[self]


@dataclass(frozen=True, slots=True)
class Installed:
    """A raft jar as it is put on a node, with the server properties that go with it.

    `flag` is the value of the feature flag that a live node must then tell (`absent` where it knows none).
    """

    name: str
    jar: Path
    sha256: str
    flag: str
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckSeen:
    """A check as it was made: when it was met, in seconds from the first look, or what was in the way."""

    name: str
    words: str
    met: bool
    seconds: float
    problem: str = ""


@dataclass(frozen=True, slots=True)
class StepSeen:
    """One node's step. `down_seconds` is how long it was not ready; `pause_seconds` the longest by client.

    `action` is `replace`, `restart` or `bring back`; `jar` names what it ran afterwards. `stopped` says why the roll
    ended here, empty when it went on.
    """

    number: int
    phase: str
    node: int
    duties: str
    action: str
    jar: str
    seconds: float
    down_seconds: float
    before: tuple[CheckSeen, ...]
    after: tuple[CheckSeen, ...]
    pause_seconds: Mapping[str, float]
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class CommandSeen:
    """A command of the runbook as it was run on the cluster at rest: `agrees` with what the protocol told."""

    command: str
    seconds: float
    exit_code: int
    output: str
    agrees: bool


@dataclass(frozen=True, slots=True)
class RehearsalResult:
    """One rehearsal. `budget_seconds` is how long a client was allowed to pause, 0 where it was only measured.

    `errors` are ERROR and FATAL lines by template with how often each came; `notes` are told and do not decide.
    """

    name: str
    question: str
    ending: Ending
    reason: str
    seconds: float
    budget_seconds: float
    steps: tuple[StepSeen, ...]
    accounts: tuple[Account, ...]
    errors: Mapping[str, int]
    notes: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    cpu_seconds: float
    commands: tuple[CommandSeen, ...] = ()

    @property
    def longest_pause_seconds(self) -> float:
        """The longest time that any client waited for an answer."""
        return max((account.longest_pause_seconds for account in self.accounts), default=0.0)


@dataclass(frozen=True, slots=True)
class Rollout:
    """All that was asked and found: rollout.json."""

    schema: int
    topology: str
    order: tuple[int, ...]
    base: Installed
    candidate: Installed
    rehearsals: tuple[RehearsalResult, ...]
    ending: Ending
    reasons: tuple[str, ...]
    timings: Mapping[str, float] = field(default_factory=dict)
