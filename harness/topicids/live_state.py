"""What is so in a live cluster of all that a repair has to know, read from its ZooKeeper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from harness.base.errors import HarnessError
from harness.topicids.broker_config import UNCLEAN
from harness.topicids.records import Topic
from harness.topicids.zookeeper import TOPICS, ZooKeeper
from harness.topicids.zookeeper_nodes import PartitionState, parse_config, parse_controller, parse_state

CONTROLLER, CONTROLLER_EPOCH, BROKERS = "/controller", "/controller_epoch", "/brokers/ids"
_K = TypeVar("_K")
_NOBODY = -1
_REASSIGNING, _DELETED = "/admin/reassign_partitions", "/admin/delete_topics"


@dataclass(frozen=True, slots=True)
class LiveState:
    """Who runs, who is in sync, and what is under way.

    `states` are those of the topics in question, by topic and partition. `topic_unclean` has what a topic's own
    settings say of unclean elections, `broker_unclean` what dynamic settings say for a broker; where one is missing
    the next wider setting counts. `deleted` are topics that wait for their deletion.
    """

    controller: int
    brokers: frozenset[int]
    states: Mapping[str, Mapping[int, PartitionState]]
    topic_unclean: Mapping[str, bool]
    broker_unclean: Mapping[int, bool]
    reassigning: bool = False
    deleted: frozenset[str] = frozenset()


def read_live_state(zookeeper: ZooKeeper, topics: Iterable[Topic]) -> LiveState:
    """Return the state of a cluster and of these topics. Raises HarnessError where it cannot be read."""
    wanted = list(topics)
    brokers = frozenset(map(int, zookeeper.children(BROKERS)))
    controller = zookeeper.get(CONTROLLER)
    default = _unclean(zookeeper, "brokers/<default>")
    own = {broker: _unclean(zookeeper, f"brokers/{broker}") for broker in brokers}
    by_topic = {topic.name: _unclean(zookeeper, f"topics/{topic.name}") for topic in wanted}
    return LiveState(
        parse_controller(controller.data) if controller else _NOBODY,
        brokers,
        {topic.name: _states(zookeeper, topic) for topic in wanted},
        _said(by_topic),
        _said({broker: default if said is None else said for broker, said in own.items()}),
        zookeeper.get(_REASSIGNING) is not None,
        frozenset(zookeeper.children(_DELETED)),
    )


def _states(zookeeper: ZooKeeper, topic: Topic) -> dict[int, PartitionState]:
    paths = {f"{TOPICS}/{topic.name}/partitions/{number}/state": number for number in topic.replicas}
    return {paths[node.path]: _parsed(node.path, node.data) for node in zookeeper.get_all(paths)}


def _parsed(path: str, data: bytes) -> PartitionState:
    try:
        return parse_state(data)
    except HarnessError as error:
        raise HarnessError(f"{path} cannot be read in ZooKeeper: {error.message}.") from error


def _unclean(zookeeper: ZooKeeper, entity: str) -> bool | None:
    """Return what the settings of a topic or a broker say of unclean elections; None where they say nothing."""
    node = zookeeper.get(f"/config/{entity}")
    said = parse_config(node.data).get(UNCLEAN) if node else None
    return None if said is None else said.lower() == "true"


def _said(settings: Mapping[_K, bool | None]) -> dict[_K, bool]:
    return {key: value for key, value in settings.items() if value is not None}
