"""What is so in a live cluster of all that a repair has to know, read from its ZooKeeper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from harness.base.errors import HarnessError
from harness.base.text import cut
from harness.topicids.broker_config import UNCLEAN
from harness.topicids.records import Topic
from harness.topicids.zookeeper import DELETED, TOPICS, Node, ZooKeeper
from harness.topicids.zookeeper_nodes import Controller, PartitionState, parse_config, parse_controller, parse_state

CONTROLLER, CONTROLLER_EPOCH, BROKERS = "/controller", "/controller_epoch", "/brokers/ids"
NOBODY = -1
T = TypeVar("T")
_REASSIGNING = "/admin/reassign_partitions"
_SETTINGS, _TOPICS = "/config/brokers", "/config/topics"
_TIERED = "remote.storage.enable"
_ASKED = (UNCLEAN, _TIERED)
_DEFAULT = "<default>"
_BROKER = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class LiveState:
    """Who runs, who is in sync, and what is under way.

    `states` are those of the topics in question, by topic and partition. `topic_unclean` has what a topic's own
    settings say of unclean elections, `broker_unclean` what dynamic settings say for a broker, `default_unclean` those
    for all; where one is missing the next wider setting counts, and anything but `false` is on. `reassigning` says that
    some partition is by ZooKeeper's own node for it, or one of the topics in question by theirs. `deleted` are topics
    that wait for their deletion, `tiered` those whose older records lie in remote storage (KIP-405). `kraft_epoch` is
    that of a KRaft controller that has taken over (KIP-866), or -1.
    """

    controller: int
    brokers: frozenset[int]
    states: Mapping[str, Mapping[int, PartitionState]]
    topic_unclean: Mapping[str, bool]
    broker_unclean: Mapping[int, bool]
    default_unclean: bool | None = None
    reassigning: bool = False
    deleted: frozenset[str] = frozenset()
    kraft_epoch: int = NOBODY
    tiered: frozenset[str] = frozenset()


def read_live_state(zookeeper: ZooKeeper, topics: Iterable[Topic]) -> LiveState:
    """Return the state of a cluster and of these topics. Raises HarnessError where it cannot be read."""
    wanted = list(topics)
    leads = read_controller(zookeeper)
    own = _allowing(_said_of(UNCLEAN, zookeeper, zookeeper.children(_SETTINGS), _SETTINGS))
    of_topics = {key: dict(_said_of(key, zookeeper, (each.name for each in wanted), _TOPICS)) for key in _ASKED}
    return LiveState(
        leads.broker if leads else NOBODY,
        frozenset(_numbers(zookeeper.children(BROKERS), BROKERS)),
        {topic.name: _states(zookeeper, topic) for topic in wanted},
        _allowing(of_topics[UNCLEAN].items()),
        {broker: said for name, said in own.items() if name != _DEFAULT for broker in _numbers([name], _SETTINGS)},
        own.get(_DEFAULT),
        zookeeper.get(_REASSIGNING) is not None or any(topic.reassigned for topic in wanted),
        frozenset(zookeeper.children(DELETED)),
        leads.kraft_epoch if leads else NOBODY,
        frozenset(topic for topic, said in of_topics[_TIERED].items() if said != "false"),
    )


def read_controller(zookeeper: ZooKeeper) -> Controller | None:
    """Return who is the controller; None where nobody is. Raises HarnessError where that cannot be read."""
    node = zookeeper.get(CONTROLLER)
    return _parsed(node, parse_controller) if node else None


def _states(zookeeper: ZooKeeper, topic: Topic) -> dict[int, PartitionState]:
    paths = {f"{TOPICS}/{topic.name}/partitions/{number}/state": number for number in topic.replicas}
    return {paths[node.path]: _parsed(node, parse_state) for node in zookeeper.get_all(paths)}


def _parsed(node: Node, parse: Callable[[bytes], T]) -> T:
    try:
        return parse(node.data)
    except HarnessError as error:
        raise HarnessError(f"{node.path} cannot be read in ZooKeeper: {error.message}.") from error


def _numbers(names: Iterable[str], path: str) -> Iterator[int]:
    """Yield the brokers that nodes are named after. Raises HarnessError where one is no broker's."""
    for name in names:
        if not _BROKER.fullmatch(name):
            raise HarnessError(f"{path}/{cut(name, 80)} in ZooKeeper is named after no broker.")
        yield int(name)


def _said_of(key: str, zookeeper: ZooKeeper, names: Iterable[str], path: str) -> Iterator[tuple[str, str]]:
    """Yield topics or brokers whose settings have a key, with what they say of it."""
    for node in zookeeper.get_all(f"{path}/{name}" for name in names):
        said = _parsed(node, parse_config).get(key)
        if said is not None:
            yield node.path.removeprefix(f"{path}/"), said.strip()


def _allowing(said: Iterable[tuple[str, str]]) -> dict[str, bool]:
    """Return who allows unclean elections: whatever is not `false` does."""
    return {name: value != "false" for name, value in said}
