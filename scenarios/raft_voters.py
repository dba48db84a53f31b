"""The set of voters changes: by a disk that is lost, by the leader's removal, and from static to dynamic (KIP-853)."""

from harness.scenario import (
    add_controller,
    fails,
    follows_leader,
    has_logged,
    has_new_leader,
    is_up,
    kraft,
    raft_lines,
    remove_controller,
    scenario,
    start,
    stop,
    update_feature,
    voter_changes_are_refused,
    voter_changes_are_unsupported,
    voter_moves,
    votes,
    votes_no_more,
    wipe,
)
from harness.scenario.bounds import AN_ELECTION, RecoveryBound

DEDICATED = kraft(controllers=3, observers=1, combined=False)
STATIC = kraft(controllers=3, observers=1, combined=False, static_voters=True)


@scenario(DEDICATED, suite="raft", budget="4m", properties=voter_moves.SHORT_SESSIONS)
def raft_voters(plan, cluster, observer):
    """Does a voter count by its directory id, and does a leader that is removed give up once that is committed?

    At the end a voter comes back without its disk, and no address that it is configured with leads anywhere but to
    itself: the leader has to tell it (KAFKA-16536).
    """
    voter_moves.start_all(plan, observer)
    leader, same, new = plan.name_voters("first leader", "voter with its old id", "voter with a new id")
    with plan.phase("a disk is lost, not its directory id"):
        plan.do(stop(same), wipe(same), start(same))
        plan.expect(has_logged(same, *raft_lines.FOLLOWS), within="20s", named="voter_with_its_id_follows")
        plan.expect(votes(same), within="5s", named="voter_with_its_id_votes")
        voter_moves.expect_whole(plan, observer, "after_disk_was_lost")
    with plan.phase("a disk is lost, and its directory id"):
        plan.do(stop(new), wipe(new, identity="new"), start(new))
        meant = has_logged(new, *raft_lines.MEANT_FOR_ANOTHER_DISK)
        plan.expect(meant, within="20s", named="new_disk_is_not_the_voter")
        told = has_logged(leader, *raft_lines.KEY_IS_WRONG)
        plan.expect(told, within="20s", named="leader_is_told_of_the_wrong_key")
        plan.do(remove_controller(new))
        plan.expect(votes_no_more(new), within="5s", named="lost_disk_is_unlisted")
        plan.guard(is_up(), within="45s")
        plan.do(add_controller(new))
        plan.expect(votes(new), within="5s", named="new_disk_is_listed")
        plan.expect(has_logged(new, *raft_lines.VOTERS_APPLIED), within="5s", named="new_disk_knows_the_voters")
        voter_moves.expect_whole(plan, observer, "after_directory_was_lost")
    with plan.phase("the leader is removed"):
        removed, *heirs = plan.name_voters("leader that is removed", "one voter", "other voter")
        plan.do(remove_controller(removed))
        plan.expect(has_new_leader(), within=AN_ELECTION, named="new_leader_after_removal")
        plan.expect(votes_no_more(removed), within="5s", named="removed_leader_is_unlisted")
        committed = has_logged(removed, *raft_lines.NOT_AMONG_VOTERS)
        plan.expect(committed, within="5s", named="removed_leader_learns_that_it_is_committed")
        plan.expect(has_logged(removed, *raft_lines.RESIGNED), within="5s", named="removed_leader_resigned")
        applied = has_logged(tuple(heirs), *raft_lines.VOTERS_APPLIED)
        plan.expect(applied, within="5s", named="heirs_apply_the_voters")
        plan.expect(follows_leader(observer), within=RecoveryBound(voters=3), named="observer_follows_after_removal")
    with plan.phase("it is added again"):
        plan.do(add_controller(removed))
        plan.expect(votes(removed), within="5s", named="added_voter_is_listed")
        voter_moves.expect_whole(plan, observer, "after_addition")
        plan.expect(voter_changes_are_refused(), within="10s", named="voter_changes_are_refused_at_the_end")
    with plan.phase("a voter comes back that knows nobody"):
        _, back, _ = plan.name_voters("last leader", "voter that knows nobody", "voter beside it")
        plan.do(stop(back), wipe(back), start(back, knows=back))
        plan.expect(has_logged(back, *raft_lines.FOLLOWS), within="20s", named="voter_is_told_who_leads")
        plan.expect(votes(back), within="5s", named="voter_that_was_told_votes")
        voter_moves.expect_whole(plan, observer, "after_voter_was_told")


@scenario(
    STATIC,
    suite="raft",
    budget="3m",
    properties=voter_moves.SHORT_SESSIONS,
    expected=fails("quorum_is_dynamic", known="KAFKA-16538", before="4.1"),
)
def raft_static_voters(plan, cluster, observer):
    """Are changes of static voters refused, and do voters become dynamic when kraft.version is raised?

    Only since Kafka 4.1 (KAFKA-16538).
    """
    voter_moves.start_all(plan, observer)
    leader, other, _ = plan.name_voters("leader", "voter that leaves", "voter that stays")
    with plan.phase("voters are static"):
        unsupported = voter_changes_are_unsupported()
        plan.expect(unsupported, within="10s", named="voter_changes_are_unsupported")
    with plan.phase("kraft.version is raised"):
        plan.do(update_feature("kraft.version", 1))
        plan.expect(follows_leader(observer), within="10s", named="raft_thread_lives_after_update")
        plan.expect(has_logged(leader, *raft_lines.IS_DYNAMIC), within="10s", named="quorum_is_dynamic")
    with plan.phase("voters are dynamic"):
        plan.do(remove_controller(other))
        plan.expect(votes_no_more(other), within="5s", named="removed_voter_is_unlisted")
        plan.do(add_controller(other))
        plan.expect(votes(other), within="5s", named="added_voter_is_listed")
        voter_moves.expect_whole(plan, observer, "after_upgrade")
