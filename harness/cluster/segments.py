"""Partitions on disk: what their segments hold, where replicas differ, and what was never flushed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from harness.cluster.metadata_log.batches import Batch, bounds, read_batches


@dataclass(frozen=True, slots=True)
class Replica:
    """The batches of a partition on one disk, in the order of their offsets; `damage` is in the way of reading on."""

    batches: tuple[Batch, ...]
    damage: str = ""

    @property
    def last_offset(self) -> int:
        """The offset of the last record; -1 where there is none."""
        return self.batches[-1].last_offset if self.batches else -1

    @property
    def first_offset(self) -> int:
        """The offset of the first record; -1 where there is none."""
        return self.batches[0].base_offset if self.batches else -1

    @property
    def first_gap(self) -> int:
        """The first offset between its records that it lacks; -1 where it lacks none."""
        ends = ((one.last_offset + 1, other.base_offset) for one, other in pairwise(self.batches))
        return next((end for end, begin in ends if begin != end), -1)


def segments_of(partition: Path) -> list[Path]:
    """Return the segments of a partition's folder, by their first offsets; the last is the active one."""
    return sorted(partition.glob("*.log"))


def read_replica(partition: Path) -> Replica:
    """Read all segments of a partition. Raises OSError."""
    read = [read_batches(segment.read_bytes()) for segment in segments_of(partition)]
    batches = tuple(batch for each in read for batch in each.batches)
    return Replica(batches, next((each.damage for each in read if each.damage), ""))


class Writer(NamedTuple):
    """Who wrote a record: a producer's id and epoch (-1 without), and the sequence number that it gave the record."""

    producer: int
    epoch: int
    sequence: int


def writers(partition: Path, offsets: Collection[int]) -> dict[int, Writer]:
    """Return who wrote the records at these offsets, of those that are there. Raises OSError."""
    batches = read_replica(partition).batches
    bases = [batch.base_offset for batch in batches]
    found = {}
    for offset in offsets:
        at = bisect_right(bases, offset) - 1
        if at >= 0 and offset <= batches[at].last_offset:
            batch = batches[at]
            found[offset] = Writer(batch.producer, batch.producer_epoch, batch.sequence + offset - batch.base_offset)
    return found


def disagreement(replicas: Mapping[int, Replica]) -> str:
    """Return where replicas of a partition, by node, differ in what all of them hold; empty where they do not. Pure.

    Followers copy batches as they are, so that the same offsets have the same batches, epochs and CRCs.
    """
    if damaged := [(node, each.damage) for node, each in sorted(replicas.items()) if each.damage]:
        return f"on node {damaged[0][0]}, {damaged[0][1]}"
    held = {node: each.batches for node, each in sorted(replicas.items()) if each.batches}
    if len(held) < 2:
        return ""
    begin = max(batches[0].base_offset for batches in held.values())
    end = min(batches[-1].last_offset for batches in held.values())
    (one, first), *others = ((node, _within(batches, begin, end)) for node, batches in held.items())
    for other, batches in others:
        if batches != first:
            offset = min(each.base_offset for each in set(first) ^ set(batches))
            return f"nodes {one} and {other} differ from offset {offset} on, of {begin} to {end}"
    return ""


def shortcoming(replicas: Mapping[int, Replica], assigned: Iterable[int], reached: int) -> str:
    """Return which assigned replica, by node, is not there, lacks offsets, or ends before one; empty for none. Pure.

    All begin where the first of them does, and none has a gap: so it is of topics that are never compacted and of which
    nothing is deleted.
    """
    first = min((each.first_offset for each in replicas.values() if each.batches), default=-1)
    for node in sorted(assigned):
        if node not in replicas:
            return f"node {node} has no replica"
        found = replicas[node]
        if found.last_offset < reached:
            return f"the replica of node {node} ends at offset {found.last_offset}, of {reached}"
        if found.batches and found.first_offset > first:
            return f"the replica of node {node} begins at offset {found.first_offset}, and another at {first}"
        if (gap := found.first_gap) >= 0:
            return f"the replica of node {node} lacks offset {gap}"
    return ""


def _within(batches: Sequence[Batch], begin: int, end: int) -> list[Batch]:
    return [each for each in batches if begin <= each.base_offset and each.last_offset <= end]


def recovery_points(checkpoint: str) -> dict[str, int]:
    """Return up to which offset each partition's folder was flushed (`recovery-point-offset-checkpoint`).

    Kafka makes the file empty, and writes it once a minute and at its end. Raises ValueError.
    """
    if not checkpoint.strip():
        return {}
    version, count, *lines = checkpoint.splitlines()
    found = {f"{topic}-{partition}": int(offset) for topic, partition, offset in map(str.split, lines)}
    if version != "0" or len(found) != int(count):
        raise ValueError(f"a checkpoint of version {version} with {len(found)} of {count} lines")
    return found


def unflushed_from(segment: bytes, recovery_point: int) -> int:
    """Return at which byte of the active segment begins what was never flushed; its size where all was. Pure."""
    placed = zip(read_batches(segment).batches, bounds(segment), strict=False)
    return next((begin for batch, (_, begin, _) in placed if batch.last_offset >= recovery_point), len(segment))
