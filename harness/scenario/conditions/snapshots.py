"""What a node's own metadata log is made of: snapshots, and segments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from harness.cluster.config import METADATA_LOG
from harness.cluster.metadata_log.files import segments_among, snapshots_among
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class LogFiles:
    """Where a log's first segment begins, and where its newest snapshot ends (0 for none, or a bootstrap snapshot)."""

    first_segment: int
    newest_snapshot: int


@dataclass(frozen=True, slots=True)
class HasSnapshot:
    """The node has a snapshot of its metadata log."""

    name: ClassVar[str] = "has_snapshot"
    node: NodeRef

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} has a snapshot of the metadata log"

    def sample(self, world: World) -> Sample:
        """List the node's own files."""
        found = _own(self.node, world)
        return Sample(found.newest_snapshot > 0, {"newest_snapshot": found.newest_snapshot})


@dataclass(frozen=True, slots=True)
class StartsAtSnapshot:
    """The node has a snapshot, and no segment any more that begins where the log once began.

    So begins a log that was cut, and one that was fetched through a snapshot.
    """

    name: ClassVar[str] = "starts_at_snapshot"
    node: NodeRef

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"the metadata log of {self.node.description} begins at a snapshot"

    def sample(self, world: World) -> Sample:
        """List the node's own files."""
        found = _own(self.node, world)
        detail = {"first_segment": found.first_segment, "newest_snapshot": found.newest_snapshot}
        return Sample(0 < found.first_segment <= found.newest_snapshot, detail)


@dataclass(frozen=True, slots=True)
class IsCutLike:
    """The node's oldest segment begins no earlier than that of another one, whose log was cut before.

    Each node cuts its own log, whoever leads; one that has ended keeps the log that it had.
    """

    name: ClassVar[str] = "is_cut_like"
    node: NodeRef
    other: NodeRef

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"the metadata log of {self.node.description} begins no earlier than that of {self.other.description}"

    def sample(self, world: World) -> Sample:
        """List the files of both nodes."""
        found, cut = _own(self.node, world).first_segment, _own(self.other, world).first_segment
        return Sample(found >= cut > 0, {"first_segment": found, "first_segment_of_the_other": cut})


def _own(ref: NodeRef, world: World) -> LogFiles:
    folder = world.cluster.nodes[ref.find(world)].data_dir / METADATA_LOG
    return log_files(path.name for path in folder.glob("*"))


def log_files(names: Iterable[str]) -> LogFiles:
    """Read offsets from the names of a log's files: `<offset>.log`, `<offset>-<epoch>.checkpoint` (KIP-630). Pure."""
    known = tuple(names)
    ends = (snapshot.end_offset for snapshot in snapshots_among(known))
    return LogFiles(min(segments_among(known), default=0), max(ends, default=0))


@condition
def has_snapshot(node: NodeRef) -> HasSnapshot:
    """A node has a snapshot of its metadata log."""
    return HasSnapshot(node)


@condition
def is_cut_like(node: NodeRef, other: NodeRef) -> IsCutLike:
    """A node's metadata log begins no earlier than that of another one, whose log was cut before."""
    return IsCutLike(node, other)


@condition
def starts_at_snapshot(node: NodeRef) -> StartsAtSnapshot:
    """A node's metadata log begins at a snapshot: it was cut there, or fetched from there."""
    return StartsAtSnapshot(node)
