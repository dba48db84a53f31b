"""The topics that a metadata log holds: their ids, and the replicas of each partition."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.errors import HarnessError
from harness.cluster.metadata_log.batches import SNAPSHOT_FOOTER, WholeBatch, whole_batches
from harness.cluster.metadata_log.files import segments_among, snapshots_among
from harness.cluster.metadata_log.metadata_records import (
    PARTITION,
    PARTITION_CHANGE,
    REMOVE_TOPIC,
    TOPIC,
    kind_of,
    partition_in,
    topic_id_in,
    topic_in,
    values_of,
)
from harness.cluster.metadata_log.varints import unsigned

_REPLICAS_TAG = 2  # of PartitionChangeRecord


@dataclass(slots=True)
class MetadataTopics:
    """Topics by the 16 bytes of their id: name, and replicas by partition; and the ids of those that were removed.

    `end` is the offset behind the last record.
    """

    names: dict[bytes, str] = field(default_factory=dict)
    replicas: dict[bytes, dict[int, tuple[int, ...]]] = field(default_factory=dict)
    removed: set[bytes] = field(default_factory=set)
    end: int = 0

    def apply(self, value: bytes, *, only_removal: bool = False) -> None:
        """Take in one record; one of another kind says nothing of topics. Raises IndexError or struct.error."""
        kind, at = kind_of(value)
        if only_removal and kind != REMOVE_TOPIC:
            return
        if kind == TOPIC:
            topic, name = topic_in(value, at)
            self.names[topic], self.replicas[topic] = name, {}
        elif kind in (PARTITION, PARTITION_CHANGE):
            topic, partition, at = partition_in(value, at)
            read = _brokers if kind == PARTITION else _changed_replicas
            brokers = read(value, at)
            if brokers is not None and topic in self.replicas:
                self.replicas[topic][partition] = brokers
        elif kind == REMOVE_TOPIC:
            topic = topic_id_in(value, at)
            self.removed.add(topic)
            self.names.pop(topic, None)
            self.replicas.pop(topic, None)


def read_topics(folder: Path) -> MetadataTopics:
    """Return the topics of a metadata log: of its newest snapshot, and what was written behind it.

    What is not committed yet counts too: the disk of one node does not say how far that is. Raises HarnessError where
    the folder holds no such log, one without a beginning, or one of which anything is damaged or missing: which topics
    there are then, nobody can say.
    """
    try:
        names = [path.name for path in folder.iterdir()]
    except OSError as error:
        raise _none_there(folder, error.strerror or str(error)) from error
    segments = list(segments_among(names).items())
    snapshots = [(found.end_offset, name) for found, name in snapshots_among(names).items()]
    if not segments:
        raise _none_there(folder, "it holds no segment")
    end, newest = max(snapshots, default=(0, ""))
    due = segments[0][0]
    if due > end:
        raise _none_there(folder, f"it begins at {segments[0][1]} and has no snapshot of what was before")
    topics = MetadataTopics()
    if newest:
        _take_in(topics, folder / newest, 0, 0, is_snapshot=True)
    for base, name in segments:
        if base != due:
            raise _damaged(folder / name, f"offset {due} is due, which no segment has")
        due = _take_in(topics, folder / name, due, end)
    topics.end = due
    return topics


def _take_in(topics: MetadataTopics, path: Path, due: int, since: int, *, is_snapshot: bool = False) -> int:
    """Take in the records of a file that begins at the offset `due`, and return the one behind its last.

    Below the offset `since` a snapshot says what there is: only which topics were removed does not stand in it.
    """
    batch = None
    try:
        for batch in _batches(path):
            if batch.base_offset != due:
                raise _damaged(path, f"it has offset {batch.base_offset} where {due} is due")
            due = batch.last_offset + 1
            for value in values_of(batch.records) if batch.control < 0 else ():
                topics.apply(value, only_removal=due <= since)
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise _damaged(path, f"a record before offset {due} cannot be read ({error})") from error
    except ValueError as error:
        raise _damaged(path, str(error)) from error
    except OSError as error:
        raise HarnessError(f"{path} cannot be read: {error.strerror}.", "Let this user read it.") from error
    if is_snapshot and (batch is None or batch.control != SNAPSHOT_FOOTER):
        raise _damaged(path, "it was cut off: a snapshot ends with a footer")
    return due


def _batches(path: Path) -> Iterator[WholeBatch]:
    with path.open("rb") as stream:
        if not path.stat().st_size:
            return
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            yield from whole_batches(mapped)  # type: ignore[arg-type]  # a mapped file is read as bytes are


def _brokers(value: bytes, at: int) -> tuple[int, ...] | None:
    """Return a compact array of int32; None for null."""
    count, at = unsigned(value, at)
    return struct.unpack_from(f">{count - 1}i", value, at) if count else None


def _changed_replicas(value: bytes, at: int) -> tuple[int, ...] | None:
    """Return the tagged field of the replicas; None where the record does not change them."""
    count, at = unsigned(value, at)
    for _ in range(count):
        tag, at = unsigned(value, at)
        size, at = unsigned(value, at)
        if tag == _REPLICAS_TAG:
            return _brokers(value, at)
        at += size
    return None


def _none_there(folder: Path, why: str) -> HarnessError:
    return HarnessError(
        f"{folder} holds no metadata log: {why}.",
        "Name the folder __cluster_metadata-0 in a controller's metadata.log.dir, or in a copy of it.",
    )


def _damaged(path: Path, why: str) -> HarnessError:
    return HarnessError(
        f"The metadata log is damaged: {path}: {why}. Which topics there are, nobody can say by it.",
        "Name the log of another controller, or its server.properties. If it was copied while its node ran, copy it "
        "again; if its node was killed, start it: it cuts off what it has not written whole.",
    )
