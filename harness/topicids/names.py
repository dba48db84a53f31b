"""What a folder of a data directory is by its name, as Kafka's UnifiedLog.parseTopicPartitionName reads it; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from harness.cluster.config import METADATA_TOPIC

_TOPIC = r"[a-zA-Z0-9._-]{1,249}"  # org.apache.kafka.common.internals.Topic
_NO_NAMES = (".", "..")
_PARTITION = re.compile(rf"({_TOPIC})-(0|[1-9]\d{{0,9}})")
# Kafka cuts the topic's name where that of the folder would be too long.
_MARKED = re.compile(r"(\S+)-([0-9]+)\.([^\s.]+)-(delete|future|stray)")
_MOST_PARTITION = 2**31 - 1
_MOST_DIGITS = 10


class Kind(StrEnum):
    """What a folder is: a partition that is served, one that is not, or none."""

    PARTITION = "partition"
    DELETED = "being deleted"
    FUTURE = "being moved between data directories"
    STRAY = "set aside as stray"
    METADATA = "the metadata log"
    OTHER = "no partition"


_MARKS = {"delete": Kind.DELETED, "future": Kind.FUTURE, "stray": Kind.STRAY}


@dataclass(frozen=True, slots=True)
class FolderName:
    """What a name says; topic and partition where it names them."""

    kind: Kind
    topic: str = ""
    partition: int = -1


def is_topic_name(name: str) -> bool:
    """Whether a topic may be called that."""
    return re.fullmatch(_TOPIC, name) is not None and name not in _NO_NAMES


def parse_folder_name(name: str) -> FolderName:
    """Return what a folder is. The partition stands behind the last dash: `a-b-1` is partition 1 of `a-b`."""
    found = _PARTITION.fullmatch(name)
    if found and int(found[2]) <= _MOST_PARTITION and found[1] not in _NO_NAMES:
        kind = Kind.METADATA if found[1] == METADATA_TOPIC else Kind.PARTITION
        return FolderName(kind, found[1], int(found[2]))
    marked = _MARKED.fullmatch(name)
    if not marked or len(marked[2]) > _MOST_DIGITS or int(marked[2]) > _MOST_PARTITION:
        return FolderName(Kind.OTHER)
    return FolderName(_MARKS[marked[4]], marked[1], int(marked[2]))
