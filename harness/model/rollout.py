"""What a rollout's rehearsals leave: frozen records, the content of rollout.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from harness.model.arms import Arm
from harness.model.clients import ClientReport
from harness.model.events import CommandTried
from harness.model.features import FeaturePlan
from harness.model.runs import RunResult
from harness.model.security import Security

SCHEMA = 2


class RolloutOutcome(StrEnum):
    """How all rehearsals together ended."""

    PASSED = "PASSED"
    STOPPED = "STOPPED"
    INCONCLUSIVE = "INCONCLUSIVE"

    @property
    def exit_code(self) -> int:
        """Process exit code; 2 is left to usage and harness errors."""
        return {RolloutOutcome.PASSED: 0, RolloutOutcome.STOPPED: 1, RolloutOutcome.INCONCLUSIVE: 3}[self]


@dataclass(frozen=True, slots=True)
class RollPlan:
    """The options of a rollout beyond its builds.

    `topology` is as the user writes it (`3+3`), `order` the node ids in the order of the roll. Where that is empty,
    `first` says who comes first (`controllers-first`; itself empty for the usual). `rehearsals` are empty for all that
    there are for these builds. `stall_budget` is how many seconds a client may wait, 0 for twice what base shows.
    `command_config` is the file that the user's own scripts need, by its name alone, and `security` what of it is
    rehearsed; both are empty where scripts need none. `topic_ids_checked` is whether the user's own cluster was named,
    and found healthy.
    """

    topology: str
    order: tuple[int, ...]
    rehearsals: tuple[str, ...]
    stall_budget: float
    first: str = ""
    command_config: str = ""
    security: Security | None = None
    topic_ids_checked: bool = False


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A check as it was made: when it was met, in seconds from the first look, or what was in the way."""

    name: str
    description: str
    met: bool
    seconds: float
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One node's turn in a roll. `down_seconds` is how long it was not ready; `pauses` the longest wait by client.

    `action` is `replace`, `restart` or `bring back`; `build` names what it ran afterwards. `stopped` says why the roll
    ended here, empty when it went on.
    """

    number: int
    phase: str
    node: int
    roles: str
    action: str
    build: str
    seconds: float
    down_seconds: float
    before: tuple[CheckResult, ...]
    after: tuple[CheckResult, ...]
    pauses: Mapping[str, float]
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """One rehearsal. `budget_seconds` is how long a client was allowed to wait, 0 where it was only measured.

    `errors` are ERROR and FATAL lines by template with how often each came; `notes` decide nothing.
    """

    question: str
    result: RunResult
    budget_seconds: float
    turns: tuple[Turn, ...]
    clients: tuple[ClientReport, ...]
    errors: Mapping[str, int]
    notes: tuple[str, ...]
    commands: tuple[CommandTried, ...] = ()

    @property
    def name(self) -> str:
        """The rehearsal's name."""
        return self.result.scenario

    @property
    def longest_pause_seconds(self) -> float:
        """The longest time that any client waited for an answer."""
        return max((client.longest_pause_seconds for client in self.clients), default=0.0)

    @property
    def lost(self) -> int:
        """How much is gone that a client was promised."""
        return sum(client.lost for client in self.clients if client.binding)


@dataclass(frozen=True, slots=True)
class RolloutVerdict:
    """What was rehearsed and what that showed: rollout.json; `features` only where whole Kafkas are rolled.

    `config_options` are what scripts of base call the file of a client's properties where that is not --command-config.
    With `knows_zookeeper` clusters of base's line may have been kept in ZooKeeper, or are. `against` is the strongest
    reason against the outcome, `not_rehearsed` what nobody tried, in sentences.
    """

    schema: int
    kafka_version: str
    plan: RollPlan
    base: Arm
    candidate: Arm
    rehearsals: tuple[Rehearsal, ...]
    outcome: RolloutOutcome
    sentence: str
    reasons: tuple[str, ...]
    timings: Mapping[str, float] = field(default_factory=dict)
    features: FeaturePlan | None = None
    config_options: Mapping[str, str] = field(default_factory=dict)
    knows_zookeeper: bool = False
    against: str = ""
    not_rehearsed: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether more than the raft jar is replaced."""
        return not self.candidate.build.kafka.is_same(self.base.build.kafka)
