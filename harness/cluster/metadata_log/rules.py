"""What must hold of a single log, and of any two, whatever is committed; pure.

Two logs that hold the same offset with the same epoch hold the same records up to there: a leader writes an offset
once in its epoch, and a follower appends only where its log matches (Log Matching, Raft §5.3; in Kafka
ReplicatedLog.validateOffsetAndEpoch). A tail that was never committed may differ: each of its offsets has another epoch
in the other log, and nothing behind it is alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from harness.cluster.metadata_log.batches import Batch
from harness.cluster.metadata_log.broken import EPOCH_NEVER_FALLS, METADATA_LOG_WHOLE, METADATA_LOGS_AGREE, Broken
from harness.cluster.metadata_log.node_log import NodeLog


def broken_alone(log: NodeLog) -> Iterator[Broken]:
    """Yield what is wrong with one log by itself."""
    for damage in log.damages:
        yield Broken(
            METADATA_LOG_WHOLE, f"the metadata log of node {log.node} is damaged: {damage}", (log.node,), log.end
        )
    if log.batches and log.start > 0 and not log.has_snapshot_of(log.start - 1):
        story = f"the log of node {log.node} begins at offset {log.start}, and no snapshot stands for what is before"
        yield Broken(METADATA_LOG_WHOLE, story, (log.node,), log.start)
    for before, after in pairwise(log.batches):
        if after.base_offset != before.last_offset + 1:
            story = f"node {log.node} has offset {after.base_offset} right behind {before.last_offset}"
            yield Broken(METADATA_LOG_WHOLE, story, (log.node,), before.last_offset)
        if after.epoch < before.epoch:
            story = f"the epoch falls in the log of node {log.node}: {after.words} behind {before.words}"
            yield Broken(EPOCH_NEVER_FALLS, story, (log.node,), after.base_offset)


def disagreements(logs: Sequence[NodeLog]) -> Iterator[Broken]:
    """Yield the first difference of each two logs that do not match."""
    for one, other in combinations(logs, 2):
        at = _first_difference(one, other)
        if at >= 0:
            left, right = shown(one.covering(at)), shown(other.covering(at))
            story = f"at offset {at} node {one.node} has {left} and node {other.node} has {right}"
            yield Broken(METADATA_LOGS_AGREE, story, (one.node, other.node), at)


def _first_difference(one: NodeLog, other: NodeLog) -> int:
    """Return the first offset by which two logs do not match, -1 where they do."""
    left = {each.base_offset: each for each in one.batches}
    right = {each.base_offset: each for each in other.batches}
    common = left.keys() & right.keys()
    alike = {at for at in common if left[at] == right[at]}
    # Records hold the time at which they were written, so no two epochs give the same checksum at one offset.
    wrong = {at for at in common - alike if left[at].epoch == right[at].epoch or left[at].crc == right[at].crc}
    wrong |= {at for at in left.keys() - common if _crosses(left[at], other)}
    wrong |= {at for at in right.keys() - common if _crosses(right[at], one)}
    if alike:
        begin, end = min(common), max(alike)
        wrong |= {at for at in (left.keys() | right.keys()) - alike if begin <= at < end}
    return min(wrong, default=-1)


def _crosses(batch: Batch, log: NodeLog) -> bool:
    """Whether a log has an offset of a batch in another batch of its epoch."""
    held = log.last_below(batch.last_offset + 1)
    return held is not None and held.last_offset >= batch.base_offset and held.epoch == batch.epoch


def shown(batch: Batch | None) -> str:
    """Return what a log has somewhere, as a clause."""
    return batch.words if batch else "nothing"
