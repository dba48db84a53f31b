"""A metadata log read from its folder: again and again, while it grows, moves on, and is wiped."""

import pytest
from log_bytes import batch, footer, header, of_records, segment
from topic_records import made, number, placed

from harness.cluster.metadata_log import folder as folder_module
from harness.cluster.metadata_log.batches import HEADER
from harness.cluster.metadata_log.dump import cut_out
from harness.cluster.metadata_log.files import QuorumState, SnapshotId
from harness.cluster.metadata_log.folder import LogFolder

STATE = '{"leaderId":0,"leaderEpoch":1,"votedId":-1,"data_version":1}'
FIRST = "00000000000000000000.log"


@pytest.fixture
def disk(tmp_path):
    """Return the folder of a log with three batches, on a disk that was formatted."""
    log = tmp_path / "data" / "__cluster_metadata-0"
    log.mkdir(parents=True)
    (tmp_path / "data" / "meta.properties").write_text("node.id=1\n")
    (log / "partition.metadata").write_text("version: 0\n")
    (log / "quorum-state").write_text(STATE)
    (log / FIRST).write_bytes(segment((1, [b"a"]), (1, [b"b", b"c"]), (1, [b"d"])))
    return log


def append(path, data):
    with path.open("ab") as stream:
        stream.write(data)


def test_a_log_is_read_with_its_quorum_state(disk):
    log = LogFolder(1, disk).read()
    assert (log.node, log.start, log.end, log.epoch, log.quorum) == (1, 0, 4, 1, QuorumState(1, 0, -1))
    assert (log.damages, log.is_whole, bool(log.life)) == ((), True, True)


def test_a_node_that_never_had_a_log_has_none(tmp_path):
    log = LogFolder(1, tmp_path / "nowhere").read()
    assert (log.life, log.batches, log.damages) == ("", (), ())


def test_a_log_that_grows_is_read_on_where_it_ended(disk, monkeypatch):
    log = LogFolder(1, disk)
    first = log.read()
    append(disk / FIRST, batch(4, 1, [b"e"]))
    decoded = []
    read = folder_module.read_batches
    monkeypatch.setattr(
        folder_module, "read_batches", lambda data, **how: decoded.append(len(data)) or read(data, **how)
    )
    assert log.read().batches == (*first.batches, *read(batch(4, 1, [b"e"]), with_topics=True).batches)
    assert decoded == [len(batch(4, 1, [b"e"]))]


def test_a_log_that_was_cut_off_and_written_again_is_read_from_its_beginning(disk):
    log = LogFolder(1, disk)
    log.read()
    (disk / FIRST).write_bytes(segment((1, [b"a"]), (2, [b"x"] * 9), (2, [b"y"]), (2, [b"z"])))
    assert [each.epoch for each in log.read().batches] == [1, 2, 2, 2]


def test_what_changed_where_it_was_read_before_is_noticed_at_the_end(disk):
    log = LogFolder(1, disk)
    before = log.read()
    data = bytearray((disk / FIRST).read_bytes())
    data[64] ^= 1
    with (disk / FIRST).open("r+b") as stream:
        stream.write(data)
    assert log.read() == before
    assert "CRC" in log.read(anew=True).damages[0]


def test_half_a_batch_at_the_end_is_damage_only_where_the_node_ended_in_order(disk):
    append(disk / FIRST, batch(4, 1, [b"e"])[:-3])
    log = LogFolder(1, disk)
    assert (log.read().damages, log.read().end) == ((), 4)
    (damage,) = log.read(ended_in_order=True).damages
    assert damage == f"{FIRST} ends with {len(batch(4, 1, [b'e'])) - 3} bytes that are no whole batch"
    append(disk / FIRST, batch(4, 1, [b"e"])[-3:])
    assert (log.read().damages, log.read().end) == ((), 5)


def test_half_a_batch_before_another_segment_is_damage(disk):
    append(disk / FIRST, b"\0" * 10)
    (disk / "00000000000000000004.log").write_bytes(batch(4, 1, [b"e"]))
    assert LogFolder(1, disk).read().damages == (f"{FIRST} ends with 10 bytes that are no whole batch",)


def test_a_segment_that_begins_with_another_offset_than_its_name_is_damage(disk):
    (disk / "00000000000000000004.log").write_bytes(batch(5, 1, [b"e"]))
    assert LogFolder(1, disk).read().damages == ("00000000000000000004.log begins with offset 5",)


def test_segments_follow_each_other_and_those_that_are_being_deleted_are_gone(disk):
    (disk / "00000000000000000004.log").write_bytes(batch(4, 1, [b"e"]))
    log = LogFolder(1, disk)
    assert (log.read().start, log.read().end) == (0, 5)
    (disk / FIRST).rename(disk / f"{FIRST}.deleted")
    assert (log.read().start, log.read().end) == (4, 5)


def test_an_empty_segment_begins_where_the_one_before_it_ends(disk):
    (disk / "00000000000000000004.log").touch()
    assert LogFolder(1, disk).read().damages == ()
    (disk / "00000000000000000004.log").rename(disk / "00000000000000000009.log")
    assert LogFolder(1, disk).read().damages == (
        f"00000000000000000009.log is empty, and {FIRST} ends before offset 4",
    )


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (b"", "has no whole batch"),
        (batch(3, 1, [b"x"]), "has its record 3 where 0 is due"),
        (batch(0, 1, [b"x"]) + batch(2, 1, [b"z"]), "has its record 2 where 1 is due"),
        (
            header(0, 1) + batch(1, 1, [b"x"]),
            "was cut off: it begins with a header and does not end with a footer",
        ),
    ],
    ids=("all of them", "the first", "one between", "the last"),
)
def test_a_snapshot_that_lacks_records_is_damage(disk, content, wrong):
    name = "00000000000000000004-0000000001.checkpoint"
    (disk / name).write_bytes(content)
    assert LogFolder(1, disk).read().damages == (f"{name} {wrong}",)


def test_a_snapshot_from_its_header_to_its_footer_is_whole(disk):
    name = "00000000000000000004-0000000001.checkpoint"
    (disk / name).write_bytes(header(0, 1) + batch(1, 1, [b"x"]) + footer(2, 1))
    assert LogFolder(1, disk).read().damages == ()


def test_a_snapshot_is_known_by_its_name_and_damage_in_it_is_noticed(disk):
    (disk / "00000000000000000000-0000000000.checkpoint").write_bytes(segment((1, [b"voters"])))
    (disk / "00000000000000000004-0000000001.checkpoint").write_bytes(segment((1, [b"all"])))
    log = LogFolder(1, disk)
    assert (log.read().snapshots, log.read().damages) == ((SnapshotId(4, 1),), ())
    append(disk / "00000000000000000004-0000000001.checkpoint", b"\1\2")
    assert "00000000000000000004-0000000001.checkpoint ends" in log.read(anew=True).damages[0]


def test_a_log_that_was_wiped_is_another_one(disk):
    log = LogFolder(1, disk)
    before = log.life
    assert log.life == before
    (disk / "partition.metadata").unlink()
    assert log.life == before  # a file that Kafka need not write
    assert log.read().batches
    (disk / "../meta.properties").unlink()
    assert log.life == ""
    (disk / "../meta.properties").write_text("version=1\n")
    assert log.life not in ("", before)


def test_segments_that_hold_nothing_and_begin_behind_offsets_that_no_snapshot_has_are_damage(disk):
    for path in disk.glob("*.log"):
        path.unlink()
    (disk / "00000000000000000100.log").write_bytes(b"")
    (damage,) = LogFolder(1, disk).read().damages
    assert damage == "00000000000000000100.log is empty, and no snapshot stands for what is before"
    (disk / "00000000000000000100-0000000001.checkpoint").write_bytes(header(0, 1) + footer(1, 1))
    assert LogFolder(1, disk).read().damages == ()


def test_a_batch_that_lacks_records_of_its_offsets_is_damage_though_its_checksum_is_right(disk):
    two = batch(4, 1, [b"a", b"b"])[HEADER.size :]
    append(disk / FIRST, of_records(4, 1, two, count=5))
    (damage,) = LogFolder(1, disk).read().damages
    assert damage.endswith("the batch at offset 4 has 5 offsets, names 5 records, and has 2")


def test_a_folder_that_is_named_like_a_segment_is_none(disk):
    (disk / "00000000000000000099.log").mkdir()
    assert LogFolder(1, disk).read().damages == ()


def test_a_log_whose_files_go_away_while_it_is_read_says_nothing(disk, monkeypatch):
    log = LogFolder(1, disk)
    monkeypatch.setattr(LogFolder, "_quorum_state", lambda _: (disk / "gone").stat())
    assert log.read().is_whole is False


def test_a_quorum_state_that_cannot_be_read_is_damage(disk):
    (disk / "quorum-state").write_text("{")
    assert LogFolder(1, disk).read().damages[0].startswith("quorum-state cannot be read")


def test_a_log_of_more_batches_than_are_kept_is_read_in_part(disk, monkeypatch):
    monkeypatch.setattr(folder_module, "MOST_BATCHES", 2)
    (disk / "00000000000000000004.log").write_bytes(b"not looked at")
    log = LogFolder(1, disk).read()
    assert (len(log.batches), log.is_whole, log.damages) == (2, False, ())


def test_batches_around_an_offset_are_cut_out_as_a_segment_by_themselves(disk, tmp_path):
    whole = segment(*[(1, [bytes([at])]) for at in range(50)])
    (disk / FIRST).write_bytes(whole)
    cut = cut_out(disk, 30, tmp_path / "cut")
    assert cut.name == "00000000000000000020.log"
    assert cut.read_bytes() == b"".join(batch(at, 1, [bytes([at])]) for at in range(20, 41))
    assert cut_out(disk, 0, tmp_path / "cut").stat().st_size == len(segment(*[(1, [bytes([at])]) for at in range(11)]))


def test_nothing_is_cut_out_of_a_log_that_begins_later(disk, tmp_path):
    (disk / FIRST).rename(disk / "00000000000000000009.log")
    assert cut_out(disk, 3, tmp_path / "cut") is None


def test_the_topics_of_a_snapshot_are_read_from_it_and_those_of_the_log_with_its_batches(disk):
    records = [made("a", number(1)), placed(number(1), 0, 1)]
    append(disk / FIRST, batch(4, 1, records))
    (disk / "00000000000000000006-0000000001.checkpoint").write_bytes(
        header(0, 1) + batch(1, 1, records) + footer(3, 1)
    )
    log = LogFolder(1, disk).read()
    assert log.batches[-1].topics.made == ((number(1), "a"),)
    (topics,) = log.topics.values()
    assert (topics.names, topics.partitions) == ({number(1): "a"}, {number(1): {0}})


def test_of_a_snapshot_that_is_not_whole_nobody_says_which_topics_it_has(disk):
    path = disk / "00000000000000000004-0000000001.checkpoint"
    path.write_bytes((header(0, 1) + batch(1, 1, [made("a", number(1))]))[:-1])
    log = LogFolder(1, disk).read()
    assert (log.snapshots, dict(log.topics)) == ((SnapshotId(4, 1),), {})
