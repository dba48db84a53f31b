"""Record batches from bytes: what Kafka wrote is read, a half-written end is none, and nothing passes unnoticed."""

import struct
from dataclasses import replace
from pathlib import Path

import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st
from log_bytes import batch, segment

from harness.base.errors import HarnessError
from harness.cluster.metadata_log.batches import HEADER, Batch, bounds, read_batches
from harness.cluster.metadata_log.files import (
    QuorumState,
    SnapshotId,
    parse_quorum_state,
    segment_base,
    snapshot_id,
)
from harness.cluster.metadata_log.looks import Watched, watch
from harness.cluster.metadata_log.node_log import NodeLog
from harness.cluster.metadata_log.oracle import Known, judge
from harness.cluster.probes import Quorum

SAMPLE = Path(__file__).parent / "metadata-log"  # three voters of Kafka 3.9.1; node 0 was killed without a majority
VALUES = st.lists(st.binary(max_size=200), min_size=1, max_size=4)
LOGS = st.lists(st.tuples(st.integers(1, 5), VALUES), min_size=1, max_size=8).map(
    lambda log: sorted(log, key=lambda at: at[0])
)


@given(LOGS, st.integers(0, 2**40), st.integers(0, 2**31 - 1))
def test_what_was_written_is_read(log, base, leader):
    data = segment(*log, base=base, leader=leader)
    read = read_batches(data)
    assert (read.size, read.damage) == (len(data), "")
    ends = [base + sum(len(values) for _, values in log[: at + 1]) for at in range(len(log))]
    assert [each.last_offset + 1 for each in read.batches] == ends
    assert [each.base_offset for each in read.batches] == [base, *ends[:-1]]
    assert [each.epoch for each in read.batches] == [epoch for epoch, _ in log]
    first = {epoch: at for at, (epoch, _) in reversed(list(enumerate(log)))}
    assert [each.leader for each in read.batches] == [
        leader if first[epoch] == at else -1 for at, (epoch, _) in enumerate(log)
    ]
    assert bounds(data)[-1][1:] == (read.last, read.size)


@given(LOGS, st.data())
def test_half_a_batch_at_the_end_is_the_beginning_of_one_and_no_damage(log, data):
    whole = segment(*log)
    cut = data.draw(st.integers(0, len(whole)))
    read = read_batches(whole[:cut])
    assert read.damage == ""
    assert read.size <= cut < read.size + len(whole) + 1
    assert read.batches == read_batches(whole).batches[: len(read.batches)]


@given(LOGS, st.data())
def test_a_bit_that_is_flipped_anywhere_in_one_of_three_logs_is_noticed(log, data):
    whole = segment(*log)
    bit = data.draw(st.integers(0, 8 * len(whole) - 1))
    flipped = bytearray(whole)
    flipped[bit // 8] ^= 1 << bit % 8
    end = sum(len(values) for _, values in log)
    epoch = log[-1][0]
    watched, _ = watch(Watched(), Quorum(1, epoch, end, {0: end, 1: end, 2: end}, leaders=((epoch, 0),)))
    state = QuorumState(epoch, 0, -1)
    logs = [log_of(0, whole, state), log_of(1, whole, state)]
    assert judge(Known(), [*logs, log_of(2, whole, state)], watched)[1] == ()
    assert judge(Known(), [*logs, log_of(2, bytes(flipped), state)], watched)[1] != ()


def log_of(node, data, state):
    """Return the log of a node that ended in order, as its only segment has it."""
    read = read_batches(data)
    damages = (read.damage,) if read.damage else ("half a batch",) * (read.size < len(data))
    if read.batches and read.batches[0].base_offset != 0:
        damages = (*damages, "the segment's name is another")
    return NodeLog(node, "a", read.batches, (), state, damages)


@given(st.binary(max_size=400))
def test_hostile_bytes_are_read_as_what_they_are(data):
    read = read_batches(data)
    assert read.size <= len(data)
    assert sum(end - begin for _, begin, end in bounds(data)) <= len(data)


@given(st.binary(max_size=60))
def test_a_control_record_that_is_malformed_names_no_leader(body):
    whole = batch(0, 1, [b""], leader=3)
    fields = struct.unpack_from(">hiqqqhii", whole, 21)
    checked = struct.pack(">hiqqqhii", *fields) + body
    (read,) = read_batches(HEADER.pack(0, 49 + len(body), 1, 2, crc32c(checked), *fields) + body).batches
    assert replace(read, control=-1, leader=-1) == Batch(0, 0, 1, crc32c(checked))


def test_a_batch_of_an_older_format_or_of_no_size_is_damage():
    whole = batch(0, 1, [b"x"])
    assert "magic 1" in read_batches(whole[:16] + b"\1" + whole[17:]).damage
    assert "no batch begins" in read_batches(bytes(100)).damage
    assert "no batch begins" in read_batches(whole[:8] + struct.pack(">i", 2**31 - 1) + whole[12:]).damage


def test_names_of_segments_and_snapshots_are_told_from_those_of_what_comes_and_goes():
    assert segment_base("00000000000000000046.log") == 46
    assert snapshot_id("00000000000000000120-0000000003.checkpoint") == SnapshotId(120, 3)
    others = ("00000000000000000046.log.deleted", "00000000000000000046.index", "46.log", "quorum-state")
    assert [segment_base(name) for name in others] == [None] * 4
    assert snapshot_id("00000000000000000120-0000000003-7.checkpoint.part") is None


@pytest.mark.parametrize(
    ("text", "state"),
    [
        (
            b'{"leaderId":1,"leaderEpoch":2,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}',
            QuorumState(2, 1, -1),
        ),
        (
            b'{"clusterId":"","leaderId":-1,"leaderEpoch":3,"votedId":2,"appliedOffset":0,"currentVoters":[],"data_version":0}',
            QuorumState(3, -1, 2),
        ),
    ],
)
def test_a_quorum_state_of_either_version_is_read(text, state):
    assert parse_quorum_state(text) == state


@pytest.mark.parametrize("text", [b"", b"[1]", b"{}", b'{"leaderId":"1","leaderEpoch":2,"votedId":-1}', b"\xff"])
def test_a_quorum_state_that_is_none_is_refused(text):
    with pytest.raises(HarnessError):
        parse_quorum_state(text)


def test_a_segment_that_kafka_wrote_is_read_as_kafkas_own_tool_reads_it():
    told = [line.split() for line in (SAMPLE / "dumped.txt").read_text().splitlines()]
    read = read_batches((SAMPLE / "1" / "00000000000000000000.log").read_bytes())
    assert [
        [str(each.base_offset), str(each.last_offset), str(each.epoch), str(each.crc)] for each in read.batches
    ] == told
    assert {each.epoch: each.leader for each in read.batches if each.leader >= 0}.keys() == {
        int(line[2]) for line in told
    }


def test_the_tail_that_a_killed_leader_really_left_breaks_nothing():
    logs = []
    for node in range(3):
        state = parse_quorum_state((SAMPLE / str(node) / "quorum-state").read_bytes())
        logs.append(log_of(node, (SAMPLE / str(node) / "00000000000000000000.log").read_bytes(), state))
    killed, *others = logs
    committed = Quorum(1, 6, 116, dict.fromkeys(range(3), 116), leaders=((6, 1),))
    watched, _ = watch(Watched(), committed)
    assert judge(Known(), logs, watched)[1] == ()
    assert killed.covering(107) != others[0].covering(107) == others[1].covering(107)
