"""The old id put back in ZooKeeper, and another controller that reads it: the only writing to ZooKeeper there is."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from contextlib import suppress

from harness.base.errors import HarnessError
from harness.base.json import parse_json
from harness.model.topic_repair import Backup, Choice, RepairPlan, SavedNode, TopicRepair
from harness.topicids.backups import BackupFolder
from harness.topicids.live_state import CONTROLLER, CONTROLLER_EPOCH
from harness.topicids.zookeeper import TOPICS, Node, ZooKeeper
from harness.topicids.zookeeper_nodes import parse_topic

_CONTROLLER_SECONDS = 60.0
_POLL_SECONDS = 0.2
_VERSION = 3  # kafka.zk.TopicZNode.encode, where there is an id
_AGAIN = "Make the plan again: harness topic-ids plan"


def with_id(data: bytes, topic_id: str) -> bytes:
    """Return a topic's node with another id (empty: none), and all else as it was; pure. Raises HarnessError."""
    document = parse_json(data)
    rest = {key: value for key, value in document.items() if key not in ("version", "topic_id")}
    head = {"version": _VERSION, "topic_id": topic_id} if topic_id else {"version": document.get("version", 1)}
    return json.dumps({**head, **rest}, separators=(",", ":")).encode()


def nodes_to_change(zookeeper: ZooKeeper, plan: RepairPlan) -> tuple[SavedNode, ...]:
    """Return the nodes that get another id, as they are and as they are to be.

    Raises HarnessError where one is not as it was when the plan was made.
    """
    return tuple(_to_change(_node(zookeeper, each.topic), each) for each in plan.chosen(Choice.PUT_BACK))


def _to_change(node: Node, repair: TopicRepair) -> SavedNode:
    topic = parse_topic(repair.topic, node.data, node.created)
    if topic.problem or topic.topic_id != repair.in_zookeeper:
        seen = topic.problem or f"it has the id {topic.topic_id or 'none'}"
        raise HarnessError(
            f"Topic {repair.topic} is not as the plan has it in ZooKeeper: {seen}. Nothing was changed.", _AGAIN
        )
    return SavedNode(node.path, node.data.decode("utf-8"), with_id(node.data, repair.on_disk[0]).decode("utf-8"))


def put_back(zookeeper: ZooKeeper, folder: BackupFolder, backup: Backup) -> int:
    """Write every node, change the controller, and see that it stays; return the controller's new epoch.

    Nodes that were written by an earlier attempt are left. Raises HarnessError.
    """
    for each in backup.nodes:
        _write(zookeeper, folder, each.path, each.before, each.after)
    epoch = change_controller(zookeeper, folder)
    _check(zookeeper, backup.nodes)
    return epoch


def take_back(zookeeper: ZooKeeper, folder: BackupFolder, backup: Backup) -> int:
    """Undo it: write every node as it was, and change the controller; return its new epoch. Raises HarnessError.

    Where a node had no id, the next controller would make a new one: the present one stays then, and this returns 0.
    """
    for each in backup.nodes:
        _write(zookeeper, folder, each.path, each.after, each.before)
    if not all(parse_topic("", each.before.encode(), 0.0).topic_id for each in backup.nodes):
        return 0
    return change_controller(zookeeper, folder)


def change_controller(zookeeper: ZooKeeper, folder: BackupFolder) -> int:
    """Have a controller elected, the same broker perhaps; return its epoch. Raises HarnessError when none comes."""
    from kazoo.exceptions import NoNodeError

    before = _epoch(zookeeper)
    folder.note("delete", CONTROLLER)
    with zookeeper.asked(CONTROLLER), suppress(NoNodeError):  # an election is under way
        zookeeper.client.delete(CONTROLLER)
    deadline = time.monotonic() + _CONTROLLER_SECONDS
    while (epoch := _epoch(zookeeper)) <= before or zookeeper.get(CONTROLLER) is None:
        if time.monotonic() > deadline:
            raise HarnessError(
                f"No other controller came within {_CONTROLLER_SECONDS:g} s (epoch {before}).",
                "See whether the brokers run, and give the same command again.",
            )
        time.sleep(_POLL_SECONDS)
    return epoch


def _write(zookeeper: ZooKeeper, folder: BackupFolder, path: str, before: str, after: str) -> None:
    """Write a node if it is as expected, at the version that was looked at. Raises HarnessError."""
    from kazoo.exceptions import BadVersionError

    node = _node(zookeeper, path.removeprefix(f"{TOPICS}/"))
    if _same(node.data, after):
        return
    if not _same(node.data, before):
        raise HarnessError(f"{path} has changed in ZooKeeper: {folder.path} has what was known of it.", _AGAIN)
    folder.note("set", path)
    with zookeeper.asked(path):
        try:
            zookeeper.client.set(path, after.encode(), version=node.version)
        except BadVersionError as error:
            raise HarnessError(f"{path} changes in ZooKeeper at this moment, and was left.", _AGAIN) from error


def _check(zookeeper: ZooKeeper, nodes: Iterable[SavedNode]) -> None:
    """Raise HarnessError where the new controller has not left an id as it was put back."""
    for each in nodes:
        name = each.path.removeprefix(f"{TOPICS}/")
        wanted = parse_topic(name, each.after.encode(), 0.0).topic_id
        found = parse_topic(name, _node(zookeeper, name).data, 0.0).topic_id
        if found != wanted:
            raise HarnessError(f"The controller has given topic {name} the id {found or 'none'}.", _AGAIN)


def _same(data: bytes, text: str) -> bool:
    """Whether two nodes say the same: a controller writes the same fields in another order."""
    try:
        return bool(parse_json(data) == parse_json(text))
    except HarnessError:
        return False


def _node(zookeeper: ZooKeeper, topic: str) -> Node:
    node = zookeeper.get(f"{TOPICS}/{topic}")
    if node is None:
        raise HarnessError(f"Topic {topic} is not in ZooKeeper any more.", _AGAIN)
    return node


def _epoch(zookeeper: ZooKeeper) -> int:
    node = zookeeper.get(CONTROLLER_EPOCH)
    return int(node.data) if node and node.data.isdigit() else 0
