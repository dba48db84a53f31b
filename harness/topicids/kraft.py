"""The topics of a KRaft cluster, from the metadata log on the disk of one of its nodes."""

from __future__ import annotations

from pathlib import Path

from harness.cluster.metadata_log.topics import read_topics
from harness.topicids.disks import read_identity
from harness.topicids.records import ClusterTopics, Topic
from harness.topicids.topic_id import id_of_bytes


def topics_of_log(folder: Path) -> ClusterTopics:
    """Return all topics that a metadata log holds. Raises HarnessError where it cannot be read."""
    found = read_topics(folder)
    topics = {name: Topic(name, id_of_bytes(topic), found.replicas[topic]) for topic, name in found.names.items()}
    removed = frozenset(map(id_of_bytes, found.removed))
    return ClusterTopics(
        f"the metadata log in {folder}", False, read_identity(folder.parent).cluster_id, topics, removed
    )
