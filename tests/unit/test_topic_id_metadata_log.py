"""The topics of a metadata log: of whole logs, and of damaged ones, by which nobody may say what is healthy."""

import sys

import pytest
from disks_sample import broker_disk
from hypothesis import given
from hypothesis import strategies as st
from log_bytes import batch, footer, of_records, varint
from topic_records import made, number, placed, removed

from harness.base.errors import HarnessError
from harness.cli import app as cli
from harness.cluster.metadata_log.topics import read_topics
from harness.topicids.kraft import topics_of_logs

FIRST, SECOND = "00000000000000000000.log", "00000000000000000006.log"
SNAPSHOT = "00000000000000000006-0000000001.checkpoint"


def topic_batches(numbers: range, base: int = 0) -> list[bytes]:
    """Return a batch of two records for each topic: it is made, and its partition is on broker 1."""
    return [
        batch(base + 2 * at, 1, [made(f"t{each}", number(each)), placed(number(each), 0, 1)])
        for at, each in enumerate(numbers)
    ]


@pytest.fixture
def log(tmp_path):
    """Return the folder of a log of two segments, with six topics, on the disk of a broker."""
    folder = broker_disk(tmp_path / "d", 1) / "__cluster_metadata-0"
    folder.mkdir()
    (folder / FIRST).write_bytes(b"".join(topic_batches(range(1, 4))))
    (folder / SECOND).write_bytes(b"".join(topic_batches(range(4, 7), 6)))
    return folder


def names(log) -> set[str]:
    return set(read_topics(log).names.values())


def refused(log) -> str:
    with pytest.raises(HarnessError) as error:
        topics_of_logs([log])
    return error.value.message


def test_of_several_logs_the_one_that_reaches_furthest_says_which_topics_there_are(log, tmp_path):
    """The node that is named first was down when the last three topics were made."""
    behind = broker_disk(tmp_path / "behind", 2) / log.name
    behind.mkdir()
    (behind / FIRST).write_bytes((log / FIRST).read_bytes())
    assert set(topics_of_logs([behind]).topics) == {"t1", "t2", "t3"}
    assert len(topics_of_logs([behind, log]).topics) == 6


def test_a_whole_log_has_every_topic_with_its_replicas(log):
    found = topics_of_logs([log])
    assert set(found.topics) == {f"t{each}" for each in range(1, 7)}
    assert {tuple(topic.replicas.items()) for topic in found.topics.values()} == {((0, (1,)),)}
    assert found.cluster_id == "c1"


def test_a_changed_byte_in_the_middle_is_named_with_its_place_and_hides_no_topic(log):
    data = bytearray((log / FIRST).read_bytes())
    second = len(topic_batches(range(1, 2))[0])
    data[second + 80] ^= 1
    (log / FIRST).write_bytes(data)
    said = refused(log)
    assert said.startswith(f"The metadata log is damaged: {log / FIRST}: byte {second}: the batch at offset 2 does not")
    assert said.endswith("Which topics there are, nobody can say by it.")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda one, two, _: (one[:-7], two), "byte 252: it ends with 119 bytes that are no whole batch"),
        (lambda one, two, _: (one, two[:-7]), "byte 252: it ends with 119 bytes that are no whole batch"),
        (lambda one, two, size: (one[: 2 * size], two), f"{SECOND}: offset 4 is due, which no segment has"),
        (lambda one, two, size: (one[:size] + one[2 * size :], two), f"{FIRST}: it has offset 4 where 2 is due"),
        (lambda one, two, size: (one, two[size:]), f"{SECOND}: it has offset 8 where 6 is due"),
        (lambda one, two, size: (one[: size + 8] + b"\0\0\xff\xff" + one[size + 12 :], two), "no whole batch"),
        (lambda one, two, size: (one[:size] + bytes(size) + one[2 * size :], two), "byte 126: no batch begins there"),
        (lambda one, two, _: (one, two + b"\0" * 100), "no batch begins there"),
    ],
    ids=["cut", "end cut", "lost end", "lost batch", "lost beginning", "length", "zeros", "zeros behind"],
)
def test_whatever_is_missing_or_no_batch_is_damage(log, damage, says):
    size = len(topic_batches(range(1, 2))[0])
    one, two = damage((log / FIRST).read_bytes(), (log / SECOND).read_bytes(), size)
    (log / FIRST).write_bytes(one)
    (log / SECOND).write_bytes(two)
    assert says in refused(log)


@pytest.mark.parametrize(
    ("records", "says"),
    [
        (varint(-1) + b"\0" * 9, "a record of -1 bytes"),
        (varint(0) + b"\0" * 9, "a record of 0 bytes"),
        (varint(99) + b"\0" * 9, "a record of 99 bytes"),
        (b"\xff" * 2**20, "a number has more than 10 bytes"),
    ],
)
def test_a_record_that_leads_back_or_never_ends_is_damage_though_its_batch_has_the_right_checksum(log, records, says):
    (log / SECOND).write_bytes(of_records(6, 1, records))
    assert f"{SECOND}: a record before offset 7 cannot be read ({says})" in refused(log)


def test_a_segment_that_is_gone_between_two_others_is_damage(log):
    (log / "00000000000000000012.log").write_bytes(topic_batches(range(7, 8), 12)[0])
    (log / SECOND).unlink()
    assert "00000000000000000012.log: offset 6 is due, which no segment has" in refused(log)


@given(st.data())
def test_no_changed_byte_makes_another_log_of_it(tmp_path_factory, data):
    log = tmp_path_factory.mktemp("log")
    content = bytearray(b"".join(topic_batches(range(1, 4))))
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    (log / FIRST).write_bytes(content)
    try:
        assert names(log) == {"t1", "t2", "t3"}  # as where the epoch of the leader is another, which no CRC covers
    except HarnessError as error:
        assert "is damaged" in error.message  # noqa: PT017 - either is right


# Snapshots


def snapshot(log, numbers: range) -> None:
    records = [record for each in numbers for record in (made(f"t{each}", number(each)), placed(number(each), 0, 1))]
    content = batch(0, 1, records) + footer(len(records), 1)
    (log / SNAPSHOT).write_bytes(content)


def test_a_snapshot_stands_for_what_was_before_it_and_the_log_has_which_topics_were_removed(log):
    snapshot(log, range(2, 4))
    removal = batch(2, 1, [removed(number(1)), b"\1\x63\0"])
    whole = [*topic_batches(range(1, 2)), removal, *topic_batches(range(3, 4), 4)]
    (log / FIRST).write_bytes(b"".join(whole))
    found = read_topics(log)
    assert set(found.names.values()) == {"t2", "t3", "t4", "t5", "t6"}
    assert found.removed == {number(1)}
    (log / FIRST).unlink()
    assert names(log) == {"t2", "t3", "t4", "t5", "t6"}


def test_what_stood_in_the_log_below_the_snapshot_does_not_change_it_back(log):
    """Partitions that were moved are where the snapshot says, whatever records before it say."""
    moved = [made("t1", number(1)), placed(number(1), 0, 2, 3)]
    (log / SNAPSHOT).write_bytes(batch(0, 1, moved) + footer(2, 1))
    assert read_topics(log).replicas[number(1)] == {0: (2, 3)}


def test_a_snapshot_that_was_cut_off_between_two_batches_or_in_one_is_damage(log):
    snapshot(log, range(1, 4))
    whole = (log / SNAPSHOT).read_bytes()
    end = len(whole) - len(footer(6, 1))
    for size, says in ((end, "a snapshot ends with a footer"), (end - 5, "no whole batch"), (0, "with a footer")):
        (log / SNAPSHOT).write_bytes(whole[:size])
        assert f"{log / SNAPSHOT}: " in refused(log)
        assert says in refused(log)


# What a user sees


def test_check_of_a_damaged_log_is_an_error_and_calls_nothing_healthy_or_orphaned(log, monkeypatch, capsys):
    disk = log.parent
    (disk / "gone-0").mkdir()
    monkeypatch.setattr(sys, "argv", ["harness", "topic-ids", "check", "--metadata-log", str(log), "--data", str(disk)])
    assert cli._run() == 3  # whole: replicas have no directory
    data = bytearray((log / FIRST).read_bytes())
    data[100] ^= 1
    (log / FIRST).write_bytes(data)
    capsys.readouterr()
    assert cli._run() == 2
    out, err = capsys.readouterr()
    assert (out, "orphan" in err, err.startswith("error: The metadata log is damaged: ")) == ("", False, True)
    assert "Name the log of another controller, or its server.properties." in " ".join(err.split())
