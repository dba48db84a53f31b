"""Control records of KIP-853 in a metadata log or a snapshot, from the bytes of a file; pure.

A VotersRecord is its version, a compact array of voters (id as int32, directory id of 16 bytes, endpoints as name,
host and port, two levels of kraft.version), and tagged fields: Kafka's VotersRecord.json. Its lengths are varints, one
higher than what they count. A KRaftVersionRecord is its version and the level, two int16.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from harness.base.kafka_id import kafka_id
from harness.cluster.metadata_log.batches import KRAFT_VERSION, VOTERS, control_batches
from harness.cluster.metadata_log.varints import unsigned, zigzag

_NO_DIRECTORY = bytes(16)


@dataclass(frozen=True, slots=True)
class Voter:
    """A voter as a VotersRecord names it: its directory id as Kafka prints it, empty for none, and where it listens.

    `endpoints` are listener, host and port of each; a host is empty where it cannot be told.
    """

    node: int
    directory: str = ""
    endpoints: frozenset[tuple[str, str, int]] = frozenset()


Voters = frozenset[Voter]


def alike(one: Voters, other: Voters) -> bool:
    """Whether two sets name the same voters, as far as both tell where these listen."""
    if all(host for each in one | other for _, host, _ in each.endpoints):
        return one == other
    return _without_hosts(one) == _without_hosts(other)


def _without_hosts(voters: Voters) -> Voters:
    ports = {each: frozenset((name, "", port) for name, _, port in each.endpoints) for each in voters}
    return frozenset(replace(each, endpoints=ports[each]) for each in voters)


@dataclass(frozen=True, slots=True)
class ControlRecords:
    """Who votes, and which kraft.version there is, by each record of a file, by the record's offset."""

    voters: Mapping[int, Voters] = field(default_factory=dict)
    versions: Mapping[int, int] = field(default_factory=dict)


def control_records(data: bytes) -> ControlRecords:
    """Return the control records of a file; bytes that are damaged end it."""
    found = list(_records_in(data))
    return ControlRecords(
        {offset: value for offset, value in found if isinstance(value, frozenset)},
        {offset: value for offset, value in found if isinstance(value, int)},
    )


def _records_in(data: bytes) -> Iterator[tuple[int, Voters | int]]:
    for base, records in control_batches(data):
        yield from _of_batch(base, _Reader(records))


def _of_batch(base: int, records: _Reader) -> Iterator[tuple[int, Voters | int]]:
    """Yield who votes, or the kraft.version, by each record of a control batch that says so."""
    try:
        while not records.is_empty:
            record = _Reader(records.take(records.zigzag()))
            record.take(1)  # attributes
            record.zigzag()  # time
            offset = base + record.zigzag()
            key = record.take(record.zigzag())
            value = _Reader(record.take(record.zigzag()))
            kind = struct.unpack_from(">hh", key)[1]
            if kind == VOTERS:
                yield offset, frozenset(_voters(value))
            elif kind == KRAFT_VERSION:
                yield offset, int.from_bytes(value.take(4)[2:], signed=True)
    except (struct.error, IndexError):
        return


def _voters(value: _Reader) -> Iterator[Voter]:
    value.take(2)  # version
    for _ in range(value.varint() - 1):
        node, directory = value.int32(), value.take(16)
        endpoints = frozenset(_endpoints(value))
        value.take(4)  # levels of kraft.version
        value.skip_tags()
        value.skip_tags()
        yield Voter(node, "" if directory == _NO_DIRECTORY else kafka_id(directory), endpoints)


def _endpoints(value: _Reader) -> Iterator[tuple[str, str, int]]:
    for _ in range(value.varint() - 1):
        name, host, port = value.text(), value.text(), value.take(2)
        value.skip_tags()
        yield name, host, int.from_bytes(port)


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

    def int32(self) -> int:
        """Return a signed number of four bytes."""
        return int.from_bytes(self.take(4), signed=True)

    def text(self) -> str:
        """Return a string with its length before it."""
        return self.take(self.varint() - 1).decode("utf-8", "replace")

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
