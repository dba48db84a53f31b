"""Stretches of plan that incidents of topic ids share: how it comes about, how it shows, and how one sees it healed.

The incident is that of a tool from before topic ids: docs/topic-ids.md has what was seen in which release.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.scenario.actions.ask_clients import ask_old_reader, ask_reader, ask_writer
from harness.scenario.actions.old_tools import TopicTool, add_partitions_by_old_tool
from harness.scenario.actions.restart import restart
from harness.scenario.actions.start import start_all
from harness.scenario.actions.topic_id_commands import (
    check_ids,
    plan_repair,
    put_back_ids,
    repair_brokers,
    restore_broker,
    restore_ids,
)
from harness.scenario.actions.topic_ids import change_controller, remember_id
from harness.scenario.actions.write_records import count_lost, write
from harness.scenario.conditions.has_logged import has_logged
from harness.scenario.conditions.is_up import is_up
from harness.scenario.conditions.leadership import has_leader
from harness.scenario.conditions.lost_records import lost
from harness.scenario.conditions.replicas_agree import replicas_agree
from harness.scenario.conditions.topic_ids import all_in_sync, answered, has_later_controller, ids_are, runs_line
from harness.scenario.election_moves import IN_ZOOKEEPER
from harness.scenario.loads.ledger import keep_ledger
from harness.scenario.plan import Plan, PlanBuilder, Scenario, scenario, zookeeper
from harness.scenario.refs import NodeRef
from harness.scenario.topic_ids import NONE, OLD

TOPIC = "orders"
# `Topic ID in memory: X …` of 3.9, `Topic Id in memory: X …` of 2.8: at every LeaderAndIsr with another id.
REFUSES = " does not match the topic I"
_FIRST, _ALL = 3, 6  # partitions before and after the old tool adds some; as many brokers hold each
# The old tool makes topics without settings of their own, as it did then: what holds for all is part of the question.
_TOPICS = {"unclean.leader.election.enable": "false", "min.insync.replicas": "1"}
_UP, _IDS, _CONTROLLER, _ISR = "90s", "15s", "20s", "40s"


def incident(**properties: str) -> Callable[[PlanBuilder], Scenario]:
    """Make a scenario of the suite: three brokers with short waits, and other properties, with _ for each dot."""
    own = {name.replace("_", "."): value for name, value in properties.items()}
    return scenario(
        zookeeper(brokers=3),
        suite="topic-ids",
        budget="6m",
        needs=("old_topic_tool",),
        properties={**IN_ZOOKEEPER, **_TOPICS, "group.initial.rebalance.delay.ms": "0", **own},
    )


def begin(plan: Plan, **settings: str) -> tuple[NodeRef, NodeRef, NodeRef]:
    """Start everything, have the topic made by the old tool, and write to it; the third broker is the controller."""
    brokers = begin_without_ids(plan, **settings)
    with plan.phase("the topic has an id"):
        plan.do(remember_id(TOPIC))
    return brokers


def begin_without_ids(plan: Plan, **settings: str) -> tuple[NodeRef, NodeRef, NodeRef]:
    """Do the same where nobody speaks of topic ids yet."""
    with plan.phase("start"):
        plan.do(start_all())
        plan.guard(is_up(), has_leader(), within=_UP)
        first, second, third = plan.name_brokers("first broker", "second broker", "controller")
        plan.do(TopicTool.creating(TOPIC, _FIRST, 3, settings), write(TOPIC, 100))
    return first, second, third


def restart_each(plan: Plan, *brokers: NodeRef) -> None:
    """Restart brokers one after the other, each once the one before is up."""
    for broker in brokers:
        plan.do(restart(broker))
        plan.guard(is_up(), within=_UP)


def change(plan: Plan) -> None:
    """Have another controller."""
    plan.do(change_controller())
    plan.guard(has_later_controller(), is_up(), within=_CONTROLLER)


def lose_id(plan: Plan) -> None:
    """Have partitions added by the old tool: nobody notices that ZooKeeper has lost the id."""
    plan.do(add_partitions_by_old_tool(TOPIC, _ALL))
    unnoticed = f"{OLD}/{NONE}"  # 2.8 has no file before another controller has spoken of the topic
    plan.guard(ids_are(TOPIC, zookeeper=NONE, first=unnoticed, added=unnoticed), within=_IDS)
    plan.do(write(TOPIC, 100))


def keep_account(plan: Plan) -> None:
    """Write to all partitions that there are, and read them, from here to the end: none of that may be lost."""
    plan.background(keep_ledger(TOPIC, existing=True))


def come_about(plan: Plan, *, loses: bool = False, **settings: str) -> tuple[NodeRef, NodeRef, NodeRef]:
    """Bring the incident about, with a controller change before it too; only then does 2.8 show anything.

    3.9 has the old id in all directories, 2.8 the old one in the first and the new one in those that were added. Where
    what is done about it `loses` records, or heals nothing, no ledger is kept.
    """
    brokers = begin(plan, **settings)
    with plan.phase("another controller, partitions are added, another controller"):
        change(plan)
        plan.guard(ids_are(TOPIC, zookeeper="old", first="old"), within=_IDS)
        lose_id(plan)
        if not loses:
            keep_account(plan)
        change(plan)
        with plan.only_if(runs_line("2.8")):
            plan.guard(ids_are(TOPIC, zookeeper="new", first="old", added="new"), within=_IDS)
        with plan.only_if(runs_line("3.9")):
            plan.guard(ids_are(TOPIC, zookeeper="new", first="old", added="old"), within=_IDS)
        plan.guard(has_logged(brokers[0], REFUSES), within=_IDS)
    return brokers


def repair_as_planned(plan: Plan, *brokers: NodeRef) -> None:
    """Have our check find it, our plan choose by what each release shows, and our repair heal it."""
    with plan.only_if(runs_line("2.8")):
        _delete(plan, "plan_deletes")
        expect_healed(plan, *brokers, ids="new", named="repair")
        _check_again(plan)
    with plan.only_if(runs_line("3.9")):
        put_back(plan, *brokers)


def repair_and_restore(plan: Plan) -> None:
    """Have our repair undone: the mismatch is back, in 2.8 that of the broker whose turn was first."""
    with plan.only_if(runs_line("2.8")), plan.phase("repaired, and one broker restored"):
        _delete(plan, "first_plan_deletes")
        plan.guard(all_in_sync(TOPIC), within=_ISR)
        plan.do(restore_broker(), check_ids())
        left = ids_are(TOPIC, zookeeper="new", first="old/new/none", added="new/none")
        plan.expect(left, within=_IDS, named="restore_leaves_zookeeper")
        _expect_back(plan, _FIRST)
    with plan.only_if(runs_line("3.9")), plan.phase("repaired, and ZooKeeper restored"):
        _put_back(plan, "first_plan_puts_back")
        plan.guard(all_in_sync(TOPIC), within=_ISR)
        plan.do(restore_ids(), check_ids())
        back = ids_are(TOPIC, zookeeper="new", first="old", added="old")
        plan.expect(back, within=_IDS, named="restore_brings_new_id_back")
        _expect_back(plan, 3 * _ALL)
    plan.do(write(TOPIC, 50))


def _expect_back(plan: Plan, directories: int) -> None:
    """Expect that as many directories differ from ZooKeeper as before they were repaired."""
    differ = answered("check", f"{directories} directories of 1 topic have another id than ZooKeeper")
    plan.expect(differ, within="1s", named="mismatch_is_back")


def put_back(plan: Plan, *brokers: NodeRef) -> None:
    """Have our check find it, our plan put the old id back, and that heal it."""
    _put_back(plan, "plan_puts_back")
    expect_healed(plan, *brokers, ids="old", named="put_back")
    _check_again(plan)


def _put_back(plan: Plan, named: str) -> None:
    _plan(plan, "put the old id back", named)
    plan.do(put_back_ids())


def _delete(plan: Plan, named: str) -> None:
    _plan(plan, "delete the files with the old id", named)
    plan.do(repair_brokers())


def _plan(plan: Plan, chosen: str, named: str) -> None:
    plan.do(check_ids(), plan_repair())
    plan.expect(answered("check", "exit 1: "), within="1s", named="check_finds_it")
    plan.expect(answered("plan", chosen), within="1s", named=named)


def _check_again(plan: Plan) -> None:
    plan.do(check_ids())
    plan.expect(answered("check", "exit 0: Healthy"), within="1s", named="check_is_content")


def expect_healed(plan: Plan, *brokers: NodeRef, ids: str, named: str) -> None:
    """Expect that all is as if nothing had happened, and that it survives another controller and every restart.

    `ids` are those that everything has now; where files were deleted, some come only with the next leader.
    """
    with plan.phase("healed"):
        _expect_whole(plan, ids, named)
    with plan.phase("another controller, and a restart of each broker"):
        change(plan)
        for number, broker in enumerate(brokers, start=1):
            restart_each(plan, broker)
            plan.expect(all_in_sync(TOPIC), within=_ISR, named=f"{named}_survives_restart_{number}")
        _expect_whole(plan, ids, f"{named}_still")
        plan.do(count_lost(TOPIC))
        plan.expect(lost(TOPIC, 0), within="1s", named=f"{named}_loses_nothing")
        plan.expect(replicas_agree(TOPIC), within="5s", named=f"{named}_replicas_agree")


def _expect_whole(plan: Plan, ids: str, named: str) -> None:
    plan.expect(all_in_sync(TOPIC), within=_ISR, named=f"{named}_in_sync")
    disks = ids if ids == OLD else f"{ids}/{NONE}"
    plan.expect(ids_are(TOPIC, zookeeper=ids, first=disks, added=disks), within=_IDS, named=f"{named}_same_ids")
    plan.do(write(TOPIC, 50), ask_reader(TOPIC), ask_reader(TOPIC, _FIRST), ask_old_reader(TOPIC))
    plan.expect(answered(f"reading {TOPIC}-0", "read"), within="1s", named=f"{named}_is_read")
    plan.expect(answered(f"reading {TOPIC}-{_FIRST}", "read"), within="1s", named=f"{named}_is_read_where_added")
    plan.expect(answered(f"old reading {TOPIC}", "read"), within="1s", named=f"{named}_is_read_by_old_clients")


def ask_all(plan: Plan) -> None:
    """Ask both families of clients, about an old and an added partition."""
    plan.do(ask_writer(TOPIC), ask_writer(TOPIC, _FIRST), ask_reader(TOPIC), ask_reader(TOPIC, _FIRST))
    plan.do(ask_old_reader(TOPIC))
