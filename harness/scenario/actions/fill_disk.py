"""A disk without room: a node's data moves to a small file system in memory, which is then filled, and emptied again.

The file system is mounted in the run's own mounts, and is gone with them: only in a network of the run's own.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import HarnessError
from harness.cluster.runtime.namespaces import mount_in_memory
from harness.model.events import FaultChanged
from harness.scenario.monitors.node_alive import NodeAlive
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Fault
from harness.scenario.up_or_down import down
from harness.scenario.verbs import action, fault
from harness.scenario.world import ActionFailed, World

_SIZE = re.compile(r"(\d+)m")
_MIB = 2**20
_BALLAST = ".harness-ballast"
_ROUNDED_UP = 4096  # each file takes whole pages


@dataclass(frozen=True, slots=True)
class SmallDisk:
    """Move the data of a node that is down to a file system with so many bytes left."""

    node: NodeRef
    free: int

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"give {self.node.description} a disk with {self.free // _MIB} MiB left"

    def perform(self, world: World) -> None:
        """Mount it in place of the data directory, with what was in there. Raises ActionFailed, OSError."""
        world.network()  # elsewhere it would be mounted for the whole host
        move_to_memory(down(self.node, world, "runs: stop it first").data_dir, self.free)


@dataclass(frozen=True, slots=True)
class FillDisk(Fault):
    """Leave no room on a node's small disk."""

    node: NodeRef

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"fill the disk of {self.node.description}"

    def perform(self, world: World) -> None:
        """Write until there is no room. Raises ActionFailed."""
        node = world.cluster.nodes[self.node.find(world)]
        if not node.data_dir.is_mount():
            raise ActionFailed(f"node {node.id} has no disk of its own: small_disk goes before")
        world.write(FaultChanged("fill_disk", self.description, "begun", node=node.id))
        world.monitor(NodeAlive).fill_disk_of(node.id)
        written = fill(node.data_dir)
        proof = f"{written} bytes were written until there was no room"
        world.write(FaultChanged("fill_disk", self.description, "proved", proof=proof, node=node.id))


@dataclass(frozen=True, slots=True)
class EmptyDisk:
    """Give the room back that was taken."""

    node: NodeRef

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"make room on the disk of {self.node.description}"

    def perform(self, world: World) -> None:
        """Delete what filled it, and see that there is more room. Raises ActionFailed, HarnessError."""
        node = world.cluster.nodes[self.node.find(world)]
        data, ballast = node.data_dir, node.data_dir / _BALLAST
        if not (data.is_mount() and ballast.exists()):
            raise ActionFailed(f"the disk of node {node.id} was not filled: fill_disk goes before")
        before = room(data)
        ballast.unlink()
        if (after := room(data)) <= before:
            raise HarnessError(f"There is no more room on the disk of node {node.id} than before: {after} bytes.")
        proof = f"{after} bytes are free, {after - before} more than before"
        world.write(FaultChanged("fill_disk", self.description, "ended", proof=proof, node=node.id))


def move_to_memory(data: Path, free: int) -> None:
    """Put a folder's content into a file system of its own, with so many bytes left, mounted there. Raises OSError."""
    before = data.with_name(f"{data.name}-before")
    data.rename(before)
    data.mkdir()
    used = sum(_size(path.lstat()) for path in before.rglob("*"))
    mount_in_memory(data, used + free)
    shutil.copytree(before, data, dirs_exist_ok=True)
    shutil.rmtree(before)


def _size(found: os.stat_result) -> int:
    """Return how many bytes a copy takes at most: Kafka's indexes are sparse files, and a copy may be none."""
    return max(found.st_size, found.st_blocks * 512) + _ROUNDED_UP


def fill(data: Path) -> int:
    """Write until there is no room; return how many bytes it took. Raises OSError."""
    written = 0
    with (data / _BALLAST).open("wb", buffering=0) as ballast:
        for size in (_MIB, _ROUNDED_UP):
            try:
                while True:
                    written += ballast.write(bytes(size))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
    return written


def room(data: Path) -> int:
    """Return how many bytes are free where a folder lies."""
    found = os.statvfs(data)
    return found.f_bavail * found.f_frsize


@action
def small_disk(node: NodeRef, free: str) -> SmallDisk:
    """Move the data of a node that is down to a disk in memory with `64m` left; only in a network of the run's own."""
    found = _SIZE.fullmatch(free)
    if found is None:
        raise ValueError(f"{free!r} is no room on a disk; write 64m")
    return SmallDisk(node, int(found[1]) * _MIB)


@fault
def fill_disk(node: NodeRef) -> FillDisk:
    """Fill a small disk to its last byte; the node may die of that (`allow_death`)."""
    return FillDisk(node)


@action
def empty_disk(node: NodeRef) -> EmptyDisk:
    """Give the room back that `fill_disk` took."""
    return EmptyDisk(node)
