"""Ways through elections that quorums take seldom, each taken on purpose and proven by the line that Kafka logs."""

from harness.scenario import (
    ask_for_votes,
    follows_leader,
    has_leader,
    has_logged,
    has_new_leader,
    has_no_leader,
    has_no_pre_votes,
    has_pre_votes,
    hold,
    hold_followers,
    kill,
    kraft,
    leads,
    oversleep,
    raft_lines,
    release,
    release_followers,
    scenario,
    start,
    stop,
    voter_moves,
)
from harness.scenario.bounds import AN_ELECTION, FetchTimeouts, RecoveryBound

DEDICATED = kraft(controllers=3, observers=1, combined=False)


@scenario(DEDICATED, suite="raft", budget="5m", properties=voter_moves.SHORT_SESSIONS)
def raft_elections(plan, cluster, observer):
    """Do voters elect as Raft has it: told of the end, split, rejected, asked twice, without a majority, shut down?

    Leaders are lost in a row on the way, and what the last one could not commit is cut off when it comes back.
    """
    voter_moves.start_all(plan, observer)
    with plan.phase("an election"):
        first, second, third = plan.name_voters("first leader", "second voter", "third voter")
        for named, node, wordings in (
            ("voter_knows_no_leader", first, raft_lines.UNATTACHED),
            ("voter_stands", first, raft_lines.STANDS),
            ("candidate_leads", first, raft_lines.LEADS),
            ("first_high_watermark_of_epoch", first, raft_lines.FIRST_HIGH_WATERMARK),
            ("voter_follows", (second, third), raft_lines.FOLLOWS),
            ("observer_knows_no_leader", observer, raft_lines.UNATTACHED),
            ("observer_follows_the_first", observer, raft_lines.FOLLOWS),
        ):
            plan.expect(has_logged(node, *wordings), within="5s", named=named)
    with plan.phase("the leader says that its epoch ends"):
        plan.do(stop(first))
        plan.expect(has_new_leader(), within=AN_ELECTION, named="new_leader_after_end_of_epoch")
        plan.expect(has_logged(first, *raft_lines.RESIGNED), within="5s", named="stopped_leader_resigned")
        ended = has_logged(first, *raft_lines.FETCH_ENDS_WITH_LEADER)
        plan.expect(ended, within="5s", named="long_poll_ends_with_leader")
        told = has_logged((second, third), *raft_lines.STANDS_AT_ONCE)
        plan.expect(told, within="5s", named="successor_is_told_to_stand_at_once")
        at_once = has_logged((second, third), *raft_lines.LEADS, soon_after=raft_lines.TOLD_OF_END)
        plan.expect(at_once, within="5s", named="successor_waits_for_no_time_out")
        plan.do(start(first))
        voter_moves.expect_whole(plan, observer, "after_end_of_epoch")
    with plan.only_if(has_no_pre_votes()):
        _split(plan, observer)
        _behind(plan, observer)
    with plan.only_if(has_pre_votes()):
        _behind_and_asks_first(plan, observer)
    with plan.phase("two ask for one vote"):
        fourth, asked, other = plan.name_voters("fourth leader", "voter that is asked", "voter that is not")
        plan.do(ask_for_votes(asked))
        plan.expect(has_logged(asked, *raft_lines.OLDER_LOG), within="5s", named="older_log_is_told_no")
        plan.expect(has_logged(asked, *raft_lines.VOTED), within="5s", named="whole_log_gets_the_vote")
        plan.expect(has_logged(asked, *raft_lines.SECOND_CANDIDATE), within="5s", named="second_candidate_is_told_no")
        # Else either of them may stand, and be elected, before the one that has voted does.
        plan.do(hold(fourth), hold(other))
        plan.expect(has_logged(asked, *raft_lines.STANDS), within="10s", named="who_voted_in_vain_stands")
        plan.do(release(fourth), release(other))
        plan.expect(has_leader(), within=AN_ELECTION, named="leader_after_two_asked")
        voter_moves.expect_whole(plan, observer, "after_two_asked")
    with plan.phase("a leader without its majority"):
        alone, *_ = plan.name_voters("isolated leader", "first held", "second held")
        plan.do(hold_followers())
        plan.expect(has_no_leader(), within=FetchTimeouts(1.5), named="leader_without_majority_gives_up")
        silent = has_logged(alone, *raft_lines.NO_MAJORITY_FETCHES)
        plan.expect(silent, within="5s", named="leader_misses_its_majority")
        plan.expect(has_logged(alone, *raft_lines.RESIGNED), within="5s", named="isolated_leader_resigned")
        plan.expect(has_logged(alone, *raft_lines.STANDS), within="10s", named="resigned_leader_stands")
    with plan.phase("a candidate shuts down"):
        plan.do(stop(alone))
        plan.expect(has_logged(alone, *raft_lines.SHUTS_DOWN), within="5s", named="candidate_shuts_down")
        in_vain = has_logged(alone, *raft_lines.SHUTDOWN_TIMED_OUT)
        plan.expect(in_vain, within="5s", named="candidate_waits_for_its_election_in_vain")
        plan.do(release_followers())
        plan.expect(has_new_leader(), within=AN_ELECTION, named="new_leader_without_the_candidate")
    with plan.phase("what nobody fetched is cut off"):
        plan.do(start(alone))
        plan.expect(has_logged(alone, *raft_lines.TRUNCATED), within="20s", named="uncommitted_records_are_cut_off")
        voter_moves.expect_whole(plan, observer, "after_truncation")
    with plan.phase("the last leader is killed"):
        last, *_ = plan.name_voters("last leader", "one follower", "other follower")
        plan.do(kill(last))
        plan.expect(has_new_leader(), within=AN_ELECTION, named="new_leader_after_kill")
        plan.expect(follows_leader(observer), within=RecoveryBound(voters=3), named="observer_follows_at_the_end")


def _split(plan, observer):
    """Voters whose fetch time-outs end at one moment stand at one moment, and neither votes for the other."""
    with plan.phase("the vote is split"):
        lost, one, other = plan.name_voters("second leader", "one candidate", "other candidate")
        plan.do(oversleep(one, other, killed=lost))
        plan.expect(has_logged(one, *raft_lines.STANDS_ITSELF), within="5s", named="one_candidate_rejects_the_other")
        plan.expect(has_logged(other, *raft_lines.STANDS_ITSELF), within="5s", named="other_candidate_rejects_the_one")
        backs_off = has_logged((one, other), *raft_lines.ELECTION_TIMED_OUT)
        plan.expect(backs_off, within="5s", named="candidate_backs_off_when_its_election_times_out")
        again = has_logged((one, other), *raft_lines.STANDS_AGAIN)
        plan.expect(again, within="5s", named="candidate_stands_again_after_back_off")
        plan.expect(has_new_leader(), within=AN_ELECTION, named="new_leader_after_split_vote")
        plan.do(start(lost))
        voter_moves.expect_whole(plan, observer, "after_split_vote")


def _behind(plan, observer):
    """A candidate that lacks records is rejected by both others, and does not wait for its election to time out."""
    with plan.phase("a voter that is behind stands"):
        _, early, late = plan.name_voters("third leader", "voter that keeps up", "voter that is behind")
        plan.do(oversleep(late))
        plan.expect(has_logged(early, *raft_lines.OLDER_LOG), within="5s", named="older_log_gets_no_vote")
        at_once = has_logged(late, *raft_lines.REJECTED, soon_after=raft_lines.FETCH_TIMED_OUT)
        plan.expect(at_once, within="5s", named="rejected_candidate_backs_off_at_once")
        plan.expect(has_leader(), within=AN_ELECTION, named="leader_after_rejected_candidate")
        voter_moves.expect_whole(plan, observer, "after_rejected_candidate")


def _behind_and_asks_first(plan, observer):
    """With pre-votes (KIP-996) it is rejected before it stands, and the leader stays."""
    with plan.phase("a voter that is behind asks first"):
        leader, _, late = plan.name_voters("second leader", "voter that keeps up", "voter that is behind")
        plan.do(oversleep(late))
        at_once = has_logged(late, *raft_lines.REJECTED, soon_after=raft_lines.FETCH_TIMED_OUT)
        plan.expect(at_once, within="5s", named="who_is_behind_is_rejected_at_once")
        plan.expect(leads(leader), within="5s", named="leader_stays_when_somebody_asks")
        voter_moves.expect_whole(plan, observer, "after_who_was_behind_asked")
