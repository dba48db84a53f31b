"""Stretches of plan that elections of partitions' leaders share, in KRaft and in ZooKeeper mode.

What is expected is what Kafka's own selectors do (PartitionChangeBuilder of the KRaft controller,
PartitionLeaderElectionAlgorithms of the one in ZooKeeper mode), as stock shows it: docs/elections.md.
"""

from __future__ import annotations

from harness.scenario.actions.change_partitions import create_partition, elect_preferred, elect_unclean, reassign
from harness.scenario.actions.change_partitions import set_topic as change_topic
from harness.scenario.actions.kill import kill
from harness.scenario.actions.let_pass import let_pass
from harness.scenario.actions.start import start, start_all
from harness.scenario.actions.stop import stop
from harness.scenario.actions.write_records import count_lost, write
from harness.scenario.conditions.is_up import is_up
from harness.scenario.conditions.leadership import has_leader
from harness.scenario.conditions.lost_records import lost
from harness.scenario.conditions.partition_leaders import (
    elected_after_failure,
    elected_after_shutdown,
    has_no_partition_leader,
    has_truncated,
    in_sync,
    isr_order_differs,
    led_by,
    led_by_first_in_sync,
)
from harness.scenario.conditions.replicas_agree import replicas_agree
from harness.scenario.loads.records import produce
from harness.scenario.plan import Plan
from harness.scenario.refs import NodeRef
from harness.scenario.voter_moves import SHORT_SESSIONS

UNCLEAN = "unclean.leader.election.enable"
# A leader must change for the reason that a plan gives it, and not because another one is preferred.
# Were it not for the first setting, the others would have a controller see to it within a second.
_NO_REBALANCE = {
    "auto.leader.rebalance.enable": "false",
    "leader.imbalance.check.interval.seconds": "1",
    "leader.imbalance.per.broker.percentage": "0",
}
IN_KRAFT = {**SHORT_SESSIONS, **_NO_REBALANCE}
# ZooKeeper keeps a broker that was killed for so long, and the controller hears of it then. A broker that stops when
# nobody is left to take over asks again and again, by default for 15 s.
IN_ZOOKEEPER = {
    "zookeeper.session.timeout.ms": "4000",
    "controlled.shutdown.retry.backoff.ms": "500",
    **_NO_REBALANCE,
}
# A session of 4 s, and what a controller takes.
_FAILURE, _SHUTDOWN, _BACK = "15s", "10s", "30s"
_AHEAD = 15


def begin(plan: Plan) -> tuple[NodeRef, NodeRef, NodeRef]:
    """Start everything and name the brokers; the third is the controller, where a broker is one.

    By descending ids the assignment differs from an ISR that is kept in the order of ids, as Kafka 4's is.
    """
    with plan.phase("start"):
        plan.do(start_all())
        plan.guard(is_up(), has_leader(), within="90s")
        first, second, third = plan.name_brokers("first broker", "second broker", "third broker")
    return first, second, third


def ask_for_clean_elections(plan: Plan) -> None:
    """Ask in turn for the four elections that lose nothing: after a shutdown and a failure, preferred, reassigned."""
    first, second, third = begin(plan)
    with plan.phase("a follower leaves the ISR and comes back last"):
        plan.background(produce("orders"))
        plan.do(create_partition("bar", first, second, third), write("bar", 20), stop(second))
        plan.guard(in_sync("bar", first, third), within=_SHUTDOWN)
        plan.do(start(second))
        plan.guard(is_up(), in_sync("bar", first, second, third), isr_order_differs("bar"), within=_BACK)
    with plan.phase("the leader stops"):
        plan.do(stop(first))
        plan.expect(led_by_first_in_sync("bar"), within=_SHUTDOWN, named="first_in_sync_leads_after_shutdown")
        plan.expect(elected_after_shutdown("bar"), within="5s", named="controller_says_shutdown")
        plan.do(write("bar", 20), start(first))
        plan.guard(is_up(), in_sync("bar", first, second, third), within=_BACK)
        plan.do(let_pass("3s"))
        plan.expect(led_by("bar", second), within="2s", named="nobody_is_preferred_unasked")
    with plan.phase("the preferred leader is asked for"):
        plan.do(elect_preferred("bar"))
        plan.expect(led_by("bar", first), within="10s", named="preferred_leads")
    with plan.phase("the leader is killed"):
        plan.guard(isr_order_differs("bar"), within="10s")
        plan.do(kill(first))
        plan.expect(led_by_first_in_sync("bar"), within=_FAILURE, named="first_in_sync_leads_after_failure")
        plan.expect(elected_after_failure("bar"), within="5s", named="controller_says_failure")
        plan.do(write("bar", 20), start(first))
        plan.guard(is_up(), in_sync("bar", first, second, third), within=_BACK)
    with plan.phase("the partition moves away from its leader"):
        plan.do(reassign("bar", third, first))
        plan.expect(in_sync("bar", third, first), within="20s", named="reassigned")
        plan.expect(led_by("bar", third), within="10s", named="first_of_new_assignment_leads")
        plan.do(count_lost("bar"))
        plan.expect(lost("bar", 0), within="1s", named="clean_elections_lose_nothing")
        expect_same_replicas(plan, "bar")


def ask_without_leaders(plan: Plan, *, by_setting_alone: bool) -> None:
    """Ask what becomes of partitions whose replicas are all gone, or all but one that is out of sync.

    `by_setting_alone` is whether an unclean election follows from switching it on for a topic without a leader.
    """
    first, second, _ = begin(plan)
    with plan.phase("no replica is alive"):
        plan.do(create_partition("none", first, second), write("none", 20), kill(second))
        plan.guard(in_sync("none", first), within=_FAILURE)
        plan.do(kill(first))
        plan.expect(has_no_partition_leader("none"), within=_FAILURE, named="nobody_leads_without_replicas")
        plan.do(start(first), start(second))
        plan.expect(led_by("none", first), within=_BACK, named="last_in_sync_leads_again")
        plan.guard(is_up(), in_sync("none", first, second), within=_BACK)
        plan.do(count_lost("none"))
        plan.expect(lost("none", 0), within="1s", named="nothing_lost_without_replicas")
        expect_same_replicas(plan, "none")
    with plan.phase("only one that is out of sync is alive, and unclean elections are off"):
        _leave_behind(plan, "off", first, second)
        plan.expect(has_no_partition_leader("off"), within=_FAILURE, named="nobody_leads_out_of_sync")
        plan.do(start(second))
        plan.guard(is_up(), within=_BACK)
        plan.do(let_pass("3s"))
        plan.expect(has_no_partition_leader("off"), within="1s", named="nobody_leads_while_unclean_is_off")
    with plan.phase("unclean elections are switched on"):
        plan.do(change_topic("off", UNCLEAN, "true"))
        if by_setting_alone:
            plan.expect(led_by("off", second), within="10s", named="out_of_sync_leads_by_setting")
        else:
            plan.do(let_pass("3s"))
            plan.do(elect_unclean("off"), when=has_no_partition_leader("off"))
            plan.expect(led_by("off", second), within="10s", named="out_of_sync_leads_by_request")
        _expect_loss(plan, "off", first, second, "switched_on")
    with plan.phase("only one that is out of sync is alive, and unclean elections are on"):
        _leave_behind(plan, "on", first, second, unclean="true")
        plan.expect(has_no_partition_leader("on"), within=_FAILURE, named="nobody_is_left_to_lead")
        plan.do(start(second))
        plan.expect(led_by("on", second), within=_BACK, named="out_of_sync_leads_unasked")
        _expect_loss(plan, "on", first, second, "on")


def _leave_behind(plan: Plan, topic: str, first: NodeRef, second: NodeRef, *, unclean: str = "false") -> None:
    """Write to both replicas, then to the first alone; then neither is alive."""
    plan.do(create_partition(topic, first, second, unclean_leader_election_enable=unclean), write(topic, 20))
    plan.guard(in_sync(topic, first, second), within="10s")
    plan.do(kill(second))
    plan.guard(in_sync(topic, first), within=_FAILURE)
    plan.do(write(topic, _AHEAD), kill(first))


def _expect_loss(plan: Plan, topic: str, first: NodeRef, second: NodeRef, when: str) -> None:
    """Expect that what only the old leader had is gone, and stays so when that comes back and truncates."""
    plan.do(count_lost(topic))
    plan.expect(lost(topic, _AHEAD), within="1s", named=f"what_the_leader_alone_had_is_lost_{when}")
    plan.do(write(topic, 1), start(first))
    plan.guard(is_up(), in_sync(topic, first, second), within=_BACK)
    plan.expect(has_truncated(first, topic), within="5s", named=f"old_leader_truncates_{when}")
    expect_same_replicas(plan, topic)


def expect_same_replicas(plan: Plan, topic: str) -> None:
    """Expect that everybody who has a replica of a topic has the same one, by the CRCs on the disks."""
    named = f"replicas_agree_on_{topic.replace('-', '_')}"
    plan.expect(replicas_agree(topic), within="10s", named=named)
