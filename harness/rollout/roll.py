"""The parts that rehearsals are made of: a cluster under load, a node's turn, the way back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from harness.base.text import ordinal
from harness.cluster.node import NodeState
from harness.cluster.topology import Topology
from harness.rollout.checks import (
    ClientsServed,
    IsReady,
    LeaderRuns,
    NoNewErrors,
    PausesWithin,
    RunsAnother,
    StoppedGracefully,
    in_service,
    safe_to_stop,
)
from harness.rollout.commands import Tools
from harness.rollout.nodes import next_node
from harness.rollout.roll_steps import BeginTurn, CountPausesFromHere, EndTurn, ForgetErrors, Soak
from harness.scenario.actions.install import install
from harness.scenario.actions.kill import kill
from harness.scenario.actions.start import start, start_all
from harness.scenario.actions.stop import stop
from harness.scenario.loads.compacted import write_compacted
from harness.scenario.loads.group import consume
from harness.scenario.loads.records import Records
from harness.scenario.loads.topics import Placement
from harness.scenario.loads.transactions import commit_transactions
from harness.scenario.monitors.error_lines import error_lines
from harness.scenario.plan import Plan
from harness.scenario.refs import NodeRef, current_leader
from harness.scenario.steps import Sample
from harness.scenario.world import World

BASE, CANDIDATE = "base", "the candidate"
# Keys of the builds that a rehearsal may install.
WITH_KEY, WITH_KEY_LEFT = "the candidate with its flag set", "base with the flag left in place"
DIES_ON_LOAD = "the sabotaged jar"
_UP, _BEFORE, _AFTER, _SERVED = "120s", "60s", "120s", "30s"
_KILLED_AFTER = "1s"
_MOST_LEADER_CHANGES = 4
_PER_SECOND = 30


@dataclass(frozen=True, slots=True)
class RollConfig:
    """What all rehearsals share.

    `order` is the user's, empty for brokers first and the active controller last. `budget_seconds` is how long a client
    may wait, 0 where that is only measured; ERROR lines count against the candidate if `judge_errors`, but for those
    with a template in `known_errors`. `key_is_silent` says that base does not report a value of the key left behind.
    """

    topology: Topology
    tools: Tools | None = None
    order: tuple[int, ...] = ()
    budget_seconds: float = 0.0
    known_errors: frozenset[str] = frozenset()
    judge_errors: bool = True
    flag_key: str = ""
    key_is_silent: bool = False


class Roll:
    """Adds these parts to one plan."""

    def __init__(self, plan: Plan, config: RollConfig) -> None:
        self.plan = plan
        self.config = config

    def under_load(self) -> None:
        """Start everything on base with its clients."""
        plan = self.plan
        plan.always(error_lines(base=BASE, known=self.config.known_errors))
        with plan.phase("start on base"):
            plan.do(start_all())
            plan.guard(in_service(), within=_UP)
            for client in ("orders", "all"), ("clicks", "1"):
                plan.background(Records(*client, _PER_SECOND, Placement.ONE_PER_BROKER))
            plan.background(write_compacted("balances"))
            plan.background(commit_transactions("payments"))
            plan.background(consume("orders"))
            plan.guard(ClientsServed(), within=_UP)
            plan.do(CountPausesFromHere())

    def all_nodes(self, phase: str, build: str) -> None:
        """Take every node's turn in order; without a `build` each is restarted on what it runs."""
        with self.plan.phase(phase):
            for node in self._in_order(phase, len(self.config.topology.node_ids)):
                self.turn(node, build)

    def all_but_the_leader(self, phase: str, build: str) -> None:
        """Take every node's turn but that of the active controller, which would come last."""
        with self.plan.phase(phase):
            for node in self._in_order(phase, len(self.config.topology.node_ids) - 1):
                self.turn(node, build)

    def _in_order(self, phase: str, count: int) -> Iterator[NodeRef]:
        names = [_name(number, phase) for number in range(1, count + 1)]
        for at, name in enumerate(names):  # bound one by one: each is chosen when its turn comes
            yield self.next_node(names[:at], name, skip_leader=count < len(self.config.topology.node_ids))

    def next_node(self, before: Sequence[str], name: str, *, skip_leader: bool = False) -> NodeRef:
        """Name the node whose turn is next, after those that were named `before`."""

        def choose(world: World) -> int:
            leader = world.quorum().leader
            taken = {world.names[each] for each in before} | ({leader} if skip_leader else set())
            left = [node for node in self.config.order or world.cluster.nodes if node not in taken]
            return left[0] if self.config.order else next_node(left, world.cluster.topology, leader)

        order = "in the order given" if self.config.order else "brokers first, the active controller last"
        return self.plan.bind(name, f"choose the {name}, {order}", choose)

    def turn(self, node: NodeRef, build: str, *, killed: bool = False) -> None:
        """Take one node's turn: checks, stop, put the jar in place, start, checks."""
        plan = self.plan
        plan.do(BeginTurn(node, build))
        plan.expect(safe_to_stop(node), within=_BEFORE, named="safe_to_stop")
        self._swap(node, build, killed=killed)
        self._back_in_service(node)

    def bring_back(self, node: NodeRef, build: str) -> None:
        """Take the turn of a node that may be down: then nothing is checked before it."""
        plan = self.plan
        plan.do(BeginTurn(node, build))
        with plan.only_if(IsReady(node)):
            plan.expect(safe_to_stop(node), within=_BEFORE, named="safe_to_stop")
        self._swap(node, build)
        self._back_in_service(node)

    def _swap(self, node: NodeRef, build: str, *, killed: bool = False) -> None:
        """Stop a node, install the build, start it; with `killed`, end it in the middle of its start."""
        plan = self.plan
        plan.do(stop(node))
        plan.expect(StoppedGracefully(node), within="0s", named="stops_on_sigterm")
        if build:
            plan.do(install(node, build), when=RunsAnother(node, build))
        plan.do(start(node))
        if killed:
            plan.do(kill(node, after=_KILLED_AFTER), start(node))

    def _back_in_service(self, node: NodeRef) -> None:
        self.plan.expect(in_service(node), within=_AFTER, named="back_in_service")
        self.all_well()
        self.plan.do(EndTurn())

    def still_serving(self) -> None:
        """Expect that clients are served."""
        self.plan.expect(ClientsServed(), within=_SERVED, named="clients_served")

    def all_well(self) -> None:
        """Expect that clients are served, did not wait too long, and that nodes wrote no new errors."""
        plan, config = self.plan, self.config
        self.still_serving()
        plan.expect(PausesWithin(config.budget_seconds), within="0s", named="pause_within_budget")
        plan.expect(NoNewErrors(config.judge_errors), within="0s", named="no_new_errors")

    def soak(self, seconds: float) -> None:
        """Run both versions side by side."""
        self.plan.do(Soak(seconds))
        self.plan.expect(in_service(), within=_AFTER, named="back_in_service")
        self.all_well()
        self.plan.do(EndTurn())

    def change_leader(self, build: str) -> None:
        """Restart the active controller, on what it runs, until one that runs `build` leads."""
        plan = self.plan
        for number in range(1, _MOST_LEADER_CHANGES + 1):
            with plan.only_if(LeaderRuns(build, wanted=False)):
                name = f"{ordinal(number)} leader before {build}"
                self.turn(plan.bind(name, f"choose the {name}", current_leader().find), "")
        plan.expect(LeaderRuns(build), within="30s", named="leadership_changes")

    def some(self, phase: str, build: str, choose: Callable[[World], int | None], description: str) -> None:
        """Take the turns of nodes as long as there is one to choose, at most every node's."""
        for number, _ in enumerate(self.config.topology.node_ids, 1):
            with self.plan.only_if(NodesLeft(choose, description)):
                name = _name(number, phase)
                node = self.plan.bind(name, f"choose the {name}: {description}", _certainly(choose))
                self.bring_back(node, build)

    def way_back(self) -> None:
        """When the roll was stopped: check that clients are still served, then put base back on every node."""
        plan = self.plan
        with plan.afterwards():
            plan.do(EndTurn())
            with plan.phase("stopped"):
                self.still_serving()
                plan.do(ForgetErrors())
        with plan.afterwards(), plan.phase("the way back"):
            self.some("the way back", BASE, first_to_bring_back, "one that is down, else the last one rolled")


@dataclass(frozen=True, slots=True)
class NodesLeft:
    """There is a node left to choose."""

    name: ClassVar[str] = "left"
    choose: Callable[[World], int | None]
    description: str

    def sample(self, world: World) -> Sample:
        """Choose."""
        node = self.choose(world)
        return Sample(node is not None, {"node": node})


def _name(number: int, phase: str) -> str:
    return f"{ordinal(number)} node of phase {phase}"


def _certainly(choose: Callable[[World], int | None]) -> Callable[[World], int]:
    def chosen(world: World) -> int:
        node = choose(world)
        assert node is not None  # the condition before this step has just seen one
        return node

    return chosen


def first_to_bring_back(world: World) -> int | None:
    """Return a node that is down, else the last of those that run something else than base; None when all do."""
    nodes = world.cluster.nodes
    down = [number for number, node in nodes.items() if node.state is not NodeState.READY]
    return next(iter(down), None) if down else last_rolled(world)


def last_rolled(world: World) -> int | None:
    """Return the node that was rolled last of those that do not run base; None when all do."""
    return _last(world, world.cluster.topology.node_ids)


def last_rolled_controller(world: World) -> int | None:
    """Return the voter, but for the active controller, that was rolled last of those that do not run base."""
    leader = world.quorum().leader
    return _last(world, [node for node in world.cluster.topology.voter_ids if node != leader])


def _last(world: World, among: Sequence[int]) -> int | None:
    turns: Mapping[int, int] = {node: at for at, node in enumerate(world.names.values())}
    rolled = [node for node in among if world.cluster.nodes[node].install.name != BASE]
    return max(rolled, key=lambda node: turns.get(node, -1), default=None)
