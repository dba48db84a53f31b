"""Stretches of plan that several scenarios share: bringing a cluster up, and moving its voters to new ports.

Whoever leads after a restart is not for a script to say, so voters are named by what is observed and moved in an
order that keeps one right address in the observer's configuration until the last move.
"""

from __future__ import annotations

from harness.scenario.api import ClusterRef, Plan
from harness.scenario.bounds import RecoveryBound
from harness.scenario.load import produce
from harness.scenario.nodes import NodeRef


def start_all(plan: Plan, cluster: ClusterRef, observer: NodeRef) -> None:
    """Start every node, wait until the observer follows, and begin the background load."""
    with plan.phase("start"):
        plan.do(cluster.start())
        plan.guard(cluster.is_up(), observer.follows_leader(), within="90s")
        plan.background(produce(topic="orders", acks="all"))


def move_all_voters_but_one(plan: Plan, cluster: ClusterRef, observer: NodeRef) -> NodeRef:
    """Move a follower, then the leader, and see to it that a moved, registered voter leads; return the unmoved one.

    If the unmoved voter was elected meanwhile, it is restarted once on its old ports, so that another leads.
    """
    leader, first, last = plan.name_voters("first leader", "first to move", "last to move")
    with plan.phase("a follower moves"):
        plan.do(first.restart(ports="new"))
        plan.guard(cluster.is_up(), within="60s")
        plan.do(first.register_endpoint())
        plan.guard(cluster.voters_caught_up(), observer.follows_leader(), within="30s")
    with plan.phase("the leader moves"):
        plan.do(leader.restart(ports="new"))
        plan.guard(cluster.has_new_leader(), cluster.is_up(), within="60s")
        plan.do(leader.register_endpoint())
    with plan.phase("a moved voter leads"):
        plan.do(last.restart(ports="same"), when=last.leads())
        plan.guard(cluster.has_leader(), cluster.is_up(), within="60s")
        guard_that_a_moved_voter_leads(plan, cluster, observer)
    return last


def guard_that_a_moved_voter_leads(plan: Plan, cluster: ClusterRef, observer: NodeRef) -> None:
    """Guard that a voter which moved and is registered leads, that all voters caught up, that the observer follows."""
    plan.guard(cluster.leader_is_moved_and_registered(), cluster.voters_caught_up(), within="30s")
    plan.guard(observer.follows_leader(), within="30s")


def expect_recovery(plan: Plan, cluster: ClusterRef, observer: NodeRef) -> None:
    """Expect the observer to follow the leader and to learn of new metadata, as soon as its own time-outs allow."""
    bound = RecoveryBound(voters=3)
    plan.expect(observer.follows_leader(), within=bound, named="observer_recovers")
    plan.do(cluster.create_topic("created-after-recovery"))
    plan.expect(observer.sees_topic("created-after-recovery"), within=bound, named="metadata_reaches_observer")
