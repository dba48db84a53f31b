"""A leader that has appended its own removal needs a majority without itself (KIP-853, KAFKA-16531)."""

from harness.scenario import (
    add_controller,
    follows_leader,
    has_given_up,
    has_leader,
    has_logged,
    hold,
    kraft,
    raft_lines,
    release,
    remove_in_vain,
    scenario,
    voter_moves,
    votes,
    votes_no_more,
)
from harness.scenario.bounds import FetchTimeouts, RecoveryBound


@scenario(
    kraft(controllers=3, observers=1, combined=False),
    suite="raft",
    budget="3m",
    properties=voter_moves.SHORT_SESSIONS,
)
def raft_removed_leader(plan, cluster, observer):
    """Does a leader that is being removed give up when one of the two voters left does not fetch?

    The other one is no majority of the two, and the leader is none of them any more.
    """
    voter_moves.start_all(plan, observer)
    leader, _, held = plan.name_voters("leader that is removed", "voter that fetches", "voter that is held")
    with plan.phase("it is removed while one of two voters is held"):
        plan.do(hold(held), remove_in_vain(leader))
        plan.guard(has_logged(leader, *raft_lines.VOTERS_APPLIED), within="5s")
        plan.expect(has_given_up(leader), within=FetchTimeouts(1.5), named="removed_leader_without_majority_gives_up")
        silent = has_logged(leader, *raft_lines.NO_MAJORITY_FETCHES)
        plan.expect(silent, within="5s", named="removed_leader_misses_its_majority")
    with plan.phase("the voter goes on"):
        plan.do(release(held))
        plan.expect(has_leader(), within=FetchTimeouts(8), named="leader_after_removal_in_vain")
        plan.expect(votes_no_more(leader), within="5s", named="removal_is_committed_after_all")
        plan.expect(follows_leader(observer), within=RecoveryBound(voters=3), named="observer_follows_the_two")
    with plan.phase("it is added again"):
        plan.do(add_controller(leader))
        plan.expect(votes(leader), within="5s", named="removed_leader_is_added")
        voter_moves.expect_whole(plan, observer, "after_removal_in_vain")
