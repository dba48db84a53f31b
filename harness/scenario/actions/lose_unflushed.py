"""Losing what was never flushed, as a host does whose power fails: kill -9 alone leaves the page cache as it is.

Kafka flushes a segment when it is rolled, and its metadata log with each append; the active segment of a partition
lies in the page cache, but for what its recovery point covers.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from harness.cluster.config import METADATA_LOG
from harness.cluster.segments import recovery_points, segments_of, unflushed_from
from harness.model.events import FaultChanged
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Fault
from harness.scenario.up_or_down import down
from harness.scenario.verbs import fault
from harness.scenario.world import ActionFailed, World

_CHECKPOINT = "recovery-point-offset-checkpoint"
_INDEXES = (".index", ".timeindex", ".txnindex")


@dataclass(frozen=True, slots=True)
class LoseUnflushed(Fault):
    """Put the files of a node that is down back to their last flush."""

    node: NodeRef

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"lose what {self.node.description} never flushed"

    def perform(self, world: World) -> None:
        """Cut off the end of every active segment. Raises ActionFailed."""
        node = down(self.node, world, "runs: kill it first")
        cut = put_back(node.data_dir)
        if not cut:
            raise ActionFailed(f"node {node.id} had flushed all that it has: there is nothing to lose")
        proof = f"{sum(cut.values())} bytes of {len(cut)} partitions are gone"
        world.write(FaultChanged("lose_unflushed", self.description, "proved", proof=proof, node=node.id))


def put_back(data: Path) -> dict[str, int]:
    """Put partitions back to their last flush; return how many bytes each has lost, without those that lost none."""
    checkpoint = data / _CHECKPOINT
    flushed = recovery_points(checkpoint.read_text(encoding="ascii")) if checkpoint.exists() else {}
    folders = [each for each in data.iterdir() if each.is_dir() and each.name != METADATA_LOG and segments_of(each)]
    lost = {folder.name: _cut(segments_of(folder)[-1], flushed.get(folder.name, 0)) for folder in sorted(folders)}
    return {name: count for name, count in lost.items() if count}


def _cut(segment: Path, recovery_point: int) -> int:
    content = segment.read_bytes()
    kept = unflushed_from(content, recovery_point)
    if kept < len(content):
        os.truncate(segment, kept)
        for kind in _INDEXES:  # rebuilt from the segment, as after every unclean end
            segment.with_suffix(kind).unlink(missing_ok=True)
    return len(content) - kept


@fault
def lose_unflushed(node: NodeRef) -> LoseUnflushed:
    """Put the files of a node that is down back to their last flush: what only the page cache had is gone."""
    return LoseUnflushed(node)
