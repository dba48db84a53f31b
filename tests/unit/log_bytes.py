"""Segments of a metadata log as bytes, written as Kafka writes them (DefaultRecordBatch)."""

import struct

from crc32c import crc32c

from harness.cluster.metadata_log.batches import HEADER

NOBODY = -1


def varint(value: int) -> bytes:
    left, out = (value << 1) ^ (value >> 63), b""
    while left > 0x7F:
        out, left = out + bytes([left & 0x7F | 0x80]), left >> 7
    return out + bytes([left])


def record(offset: int, key: bytes | None, value: bytes) -> bytes:
    named = varint(-1) if key is None else varint(len(key)) + key
    body = b"\0" + varint(0) + varint(offset) + named + varint(len(value)) + value + varint(0)
    return varint(len(body)) + body


def batch(base: int, epoch: int, values: list[bytes], leader: int = NOBODY) -> bytes:
    """Return a batch; with `leader`, a control batch that begins with a LeaderChange record."""
    if leader == NOBODY:
        return _batch(base, epoch, 0, [(None, value) for value in values])
    named = (struct.pack(">hh", 0, 2), struct.pack(">hi", 0, leader) + values[0])
    return _batch(base, epoch, 0x20, [named, *((None, value) for value in values[1:])])


def header(base: int, epoch: int) -> bytes:
    """Return the control batch that begins a snapshot."""
    return _batch(base, epoch, 0x20, [(struct.pack(">hh", 0, 3), struct.pack(">hq", 0, 0))])


def footer(base: int, epoch: int) -> bytes:
    """Return the control batch that ends a snapshot."""
    return _batch(base, epoch, 0x20, [(struct.pack(">hh", 0, 4), struct.pack(">h", 0))])


def voters(base: int, epoch: int) -> bytes:
    """Return the control batch of a voter set, of which the value does not matter."""
    return _batch(base, epoch, 0x20, [(struct.pack(">hh", 0, 6), b"\0")])


def _batch(base: int, epoch: int, attributes: int, records: list[tuple[bytes | None, bytes]]) -> bytes:
    body = b"".join(record(at, key, value) for at, (key, value) in enumerate(records))
    return of_records(base, epoch, body, attributes, len(records))


def of_records(base: int, epoch: int, body: bytes, attributes: int = 0, count: int = 1) -> bytes:
    """Return the batch of records that are given as bytes, whatever these are."""
    fields = (attributes, count - 1, 1700000000000, 1700000000000, -1, -1, -1, count)
    checked = struct.pack(">hiqqqhii", *fields) + body
    return HEADER.pack(base, 49 + len(body), epoch, 2, crc32c(checked), *fields) + body


def segment(*batches: tuple[int, list[bytes]], base: int = 0, leader: int = 0) -> bytes:
    """Return batches in a row, given as (epoch, values); the first of each epoch names the leader."""
    out, epoch = b"", 0
    for own, values in batches:
        out += batch(base, own, values, leader if own > epoch else NOBODY)
        base, epoch = base + len(values), own
    return out
