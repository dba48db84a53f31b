"""VotersRecords of a metadata log (KIP-853), from the bytes of a segment; pure.

A VotersRecord is its version, a compact array of voters (id as int32, directory id of 16 bytes, endpoints as name,
host and port, two levels of kraft.version), and tagged fields: Kafka's VotersRecord.json. Its lengths are varints, one
higher than what they count.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from harness.cluster.metadata_log.batches import HEADER, MOST_BATCH_BYTES
from harness.cluster.metadata_log.varints import unsigned, zigzag

_CONTROL = 0x20
_VOTERS = 6  # org.apache.kafka.common.record.ControlRecordType.KRAFT_VOTERS
_BEFORE_LENGTH = 12


def voters_in(data: bytes) -> dict[int, frozenset[int]]:
    """Return who votes by each VotersRecord of a segment, by the record's offset; bytes that are damaged end it."""
    return dict(_voters_in(data))


def _voters_in(data: bytes) -> Iterator[tuple[int, frozenset[int]]]:
    position = 0
    while len(data) - position >= HEADER.size:
        base, length, _, _, _, attributes, *_ = HEADER.unpack_from(data, position)
        end = position + _BEFORE_LENGTH + length
        if not HEADER.size <= end - position <= MOST_BATCH_BYTES or end > len(data):
            return
        if attributes & _CONTROL:
            yield from _of_batch(base, _Reader(data[position + HEADER.size : end]))
        position = end


def _of_batch(base: int, records: _Reader) -> Iterator[tuple[int, frozenset[int]]]:
    """Yield the voters of each VotersRecord in a control batch."""
    try:
        while not records.is_empty:
            record = _Reader(records.take(records.zigzag()))
            record.take(1)  # attributes
            record.zigzag()  # time
            offset = base + record.zigzag()
            key = record.take(record.zigzag())
            value = _Reader(record.take(record.zigzag()))
            if struct.unpack_from(">hh", key)[1] == _VOTERS:
                yield offset, frozenset(_ids(value))
    except (struct.error, IndexError):
        return


def _ids(value: _Reader) -> Iterator[int]:
    value.take(2)  # version
    for _ in range(value.varint() - 1):
        yield struct.unpack(">i", value.take(4))[0]
        value.take(16)  # directory id
        for _ in range(value.varint() - 1):
            value.take(value.varint() - 1)  # name
            value.take(value.varint() - 1)  # host
            value.take(2)  # port
            value.skip_tags()
        value.take(4)  # levels of kraft.version
        value.skip_tags()
        value.skip_tags()


class _Reader:
    """Takes bytes from the front. Raises IndexError where they end before."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def is_empty(self) -> bool:
        """Whether all has been taken."""
        return self._at >= len(self._data)

    def take(self, count: int) -> bytes:
        """Return the next bytes."""
        if count < 0 or self._at + count > len(self._data):
            raise IndexError
        self._at += count
        return self._data[self._at - count : self._at]

    def varint(self) -> int:
        """Return an unsigned varint."""
        value, self._at = unsigned(self._data, self._at)
        return value

    def zigzag(self) -> int:
        """Return a signed varint."""
        value, self._at = zigzag(self._data, self._at)
        return value

    def skip_tags(self) -> None:
        """Pass over tagged fields."""
        for _ in range(self.varint()):
            self.varint()
            self.take(self.varint())
