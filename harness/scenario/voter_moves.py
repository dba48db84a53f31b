"""Stretches of plan that several scenarios share: bringing a cluster up, and moving its voters to new ports.

Whoever leads after a restart is not for a script to say, so voters are named by what is observed and moved in an
order that keeps one right address in the observer's configuration until the last move.
"""

from __future__ import annotations

from harness.scenario.actions.count_right_addresses import count_right_addresses
from harness.scenario.actions.create_topic import create_topic
from harness.scenario.actions.register_endpoint import register_endpoint
from harness.scenario.actions.restart import restart
from harness.scenario.actions.start import start, start_voters
from harness.scenario.actions.start import start_all as start_every_node
from harness.scenario.bounds import AN_ELECTION, RecoveryBound
from harness.scenario.conditions.follows_leader import follows_leader
from harness.scenario.conditions.is_up import is_up
from harness.scenario.conditions.leadership import has_leader, has_new_leader, leads
from harness.scenario.conditions.sees_topic import sees_topic
from harness.scenario.conditions.voter_set import leader_is_moved_and_registered
from harness.scenario.conditions.voters_caught_up import voters_caught_up
from harness.scenario.loads.records import produce
from harness.scenario.plan import Plan
from harness.scenario.refs import NodeRef

# A broker that was killed may register again when its session is over: nine seconds by default, and nothing of Raft.
SHORT_SESSIONS = {"broker.session.timeout.ms": "4000", "broker.heartbeat.interval.ms": "1000"}
# What stock fails by where each address that an observer was configured with is stale.
ASKS_CONFIGURED_ONLY = "docs/upstream/observers-ask-configured-servers-only.md"


def start_all(plan: Plan, observer: NodeRef) -> None:
    """Start every node, wait until the observer follows, and begin the background load."""
    with plan.phase("start"):
        plan.do(start_every_node())
        plan.guard(is_up(), follows_leader(observer), within="90s")
        plan.background(produce("orders"))


def move_all_voters_but_one(plan: Plan, observer: NodeRef) -> NodeRef:
    """Move a follower, then the leader, and see to it that a moved, registered voter leads; return the unmoved one.

    If the unmoved voter was elected meanwhile, it is restarted once on its old ports, so that another leads.
    """
    leader, first, last = plan.name_voters("first leader", "first to move", "last to move")
    with plan.phase("a follower moves"):
        plan.do(restart(first, ports="new"))
        plan.guard(is_up(), within="60s")
        plan.do(register_endpoint(first), count_right_addresses(observer))
        plan.guard(voters_caught_up(), follows_leader(observer), within="30s")
    with plan.phase("the leader moves"):
        plan.do(restart(leader, ports="new"))
        plan.guard(has_new_leader(), is_up(), within="60s")
        plan.do(register_endpoint(leader), count_right_addresses(observer))
    with plan.phase("a moved voter leads"):
        plan.do(restart(last, ports="same"), when=leads(last))
        plan.guard(has_leader(), is_up(), within="60s")
        guard_that_a_moved_voter_leads(plan, observer)
    return last


def move(plan: Plan, voter: NodeRef) -> None:
    """Move a voter to new ports and register it, whether it leads or not; nothing is said of an observer."""
    plan.do(restart(voter, ports="new"))
    plan.guard(has_leader(), is_up(), within="60s")
    plan.do(register_endpoint(voter))
    plan.guard(voters_caught_up(), within="30s")


def start_with_stale_addresses(plan: Plan, observer: NodeRef) -> tuple[NodeRef, NodeRef, NodeRef]:
    """Start everything; the observer follows, and no address that it is configured with leads anywhere.

    It was started with that of one follower, which told it who leads, and has moved then. Returns the leader, that
    voter, and the other one.
    """
    with plan.phase("the voters start"):
        plan.do(start_voters())
        plan.guard(is_up(), has_leader(), within="90s")
        plan.background(produce("orders"))
        voters = plan.name_voters("first leader", "voter that the observer knew", "other voter")
    with plan.phase("the observer starts, and its configuration becomes stale"):
        plan.do(start(observer, knows=voters[1]))
        plan.guard(is_up(), voters_caught_up(), follows_leader(observer), within="60s")
        move(plan, voters[1])
        plan.guard(follows_leader(observer), within="30s")
        plan.do(count_right_addresses(observer))
    return voters[0], voters[1], voters[2]


def guard_that_a_moved_voter_leads(plan: Plan, observer: NodeRef) -> None:
    """Guard that a voter which moved and is registered leads, that all voters caught up, that the observer follows."""
    plan.guard(leader_is_moved_and_registered(), voters_caught_up(), within="30s")
    plan.guard(follows_leader(observer), within="30s")


def expect_recovery(plan: Plan, observer: NodeRef) -> None:
    """Expect the observer to follow the leader and to learn of new metadata, as soon as its own time-outs allow."""
    bound = RecoveryBound(voters=3)
    plan.expect(follows_leader(observer), within=bound, named="observer_recovers")
    plan.do(create_topic("created-after-recovery"))
    plan.expect(sees_topic(observer, "created-after-recovery"), within=bound, named="metadata_reaches_observer")


def expect_new_leader(plan: Plan, observer: NodeRef, named: str) -> None:
    """Expect another leader, and the observer to find it while the one before it is still away."""
    plan.expect(has_new_leader(), within=AN_ELECTION, named=f"new_leader_{named}")
    plan.expect(follows_leader(observer), within=RecoveryBound(voters=3), named=f"observer_follows_new_leader_{named}")


def expect_whole(plan: Plan, observer: NodeRef, named: str) -> None:
    """Expect every node to answer, every voter to have caught up and the observer to follow, by names that end alike.

    So ends a question of a cluster that is asked another one next.
    """
    plan.expect(is_up(), within="45s", named=f"all_up_{named}")
    plan.expect(voters_caught_up(), within="20s", named=f"voters_caught_up_{named}")
    plan.expect(follows_leader(observer), within=RecoveryBound(voters=3), named=f"observer_follows_{named}")
