"""Disks and a live cluster that a repair of topic ids is planned for, and the turns of its brokers."""

from dataclasses import replace
from pathlib import Path

from disks_sample import X, Y, broker_disk

from harness.model.topic_repair import Choice, Part, RepairPlan
from harness.topicids.broker_config import UNCLEAN
from harness.topicids.broker_files import files_of
from harness.topicids.comparing import compare
from harness.topicids.disks import read_data_directory
from harness.topicids.live_state import LiveState
from harness.topicids.planning import plan_repair
from harness.topicids.records import ClusterTopics, DataDirectory, PartitionDirectory, Topic
from harness.topicids.turns import objections
from harness.topicids.zookeeper_nodes import PartitionState

ALL = (1, 2, 3)
WRITTEN = 2_000.0
OFF = {UNCLEAN: "false"}
PART = Part("digest", Choice.DELETE, 1, "zk:2181", "c1")


def disks(ids: dict[int, tuple[str | None, ...]], name: str = "t", **changes) -> list[DataDirectory]:
    """Return a disk for each broker, with the id of each partition of one topic."""
    return [
        DataDirectory(
            "/d",
            broker,
            "c1",
            tuple(PartitionDirectory(name, number, each or "", written=WRITTEN) for number, each in enumerate(of)),
            settings=OFF,
            **changes,
        )
        for broker, of in ids.items()
    ]


def live(name: str = "t", isr: tuple[tuple[int, ...], ...] = (ALL, ALL), **changes) -> LiveState:
    states = {number: PartitionState(each[0] if each else -1, each) for number, each in enumerate(isr)}
    return replace(LiveState(2, frozenset(ALL), {name: states}, {}, {}), **changes)


def planned(zookeeper_id: str, data: list[DataDirectory], state: LiveState | None = None, name: str = "t"):
    topic = Topic(name, zookeeper_id, dict.fromkeys(range(len(data[0].partitions)), ALL))
    cluster = ClusterTopics("ZooKeeper at zk:2181", True, "c1", {name: topic})
    return plan_repair(compare(cluster, data), cluster, data, state or live(name), "zk:2181")


MIX = dict.fromkeys(ALL, (X, Y))


def turn(plan: RepairPlan, broker: int, data: list[DataDirectory], state: LiveState) -> list[str]:
    cluster = ClusterTopics("ZooKeeper at zk:2181", True, "c1", {"t": Topic("t", Y, {0: ALL, 1: ALL})})
    return list(objections(plan, broker, cluster, data, state))


def down(broker: int, **changes) -> LiveState:
    rest = tuple(each for each in ALL if each != broker)
    return live(isr=(rest, rest), brokers=frozenset(rest), **changes)


def old_files(tmp_path: Path) -> tuple[Path, list[tuple[Path, Path]]]:
    disk = broker_disk(tmp_path / "d", 1, {"t-0": X, "t-1": Y, "other-0": X, "a-b-1": X})
    plan = planned(Y, disks(MIX))
    return disk, files_of(plan, 1, [read_data_directory(disk)])
