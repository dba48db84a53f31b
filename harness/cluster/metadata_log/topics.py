"""The topics that a metadata log holds: their ids, and the replicas of each partition.

The records are those of Kafka's metadata module (`TopicRecord.json` and its neighbours); their later versions have more
fields behind those that are read here.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.errors import HarnessError
from harness.cluster.metadata_log.batches import data_of, zigzag
from harness.cluster.metadata_log.files import segment_base, snapshot_id

_TOPIC, _PARTITION, _PARTITION_CHANGE, _REMOVE_TOPIC = 2, 3, 5, 9  # apiKey
_REPLICAS_TAG = 2  # of PartitionChangeRecord
_ID = struct.Struct(">16s")
_PARTITION_KEY = struct.Struct(">i16s")


@dataclass(slots=True)
class MetadataTopics:
    """Topics by the 16 bytes of their id: name, and replicas by partition; and the ids of those that were removed."""

    names: dict[bytes, str] = field(default_factory=dict)
    replicas: dict[bytes, dict[int, tuple[int, ...]]] = field(default_factory=dict)
    removed: set[bytes] = field(default_factory=set)

    def apply(self, value: bytes) -> None:
        """Take in one record; one of another kind says nothing of topics. Raises IndexError or struct.error."""
        _, at = _unsigned(value, 0)  # the frame's version
        kind, at = _unsigned(value, at)
        _, at = _unsigned(value, at)  # the record's
        if kind == _TOPIC:
            size, at = _unsigned(value, at)
            name, at = value[at : at + size - 1].decode(), at + size - 1
            (topic,) = _ID.unpack_from(value, at)
            self.names[topic], self.replicas[topic] = name, {}
        elif kind in (_PARTITION, _PARTITION_CHANGE):
            partition, topic = _PARTITION_KEY.unpack_from(value, at)
            read = _brokers if kind == _PARTITION else _changed_replicas
            brokers = read(value, at + _PARTITION_KEY.size)
            if brokers is not None and topic in self.replicas:
                self.replicas[topic][partition] = brokers
        elif kind == _REMOVE_TOPIC:
            (topic,) = _ID.unpack_from(value, at)
            self.removed.add(topic)
            self.names.pop(topic, None)
            self.replicas.pop(topic, None)


def read_topics(folder: Path) -> MetadataTopics:
    """Return the topics of a metadata log: of its newest snapshot, and what was written behind it.

    What is not committed yet counts too: the disk of one node does not say how far that is. Raises HarnessError where
    the folder holds no such log, or one without a beginning.
    """
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise _none_there(folder, error.strerror or str(error)) from error
    segments = [name for name in names if segment_base(name) is not None]
    snapshots = [(found, name) for name in names if (found := snapshot_id(name)) is not None]
    if not segments:
        raise _none_there(folder, "it holds no segment")
    end, newest = max(((found.end_offset, name) for found, name in snapshots), default=(0, ""))
    if (segment_base(segments[0]) or 0) > end:
        raise _none_there(folder, f"it begins at {segments[0]} and has no snapshot of what was before")
    topics = MetadataTopics()
    for name in ([newest] if newest else []) + segments:
        _apply_all(topics, folder / name)
    return topics


def _apply_all(topics: MetadataTopics, path: Path) -> None:
    """Take in every record of a file. A segment may begin before the snapshot: taken in twice, a record says the same.

    Only the removal of a topic is no such record, and what is removed is not made again.
    """
    try:
        for records in _batches(path):
            for value in _values(records):
                topics.apply(value)
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise HarnessError(
            f"{path} has a record that cannot be read ({error}).", "Copy the log while its node is stopped."
        ) from error
    except OSError as error:
        raise HarnessError(f"{path} cannot be read: {error.strerror}.", "Let this user read it.") from error


def _batches(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        if not path.stat().st_size:
            return
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            yield from data_of(mapped)  # type: ignore[arg-type]  # a mapped file is read as bytes are


def _values(records: bytes) -> Iterator[bytes]:
    """Yield the value of each record of a batch; the metadata log is never compressed."""
    at = 0
    while at < len(records):
        size, at = zigzag(records, at)
        end = at + size
        _, at = zigzag(records, at + 1)  # behind the attributes
        _, at = zigzag(records, at)
        key, at = zigzag(records, at)
        length, at = zigzag(records, at + max(key, 0))
        yield records[at : at + length]
        at = end


def _brokers(value: bytes, at: int) -> tuple[int, ...] | None:
    """Return a compact array of int32; None for null."""
    count, at = _unsigned(value, at)
    return struct.unpack_from(f">{count - 1}i", value, at) if count else None


def _changed_replicas(value: bytes, at: int) -> tuple[int, ...] | None:
    """Return the tagged field of the replicas; None where the record does not change them."""
    count, at = _unsigned(value, at)
    for _ in range(count):
        tag, at = _unsigned(value, at)
        size, at = _unsigned(value, at)
        if tag == _REPLICAS_TAG:
            return _brokers(value, at)
        at += size
    return None


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at


def _none_there(folder: Path, why: str) -> HarnessError:
    return HarnessError(
        f"{folder} holds no metadata log: {why}.",
        "Name the folder __cluster_metadata-0 in a controller's metadata.log.dir, or in a copy of it.",
    )
