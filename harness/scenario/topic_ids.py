"""Where a topic's id stands in a live cluster in ZooKeeper mode: in ZooKeeper, and in every partition's directory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness.cluster.modes.zookeeper import CONTROLLER, CONTROLLER_EPOCH, InZooKeeper
from harness.cluster.protocol import Unreachable
from harness.scenario.world import ActionFailed, FirstId, World

FILE, EPOCHS = "partition.metadata", "leader-epoch-checkpoint"
NONE, OLD, NEW = "none", "old", "new"
_ID = re.compile(r"^topic_id: (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class IdsSeen:
    """What stands where: `node` is the topic's in ZooKeeper, `disks` have ids by broker and partition, `isr` brokers.

    An empty id is none.
    """

    node: str
    topic_id: str
    disks: Mapping[int, Mapping[int, str]]
    isr: Mapping[int, tuple[int, ...]]
    controller_epoch: str
    controller: str


def in_zookeeper(world: World) -> InZooKeeper:
    """Return the mode of a cluster with ZooKeeper. Raises ActionFailed for another."""
    mode = world.cluster.mode
    if not isinstance(mode, InZooKeeper):
        raise ActionFailed("the cluster has no ZooKeeper: write @scenario(zookeeper(brokers=3), …)")
    return mode


def look_at_ids(world: World, topic: str) -> IdsSeen:
    """Return where which id stands now. Raises Unreachable."""
    tree = in_zookeeper(world).tree
    node = (tree.get(f"/brokers/topics/{topic}") or b"").decode()
    numbers = map(int, tree.children(f"/brokers/topics/{topic}/partitions"))
    states = {number: _json(tree.get(f"/brokers/topics/{topic}/partitions/{number}/state")) for number in numbers}
    return IdsSeen(
        node,
        str(_json(node.encode()).get("topic_id", "")),
        {broker: dict(_ids_of(world, broker, topic)) for broker in world.cluster.nodes},
        {number: tuple(state.get("isr", ())) for number, state in states.items()},
        (tree.get(CONTROLLER_EPOCH) or b"").decode(),
        (tree.get(CONTROLLER) or b"").decode(),
    )


def _json(data: bytes | None) -> dict[str, Any]:
    try:
        found = json.loads(data or b"{}")
    except ValueError as error:
        raise Unreachable(f"ZooKeeper holds no JSON: {error}") from error
    return found if isinstance(found, dict) else {}


def _ids_of(world: World, broker: int, topic: str) -> Iterator[tuple[int, str]]:
    for folder in sorted(world.cluster.nodes[broker].data_dir.glob(f"{topic}-*")):
        number = folder.name.removeprefix(f"{topic}-")
        if number.isdecimal():
            yield int(number), id_in((folder / FILE).read_text() if (folder / FILE).is_file() else "")


def id_in(text: str) -> str:
    """Return the id that a `partition.metadata` names; empty where it names none. Pure."""
    found = _ID.search(text)
    return found[1] if found else ""


def kind_of(topic_id: str, first: FirstId) -> str:
    """Return what an id is beside the one that the topic had first. Pure."""
    if not topic_id:
        return NONE
    return OLD if topic_id == first.topic_id else NEW


def kinds_on_disks(seen: IdsSeen, first: FirstId) -> tuple[set[str], set[str]]:
    """Return which kinds of ids directories have: those of the first partitions, and those of added ones. Pure."""
    kinds: tuple[set[str], set[str]] = (set(), set())
    for ids in seen.disks.values():
        for number, topic_id in ids.items():
            kinds[number >= first.partitions].add(kind_of(topic_id, first))
    return kinds
