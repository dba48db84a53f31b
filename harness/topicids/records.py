"""What is compared: the partitions on the disks of brokers, and the topics that the cluster knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

UNKNOWN_BROKER = -1
MOST_BROKER = 2**31 - 1


@dataclass(frozen=True, slots=True)
class PartitionDirectory:
    """One partition's directory, and what its `partition.metadata` says.

    Without `topic_id` and `problem` there is no such file. `written` is when the file was, in seconds since 1970;
    0 where that is not known. `epochless` says that there are records and no leader epochs that can be read: what a
    follower does with a log without them when it starts is cut it off at its high watermark. `folder` is its name where
    that is not topic and partition, as while it is moved between data directories. `linked` says that it or its file is
    a link, so that they may be somebody else's too.
    """

    topic: str
    partition: int
    topic_id: str = ""
    problem: str = ""
    refused: bool = False
    written: float = 0.0
    epochless: bool = False
    folder: str = ""
    linked: bool = False

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder or f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class DataDirectory:
    """One data directory (`log.dirs`) of a broker, as it was found.

    `broker` and `cluster_id` are those of its `meta.properties`. `passed_over` counts folders that no broker serves,
    by kind; `problems` is what could not be looked at. `settings` are those of the broker's server.properties that a
    repair has to know. `exported` is when it was, in seconds since 1970; 0 of disks that are read on the spot.
    """

    path: str
    broker: int
    cluster_id: str
    partitions: tuple[PartitionDirectory, ...]
    passed_over: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    exported: float = 0.0


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as the cluster knows it: its id (empty: none), and the brokers of each partition.

    `created` is when, in seconds since 1970, 0 where that is not known. `problem` is why it cannot be read.
    `reassigned` says that replicas are being added or removed (KIP-455).
    """

    name: str
    topic_id: str
    replicas: Mapping[int, tuple[int, ...]]
    created: float = 0.0
    problem: str = ""
    reassigned: bool = False


@dataclass(frozen=True, slots=True)
class ClusterTopics:
    """All topics that the cluster knows.

    `source` names where from; `removed` are ids of topics that were deleted, `deleting` topics that wait for that:
    brokers that run have removed their directories by then.
    """

    source: str
    in_zookeeper: bool
    cluster_id: str
    topics: Mapping[str, Topic]
    removed: frozenset[str] = frozenset()
    deleting: frozenset[str] = frozenset()
