"""How a scenario is written: a function that builds a plan out of phases, guards, actions and expectations.

    @scenario(kraft(controllers=3, observers=1), suite="bootstrap", budget="3m")
    def turn2(plan, cluster, observer):
        '''Does the observer find the leader after every voter has moved?'''
        with plan.phase("start"):
            plan.do(cluster.start())
            plan.guard(cluster.is_up(), observer.follows_leader(), within="60s")

Building a plan starts nothing. docs/scenarios.md is the guide for authors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from harness.cluster.cluster import Topology
from harness.engine.world import World
from harness.scenario import actions, conditions, nodes
from harness.scenario.bounds import RecoveryBound
from harness.scenario.load import Load
from harness.scenario.nodes import NodeRef
from harness.scenario.steps import Action, Background, Bind, Condition, Do, Expect, Guard, Phase, Step

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}


def seconds(duration: str) -> float:
    """Parse `500ms`, `30s` or `3m`. Raises ValueError."""
    match = _DURATION.fullmatch(duration)
    if match is None:
        raise ValueError(f"{duration!r} is no duration; write 500ms, 30s or 3m")
    return float(match[1]) * _UNITS[match[2]]


def kraft(*, controllers: int, observers: int) -> Topology:
    """Return a KRaft topology of combined voters and broker-only observers."""
    return Topology(controllers, observers)


class ClusterRef:
    """The cluster as a plan speaks of it."""

    @property
    def leader(self) -> NodeRef:
        """Whoever leads when the step runs."""
        return nodes.current_leader()

    def start(self) -> Action:
        """Start every node at once."""
        return actions.StartAll()

    def start_voters(self) -> Action:
        """Start the voters only."""
        return actions.StartVoters()

    def is_up(self) -> Condition:
        """Every started node answers and knows every started broker."""
        return conditions.NodesReady()

    def create_topic(self, name: str) -> Action:
        """Create a topic through a voter, on that voter."""
        return actions.CreateTopic(name)

    def has_leader(self) -> Condition:
        """Some voter leads."""
        return conditions.HasLeader()

    def has_new_leader(self) -> Condition:
        """Another voter leads, in a later epoch, than before the last stop, kill or restart."""
        return conditions.HasNewLeader()

    def leader_is_moved_and_registered(self) -> Condition:
        """The leader is a voter that moved and that the voter set knows at its new address."""
        return conditions.LeaderIsMovedAndRegistered()

    def voter_set_knows(self, node: NodeRef) -> Condition:
        """The voter set names the voter's present address."""
        return conditions.VoterSetKnows(node)

    def voters_caught_up(self) -> Condition:
        """Every running voter is within one no-op of the leader."""
        return conditions.VotersCaughtUp()


class Plan:
    """Collects steps; conditions and actions are handed over, nothing is run."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Name a stretch of the plan."""
        self.steps.append(Phase(name))
        yield

    def background(self, load: Load) -> None:
        """Run a load from here to the end; nothing that it has acknowledged may be lost."""
        self.steps.append(Background(load))

    def guard(self, *every: Condition, within: str) -> None:
        """State what must be true before the plan goes on; unmet, the run is INCONCLUSIVE."""
        self.steps += [Guard(condition, seconds(within)) for condition in every]

    def do(self, *every: Action, when: Condition | None = None) -> None:
        """Do something, perhaps only when a condition holds at that moment."""
        self.steps += [Do(action, when) for action in every]

    def expect(self, condition: Condition, *, within: str | RecoveryBound, named: str) -> None:
        """Ask the arm: held within the time, or FAILED by this name."""
        bound = seconds(within) if isinstance(within, str) else within
        self.steps.append(Expect(condition, bound, named))

    def name_voters(self, leader: str, *others: str) -> tuple[NodeRef, ...]:
        """Name the present leader and the other voters (by ascending id); the names stay with their nodes."""
        names = (leader, *others)
        words = f"call the present leader “{leader}” and the other voters “{'”, “'.join(others)}”"
        self.steps.append(Bind(names, words, _leader_then_others))
        return tuple(map(nodes.bound, names))


def _leader_then_others(world: World) -> tuple[int, ...]:
    leader = nodes.current_leader().find(world)
    return (leader, *(node for node in world.cluster.topology.voter_ids if node != leader))


PlanBuilder = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One question with the topology it is put to; `budget` in seconds is how long a run may take in all."""

    name: str
    question: str
    topology: Topology
    suite: str
    budget: float
    build: PlanBuilder
    file: str

    def plan(self) -> Plan:
        """Build the plan: milliseconds, nothing started."""
        plan = Plan()
        observers = [
            nodes.fixed(node, f"observer {node}" if len(self.topology.observer_ids) > 1 else "the observer")
            for node in self.topology.observer_ids
        ]
        self.build(plan, ClusterRef(), *observers)
        return plan


def scenario(topology: Topology, *, suite: str, budget: str) -> Callable[[PlanBuilder], Scenario]:
    """Make a scenario of a plan-building function; its name and docstring become the scenario's."""

    def make(build: PlanBuilder) -> Scenario:
        question = " ".join((build.__doc__ or "").split())
        name = build.__name__.replace("_", "-")
        file = build.__code__.co_filename
        return Scenario(name, question, topology, suite, seconds(budget), build, file)

    return make
