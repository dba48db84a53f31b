"""Record batches (magic 2) of a metadata log or a snapshot, from bytes; pure.

The layout is org.apache.kafka.common.record.DefaultRecordBatch's. Its CRC-32C covers what stands behind it. Base
offset, length and leader epoch are covered by nothing, so that only a comparison can show that one of them is wrong.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from crc32c import crc32c

from harness.cluster.metadata_log.topic_changes import UNCLEAR, TopicChanges, topic_changes
from harness.cluster.metadata_log.varints import zigzag

# Base offset, length, leader epoch, magic, CRC, attributes, last offset delta, two times, three of the producer, count.
HEADER = struct.Struct(">qiibIhiqqqhii")
_BEFORE_LENGTH = 12  # what the field `length` does not count: base offset and length themselves
_CRC_FROM = 21
_MAGIC = 2
_COMPRESSION, _CONTROL = 0x07, 0x20
# org.apache.kafka.common.record.ControlRecordType
_LEADER_CHANGE, SNAPSHOT_HEADER, SNAPSHOT_FOOTER, KRAFT_VERSION, VOTERS = 2, 3, 4, 5, 6
# KafkaRaftClient.MAX_BATCH_SIZE_BYTES is 8 MiB, and a snapshot's records are batched no larger.
_MOST_BATCH_BYTES = 32 * 2**20


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch: its offsets, the epoch of the leader that wrote it, and the checksum of what stands in it.

    `leader` is whom a LeaderChange record at its beginning names, -1 where there is none: each epoch begins with one.
    `producer`, `producer_epoch` and `sequence` (of the first record) are those of an idempotent producer, else -1.
    `control` is the type of its first control record, -1 where it has data. `topics` is what its records do to topics,
    None where that is nothing, or was not asked for.
    """

    base_offset: int
    last_offset: int
    epoch: int
    crc: int
    leader: int = -1
    producer: int = -1
    producer_epoch: int = -1
    sequence: int = -1
    control: int = -1
    topics: TopicChanges | None = None

    @property
    def words(self) -> str:
        """The batch as a clause."""
        at = str(self.base_offset) if self.last_offset == self.base_offset else f"{self.base_offset}-{self.last_offset}"
        return f"{at} of epoch {self.epoch} (CRC {self.crc:08x})"


@dataclass(frozen=True, slots=True)
class ReadBatches:
    """What bytes hold: whole batches, where the last of them begins and ends, and what is wrong with the bytes behind.

    Without `damage`, bytes behind `size` are the beginning of a batch, or none.
    """

    batches: tuple[Batch, ...]
    last: int
    size: int
    damage: str = ""


class _Damaged(Exception):  # noqa: N818 - what the bytes are
    """The bytes are no batch, and no beginning of one."""


def read_batches(data: bytes, *, with_topics: bool = False) -> ReadBatches:
    """Read batch after batch, up to one that is not whole or that is damaged; never raises.

    `with_topics`, where they are those of a metadata log, their records are read too.
    """
    found: list[Batch] = []
    last = size = 0
    damage = ""
    try:
        for batch, end in _each(data, with_topics):
            found.append(batch)
            last, size = size, end
    except _Damaged as error:
        damage = str(error)
    return ReadBatches(tuple(found), last, size, damage)


def bounds(data: bytes) -> list[tuple[int, int, int]]:
    """Return base offset, first byte and the byte behind of each batch, whatever stands in it, cut where bytes end."""
    found, position = [], 0
    while len(data) - position >= HEADER.size:
        base, length, *_ = HEADER.unpack_from(data, position)
        end = min(position + max(_BEFORE_LENGTH + length, HEADER.size), len(data))
        found.append((base, position, end))
        position = end
    return found


class WholeBatch(NamedTuple):
    """A batch with its bytes: its offsets, of which type its first control record is (-1: it has data), its records."""

    base_offset: int
    last_offset: int
    control: int
    records: bytes


def whole_batches(data: bytes) -> Iterator[WholeBatch]:
    """Yield batch after batch. Raises ValueError, which names the byte, for anything that is none, half of one too."""
    end = 0
    try:
        for header, begin, end in _whole(data):
            records = data[begin + HEADER.size : end]
            control = _first_control(records)[0] if header.attributes & _CONTROL else -1
            yield WholeBatch(header.base, header.base + header.delta, control, records)
    except _Damaged as error:
        raise ValueError(f"byte {end}: {error}") from error
    if end < len(data):
        raise ValueError(f"byte {end}: it ends with {len(data) - end} bytes that are no whole batch")


def control_batches(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the base offset and the records of each whole control batch, up to bytes that are damaged."""
    with suppress(_Damaged):
        for header, begin, end in _whole(data):
            if header.attributes & _CONTROL:
                yield header.base, data[begin + HEADER.size : end]


def _each(data: bytes, with_topics: bool) -> Iterator[tuple[Batch, int]]:
    """Yield each whole batch and the position behind it."""
    for header, begin, end in _whole(data):
        records = data[begin + HEADER.size : end]
        control, leader = _control(records) if header.attributes & _CONTROL else (-1, -1)
        if with_topics:
            _check_records(header, records)
        topics = _topics(header, records) if with_topics else None
        last = header.base + header.delta
        who, who_epoch, sequence = header.producer
        yield Batch(header.base, last, header.epoch, header.crc, leader, who, who_epoch, sequence, control, topics), end


def _check_records(header: _Header, records: bytes) -> None:
    """Raise _Damaged for a batch of a metadata log that has not a record for each of its offsets: none is compacted.

    What is compressed is not looked into.
    """
    if header.attributes & _COMPRESSION:
        return
    count = at = 0
    with suppress(IndexError):
        while at < len(records):
            size, begin = zigzag(records, at)
            at, count = begin + max(size, 1), count + 1
    if not header.records == header.delta + 1 == count or at != len(records):
        raise _Damaged(
            f"the batch at offset {header.base} has {header.delta + 1} offsets, names {header.records} records, and "
            f"has {count}"
        )


def _topics(header: _Header, records: bytes) -> TopicChanges | None:
    if header.attributes & _CONTROL:
        return None
    return UNCLEAR if header.attributes & _COMPRESSION else topic_changes(records)


class _Header(NamedTuple):
    base: int
    epoch: int
    crc: int
    attributes: int
    delta: int
    producer: Sequence[int]  # its id, its epoch, the first sequence number
    records: int


def _whole(data: bytes) -> Iterator[tuple[_Header, int, int]]:
    """Yield the header of each whole batch, and its first byte and that behind it. Raises _Damaged."""
    position = 0
    while len(data) - position >= HEADER.size:
        base, length, epoch, magic, crc, attributes, delta, _, _, *by, count = HEADER.unpack_from(data, position)
        size = _BEFORE_LENGTH + length
        _check_header(base, size, epoch, magic, delta)
        if len(data) - position < size:
            return
        if crc32c(data[position + _CRC_FROM : position + size]) != crc:
            raise _Damaged(f"the batch at offset {base} does not have the CRC {crc:08x} that it names")
        yield _Header(base, epoch, crc, attributes, delta, by, count), position, position + size
        position += size


def _check_header(base: int, size: int, epoch: int, magic: int, delta: int) -> None:
    """Raise _Damaged for what no batch of a metadata log begins with."""
    if magic != _MAGIC or not HEADER.size <= size <= _MOST_BATCH_BYTES or min(base, epoch, delta) < 0:
        raise _Damaged(f"no batch begins there (base offset {base}, {size} bytes, epoch {epoch}, magic {magic})")


def _control(records: bytes) -> tuple[int, int]:
    """Return of which type the first of these control records is, and whom it names as leader, -1 where it does not.

    A LeaderChangeMessage begins with its version (int16) and the leader's id (int32).
    """
    kind, at = _first_control(records)
    try:
        return kind, int(struct.unpack_from(">hi", records, at)[1]) if kind == _LEADER_CHANGE else -1
    except struct.error:
        return kind, -1


def _first_control(records: bytes) -> tuple[int, int]:
    """Return of which type the first of these control records is (0 where it is malformed), and where its value begins.

    A record is length, attributes, time and offset deltas, key and value, with lengths as zigzag varints. The key is
    version and type as int16.
    """
    try:
        _, at = zigzag(records, 0)
        _, at = zigzag(records, at + 1)
        _, at = zigzag(records, at)
        key_size, at = zigzag(records, at)
        _, kind = struct.unpack_from(">hh", records, at)
        _, value = zigzag(records, at + key_size)
        return int(kind), value
    except (struct.error, IndexError):
        return 0, 0
