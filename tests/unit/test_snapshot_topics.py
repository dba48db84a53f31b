"""Snapshots held against the log: which topics and partitions one has, lacks, or has though it should not."""

from hypothesis import given
from hypothesis import strategies as st
from log_bytes import batch, of_records, record
from topic_records import made, number, placed, removed

from harness.cluster.metadata_log.batches import Batch, read_batches
from harness.cluster.metadata_log.broken import METADATA_LOGS_AGREE
from harness.cluster.metadata_log.files import SnapshotId
from harness.cluster.metadata_log.node_log import NodeLog
from harness.cluster.metadata_log.snapshot_topics import wrong_topics
from harness.cluster.metadata_log.topic_changes import topics_of

NO_OP, ABORT = b"\1\x14\0\0", b"\1\x19\0\0"


def topic(each: int, partitions: int = 1) -> list[bytes]:
    """Return the records that make a topic of so many partitions."""
    return [made(f"t{each}", number(each)), *(placed(number(each), at, 1) for at in range(partitions))]


def committed(*batches: list[bytes], base: int = 0) -> list[Batch]:
    """Return batches in a row, each of these records."""
    data = b""
    for records in batches:
        data, base = data + batch(base, 1, records), base + len(records)
    return [*read_batches(data, with_topics=True).batches]


def found(log: list[Batch], snapshot: list[bytes], end: int = -1, node: int = 2) -> list[str]:
    """Return what is said of a snapshot of these records, which ends where the log does."""
    topics = topics_of(each.topics for each in committed(snapshot)) if snapshot else topics_of([])
    kept = SnapshotId(log[-1].last_offset + 1 if end < 0 else end, 1)
    broken = [*wrong_topics(log, [NodeLog(node, "a", snapshots=(kept,), topics={kept: topics})])]
    assert {each.name for each in broken} <= {METADATA_LOGS_AGREE}
    return [each.reason for each in broken]


THREE = [topic(1, 2), topic(2), [NO_OP], topic(3)]


def test_a_snapshot_with_what_the_log_has_is_right_whatever_the_order():
    assert found(committed(*THREE), [*topic(3), *topic(1, 2), *topic(2)]) == []
    assert found(committed(*THREE, [removed(number(2))]), [*topic(3), *topic(1, 2)]) == []


def test_topics_that_it_lacks_are_named():
    says = "the snapshot up to offset 8 of node 2 lacks {}, which the log before it makes"
    assert found(committed(*THREE), [*topic(1, 2), *topic(2)]) == [says.format("t3")]
    assert found(committed(*THREE), topic(2)) == [says.format("t1 and 1 more")]
    assert found(committed(*THREE), []) == [says.format("t1 and 2 more")]


def test_a_partition_that_it_lacks_is_named_by_its_topic():
    (said,) = found(committed(*THREE), [*topic(1), *topic(2), *topic(3)])
    assert said.endswith(" lacks t1-1, which the log before it makes")


def test_a_partition_of_a_topic_whose_beginning_was_not_seen_is_named_by_the_id():
    more = committed([placed(number(1), 7, 1)], base=20)
    (said,) = found(more, topic(1))
    assert said.endswith(" lacks AAAAAAAAAAAAAAAAAAAAAQ-7, which the log before it makes")


def test_a_topic_that_it_should_not_have_is_named():
    gone = committed(*THREE, [removed(number(2))])
    (said,) = found(gone, [*topic(1, 2), *topic(2), *topic(3)])
    assert said.endswith(" has t2, which the log before it removes")
    (said,) = found(committed(*THREE), [*topic(1, 2), *topic(2), *topic(3), *topic(4)])
    assert said.endswith(" has t4, which the log before it does not make")


def test_what_was_made_behind_its_end_is_not_missed():
    assert found(committed(*THREE), [*topic(1, 2), *topic(2)], end=5) == []


def test_nothing_is_said_where_the_log_was_not_seen_up_to_its_end():
    assert found(committed(*THREE), [], end=9) == []


def test_what_was_done_in_a_part_of_the_log_that_nobody_saw_is_not_missed():
    """Somebody may have removed topic 1 there, and have made topic 4."""
    log = [*committed(topic(1)), *committed(topic(2), base=100)]
    assert found(log, [*topic(2), *topic(4)]) == []
    assert len(found(log, topic(4))) == 1


def test_a_transaction_that_is_taken_back_and_what_cannot_be_read_leave_it_open():
    for unclear in ([ABORT], [b"\1\2\0\x7f"]):
        assert found(committed(*THREE, unclear), []) == []
    body = b"".join(record(at, None, value) for at, value in enumerate(topic(4)))
    packed = read_batches(of_records(8, 1, body, attributes=1, count=2), with_topics=True).batches
    assert found([*committed(*THREE), *packed], []) == []


STEPS = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 3)), min_size=1, max_size=12)


@given(STEPS, st.randoms(use_true_random=False), st.data())
def test_whatever_was_made_and_removed_a_right_snapshot_is_right_and_one_that_lacks_anything_is_not(steps, order, data):
    log, there = [], {}
    for each, partitions in steps:
        if each in there:
            log.append([removed(number(there.pop(each)[0]))])
        else:
            own = each + 100 * len(log)  # a topic that is made again has another id
            log.append(topic(own, partitions))
            there[each] = own, partitions
    records = [record for own, partitions in there.values() for record in topic(own, partitions)]
    order.shuffle(records)
    assert found(committed(*log), records) == []
    if records:
        del records[data.draw(st.integers(0, len(records) - 1))]
        assert len(found(committed(*log), records)) == 1
