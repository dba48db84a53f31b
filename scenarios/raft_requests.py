"""Requests of Raft sent to live voters by nobody of the quorum: the error is exact, and the raft thread lives."""

from harness.scenario import (
    fetches_are_answered,
    garbage_is_refused,
    has_logged,
    has_new_leader,
    has_snapshot,
    kill,
    kraft,
    quorum_is_described,
    raft_lines,
    raft_requests_are_checked,
    scenario,
    start,
    voter_changes_are_refused,
    voter_moves,
    voters_caught_up,
)
from harness.scenario.bounds import FetchTimeouts

# A snapshot within seconds, so that who fetches the whole log is sent to it.
SNAPSHOTS = {"metadata.log.max.snapshot.interval.ms": "5000", **voter_moves.SHORT_SESSIONS}
DEDICATED = kraft(controllers=3, observers=1, combined=False)


@scenario(DEDICATED, suite="raft", budget="3m", properties=SNAPSHOTS)
def raft_requests(plan, cluster, observer):
    """Does each voter answer what is wrong with the error that is meant for it, and Fetch when it must, and live on?"""
    voter_moves.start_all(plan, observer)
    with plan.phase("requests that are wrong"):
        leader, first, second = plan.name_voters("leader", "first follower", "second follower")
        plan.guard(voters_caught_up(), within="30s")
        plan.expect(quorum_is_described(), within="10s", named="quorum_is_described")
        plan.expect(voter_changes_are_refused(), within="10s", named="voter_changes_are_refused")
        plan.expect(raft_requests_are_checked(), within="10s", named="raft_requests_are_checked")
    with plan.phase("fetches at once and long polls"):
        plan.guard(has_snapshot(leader), within="30s")
        plan.expect(fetches_are_answered(), within="30s", named="fetches_are_answered")
    with plan.phase("garbage"):
        plan.expect(garbage_is_refused(), within="20s", named="garbage_is_refused")
        for called, node in (("leader", leader), ("first_follower", first), ("second_follower", second)):
            closed = has_logged(node, *raft_lines.CONNECTION_CLOSED)
            plan.expect(closed, within="5s", named=f"{called}_closes_the_connection")
    with plan.phase("the raft threads live"):
        voter_moves.expect_whole(plan, observer, "after_garbage")
        plan.do(kill(leader))
        plan.expect(has_new_leader(), within=FetchTimeouts(4), named="new_leader_after_garbage")
        plan.do(start(leader))
        voter_moves.expect_whole(plan, observer, "after_election")
        plan.expect(raft_requests_are_checked(), within="10s", named="raft_requests_are_checked_in_a_later_epoch")
