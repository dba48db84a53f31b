"""Scenarios of chaos, made from their names: `chaos-17` is all that seed 17 stands for, `chaos-17-only-2-5` a part.

`chaos-17-only-none` has no fault at all, and lasts as long as the whole: what fails there needs none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence

from harness.scenario import voter_moves, written_topics
from harness.scenario.actions.begin_to_stop import await_start, begin_to_stop, start_stopped
from harness.scenario.actions.cut import cut, heal
from harness.scenario.actions.degrade import degrade, mend
from harness.scenario.actions.hold import hold, release
from harness.scenario.actions.kill import kill
from harness.scenario.actions.let_pass import await_time, let_pass
from harness.scenario.actions.start import start
from harness.scenario.chaos.schedule import LASTS_SECONDS, Disruption, Disturbance, Turn, only, schedule, turns
from harness.scenario.conditions.leadership import has_leader
from harness.scenario.loads.ledger import keep_ledger
from harness.scenario.plan import NETWORK, ClusterRef, Plan, Scenario, kraft
from harness.scenario.refs import NodeRef, fixed
from harness.scenario.steps import Action

SUITE = "chaos"
TOPOLOGY = kraft(controllers=3, observers=1, network=True)
_NONE = "none"
_NAME = re.compile(rf"chaos-(0|[1-9]\d{{0,8}})(?:-only-({_NONE}|[1-9]\d?(?:-[1-9]\d?)*))?")
_MOST_FAULTS = 100  # of a schedule: their numbers have two digits
_BUDGET_SECONDS = 300.0
_WHOLE = "60s"

Verb = Callable[[NodeRef, ClusterRef, int], Action]
Verbs = tuple[Verb, Verb]

# How each begins, and how it ends; the number is a seed of its own.
_VERBS: dict[Disturbance, Verbs] = {
    Disturbance.KILL: (lambda node, *_: kill(node), lambda node, *_: start(node)),
    Disturbance.STOP: (lambda node, *_: begin_to_stop(node), lambda node, *_: start_stopped(node)),
    Disturbance.HOLD: (lambda node, *_: hold(node), lambda node, *_: release(node)),
    Disturbance.ISOLATE: (
        lambda node, cluster, _: cut(node, cluster.all_but(node)),
        lambda node, cluster, _: heal(node, cluster.all_but(node)),
    ),
    Disturbance.DEAFEN: (
        lambda node, cluster, _: cut(node, cluster.all_but(node), way="in"),
        lambda node, cluster, _: heal(node, cluster.all_but(node)),
    ),
    Disturbance.MUTE: (
        lambda node, cluster, _: cut(node, cluster.all_but(node), way="out"),
        lambda node, cluster, _: heal(node, cluster.all_but(node)),
    ),
    Disturbance.SLOW: (
        lambda node, cluster, _: degrade(node, cluster.all_but(node), delay="100ms"),
        lambda node, cluster, _: mend(node, cluster.all_but(node)),
    ),
    Disturbance.LOSSY: (
        lambda node, cluster, seed: degrade(node, cluster.all_but(node), delay="5ms", loss=0.1, seed=seed),
        lambda node, cluster, _: mend(node, cluster.all_but(node)),
    ),
    Disturbance.NO_CLIENTS: (
        lambda node, cluster, _: cut(cluster.clients, node),
        lambda node, cluster, _: heal(cluster.clients, node),
    ),
}


def seeded(seeds: Iterable[int]) -> list[str]:
    """Return the names of the scenarios of seeds."""
    return [f"chaos-{seed}" for seed in seeds]


def part_of(name: str, numbers: Collection[int]) -> str:
    """Return the name of the scenario that has only these faults of another's, or none."""
    whole = name.partition("-only-")[0]
    return f"{whole}-only-{'-'.join(map(str, sorted(numbers))) or _NONE}"


def disruptions_of(name: str) -> tuple[Disruption, ...] | None:
    """Return the faults of a scenario by its name; None for a name that is none of chaos's, or of no such faults."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    every = schedule(int(found[1]), TOPOLOGY.node_ids)
    if found[2] is None:
        return every
    numbers = [] if found[2] == _NONE else [int(number) for number in found[2].split("-")]
    chosen = only(every, numbers)
    return chosen if [each.number for each in chosen] == numbers else None


def chaos_scenario(name: str) -> Scenario | None:
    """Return the scenario of a name; None for a name that is none of chaos's."""
    disruptions = disruptions_of(name)
    if disruptions is None:
        return None
    seed = int(name.split("-")[1])

    def build(plan: Plan, cluster: ClusterRef, observer: NodeRef) -> None:
        _fill(plan, cluster, observer, disruptions, seed)

    return Scenario(
        name,
        _question(len(disruptions)),
        TOPOLOGY,
        (SUITE,),
        _BUDGET_SECONDS,
        build,
        __file__,
        (NETWORK,),
        voter_moves.SHORT_SESSIONS,
    )


def _question(faults: int) -> str:
    what = f"come back whole from {faults} faults" if faults else "stay whole without any fault"
    return f"Does a cluster {what}, with every record that was promised?"


def _fill(plan: Plan, cluster: ClusterRef, observer: NodeRef, disruptions: Sequence[Disruption], seed: int) -> None:
    voter_moves.start_all(plan, observer)
    plan.background(keep_ledger("idempotent", keys=20))
    plan.background(keep_ledger("transactional", transactional=True))
    with plan.phase("chaos"):
        if not disruptions:
            plan.do(let_pass(f"{LASTS_SECONDS:g}s"))
        _disrupt(plan, cluster, turns(disruptions), seed)
    with plan.phase("calm"):
        plan.expect(has_leader(), within=_WHOLE, named="somebody_leads_after_chaos")
        voter_moves.expect_whole(plan, observer, "after_chaos")
    written_topics.expect_whole(plan)


def _disrupt(plan: Plan, cluster: ClusterRef, moments: Iterable[Turn], seed: int) -> None:
    """Do each turn at its time; a node that stops slowly is waited for by its own next fault, and in the end."""
    late: set[int] = set()
    for turn in moments:
        kind, node = turn.disruption.kind, turn.disruption.node
        if turn.begins and kind.is_of_process and node in late:
            late.remove(node)
            plan.do(await_start(_node(node)))
        plan.do(await_time(f"{turn.at:.1f}s"), _act(turn, cluster, seed))
        if kind is Disturbance.STOP and not turn.begins:
            late.add(node)
    plan.do(*(await_start(_node(node)) for node in sorted(late)))


def _node(number: int) -> NodeRef:
    return fixed(number, f"node {number}")


def _act(turn: Turn, cluster: ClusterRef, seed: int) -> Action:
    begin, end = _VERBS[turn.disruption.kind]
    node, number = _node(turn.disruption.node), _MOST_FAULTS * seed + turn.disruption.number
    return (begin if turn.begins else end)(node, cluster, number)
