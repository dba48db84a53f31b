"""The records a plan is made of, in the order in which they are carried out; building one starts nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from harness.scenario.bounds import Settings, Within, seconds_of

if TYPE_CHECKING:
    from harness.scenario.client import Client
    from harness.scenario.refs import NodeRef
    from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class Sample:
    """One look at a condition: whether it holds now, what was seen, and (perhaps) what is in the way, in words.

    `testable` is False where the cluster was not in a state to be tested at all, such as a follower without any leader.
    `unseen` says, where it was the harness that saw too little to tell, what it saw. `final` says of one that does not
    hold that no later look can mend it: a question was answered wrongly once.
    """

    ok: bool
    detail: Mapping[str, Any] = field(default_factory=dict)
    testable: bool = True
    problem: str = ""
    unseen: str = ""
    final: bool = False


class Condition(Protocol):
    """Something that can be looked at on a live cluster.

    `name` is what an unmet guard is called in results: lower case with underscores, and never changed.
    """

    name: ClassVar[str]

    @property
    def description(self) -> str:
        """The condition as a clause: `observer 3 follows the leader`."""

    def sample(self, world: World) -> Sample:
        """Look once. Must not wait; samples older than `world.step_began` do not count."""


@runtime_checkable
class AboutNode(Protocol):
    """A condition about one node, whose log is then the first place to look."""

    @property
    def node(self) -> NodeRef:
        """The node that it is about."""


class Action(Protocol):
    """Something done to a live cluster."""

    @property
    def description(self) -> str:
        """The action as a clause: `create the topic “orders”`."""

    def perform(self, world: World) -> None:
        """Do it. Raises ActionFailed when it cannot be done."""


class Fault:
    """Base class of actions that can take the leader away: the engine remembers who led before each of them."""

    __slots__ = ()


class Rejoin:
    """Base class of actions that bring nodes into the quorum, or back: what is kept of it is looked at after each."""

    __slots__ = ()


class Load(Protocol):
    """Clients in the background; what they were promised is checked when the run ends."""

    @property
    def description(self) -> str:
        """The load as a clause: `produce 20 records a second to “orders” with acks=all`."""

    def start(self, world: World) -> Client:
        """Create what it needs and begin. Raises ActionFailed when it cannot."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A named stretch of the plan; log differences are counted by phase."""

    name: str


@dataclass(frozen=True, slots=True)
class Background:
    """Start a load that goes on to the end; what it has acknowledged must not be lost."""

    load: Load


@dataclass(frozen=True, slots=True)
class Bind:
    """Give names to nodes by what is observed at this moment; a name keeps its node until it is given again."""

    names: tuple[str, ...]
    description: str
    resolve: Callable[[World], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Guard:
    """What must be true before the scenario can go on."""

    condition: Condition
    within: float


@dataclass(frozen=True, slots=True)
class Do:
    """Something done; with `when`, only if that condition holds at this moment."""

    action: Action
    when: Condition | None = None


@dataclass(frozen=True, slots=True)
class Expect:
    """What the arm must do."""

    condition: Condition
    within: Within
    named: str


@dataclass(frozen=True, slots=True)
class OnlyIf:
    """Steps that are carried out only if a condition holds when the plan comes to them."""

    condition: Condition
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Measure:
    """A measured window of so many seconds: clients have ended, nobody looks, heaps are collected at both ends."""

    name: str
    seconds: float


Step = Phase | Background | Bind | Guard | Do | Expect | OnlyIf | Measure


def describe_step(step: Step, settings: Settings) -> tuple[str, str]:
    """Return a step's kind and its description; bounds are those under these server properties."""
    match step:
        case Phase(name):
            return "phase", name
        case Background(load):
            return "background", load.description
        case Bind(description=description):
            return "bind", description
        case Guard(condition, within):
            return "guard", f"{condition.description} (within {within:g} s)"
        case Do(action, when):
            return "do", f"if {when.description}: {action.description}" if when else action.description
        case Expect(condition, within, named):
            return "expect", f"{condition.description} (within {seconds_of(within, settings):g} s) as {named}"
        case OnlyIf(condition):
            return "only if", condition.description
        case Measure(name, lasts):
            return "measure", f"“{name}” for {lasts:g} s: no clients, no looks"


def named_expectations(steps: Sequence[Step]) -> Iterator[str]:
    """Yield the name of every expectation, those of a conditional stretch too."""
    for step in steps:
        if isinstance(step, Expect):
            yield step.named
        if isinstance(step, OnlyIf):
            yield from named_expectations(step.steps)


def waits(steps: Sequence[Step]) -> Iterator[Guard | Expect]:
    """Yield every step that waits for a condition, those of a conditional stretch too."""
    for step in steps:
        if isinstance(step, Guard | Expect):
            yield step
        if isinstance(step, OnlyIf):
            yield from waits(step.steps)


def described(steps: Sequence[Step], settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield kind and description of every step, those of a conditional stretch behind its condition."""
    for step in steps:
        yield describe_step(step, settings)
        if isinstance(step, OnlyIf):
            yield from described(step.steps, settings)
