"""The records a plan is made of, in the order in which they are carried out; building one starts nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from harness.scenario.bounds import Settings, Within, seconds_of

if TYPE_CHECKING:
    from harness.engine.world import World
    from harness.scenario.load import Load


@dataclass(frozen=True, slots=True)
class Sample:
    """One look at a condition: whether it holds now, and what was seen.

    `askable` is False where the cluster was not in a state to be asked at all, such as a follower without any leader.
    """

    ok: bool
    detail: Mapping[str, Any] = field(default_factory=dict)
    askable: bool = True


class Condition(Protocol):
    """Something that can be looked at on a live cluster."""

    @property
    def words(self) -> str:
        """The condition as a clause: `observer 3 follows the leader`."""

    def sample(self, world: World) -> Sample:
        """Look once. Must not wait; samples older than `world.step_began` do not count."""


class Action(Protocol):
    """Something done to a live cluster."""

    @property
    def words(self) -> str:
        """The action as a clause: `stop the leader`."""

    def perform(self, world: World) -> None:
        """Do it. Raises ActionFailed when it cannot be done."""


class ActionFailed(Exception):  # noqa: N818 - named for what it means to the plan
    """An action could not be carried out, so that the question cannot be asked."""


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
    """Give names to nodes by what is observed at this moment; a name keeps its node from then on."""

    names: tuple[str, ...]
    words: str
    resolve: Callable[[World], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Guard:
    """What must be true before the question can be asked."""

    condition: Condition
    within: float


@dataclass(frozen=True, slots=True)
class Do:
    """Something done; with `when`, only if that condition holds at this moment."""

    action: Action
    when: Condition | None = None


@dataclass(frozen=True, slots=True)
class Expect:
    """What the arm is asked."""

    condition: Condition
    within: Within
    named: str


Step = Phase | Background | Bind | Guard | Do | Expect


def step_words(step: Step, settings: Settings) -> tuple[str, str]:
    """Return a step's kind and its words; bounds are those under these server properties."""
    match step:
        case Phase(name):
            return "phase", name
        case Background(load):
            return "background", load.words
        case Bind(words=words):
            return "bind", words
        case Guard(condition, within):
            return "guard", f"{condition.words} (within {within:g} s)"
        case Do(action, when):
            return "do", f"if {when.words}: {action.words}" if when else action.words
        case Expect(condition, within, named):
            return "expect", f"{condition.words} (within {seconds_of(within, settings):g} s) as {named}"
