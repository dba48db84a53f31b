"""The old id put back in ZooKeeper, and another controller that reads it; and both undone."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from harness.base.errors import HarnessError
from harness.base.json import parse_json
from harness.model.topic_repair import Backup, Choice, RepairPlan, SavedNode
from harness.topicids.backups import BackupFolder
from harness.topicids.live_state import CONTROLLER, CONTROLLER_EPOCH, read_controller
from harness.topicids.node_changes import AGAIN, moved, node_to_change, topic_of, wanted
from harness.topicids.zookeeper import TOPICS, Node, ZooKeeper, read_cluster_id, read_topics
from harness.topicids.zookeeper_nodes import parse_topic
from harness.topicids.zookeeper_writes import WritableZooKeeper

_CONTROLLER_SECONDS = 60.0
_POLL_SECONDS = 0.2
_REMEMBERS = "The controller still remembers the other id: give the same command again."
_EPOCH = re.compile(rb"[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class _Change:
    """A node, what it is expected to say, and what it is to say."""

    path: str
    old: str
    new: str


def check_cluster(zookeeper: ZooKeeper, cluster_id: str) -> None:
    """Raise HarnessError where an ensemble is that of another cluster than a plan or a backup is of."""
    found = read_cluster_id(zookeeper)
    if found != cluster_id:
        raise HarnessError(
            f"{zookeeper.name} is that of cluster {found or 'unknown'}, and this is about cluster "
            f"{cluster_id or 'unknown'}. Nothing was changed.",
            "Did the address get another ensemble since? Work where the plan was made, or make it again.",
        )


def nodes_to_change(zookeeper: ZooKeeper, plan: RepairPlan) -> tuple[SavedNode, ...]:
    """Return the nodes that get another id, as they are and as they are to be.

    Raises HarnessError where one is not as it was when the plan was made.
    """
    return tuple(node_to_change(_node(zookeeper, each.topic), each) for each in plan.chosen(Choice.PUT_BACK))


def put_back(zookeeper: WritableZooKeeper, folder: BackupFolder, backup: Backup) -> int:
    """Write every node, change the controller, and see that it stays; return the controller's new epoch.

    Nodes that were written by an earlier attempt are left. Raises HarnessError.
    """
    changes = [_Change(each.path, each.before, each.after) for each in backup.nodes]
    _check_mode(zookeeper)
    _write_all(zookeeper, folder, changes)
    with _half_done():
        check_others(zookeeper, backup.nodes)
        lost = _lost_again(zookeeper, backup.nodes)
    if lost:
        raise HarnessError(
            f"Somebody has written {lost} in ZooKeeper since its id was put back. The controller was left, and "
            "remembers the other id: a new one would make a third.",
            f"Let no tool from before topic ids change topics. {AGAIN}, with another --backup.",
        )
    with _half_done():
        epoch = change_controller(zookeeper, folder)
    _check(zookeeper, backup.nodes)
    return epoch


def take_back(zookeeper: WritableZooKeeper, folder: BackupFolder, backup: Backup) -> int:
    """Undo it: write every node as it was, and change the controller; return its new epoch. Raises HarnessError.

    Where a node had no id, the next controller would make a new one: the present one stays then, and this returns 0.
    """
    changes = [_Change(each.path, each.after, each.before) for each in backup.nodes]
    _check_mode(zookeeper)
    _write_all(zookeeper, folder, changes)
    if not all(parse_topic("", each.before.encode(), 0.0).topic_id for each in backup.nodes):
        return 0
    with _half_done():
        check_others(zookeeper, ())
        return change_controller(zookeeper, folder)


def check_others(zookeeper: ZooKeeper, nodes: Sequence[SavedNode]) -> None:
    """Raise HarnessError where a topic that is none of these nodes has no id: another controller would make one.

    Raises HarnessError where one has an id that is put back, where one cannot be read, and where a KRaft controller
    leads, too.
    """
    put = {topic_of(each): wanted(each).topic_id for each in nodes}
    for topic in read_topics(zookeeper).topics.values():
        if topic.problem:
            raise HarnessError(f"Topic {topic.name} cannot be read in ZooKeeper: {topic.problem}.", AGAIN)
        if topic.name in put:
            continue
        if topic.topic_id in put.values():
            raise HarnessError(
                f"Topic {topic.name} has the id {topic.topic_id} in ZooKeeper, which is to be put back for another: no "
                "controller loads two topics of one id.",
                AGAIN,
            )
        if not topic.topic_id:
            raise HarnessError(
                f"Topic {topic.name} has no id in ZooKeeper, and is not in the plan: another controller would make a "
                "new one for it.",
                f"{AGAIN}, with another --backup.",
            )
    _check_mode(zookeeper)


def _lost_again(zookeeper: ZooKeeper, nodes: Iterable[SavedNode]) -> str:
    """Return the first topic that has not the id that was written; empty where all have."""
    for each in nodes:
        name = topic_of(each)
        if parse_topic(name, _node(zookeeper, name).data, 0.0).topic_id != wanted(each).topic_id:
            return f"topic {name}"
    return ""


def _check_mode(zookeeper: ZooKeeper) -> None:
    """Raise HarnessError where a KRaft controller leads (KIP-866): its log counts, and ZooKeeper is a copy of it."""
    leads = read_controller(zookeeper)
    if leads is not None and leads.kraft_epoch >= 0:
        raise HarnessError("A KRaft controller leads: the cluster is being migrated. The controller was left.")


@contextmanager
def _half_done(begun: bool = True) -> Iterator[None]:
    """Have an error say what is so once a node was written, and the controller not yet changed."""
    try:
        yield
    except HarnessError as error:
        if not begun:
            raise
        raise HarnessError(f"{error.message} {_REMEMBERS}", error.hint) from error


def change_controller(zookeeper: WritableZooKeeper, folder: BackupFolder) -> int:
    """Have a controller elected, the same broker perhaps; return its epoch. Raises HarnessError when none comes."""
    before = _epoch(zookeeper)
    folder.note("delete", CONTROLLER)
    zookeeper.delete(CONTROLLER)
    deadline = time.monotonic() + _CONTROLLER_SECONDS
    while (epoch := _epoch(zookeeper)) <= before or zookeeper.get(CONTROLLER) is None:
        if time.monotonic() > deadline:
            raise HarnessError(
                f"No other controller came within {_CONTROLLER_SECONDS:g} s (epoch {before}).",
                "See whether the brokers run, and give the same command again.",
            )
        time.sleep(_POLL_SECONDS)
    return epoch


def _write_all(zookeeper: WritableZooKeeper, folder: BackupFolder, changes: Sequence[_Change]) -> None:
    """Write nodes, once every one was seen to be as it is expected. Raises HarnessError."""
    nodes = [_node(zookeeper, each.path.removeprefix(f"{TOPICS}/")) for each in changes]
    begun = any(_same(node.data, each.new) for each, node in zip(changes, nodes, strict=True))
    with _half_done(begun):
        todo = [(each, node) for each, node in zip(changes, nodes, strict=True) if _is_to_do(each, node, folder)]
    for each, node in todo:
        with _half_done(begun):
            folder.note("set", each.path)
            zookeeper.set(each.path, each.new.encode(), node.version)
        begun = True


def _is_to_do(change: _Change, node: Node, folder: BackupFolder) -> bool:
    """Whether a node is still to be written. Raises HarnessError where it is neither as it was nor as it is to be."""
    if _same(node.data, change.new):
        return False
    if not _same(node.data, change.old):
        raise HarnessError(f"{change.path} has changed in ZooKeeper: {folder.path} has what was known of it.", AGAIN)
    return True


def _check(zookeeper: ZooKeeper, nodes: Iterable[SavedNode]) -> None:
    """Raise HarnessError where a topic's id is not as it was put back, or its partitions have changed meanwhile."""
    for each in nodes:
        name, topic = topic_of(each), wanted(each)
        found = parse_topic(name, _node(zookeeper, name).data, 0.0)
        if found.topic_id != topic.topic_id:
            raise HarnessError(f"The controller has given topic {name} the id {found.topic_id or 'none'}.", AGAIN)
        if change := moved(topic.replicas, found.replicas):
            raise HarnessError(
                f"The id of topic {name} is back in ZooKeeper, and meanwhile {change}: those directories may have "
                "another id.",
                "Restart no broker before a check of every disk: harness topic-ids check",
            )


def _same(data: bytes, text: str) -> bool:
    """Whether two nodes say the same: a controller writes the same fields in another order."""
    try:
        return bool(parse_json(data) == parse_json(text))
    except HarnessError:
        return False


def _node(zookeeper: ZooKeeper, topic: str) -> Node:
    node = zookeeper.get(f"{TOPICS}/{topic}")
    if node is None:
        raise HarnessError(f"Topic {topic} is not in ZooKeeper any more.", AGAIN)
    return node


def _epoch(zookeeper: ZooKeeper) -> int:
    node = zookeeper.get(CONTROLLER_EPOCH)
    return int(node.data) if node and _EPOCH.fullmatch(node.data) else 0
