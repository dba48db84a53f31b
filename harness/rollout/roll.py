"""The parts that rehearsals are made of: a cluster under load, a node's turn, the way back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.base.text import ordinal
from harness.cluster.topology import Topology
from harness.model.outcome_names import STOPS_ON_SIGTERM
from harness.rollout.builds import BASE
from harness.rollout.checks import (
    ClientsServed,
    IsReady,
    LeaderRuns,
    NoNewErrors,
    PausesWithin,
    RunsAnother,
    StoppedGracefully,
    in_service,
    preferred_leaders,
    safe_to_stop,
    stop_harms_nobody,
)
from harness.rollout.commands import Tools
from harness.rollout.finalising import (
    FeaturesAre,
    FinaliseFeatures,
    Finalising,
    NoteNoWayBack,
    TryDowngrade,
    levels_of,
)
from harness.rollout.health import AFTER_SECONDS, BEFORE_SECONDS, LEADERS_SECONDS
from harness.rollout.nodes import First, in_words, next_node
from harness.rollout.roll_steps import (
    BeginTurn,
    CountPausesFromHere,
    ElectPreferredLeaders,
    EndTurn,
    ForgetErrors,
    Soak,
)
from harness.rollout.way_back import NodesLeft, certainly, first_to_bring_back
from harness.scenario.actions.create_user import create_user
from harness.scenario.actions.install import install
from harness.scenario.actions.kill import kill
from harness.scenario.actions.start import start, start_all
from harness.scenario.actions.stop import stop
from harness.scenario.conditions.runs import runs
from harness.scenario.loads.compacted import write_compacted
from harness.scenario.loads.group import consume
from harness.scenario.loads.records import Records
from harness.scenario.loads.topics import Placement
from harness.scenario.loads.transactions import commit_transactions
from harness.scenario.monitors.error_lines import error_lines
from harness.scenario.plan import Plan
from harness.scenario.refs import NodeRef, current_leader
from harness.scenario.world import World

_UP, _SERVED = "120s", "30s"
_BEFORE, _AFTER, _LEADERS = (f"{seconds}s" for seconds in (BEFORE_SECONDS, AFTER_SECONDS, LEADERS_SECONDS))
_KILLED_AFTER = "1s"
_MOST_LEADER_CHANGES = 4
_PER_SECOND = 30


@dataclass(frozen=True, slots=True)
class RollConfig:
    """What all rehearsals share.

    `order` is the user's; where it is empty those come `first`, of controllers the active one last. `budget_seconds` is
    how long a client may wait, 0 where that is only measured; ERROR lines count against the candidate if
    `judge_errors`, but for those with a template in `known_errors`. `key_is_silent` says that base does not report a
    value of the key left behind. `finalising` is None where there is nothing to finalise.
    """

    topology: Topology
    tools: Tools | None = None
    order: tuple[int, ...] = ()
    first: First = First.BROKERS
    budget_seconds: float = 0.0
    known_errors: frozenset[str] = frozenset()
    judge_errors: bool = True
    flag_key: str = ""
    key_is_silent: bool = False
    finalising: Finalising | None = None


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
            if (security := self.config.topology.security) and security.has_credentials_in_log:
                plan.do(create_user())
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
        self._elect_preferred_leaders(phase)

    def _elect_preferred_leaders(self, phase: str) -> None:
        """Bring leaders back to where they were before every node had its turn, as the runbook does."""
        if self.config.tools is None:
            return
        with self.plan.phase(f"preferred leaders after: {phase}"):
            self.plan.do(ElectPreferredLeaders(self.config.tools))
            self.plan.expect(preferred_leaders(), within=_LEADERS, named="preferred_leaders")
            self.all_well()

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
            if self.config.order:
                return left[0]
            return next_node(left, world.cluster.topology, leader, self.config.first)

        order = "in the order given" if self.config.order else in_words(self.config.first)
        return self.plan.bind(name, f"choose the {name}, {order}", choose)

    def turn(self, node: NodeRef, build: str, *, killed: bool = False) -> None:
        """Take one node's turn: checks, stop, put the jar in place, start, checks."""
        plan = self.plan
        plan.do(BeginTurn(node, build))
        plan.expect(safe_to_stop(node), within=_BEFORE, named="safe_to_stop")
        plan.do(stop(node))
        self._has_stopped(node)
        self._swap(node, build, killed=killed)
        self._back_in_service(node)

    def bring_back(self, node: NodeRef, build: str, *, is_sick: bool = False, after_a_stop: bool = False) -> None:
        """Take the turn of a node that may be down: then nothing is checked before it.

        Of one that `is_sick` only that is checked which its stop could harm. `after_a_stop` of the roll, what has
        stopped it must not stop the way back as well: how nodes of the candidate end, how long clients wait for them
        and what they log is not judged any more.
        """
        plan = self.plan
        plan.do(BeginTurn(node, build))
        with plan.only_if(IsReady(node)):
            before = stop_harms_nobody(node) if is_sick else safe_to_stop(node)
            plan.expect(before, within=_BEFORE, named="safe_to_stop")
            plan.do(stop(node))
            if not after_a_stop:
                self._has_stopped(node)
        plan.do(stop(node), when=runs(node))
        self._swap(node, build)
        self._back_in_service(node, judged=not after_a_stop)

    def _has_stopped(self, node: NodeRef) -> None:
        self.plan.expect(StoppedGracefully(node), within="0s", named=STOPS_ON_SIGTERM)

    def _swap(self, node: NodeRef, build: str, *, killed: bool = False) -> None:
        """Install the build on a node that was stopped, start it; with `killed`, end it in the middle of its start."""
        plan = self.plan
        if build:
            plan.do(install(node, build), when=RunsAnother(node, build))
        plan.do(start(node))
        if killed:
            plan.do(kill(node, after=_KILLED_AFTER), start(node))

    def _back_in_service(self, node: NodeRef, *, judged: bool = True) -> None:
        self.plan.expect(in_service(node), within=_AFTER, named="back_in_service")
        if judged:
            self.all_well()
        else:
            self.still_serving()
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

    def some(
        self,
        phase: str,
        build: str,
        choose: Callable[[World], int | None],
        description: str,
        *,
        after_a_stop: bool = False,
    ) -> None:
        """Take the turns of nodes as long as there is one to choose, at most every node's.

        `after_a_stop` of the roll, which the first of them may have caused.
        """
        for number, _ in enumerate(self.config.topology.node_ids, 1):
            with self.plan.only_if(NodesLeft(choose, description)):
                name = _name(number, phase)
                node = self.plan.bind(name, f"choose the {name}: {description}", certainly(choose))
                is_sick = after_a_stop and number == 1
                self.bring_back(node, build, is_sick=is_sick, after_a_stop=after_a_stop)

    def finalise(self) -> None:
        """Finalise the features, and see that every node knows and that clients are served."""
        with self.plan.phase("finalise the features"):
            if self.config.finalising is not None:
                self._finalise(self.config.finalising)

    def _finalise(self, finalising: Finalising) -> None:
        plan, (before, after) = self.plan, levels_of(finalising.plan)
        plan.guard(FeaturesAre(before), within=_SERVED)
        plan.do(FinaliseFeatures(finalising))
        self.features_are(after)
        plan.expect(in_service(), within=_AFTER, named="back_in_service")
        self.all_well()
        plan.do(TryDowngrade(finalising))

    def features_are(self, levels: Mapping[str, int]) -> None:
        """Expect that every node says that features are finalised at these levels."""
        self.plan.expect(FeaturesAre(levels), within=_SERVED, named="features_finalised")

    def way_back(self) -> None:
        """When the roll was stopped: check that clients are still served, then put base back on every node."""
        plan = self.plan
        with plan.afterwards():
            plan.do(EndTurn())
            with plan.phase("stopped"):
                self.still_serving()
                plan.do(ForgetErrors())
                if self.config.finalising is not None:
                    plan.do(NoteNoWayBack(self.config.finalising.plan))
        with plan.afterwards(), plan.phase("the way back"):
            description = "one that is down, else the last one rolled"
            self.some("the way back", BASE, first_to_bring_back, description, after_a_stop=True)


def _name(number: int, phase: str) -> str:
    return f"{ordinal(number)} node of phase {phase}"
