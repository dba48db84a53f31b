"""How a scenario is written: a function that builds a plan out of phases, guards, actions and expectations.

    @scenario(kraft(controllers=3, observers=1), suite="bootstrap", budget="3m")
    def turn2(plan, cluster, observer):
        '''Does the observer find the leader after every voter has moved?'''
        with plan.phase("start"):
            plan.do(start_all())
            plan.guard(is_up(), follows_leader(observer), within="60s")

Building a plan starts nothing. docs/scenarios.md is the guide for authors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from inspect import isfunction
from itertools import chain
from types import MappingProxyType

from harness.cluster.topology import Topology
from harness.kafka.release_lines import Mode
from harness.model.security import Security
from harness.scenario.bounds import Bound, seconds
from harness.scenario.mistakes import mistake
from harness.scenario.monitors.base import MakeMonitor
from harness.scenario.parties import Party, all_but, the_clients, the_coordinator
from harness.scenario.refs import NodeRef, bound, current_leader, fixed
from harness.scenario.steps import (
    Action,
    Background,
    Bind,
    Condition,
    Do,
    Expect,
    Guard,
    Load,
    Measure,
    OnlyIf,
    Phase,
    Step,
)
from harness.scenario.stock import StockFailure
from harness.scenario.world import World

NETWORK = "network_namespaces"  # what a topology with a network needs
IDLE = "idle"  # the window of a soak
_WINDOW = re.compile("[a-z][a-z0-9_]*")


def kraft(
    *,
    controllers: int,
    observers: int,
    combined: bool = True,
    static_voters: bool = False,
    secured: bool = False,
    network: bool = False,
    spares: int = 0,
    bootstrap_servers: bool = False,
    names: bool = False,
) -> Topology:
    """Return a KRaft topology of voters, brokers too when combined, and broker-only observers (see Topology)."""
    if controllers < 1 or observers < 0:
        raise ValueError(f"a cluster of {controllers} controllers and {observers} observers cannot start")
    if names and (network or secured):
        raise ValueError("host names are for controllers on loopback: leave network and secured out")
    if static_voters and (spares or bootstrap_servers):
        raise ValueError("static voters are configured by id and address, and nobody can be added to them")
    return Topology(
        controllers,
        observers,
        combined,
        static_voters,
        Security() if secured else None,
        network,
        spares=spares,
        bootstrap_servers=bootstrap_servers,
        names=names,
    )


def zookeeper(*, brokers: int, network: bool = False) -> Topology:
    """Return a topology of brokers that keep their metadata in ZooKeeper; the function gets one parameter for each."""
    if brokers < 1:
        raise ValueError(f"a cluster of {brokers} brokers cannot start")
    return Topology(0, brokers, combined=False, network=network, mode=Mode.ZOOKEEPER)


class ClusterRef:
    """The cluster as a plan speaks of it."""

    def __init__(self, topology: Topology) -> None:
        self.spares = tuple(
            fixed(node, f"new controller {number}") for number, node in enumerate(topology.spare_ids, 1)
        )

    @property
    def leader(self) -> NodeRef:
        """Whoever leads when the step runs."""
        return current_leader()

    @property
    def clients(self) -> Party:
        """The host of every load's clients; only in a network."""
        return the_clients()

    @property
    def coordinator(self) -> Party:
        """Whoever keeps the metadata: every controller of the quorum, or ZooKeeper; only in a network."""
        return the_coordinator()

    def all_but(self, *nodes: NodeRef) -> Party:
        """Every node but these (ZooKeeper is none); only in a network."""
        return all_but(*nodes)


class Plan:
    """Collects steps; conditions and actions are handed over, nothing is run.

    `steps` are carried out in order. Where an expectation is not met or a node dies, the rest of them is passed over
    and each stretch of `aftermath` is carried out, whatever came of the one before. `monitors` watch the run beside
    those that watch every run.
    """

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.aftermath: list[list[Step]] = []
        self.monitors: list[MakeMonitor] = []
        self._collecting = self.steps

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Name a stretch of the plan."""
        self._collecting.append(Phase(name))
        yield

    @contextmanager
    def only_if(self, condition: Condition) -> Iterator[None]:
        """Carry a stretch out only if a condition holds when the plan comes to it."""
        outer, self._collecting = self._collecting, []
        yield
        steps, self._collecting = tuple(self._collecting), outer
        outer.append(OnlyIf(condition, steps))

    @contextmanager
    def afterwards(self) -> Iterator[None]:
        """Carry a stretch out if the plan was ended by the arm: an expectation unmet, or a node that died."""
        outer, self._collecting = self._collecting, []
        self.aftermath.append(self._collecting)
        yield
        self._collecting = outer

    @property
    def everything(self) -> tuple[Step, ...]:
        """All steps, those of the aftermath at the end."""
        return (*self.steps, *chain.from_iterable(self.aftermath))

    def always(self, monitor: MakeMonitor) -> None:
        """Watch the whole run with one more monitor."""
        self.monitors.append(monitor)

    def background(self, load: Load) -> None:
        """Run a load from here to the end; nothing that it has acknowledged may be lost."""
        _check("start", "a load", load)
        self._collecting.append(Background(load))

    def guard(self, *every: Condition, within: str) -> None:
        """State what must be true before the plan goes on; unmet, the run is INCONCLUSIVE."""
        bound = seconds(within)
        _check("sample", "a condition", *every)
        self._collecting += [Guard(condition, bound) for condition in every]

    def do(self, *every: Action, when: Condition | None = None) -> None:
        """Do something, perhaps only when a condition holds at that moment."""
        _check("perform", "an action", *every)
        _check("sample", "a condition", *([when] if when is not None else []))
        self._collecting += [Do(action, when) for action in every]

    def expect(self, condition: Condition, *, within: str | Bound, named: str) -> None:
        """Ask the arm: met within the time, or FAILED by this name."""
        _check("sample", "a condition", condition)
        if not isinstance(within, (str, Bound)):
            raise TypeError(f'within={within!r} is no time: write within="30s"')
        bound = seconds(within) if isinstance(within, str) else within
        self._collecting.append(Expect(condition, bound, named))

    def measure(self, name: str, lasts: str) -> None:
        """Measure what the nodes cost for so long while nothing of the harness runs; figures begin with the name.

        Clients of loads are ended before, and have their promises checked.
        """
        if not _WINDOW.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a window: write lower-case letters, digits and _")
        self._collecting.append(Measure(name, seconds(lasts)))

    def bind(self, name: str, description: str, resolve: Callable[[World], int]) -> NodeRef:
        """Name a node by what is observed at this moment."""
        self._collecting.append(Bind((name,), description, lambda world: (resolve(world),)))
        return bound(name)

    def name_voters(self, leader: str, *others: str) -> tuple[NodeRef, ...]:
        """Name the present leader and the other voters (by ascending id); the names stay with their nodes."""
        names = (leader, *others)
        description = f"call the present leader “{leader}”"
        description += f" and the other voters “{'”, “'.join(others)}”" if others else ""
        self._collecting.append(Bind(names, description, _leader_then_others))
        return tuple(map(bound, names))

    def name_brokers(self, *names: str) -> tuple[NodeRef, ...]:
        """Name the brokers by descending id, one that is the controller in ZooKeeper mode last; the names stay."""
        self._collecting.append(Bind(names, f"call the brokers “{'”, “'.join(names)}”", _controller_last))
        return tuple(map(bound, names))


def soak(plan: Plan, lasts: float) -> None:
    """Make the last window of idle nodes so many seconds long, or the last of all; without any a plan gets one."""
    windows = [(place, step) for place, step in enumerate(plan.steps) if isinstance(step, Measure)]
    if windows:
        place, window = next((each for each in reversed(windows) if each[1].name == IDLE), windows[-1])
        plan.steps[place] = replace(window, seconds=lasts)
    else:
        plan.steps.append(Measure(IDLE, lasts))


def _check(method: str, what: str, *parts: object) -> None:
    """Raise TypeError for what is handed over and is not `what` it should be, which has this method."""
    for part in parts:
        if isfunction(part):
            raise TypeError(f"{part.__name__} is handed over without being called: write {part.__name__}(…)")
        if not callable(getattr(part, method, None)):
            raise TypeError(f"{part!r} is not {what}")


def _leader_then_others(world: World) -> tuple[int, ...]:
    leader = current_leader().find(world)
    return (leader, *(node for node in world.cluster.topology.voter_ids if node != leader))


def _controller_last(world: World) -> tuple[int, ...]:
    leader = current_leader().find(world)
    return tuple(sorted(world.cluster.topology.broker_ids, key=lambda broker: (broker == leader, -broker)))


def _check_nothing(returned: object) -> None:
    if returned is not None:
        raise TypeError(f"it returns {type(returned).__name__} and should return nothing (is there a `yield`?)")


PlanBuilder = Callable[..., object]


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is asked of a cluster, with its topology; `budget` in seconds is how long a run may take in all.

    It is part of each of its `suites`. `needs` names capabilities that the host must have. `properties` are server
    properties of every node. With `stalls_spoil` a host that starves a node spoils the run, whatever it showed; else
    only what went wrong in it. `expected` is what Kafka as it is fails, None where it passes. `again` makes the same
    scenario in another process, which has neither its plan nor what that refers to.
    """

    name: str
    question: str
    topology: Topology
    suites: tuple[str, ...]
    budget: float
    build: PlanBuilder
    file: str
    needs: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    stalls_spoil: bool = True
    expected: StockFailure | None = None
    again: Callable[[], object] | None = field(default=None, compare=False)

    def __reduce__(self) -> tuple[Callable[[], object], tuple[()]]:
        if self.again is None:
            raise TypeError(f"{self.name} cannot go to another process: nothing says how it is made there")
        return self.again, ()

    def failure_of(self, version: str) -> StockFailure | None:
        """Return what Kafka of this version is expected to fail, as it is; None where it passes."""
        return self.expected if self.expected and self.expected.is_of(version) else None

    def plan(self) -> Plan:
        """Build the plan: milliseconds, nothing started. Raises HarnessError where its function does."""
        plan = Plan()
        word = "observer" if self.topology.combined else "broker"
        observers = [
            fixed(node, f"{word} {node}" if len(self.topology.observer_ids) > 1 else "the observer")
            for node in self.topology.observer_ids
        ]
        try:
            _check_nothing(self.build(plan, ClusterRef(self.topology), *observers))
        except (Exception, SystemExit) as error:
            raise mistake(f"The plan of {self.name} in {self.file} cannot be built", error, self.file) from error
        return plan


def scenario(
    topology: Topology,
    *,
    suite: str | tuple[str, ...],
    budget: str,
    needs: tuple[str, ...] = (),
    properties: Mapping[str, str] = MappingProxyType({}),
    expected: StockFailure | None = None,
) -> Callable[[PlanBuilder], Scenario]:
    """Make a scenario of a plan-building function; its name and docstring become the scenario's."""
    suites = (suite,) if isinstance(suite, str) else suite
    if expected is not None and not isinstance(expected, StockFailure):
        raise TypeError(f"{expected!r} is nothing that stock can show: leave it out where it passes, or write fails(…)")

    if odd := [key for key, value in properties.items() if not (isinstance(key, str) and isinstance(value, str))]:
        raise TypeError(f"properties are texts, and {odd[0]} is {properties[odd[0]]!r}: write it in quotes")

    def make(build: PlanBuilder) -> Scenario:
        question = " ".join((build.__doc__ or "").split())
        if not question:
            raise ValueError(f"{build.__name__} has no docstring: it is the question that the scenario asks")
        name = build.__name__.replace("_", "-")
        needed = (*needs, NETWORK) if topology.network else needs
        file = build.__code__.co_filename
        lasts = seconds(budget)
        return Scenario(name, question, topology, suites, lasts, build, file, needed, properties, expected=expected)

    return make
