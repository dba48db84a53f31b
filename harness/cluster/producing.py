"""One record offered to one broker, whoever leads: a client library would go to the leader that others name."""

from __future__ import annotations

import struct
import time
from datetime import timedelta

from crc32c import crc32c
from kio.schema.types import TopicName
from kio.static.primitive import Records, i16, i32, i32Timedelta

from harness.cluster.address import Address
from harness.cluster.metadata_log.batches import HEADER
from harness.cluster.protocol import Wire, ask

_MAGIC = 2
_COVERED = struct.Struct(">hiqqqhii")  # what the CRC covers of a header: all that stands behind it
_BEHIND_LENGTH = HEADER.size - 12
_NOBODY = -1  # a producer without an id
ACKS = {"0": 0, "1": 1, "all": -1}


def offer_record(wire: Wire, address: Address, topic: str, key: bytes, acks: str, patience: float) -> str:
    """Have a broker append a record to a topic's first partition; return its error's name, `none` where it did.

    Within `patience` seconds it must have been replicated (acks=all), else the answer is `request_timed_out`, and the
    record may be there or not. Raises Unreachable.
    """
    of = wire.schemas("produce", address)
    data = of.PartitionProduceData(index=i32(0), records=Records(batch_of(key, int(time.time() * 1000))))
    request = of.ProduceRequest(
        acks=i16(ACKS[acks]),
        timeout=i32Timedelta.parse(timedelta(seconds=patience)),
        topic_data=(of.TopicProduceData(name=TopicName(topic), partition_data=(data,)),),
    )
    answer = ask(address, request, timeout=patience + 2.0)
    return str(answer.responses[0].partition_responses[0].error_code.name)


def batch_of(key: bytes, at_ms: int) -> bytes:
    """Return a batch of one record with this key and no content (DefaultRecordBatch, magic 2). Pure."""
    body = b"\0" + _varint(0) + _varint(0) + _varint(len(key)) + key + _varint(0) + _varint(0)
    record = _varint(len(body)) + body
    covered = _COVERED.pack(0, 0, at_ms, at_ms, _NOBODY, _NOBODY, _NOBODY, 1) + record
    return (
        HEADER.pack(
            0,
            _BEHIND_LENGTH + len(record),
            -1,
            _MAGIC,
            crc32c(covered),
            0,
            0,
            at_ms,
            at_ms,
            _NOBODY,
            _NOBODY,
            _NOBODY,
            1,
        )
        + record
    )


def _varint(value: int) -> bytes:
    """Return a zigzag varint of a number that is not negative."""
    left, out = value << 1, b""
    while left > 0x7F:
        out, left = out + bytes([left & 0x7F | 0x80]), left >> 7
    return out + bytes([left])
