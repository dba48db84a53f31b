"""Voters that only the configuration names, as in every cluster from before KIP-853."""

from harness.scenario import (
    follows_leader,
    has_leader,
    has_new_leader,
    kill,
    kraft,
    quorum_is_described,
    restart,
    scenario,
    start,
    stop,
    voter_moves,
)
from harness.scenario.bounds import AN_ELECTION, RecoveryBound

STATIC = kraft(controllers=3, observers=1, combined=False, static_voters=True)


@scenario(STATIC, suite="standard", budget="4m", properties=voter_moves.SHORT_SESSIONS)
def static_voters(plan, cluster, observer):
    """Does a quorum of static voters survive the loss of its leader, and does a restarted broker find the next one?"""
    voter_moves.start_all(plan, observer)
    with plan.phase("the leader is killed"):
        plan.expect(quorum_is_described(), within="10s", named="quorum_is_described")
        first, *_ = plan.name_voters("first leader", "second controller", "third controller")
        plan.do(kill(first))
        voter_moves.expect_new_leader(plan, observer, "after_kill")
        plan.do(start(first))
        voter_moves.expect_whole(plan, observer, "after_kill")
    with plan.phase("the next leader stops, and the broker restarts"):
        second, *_ = plan.name_voters("second leader", "one follower", "other follower")
        plan.do(stop(second))
        plan.expect(has_new_leader(), within=AN_ELECTION, named="new_leader_after_stop")
        plan.do(restart(observer))
        plan.guard(has_leader(), within="10s")
        found = follows_leader(observer)
        plan.expect(found, within=RecoveryBound(3), named="restarted_broker_follows_new_leader")
        plan.do(start(second))
        voter_moves.expect_whole(plan, observer, "after_stop")
    with plan.phase("nothing happens"):
        plan.measure("idle", "20s")
