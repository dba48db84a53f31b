"""Requests of Raft sent to live voters by nobody of the quorum: the error is exact, and the raft thread lives."""

from harness.scenario import (
    allow_death,
    fails,
    fetches_are_answered,
    garbage_is_refused,
    has_logged,
    has_new_leader,
    has_snapshot,
    kill,
    kraft,
    leads,
    quorum_is_described,
    raft_lines,
    raft_requests_are_checked,
    scenario,
    snapshot_requests_are_checked,
    snapshot_without_topics_is_refused,
    start,
    voter_changes_are_refused,
    voter_moves,
    voters_caught_up,
)
from harness.scenario.bounds import AN_ELECTION

# A snapshot within seconds, so that who fetches the whole log is sent to it.
SNAPSHOTS = {"metadata.log.max.snapshot.interval.ms": "5000", **voter_moves.SHORT_SESSIONS}
REFUSED_BY_ACCIDENT = "docs/upstream/fetch-snapshot-is-refused-by-accident.md"
DEDICATED = kraft(controllers=3, observers=1, combined=False)


@scenario(DEDICATED, suite="raft", budget="3m", properties=SNAPSHOTS)
def raft_requests(plan, cluster, observer):
    """Does each voter answer wrong requests with the right error and Fetch at the right time, and stay alive?"""
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
        plan.expect(has_new_leader(), within=AN_ELECTION, named="new_leader_after_garbage")
        plan.do(start(leader))
        voter_moves.expect_whole(plan, observer, "after_election")
        plan.expect(raft_requests_are_checked(), within="10s", named="raft_requests_are_checked_in_a_later_epoch")


@scenario(
    DEDICATED,
    suite="raft",
    budget="3m",
    properties=SNAPSHOTS,
    expected=fails("snapshot_requests_are_checked", known=REFUSED_BY_ACCIDENT),
)
def raft_snapshot_requests(plan, cluster, observer):
    """Is a replica told why it cannot have the snapshot that it fetches?

    No Kafka up to 4.3 can write that answer.
    """
    voter_moves.start_all(plan, observer)
    voters = plan.name_voters("leader", "first follower", "second follower")
    with plan.phase("snapshots that cannot be had"):
        plan.guard(*(has_snapshot(each) for each in voters), voters_caught_up(), within="30s")
        plan.expect(snapshot_requests_are_checked(), within="10s", named="snapshot_requests_are_checked")
        voter_moves.expect_whole(plan, observer, "after_requests")


@scenario(
    DEDICATED,
    suite="raft",
    budget="3m",
    properties=voter_moves.SHORT_SESSIONS,
    expected=fails("snapshot_without_topics_is_refused", known=REFUSED_BY_ACCIDENT),
)
def raft_snapshot_without_topics(plan, cluster, observer):
    """Does a leader outlive a FetchSnapshot without a topic, and refuse it?

    The leader of a Kafka up to 4.3 ends by it (apache/kafka pull request 23185).
    """
    voter_moves.start_all(plan, observer)
    leader, *_ = plan.name_voters("leader", "first follower", "second follower")
    with plan.phase("a snapshot of no topic"):
        plan.guard(voters_caught_up(), within="30s")
        plan.do(allow_death(leader))
        plan.expect(snapshot_without_topics_is_refused(), within="10s", named="snapshot_without_topics_is_refused")
        plan.expect(leads(leader), within="10s", named="leader_leads_on")
        voter_moves.expect_whole(plan, observer, "after_request")
