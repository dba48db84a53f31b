"""Ways through Raft that nodes take seldom, each taken on purpose and proven by the line that Kafka logs on it."""

from harness.scenario import (
    add_controller,
    create_topics,
    follows_leader,
    has_logged,
    has_new_leader,
    has_no_leader,
    has_snapshot,
    hold_followers,
    kill,
    kraft,
    raft_requests_are_checked,
    release_followers,
    remove_controller,
    scenario,
    start,
    stop,
    voter_changes_are_refused,
    voter_moves,
    votes,
    votes_no_more,
    wipe,
)
from harness.scenario.bounds import FetchTimeouts, RecoveryBound

AN_ELECTION = FetchTimeouts(4)
# A snapshot after every 20 KB of records: that of a topic has a few hundred bytes.
OFTEN = {"metadata.log.max.record.bytes.between.snapshots": "20000", **voter_moves.SHORT_SESSIONS}
BECAME = "Completed transition to "


@scenario(kraft(controllers=3, observers=1), suite="raft", budget="5m", properties=OFTEN)
def raft_paths(plan, cluster, observer):
    """Do nodes take each way through Raft that the source has for it: elections, divergence, snapshots, voter changes?

    Every state of QuorumState, the end of an epoch that is announced, a leader without a majority, a log that is cut
    back to the next leader's, a snapshot by size and its download, a leader that is removed; requests that are wrong.
    """
    voter_moves.start_all(plan, observer)
    with plan.phase("an election"):
        first, second, third = plan.name_voters("first leader", "second voter", "third voter")
        for named, node, text in (
            ("voter_stands", first, f"{BECAME}CandidateState("),
            ("candidate_leads", first, f"{BECAME}Leader("),
            ("high_watermark_of_first_epoch", first, "for the first time for epoch"),
            ("voter_follows", second, f"{BECAME}FollowerState("),
            ("observer_knows_no_leader", observer, f"{BECAME}Unattached("),
            ("observer_is_told_of_leader", observer, f"{BECAME}FollowerState("),
        ):
            plan.expect(has_logged(node, text), within="10s", named=named)
    with plan.phase("requests that are wrong"):
        plan.expect(voter_changes_are_refused(), within="10s", named="voter_changes_are_refused")
        plan.expect(raft_requests_are_checked(), within="10s", named="raft_requests_are_checked")
        plan.expect(follows_leader(observer), within="5s", named="raft_thread_lives")
    with plan.phase("the leader says that its epoch ends"):
        plan.do(stop(first))
        plan.expect(has_new_leader(), within=FetchTimeouts(1), named="successor_waits_for_no_time_out")
        told = "after receiving EndQuorumEpoch request from leader"
        plan.expect(has_logged(second, told), within="5s", named="end_of_epoch_is_announced_to_second")
        plan.expect(has_logged(third, told), within="5s", named="end_of_epoch_is_announced_to_third")
        plan.do(start(first))
        voter_moves.expect_whole(plan, observer, "after_end_of_epoch")
    with plan.phase("a leader without its majority"):
        alone, _, _ = plan.name_voters("isolated leader", "first held", "second held")
        plan.do(hold_followers())
        plan.expect(has_no_leader(), within=FetchTimeouts(1.5), named="leader_without_majority_gives_up")
        silent = "Did not receive fetch request from the majority of the voters"
        plan.expect(has_logged(alone, silent), within="5s", named="leader_misses_its_majority")
        plan.expect(has_logged(alone, f"{BECAME}ResignedState("), within="5s", named="leader_resigned_by_check_quorum")
        plan.do(kill(alone), release_followers())
        plan.expect(has_new_leader(), within=AN_ELECTION, named="new_leader_without_the_isolated_one")
    with plan.phase("what nobody fetched is cut off"):
        plan.do(start(alone))
        plan.expect(has_logged(alone, "Truncated to offset"), within="20s", named="log_is_truncated")
        voter_moves.expect_whole(plan, observer, "after_truncation")
    with plan.phase("a snapshot by size"):
        leader, away, _ = plan.name_voters("leader with a snapshot", "voter that loses its disk", "voter that keeps it")
        plan.do(create_topics("many", 100))
        plan.expect(has_snapshot(leader), within="30s", named="snapshot_is_taken_by_size")
        plan.do(stop(away), wipe(away), start(away))
        plan.expect(has_logged(away, "Fetching snapshot "), within="30s", named="snapshot_is_fetched")
        plan.expect(has_logged(away, "Fully truncated the log at "), within="30s", named="log_begins_at_the_snapshot")
        voter_moves.expect_whole(plan, observer, "after_download")
    with plan.phase("the leader is removed"):
        removed, _, heir = plan.name_voters("leader that is removed", "one voter", "other voter")
        plan.do(remove_controller(removed))
        plan.expect(has_new_leader(), within=AN_ELECTION, named="new_leader_after_removal")
        plan.expect(votes_no_more(removed), within="5s", named="removed_leader_is_unlisted")
        plan.expect(has_logged(removed, f"{BECAME}ResignedState("), within="5s", named="removed_leader_resigned")
        plan.expect(has_logged(heir, "Latest set of voters is"), within="5s", named="voters_are_applied")
        plan.do(add_controller(removed))
        plan.expect(votes(removed), within="5s", named="added_voter_is_listed")
        plan.expect(follows_leader(observer), within=RecoveryBound(voters=3), named="observer_follows_at_the_end")
