"""How topic ids that differ are to be repaired, what was kept of what a repair changed, and what it did."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from harness.base.json import plain, written
from harness.model.topic_ids import Place

SCHEMA = 1
BACKUP_SCHEMA = 1


class Choice(StrEnum):
    """What brings directories and ZooKeeper together again."""

    PUT_BACK = "put the old id back in ZooKeeper"
    DELETE = "delete the files with the old id"


MEANS: Mapping[Choice, str] = {
    Choice.PUT_BACK: "All directories agree: ZooKeeper gets their id, and another controller reads it.",
    Choice.DELETE: "Some directories have the new id: the others get it when their broker starts without a file.",
}


@dataclass(frozen=True, slots=True)
class TopicRepair:
    """What is to be done about one topic.

    `in_zookeeper` is the id that ZooKeeper has (empty: none), `on_disk` those that go or, put back, the one that stays.
    `places` are the directories that differ, `replicas` who had each partition when the plan was made; a plan of an
    earlier harness does not say it.
    """

    topic: str
    choice: Choice
    in_zookeeper: str
    on_disk: tuple[str, ...]
    places: tuple[Place, ...]
    replicas: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RepairPlan:
    """What is to be done about all of them: by `refusals`, if there are any, nothing.

    `order` are the brokers whose files are deleted, one after the other; `brokers` all that were seen. `unclean` is
    what the server.properties of each says of unclean elections, empty where nobody saw it; a plan of an earlier
    harness has none of them.
    """

    zookeeper: str
    cluster_id: str
    brokers: tuple[int, ...]
    order: tuple[int, ...]
    topics: tuple[TopicRepair, ...]
    refusals: tuple[str, ...]
    schema: int = SCHEMA
    unclean: Mapping[int, str] = field(default_factory=dict)

    def chosen(self, choice: Choice) -> tuple[TopicRepair, ...]:
        """Return the topics of one choice."""
        return tuple(each for each in self.topics if each.choice is choice)

    def old_ids(self, broker: int) -> Mapping[tuple[str, int], tuple[str, ...]]:
        """Return the partitions (topic and number) of a broker whose files are deleted, with the ids that are old.

        Another directory with such an id, as one that nobody serves, is none of them: it keeps its file.
        """
        return {
            (repair.topic, number): repair.on_disk
            for repair in self.chosen(Choice.DELETE)
            for place in repair.places
            if place.broker == broker
            for number in place.partitions
        }

    def part(self, choice: Choice, broker: int = -1) -> Part:
        """Return what a backup of one of its parts is of; a plan of an earlier harness has the digest that it had."""
        told = plain(self)
        if not told["unclean"]:
            del told["unclean"]
        for repair in told["topics"]:
            if not repair["replicas"]:
                del repair["replicas"]
        digest = hashlib.sha256(f"{written(told, indent=1)}\n".encode()).hexdigest()
        return Part(digest, choice, broker, self.zookeeper, self.cluster_id)

    @property
    def exit_code(self) -> int:
        """0 nothing to repair, 1 a repair is there, 3 refused."""
        return 3 if self.refusals else 1 if self.topics else 0


@dataclass(frozen=True, slots=True)
class SavedFile:
    """A file that a repair deletes: `path` where it stood, `copy` below the backup, its digest, and what it was.

    `mode` are its permissions, `uid` and `gid` its owner.
    """

    path: str
    copy: str
    sha256: str
    written_ns: int
    mode: int
    uid: int
    gid: int


@dataclass(frozen=True, slots=True)
class SavedNode:
    """A node of ZooKeeper that a repair changes: what stood there, and what was put there."""

    path: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a repair that a backup is of: of which plan (its SHA-256), of which cluster, and whose.

    `broker` is the one whose files are deleted; -1 where nodes of ZooKeeper are changed.
    """

    plan: str
    choice: Choice
    broker: int
    zookeeper: str
    cluster_id: str


@dataclass(frozen=True, slots=True)
class Backup:
    """What a repair kept before it changed anything: files of the data directories of one host, or nodes."""

    part: Part
    data: tuple[str, ...]
    files: tuple[SavedFile, ...]
    nodes: tuple[SavedNode, ...]
    schema: int = BACKUP_SCHEMA
