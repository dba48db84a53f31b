"""What a topic's node is to say once its id is put back, and whether what is in ZooKeeper and on disks fits; pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from harness.base.errors import HarnessError
from harness.base.json import parse_json
from harness.model.topic_ids import Answer
from harness.model.topic_repair import SavedNode, TopicRepair
from harness.topicids.comparing import compare
from harness.topicids.records import ClusterTopics, DataDirectory, Topic
from harness.topicids.sentences import places, ranges
from harness.topicids.zookeeper import TOPICS, Node
from harness.topicids.zookeeper_nodes import parse_topic

AGAIN = "Make the plan again: harness topic-ids plan"
_VERSION = 3  # kafka.zk.TopicZNode.encode, where there is an id
_Replicas = Mapping[int, tuple[int, ...]]


def with_id(data: bytes, topic_id: str) -> bytes:
    """Return a topic's node with another id (empty: none), and all else as it was. Raises HarnessError."""
    document = parse_json(data)
    rest = {key: value for key, value in document.items() if key not in ("version", "topic_id")}
    head = {"version": _VERSION, "topic_id": topic_id} if topic_id else {"version": document.get("version", 1)}
    return json.dumps({**head, **rest}, separators=(",", ":")).encode()


def node_to_change(node: Node, repair: TopicRepair) -> SavedNode:
    """Return a node as it is and as it is to be. Raises HarnessError where it is not as it was for the plan."""
    topic = parse_topic(repair.topic, node.data, node.created)
    if unlike := topic.problem or _unlike(topic, repair):
        raise HarnessError(
            f"Topic {repair.topic} is not as the plan has it in ZooKeeper: {unlike}. Nothing was changed.", AGAIN
        )
    return SavedNode(node.path, node.data.decode("utf-8"), with_id(node.data, repair.on_disk[0]).decode("utf-8"))


def _unlike(topic: Topic, repair: TopicRepair) -> str:
    """Return in what a topic is not as it was for the plan, which knows the directories of then and no later one.

    A directory that was made since, as of an added partition, may have the other id.
    """
    if topic.topic_id != repair.in_zookeeper:
        return f"it has the id {topic.topic_id or 'none'}"
    if not repair.replicas:
        return "the plan does not say who had its partitions"
    return moved(repair.replicas, topic.replicas)


def moved(before: _Replicas, now: _Replicas) -> str:
    """Return which partitions are not those of before, or not on the same brokers; empty where all are."""
    if added := sorted(now.keys() - before.keys()):
        return f"it has {_partitions(added)} too"
    others = sorted(number for number, brokers in before.items() if {*now.get(number, ())} != {*brokers})
    return f"{_partitions(others)} {'is' if len(others) == 1 else 'are'} on other brokers" if others else ""


def _partitions(numbers: Sequence[int]) -> str:
    return f"partition{'' if len(numbers) == 1 else 's'} {ranges(numbers)}"


def topic_of(node: SavedNode) -> str:
    """Return whose node it is."""
    return node.path.removeprefix(f"{TOPICS}/")


def wanted(node: SavedNode) -> Topic:
    """Return a topic as its node is to be."""
    return parse_topic(topic_of(node), node.after.encode(), 0.0)


def still_refused(cluster: ClusterTopics, nodes: Sequence[SavedNode], data: Sequence[DataDirectory]) -> Iterator[str]:
    """Yield what brokers would refuse of these topics once their nodes are as they are to be.

    `data` are the disks of all brokers or of some. Raises HarnessError for those of another cluster.
    """
    ids = {topic_of(node): wanted(node).topic_id for node in nodes}
    topics = {name: replace(topic, topic_id=ids.get(name, topic.topic_id)) for name, topic in cluster.topics.items()}
    for each in compare(replace(cluster, topics=topics), data).findings:
        if each.topic in ids and each.answer is Answer.MISMATCH:
            yield f"Directories of topic {each.topic} are “{each.state.value}” beside that id: {places(each)}."
