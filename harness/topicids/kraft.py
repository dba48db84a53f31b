"""The topics of a KRaft cluster, from the metadata log on the disk of one of its nodes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness.base.kafka_id import kafka_id
from harness.cluster.metadata_log.topics import read_topics
from harness.topicids.disks import read_identity
from harness.topicids.records import ClusterTopics, Topic


def topics_of_logs(folders: Iterable[Path]) -> ClusterTopics:
    """Return all topics that the metadata log holds which reaches furthest: a node that was down lags behind.

    Raises HarnessError where one cannot be read.
    """
    read = [(folder, read_topics(folder)) for folder in folders]
    folder, found = max(read, key=lambda each: each[1].end)
    topics = {name: Topic(name, kafka_id(topic), found.replicas[topic]) for topic, name in found.names.items()}
    removed = frozenset(map(kafka_id, found.removed))
    return ClusterTopics(
        f"the metadata log in {folder}", False, read_identity(folder.parent).cluster_id, topics, removed
    )
