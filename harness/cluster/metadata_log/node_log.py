"""One node's metadata log, as it was read at one moment."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter

from harness.cluster.metadata_log.batches import Batch
from harness.cluster.metadata_log.files import QuorumState, SnapshotId
from harness.cluster.metadata_log.topic_changes import Topics


@dataclass(frozen=True, slots=True)
class NodeLog:
    """What a node had on its disk: batches by ascending offset, snapshots, and its quorum-state.

    `life` names the folder that the log lies in: another one where somebody wiped the node's disk; empty where there is
    no log. `topics` are those in each snapshot that is whole. `damages` are clauses about what could not be read.
    `is_whole` is False where the log was too large to read all of it, or its files were going away: then nothing is
    said of what is not in `batches`.
    """

    node: int
    life: str
    batches: tuple[Batch, ...] = ()
    snapshots: tuple[SnapshotId, ...] = ()
    quorum: QuorumState | None = None
    damages: tuple[str, ...] = ()
    is_whole: bool = True
    topics: Mapping[SnapshotId, Topics] = field(default_factory=dict)

    @property
    def start(self) -> int:
        """The first offset that the log's segments hold; its end where they hold none."""
        return self.batches[0].base_offset if self.batches else self.end

    @property
    def end(self) -> int:
        """The offset behind the last one that the log or a snapshot holds."""
        newest = max((each.end_offset for each in self.snapshots), default=0)
        return max(self.batches[-1].last_offset + 1 if self.batches else 0, newest)

    @property
    def epoch(self) -> int:
        """The epoch of the newest record."""
        newest = max(self.snapshots, key=attrgetter("end_offset"), default=SnapshotId(0, 0))
        last = self.batches[-1] if self.batches else None
        return last.epoch if last is not None and last.last_offset >= newest.end_offset else newest.epoch

    def last_below(self, offset: int) -> Batch | None:
        """Return the last batch that begins below an offset."""
        at = bisect_left(self.batches, offset, key=attrgetter("base_offset")) - 1
        return self.batches[at] if at >= 0 else None

    def covering(self, offset: int) -> Batch | None:
        """Return the batch that holds an offset."""
        found = self.last_below(offset + 1)
        return found if found is not None and found.last_offset >= offset else None

    def has_snapshot_of(self, offset: int) -> bool:
        """Whether a snapshot stands for the record at this offset, so that the log need not have it."""
        return any(each.end_offset > offset for each in self.snapshots)
