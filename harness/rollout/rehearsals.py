"""The rehearsals: what is done to a live cluster in each, as plans that the engine carries out as any other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from harness.base.errors import HarnessError, unknown
from harness.model.features import FeaturePlan
from harness.rollout.builds import BASE, CANDIDATE, DIES_ON_LOAD, WITH_KEY, WITH_KEY_LEFT
from harness.rollout.checks import HasCrashed, LeaderRuns, RefusedByChecks, safe_to_stop
from harness.rollout.finalising import levels_of
from harness.rollout.roll import Roll, RollConfig
from harness.rollout.roll_steps import BeginTurn, EndTurn, ForgetErrors, TryCommands, WarnOfKeyLeft
from harness.rollout.way_back import last_rolled, last_rolled_controller
from harness.scenario.actions.allow_death import allow_death
from harness.scenario.actions.install import install
from harness.scenario.actions.start import start
from harness.scenario.actions.stop import stop
from harness.scenario.plan import ClusterRef, Plan, Scenario
from harness.scenario.refs import NodeRef
from harness.scenario.world import World

SUITE = "rollout"
# Rehearsals and phases that other modules use by name: the one that sets the limits for the others; the one that the
# runbook is made of; those whose logs are compared while every node is stopped and started once.
CONTROL, FORWARD_AND_BACK, FINALISED = "control", "forward-and-back", "finalised"
RESTART, FORWARD, BACK = "restart base node by node", "forward", "back from complete"
RESTART_FINALISED = "restart with the features finalised"
_SOAK_SECONDS = 10.0
_BUDGET_SECONDS = 1800.0
# Kafka's default of 50 partitions each takes longer and shows no more than a few; and by its default of one snapshot an
# hour no node would load any, as it does at nearly every start of a cluster that lives (KIP-876). It is the user's
# cluster that is rehearsed: what their own properties say of it holds.
PROPERTIES = {
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "metadata.log.max.snapshot.interval.ms": "20000",
}


@dataclass(frozen=True, slots=True)
class RehearsalKind:
    """A rehearsal: its question and what it adds to a plan; `kills` says that clients wait for a session to end."""

    question: str
    build: Callable[[Roll], None]
    kills: bool = False


def _control(roll: Roll) -> None:
    if roll.config.tools is not None:
        with roll.plan.phase("the operator's commands"):
            roll.plan.do(TryCommands(roll.config.tools))
    roll.all_nodes(RESTART, "")


def _forward_and_back(roll: Roll) -> None:
    has_flag = bool(roll.config.flag_key)
    roll.all_nodes(FORWARD, WITH_KEY if has_flag else CANDIDATE)
    roll.all_nodes(BACK, WITH_KEY_LEFT if has_flag else BASE)
    if roll.config.key_is_silent:
        roll.plan.do(WarnOfKeyLeft(roll.config.flag_key))


def _half_way_and_back(roll: Roll) -> None:
    plan = roll.plan
    roll.all_but_the_leader("forward, but for the active controller", CANDIDATE)
    with plan.phase("base leads the candidate"):
        plan.guard(LeaderRuns(BASE), within="30s")
        roll.soak(_SOAK_SECONDS)
    with plan.phase("the candidate leads base"):
        roll.change_leader(CANDIDATE)
        roll.soak(_SOAK_SECONDS)
    # A leader that stops hands over to whoever has fetched most, the first of them by id: only when every other
    # controller runs base is it certain that base is elected.
    back = "back, but for the active controller and the brokers"
    with plan.phase(back):
        roll.some(back, BASE, last_rolled_controller, "a rolled controller that is not active")
    with plan.phase("base leads the candidate again"):
        roll.change_leader(BASE)
        roll.soak(_SOAK_SECONDS)
    with plan.phase("back from half-way"):
        roll.some("back from half-way", BASE, last_rolled, "the last one rolled")


def _killed_in_step(roll: Roll) -> None:
    plan = roll.plan
    with plan.phase("a broker is killed in its step"):
        node = plan.bind("broker to kill", "choose a broker", _a_broker)
        roll.turn(node, CANDIDATE, killed=True)
    with plan.phase("a controller is killed in its step"):
        node = plan.bind("controller to kill", "choose a controller that is not active", _a_follower)
        roll.turn(node, CANDIDATE, killed=True)


def _a_broker(world: World) -> int:
    topology = world.cluster.topology
    return (topology.observer_ids or topology.broker_ids)[0]


def _a_follower(world: World) -> int:
    leader = world.quorum().leader
    return next(node for node in world.cluster.topology.voter_ids if node != leader)


def _dies_on_load(roll: Roll) -> None:
    plan = roll.plan
    with plan.phase("install the sabotaged jar"):
        node = roll.next_node((), "sabotaged node")
        _install_sabotaged(plan, node)
        plan.guard(HasCrashed(node), within="120s")
        plan.guard(RefusedByChecks(node), within="0s")
        plan.do(EndTurn())
    with plan.phase("stopped"):
        roll.still_serving()
        plan.do(ForgetErrors())
    with plan.phase("the way back"):
        roll.bring_back(node, BASE)


def _install_sabotaged(plan: Plan, node: NodeRef) -> None:
    plan.do(BeginTurn(node, DIES_ON_LOAD))
    plan.guard(safe_to_stop(node), within="60s")
    plan.do(allow_death(node), stop(node), install(node, DIES_ON_LOAD), start(node))


def _finalised(roll: Roll) -> None:
    roll.all_nodes(FORWARD, CANDIDATE)
    roll.finalise()
    roll.all_nodes(RESTART_FINALISED, "")
    if roll.config.finalising:
        roll.features_are(levels_of(roll.config.finalising.plan)[1])


KINDS: Mapping[str, RehearsalKind] = {
    CONTROL: RehearsalKind("Does base itself survive being restarted node by node under load?", _control),
    FORWARD_AND_BACK: RehearsalKind(
        "Does the candidate replace base node by node, and base the candidate again?", _forward_and_back
    ),
    "half-way-and-back": RehearsalKind(
        "Do both versions work side by side, whichever leads, and is there a way back from half-way?",
        _half_way_and_back,
    ),
    "killed-in-step": RehearsalKind(
        "Does a node that is killed in the middle of its turn come back?", _killed_in_step, kills=True
    ),
    "dies-on-load": RehearsalKind(
        "Is a candidate that dies on load noticed at the first node, with the cluster serving and a way back?",
        _dies_on_load,
    ),
    FINALISED: RehearsalKind(
        "Can the features be finalised when every node runs the candidate, and is every node restarted after that?",
        _finalised,
    ),
}


def rehearsal(name: str, config: RollConfig) -> Scenario:
    """Return a rehearsal as a scenario."""

    def build(plan: Plan, _cluster: ClusterRef, *_observers: NodeRef) -> None:
        roll = Roll(plan, config)
        roll.under_load()
        KINDS[name].build(roll)
        roll.way_back()

    return Scenario(
        name,
        KINDS[name].question,
        config.topology,
        (SUITE,),
        _BUDGET_SECONDS,
        build,
        __file__,
        stalls_spoil=False,
        again=partial(rehearsal, name, config),
    )


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return these names in the order of the rehearsals, none for none.

    Raises HarnessError for a name of no rehearsal (did you mean …), and for features that are finalised before the way
    back was rehearsed.
    """
    for name in names:
        if name not in KINDS:
            raise HarnessError(unknown("rehearsal", name, set(KINDS)))
    if FINALISED in names and FORWARD_AND_BACK not in names:
        raise HarnessError(
            "Features are finalised last: when the whole roll and the way back were rehearsed.",
            f"Add --rehearse {FORWARD_AND_BACK}.",
        )
    return tuple(name for name in KINDS if name in names)


def rehearsals_of(names: Sequence[str], features: FeaturePlan | None) -> tuple[str, ...]:
    """Return the rehearsals of these names, of all that there are when none is named.

    Raises HarnessError where features are to be finalised and none changes.
    """
    changes = features is not None and bool(features.changes)
    if FINALISED in names and not changes:
        raise HarnessError(
            "There is nothing to finalise: base and the candidate stand for the same features.",
            f"Leave out --rehearse {FINALISED}.",
        )
    return tuple(name for name in KINDS if name in names or (not names and (changes or name != FINALISED)))
