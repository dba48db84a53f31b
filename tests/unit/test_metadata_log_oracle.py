"""The oracle of the metadata log: silent about all that Raft allows, and about nothing that it forbids."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raft_model import COMMITS_ALONE, FORGETS, KEEPS_TAIL, OLD_EPOCH, STALE_LEADER, TWO_LEADERS, RaftModel

from harness.cluster.metadata_log.batches import Batch
from harness.cluster.metadata_log.broken import (
    COMMITTED_STAYS,
    EPOCH_NEVER_FALLS,
    HIGH_WATERMARK_NEVER_FALLS,
    METADATA_LOG_WHOLE,
    METADATA_LOGS_AGREE,
    ONE_LEADER_PER_EPOCH,
    QUORUM_STATE_AGREES,
)
from harness.cluster.metadata_log.files import QuorumState, SnapshotId
from harness.cluster.metadata_log.looks import Watched, watch
from harness.cluster.metadata_log.node_log import NodeLog
from harness.cluster.metadata_log.oracle import Known, judge
from harness.cluster.probes import Quorum

NODES = st.integers(0, 3)
HAPPENINGS = st.one_of(
    st.tuples(st.just("elect"), st.integers(0, 2)),
    st.tuples(st.just("append")),
    st.tuples(st.just("fetch"), NODES, st.integers(1, 4)),
    st.tuples(st.just("commit")),
    st.tuples(st.just("kill"), NODES),
    st.tuples(st.just("start"), NODES),
    st.tuples(st.just("snapshot"), NODES),
    st.tuples(st.just("wipe_observer")),
    st.tuples(st.just("look")),
    st.tuples(st.just("read")),
)


def told_of(happenings, defect=""):
    """Have all this happen to a quorum, read it at the end as well, and return the names of what is broken."""
    model, watched, known, names = RaftModel(defect), Watched(), Known(), set()
    for name, *arguments in [*happenings, ("look",), ("read",)]:
        seen = getattr(model, name)(*arguments)
        found = ()
        if name == "look":
            watched, found = watch(watched, seen)
        elif name == "read":
            known, found = judge(known, seen, watched)
        names |= {broken.name for broken in found}
    return names


@given(st.lists(HAPPENINGS, max_size=60))
def test_a_quorum_that_keeps_rafts_rules_breaks_no_promise_whatever_happens_to_it(happenings):
    assert told_of(happenings) == set()


# What leads somewhere more often than a row of anything at all.
CHANCES = (
    *(("elect", node) for node in range(3)),
    *(("fetch", node, most) for node in range(4) for most in (1, 3)),
    *(("snapshot", 1), ("kill", 0), ("start", 0), ("kill", 1), ("start", 1)),
    *[("append",), ("commit",), ("look",), ("read",)] * 4,
)


def test_nor_in_any_of_many_long_rows_that_lead_somewhere():
    chance = random.Random(2)
    assert [told_of(chance.choices(CHANCES, k=120)) for _ in range(300)] == [set()] * 300


@pytest.mark.parametrize(
    ("defect", "name"),
    [
        (COMMITS_ALONE, COMMITTED_STAYS),
        (STALE_LEADER, COMMITTED_STAYS),
        (KEEPS_TAIL, METADATA_LOGS_AGREE),
        (FORGETS, COMMITTED_STAYS),
        (TWO_LEADERS, ONE_LEADER_PER_EPOCH),
        (OLD_EPOCH, EPOCH_NEVER_FALLS),
    ],
)
def test_a_quorum_that_breaks_a_rule_is_found_out(defect, name):
    chance = random.Random(1)
    runs = [told_of(chance.choices(CHANCES, k=80), defect) for _ in range(60)]
    assert sum(name in told for told in runs) >= 5


# Cases by hand: three voters, 0 leads epoch 1; offsets 0 to 5 are committed.


def log(node, *epochs, start=0, snapshots=(), quorum=None, life="a", **more):
    """Return a log that has a batch of these epochs at each offset from `start`."""
    batches = tuple(Batch(start + at, start + at, epoch, 1000 * epoch + start + at) for at, epoch in enumerate(epochs))
    return NodeLog(node, life, batches, snapshots, quorum, **more)


def looked(high_watermark, epoch=1, leader=0, watched=None, voters=(0, 1, 2)):
    quorum = Quorum(leader, epoch, high_watermark, dict.fromkeys(voters, 100), leaders=((epoch, leader),))
    return watch(watched or Watched(), quorum)[0]


def names(logs, watched, known=None):
    return [broken.name for broken in judge(known or Known(), logs, watched)[1]]


SOUND = [log(0, *[1] * 6), log(1, *[1] * 6), log(2, *[1] * 6)]


def test_logs_that_are_alike_break_nothing():
    assert names(SOUND, looked(6)) == []


def test_a_follower_that_lags_and_an_observer_that_is_lost_break_nothing():
    assert names([*SOUND[:2], log(2, 1, 1), log(3, 1)], looked(6)) == []


def test_the_tail_of_a_killed_leader_that_was_never_committed_breaks_nothing_below_a_later_high_watermark():
    killed = log(0, 1, 1, 1, 1, 1, 1)
    others = [log(node, 1, 1, 1, 2, 2, 2, 2) for node in (1, 2)]
    watched = looked(7, 2, 1, looked(3))
    assert names([killed, *others], watched) == []


def test_such_a_tail_may_be_truncated_later():
    watched = looked(7, 2, 1, looked(3))
    others = [log(node, 1, 1, 1, 2, 2, 2, 2) for node in (1, 2)]
    known, _ = judge(Known(), [log(0, 1, 1, 1, 1, 1, 1), *others], watched)
    assert names([log(0, 1, 1, 1), *others], watched, known) == []
    assert names([log(0, 1, 1), *others], watched, known) == [COMMITTED_STAYS]


def test_a_snapshot_may_take_the_place_of_a_prefix_and_nothing_else_may():
    known, _ = judge(Known(), SOUND, looked(6))
    after = log(1, 1, 1, start=4, snapshots=(SnapshotId(4, 1),))
    assert names([SOUND[0], after, SOUND[2]], looked(6), known) == []
    without = replace(after, snapshots=(SnapshotId(3, 1),))
    assert names([SOUND[0], without, SOUND[2]], looked(6), known) == [METADATA_LOG_WHOLE, COMMITTED_STAYS]


def test_a_log_that_is_nothing_but_a_snapshot_holds_all_that_is_committed():
    fetched = log(1, snapshots=(SnapshotId(6, 1),))
    assert (fetched.start, fetched.end, fetched.epoch) == (6, 6, 1)
    assert names([SOUND[0], fetched, log(2)], looked(6)) == []


def test_a_snapshot_whose_last_record_was_committed_in_another_epoch_disagrees():
    assert names([*SOUND[:2], log(2, snapshots=(SnapshotId(4, 3),))], looked(6)) == [METADATA_LOGS_AGREE]


def test_a_disk_that_was_wiped_is_not_missed():
    known, _ = judge(Known(), SOUND, looked(6))
    wiped = [SOUND[0], log(1, life="b"), log(2, life="")]
    assert names(wiped, looked(6), known) == []
    assert names([SOUND[0], log(1), log(2)], looked(6), known) == [COMMITTED_STAYS] * 3


def test_a_snapshot_does_not_excuse_what_is_gone_behind_the_beginning_of_a_log():
    known, _ = judge(Known(), SOUND, looked(6))
    cut = log(1, 1, 1, snapshots=(SnapshotId(6, 1),))
    assert names([SOUND[0], cut, SOUND[2]], looked(6), known) == [COMMITTED_STAYS]


def test_a_leader_whose_disk_was_wiped_after_it_had_led_lacks_nothing():
    later = looked(6, 2, 2, looked(6))
    known, _ = judge(Known(), SOUND, later)
    assert names([*SOUND[:2], log(2, life="b")], later, known) == []


def test_a_disk_that_was_wiped_is_missed_again_once_it_held_all_that_is_committed():
    known, _ = judge(Known(), SOUND, looked(6))
    known, _ = judge(known, [*SOUND[:2], log(2, life="b")], looked(6))
    caught_up, _ = judge(known, [*SOUND[:2], log(2, *[1] * 6, life="b")], looked(6))
    assert (known.wiped, caught_up.wiped) == ({2}, frozenset())
    alone = [log(0, *[1] * 9), log(1, *[1] * 6), log(2, *[1] * 6, life="b")]
    assert names(alone, looked(9), caught_up) == [COMMITTED_STAYS]


def test_a_disk_that_was_wiped_may_vote_anew():
    known, _ = judge(Known(), [log(0, 1, quorum=QuorumState(2, -1, 1))], Watched())
    assert names([log(0, life="b", quorum=QuorumState(1, -1, 2))], Watched(), known) == []


def test_what_is_not_on_a_majority_of_the_voters_is_not_committed():
    assert names([SOUND[0], log(1, *[1] * 6), log(2)], looked(6)) == []
    assert names([SOUND[0], log(1, *[1] * 5), log(2)], looked(6)) == [COMMITTED_STAYS]


def test_a_voter_with_another_record_there_does_not_count_for_the_majority():
    assert names([SOUND[0], log(1, 1, 1, 1, 1, 1, 0), log(2)], looked(6)) == [EPOCH_NEVER_FALLS, COMMITTED_STAYS]


def test_after_a_change_of_the_voters_a_majority_is_asked_for_of_what_comes_later():
    before = looked(6)
    joined = looked(6, watched=before, voters=(0, 1, 2, 3))
    short = [log(0, *[1] * 102), log(1, *[1] * 102), log(2), log(3)]
    assert names(short, looked(100, watched=joined, voters=(0, 1, 2, 3))) == []
    assert names(short, looked(102, watched=joined, voters=(0, 1, 2, 3))) == [COMMITTED_STAYS]


def test_a_leader_that_lacks_what_it_called_committed_is_found_out():
    assert names([log(0, 1, 1), *SOUND[1:]], looked(6)) == [COMMITTED_STAYS]


def test_a_later_leader_that_lacks_what_is_committed_is_found_out():
    known, _ = judge(Known(), SOUND, looked(6))
    later = looked(6, 2, 2, looked(6))
    assert names([*SOUND[:2], log(2, 1, 1)], later, replace(known, agreed={})) == [COMMITTED_STAYS]


def test_another_record_of_a_later_epoch_in_the_place_of_a_committed_one_is_found_out():
    watched = looked(6)
    assert names([*SOUND[:2], log(2, 1, 1, 2)], watched) == [COMMITTED_STAYS]


def test_records_of_one_epoch_and_offset_must_be_the_same():
    other = replace(SOUND[2], batches=(*SOUND[2].batches[:5], Batch(5, 5, 1, 99)))
    assert names([*SOUND[:2], other], looked(3)) == [METADATA_LOGS_AGREE] * 2  # with either other log


def test_what_differs_before_a_record_that_is_the_same_is_found_out_without_a_high_watermark():
    other = replace(SOUND[2], batches=(*SOUND[2].batches[:2], Batch(2, 2, 1, 99), *SOUND[2].batches[3:]))
    assert names([*SOUND[:2], other], Watched()) == [METADATA_LOGS_AGREE] * 2


def test_a_checksum_that_stands_in_two_epochs_is_found_out():
    last = SOUND[2].batches[5]
    other = replace(SOUND[2], batches=(*SOUND[2].batches[:5], replace(last, epoch=2)))
    assert METADATA_LOGS_AGREE in names([*SOUND[:2], other], looked(3))


def test_a_hole_in_a_log_is_found_out():
    other = replace(SOUND[2], batches=(*SOUND[2].batches[:2], *SOUND[2].batches[3:]))
    assert METADATA_LOG_WHOLE in names([*SOUND[:2], other], Watched())


def test_a_log_that_could_not_be_read_whole_says_nothing():
    known, _ = judge(Known(), SOUND, looked(6))
    unread = [log(0, is_whole=False), log(1, is_whole=False), log(2, is_whole=False)]
    after, found = judge(known, unread, looked(8))
    assert found == ()
    assert names([*SOUND[:2], log(2, 1)], looked(6), after) == [COMMITTED_STAYS]


def test_a_log_that_begins_later_than_the_snapshots_of_its_node_end_has_lost_what_was_before():
    assert names([log(1, 1, 1, start=4)], Watched()) == [METADATA_LOG_WHOLE]
    assert names([log(1, 1, 1, start=4, snapshots=(SnapshotId(5, 1),))], Watched()) == []


def test_what_was_committed_and_overwritten_everywhere_before_the_first_reading_is_found_out():
    logs = [log(node, 1, 1, 1, 1, 2, 2, 2) for node in (0, 1, 2)]
    assert names(logs, looked(7, 2, 1, looked(4))) == []
    assert names(logs, looked(7, 2, 1, looked(5))) == [COMMITTED_STAYS] * 3


def test_batches_of_one_epoch_that_overlap_are_found_out_where_no_batch_begins_alike():
    one, other = (
        NodeLog(node, "a", batches, (SnapshotId(3, 1),))
        for node, batches in enumerate(
            ((Batch(3, 3, 2, 1), Batch(4, 6, 2, 2)), (Batch(3, 4, 1, 7), Batch(5, 5, 2, 9))),
        )
    )
    assert names([one, other], Watched()) == [METADATA_LOGS_AGREE]


def test_two_snapshots_up_to_one_offset_are_of_one_epoch():
    one, other = (log(node, 3, start=6, snapshots=(SnapshotId(6, epoch),)) for node, epoch in enumerate((1, 2)))
    assert names([one, other], Watched()) == [METADATA_LOGS_AGREE]


@pytest.mark.parametrize(
    ("before", "now", "name"),
    [
        (QuorumState(2, -1, 1), QuorumState(2, -1, -1), QUORUM_STATE_AGREES),
        (QuorumState(2, 0, 1), QuorumState(2, -1, 1), ""),
        (QuorumState(1, 0, -1), QuorumState(2, -1, 1), ""),
        (QuorumState(2, -1, 1), QuorumState(2, 0, -1), ""),
        (QuorumState(2, 0, -1), QuorumState(1, 0, -1), EPOCH_NEVER_FALLS),
        (QuorumState(2, -1, 1), QuorumState(2, -1, 2), QUORUM_STATE_AGREES),
    ],
)
def test_a_quorum_state_takes_nothing_back(before, now, name):
    known, _ = judge(Known(), [log(0, 1, quorum=before)], Watched())
    assert names([log(0, 1, quorum=now)], Watched(), known) == ([name] if name else [])


def test_a_quorum_state_that_is_gone_is_found_out_where_its_disk_is_the_same():
    known, _ = judge(Known(), [log(0, 1, quorum=QuorumState(2, -1, 1))], Watched())
    assert names([log(0, 1)], Watched(), known) == [QUORUM_STATE_AGREES]
    assert names([log(0, 1, life="b")], Watched(), known) == []
    assert names([log(0, is_whole=False)], Watched(), known) == []


def test_a_quorum_state_is_never_behind_its_log():
    assert names([log(0, 1, 2, quorum=QuorumState(2, -1, -1))], Watched()) == []
    assert names([log(0, 1, 2, quorum=QuorumState(1, -1, -1))], Watched()) == [QUORUM_STATE_AGREES]


def test_a_quorum_state_names_the_leader_that_led():
    watched = looked(3)
    assert names([log(1, 1, quorum=QuorumState(1, 0, -1))], replace(watched, commit=None)) == []
    assert names([log(1, 1, quorum=QuorumState(1, 2, -1))], replace(watched, commit=None)) == [QUORUM_STATE_AGREES]


def test_two_logs_that_name_two_leaders_of_one_epoch_are_found_out():
    one, other = (NodeLog(node, "a", (Batch(0, node, 4, node, leader=node),)) for node in (0, 1))
    assert names([one, other], Watched()) == [METADATA_LOGS_AGREE, ONE_LEADER_PER_EPOCH]


# Looks


def broken_by(*looks):
    """Return what a row of looks (high watermark, epoch, leader) breaks."""
    watched, found = Watched(), []
    for high_watermark, epoch, leader in looks:
        watched, broken = watch(watched, Quorum(leader, epoch, high_watermark, {0: 9}, leaders=((epoch, leader),)))
        found += [each.name for each in broken]
    return found


def test_a_high_watermark_that_grows_breaks_nothing_nor_does_a_new_leader_that_has_none_yet():
    assert broken_by((3, 1, 0), (5, 1, 0), (-1, 2, 1), (6, 2, 1)) == []


def test_a_high_watermark_that_falls_is_found_out_in_an_epoch_and_after_it():
    assert broken_by((5, 1, 0), (4, 1, 0)) == [HIGH_WATERMARK_NEVER_FALLS]
    assert broken_by((5, 1, 0), (-1, 2, 1), (4, 2, 1)) == [HIGH_WATERMARK_NEVER_FALLS]


def test_a_leader_that_does_not_know_of_its_successor_may_be_behind_it():
    assert broken_by((5, 1, 0), (9, 2, 1), (5, 1, 0)) == []


def test_a_node_that_leads_an_earlier_epoch_than_before_is_found_out():
    assert broken_by((5, 2, 0), (5, 1, 0)) == [EPOCH_NEVER_FALLS]
