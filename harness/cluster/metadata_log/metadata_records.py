"""Records of Kafka's metadata module in a batch, as far as they are about topics; pure.

They are those of `TopicRecord.json` and its neighbours; later versions have more fields behind those read here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from harness.cluster.metadata_log.varints import unsigned, zigzag

TOPIC, PARTITION, PARTITION_CHANGE, REMOVE_TOPIC, ABORT_TRANSACTION = 2, 3, 5, 9, 25  # apiKey
_ID = struct.Struct(">16s")
_PARTITION_KEY = struct.Struct(">i16s")


def values_of(records: bytes) -> Iterator[bytes]:
    """Yield the value of each record of a batch; the metadata log is never compressed.

    Raises IndexError for a record that does not end in its batch, behind where it begins.
    """
    at = 0
    while at < len(records):
        size, at = zigzag(records, at)
        end = at + size
        if not at < end <= len(records):
            raise IndexError(f"a record of {size} bytes")
        _, at = zigzag(records, at + 1)  # behind the attributes
        _, at = zigzag(records, at)
        key, at = zigzag(records, at)
        length, at = zigzag(records, at + max(key, 0))
        yield records[at : at + length]
        at = end


def kind_of(value: bytes) -> tuple[int, int]:
    """Return of which kind a record is, and where its fields begin. Raises IndexError."""
    _, at = unsigned(value, 0)  # the frame's version
    kind, at = unsigned(value, at)
    _, at = unsigned(value, at)  # the record's
    return kind, at


def topic_in(value: bytes, at: int) -> tuple[bytes, str]:
    """Return id and name of the topic that a record makes. Raises IndexError, struct.error or UnicodeDecodeError."""
    size, at = unsigned(value, at)
    return topic_id_in(value, at + size - 1), value[at : at + size - 1].decode()


def topic_id_in(value: bytes, at: int) -> bytes:
    """Return the id with which a RemoveTopicRecord begins. Raises struct.error."""
    return bytes(_ID.unpack_from(value, at)[0])


def partition_in(value: bytes, at: int) -> tuple[bytes, int, int]:
    """Return topic and number of a partition, and where its other fields begin. Raises struct.error."""
    number, topic = _PARTITION_KEY.unpack_from(value, at)
    return topic, number, at + _PARTITION_KEY.size
