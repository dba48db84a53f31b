"""Quorums of one and of two voters, where every voter is needed."""

from harness.scenario import (
    has_leader,
    has_no_leader,
    kill,
    kraft,
    quorum_is_described,
    restart,
    scenario,
    start,
    stop,
    voter_moves,
)
from harness.scenario.bounds import FetchTimeouts


@scenario(kraft(controllers=1, observers=1), suite="standard", budget="4m", properties=voter_moves.SHORT_SESSIONS)
def one_voter(plan, cluster, observer):
    """Does a quorum of one voter come back after a restart and a kill, and does the observer follow it again?"""
    voter_moves.start_all(plan, observer)
    with plan.phase("the only voter restarts"):
        (voter,) = plan.name_voters("only voter")
        plan.do(restart(voter))
        plan.expect(has_leader(), within="30s", named="voter_leads_after_restart")
        voter_moves.expect_whole(plan, observer, "after_restart")
    with plan.phase("the only voter is killed"):
        plan.do(kill(voter), start(voter))
        plan.expect(has_leader(), within="30s", named="voter_leads_after_kill")
        voter_moves.expect_whole(plan, observer, "after_kill")
        plan.expect(quorum_is_described(), within="10s", named="quorum_is_described")
    with plan.phase("nothing happens"):
        plan.measure("idle", "20s")


@scenario(kraft(controllers=2, observers=1), suite="standard", budget="4m", properties=voter_moves.SHORT_SESSIONS)
def two_voters(plan, cluster, observer):
    """Does the leader of two voters give up when the other one stops, and does the quorum come back with it?"""
    voter_moves.start_all(plan, observer)
    with plan.phase("the follower stops"):
        _, follower = plan.name_voters("first leader", "first follower")
        plan.do(stop(follower))
        plan.expect(has_no_leader(), within=FetchTimeouts(1.5), named="leader_without_follower_gives_up")
    with plan.phase("the follower comes back"):
        plan.do(start(follower))
        plan.expect(has_leader(), within="30s", named="leader_after_follower_returned")
        voter_moves.expect_whole(plan, observer, "after_follower_returned")
    with plan.phase("the leader is killed and comes back"):
        leader, _ = plan.name_voters("second leader", "second follower")
        plan.do(kill(leader), start(leader))
        plan.expect(has_leader(), within="30s", named="leader_after_leader_returned")
        voter_moves.expect_whole(plan, observer, "after_leader_returned")
        plan.expect(quorum_is_described(), within="10s", named="quorum_is_described")
    with plan.phase("nothing happens"):
        plan.measure("idle", "20s")
