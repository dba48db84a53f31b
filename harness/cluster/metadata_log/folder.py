"""A node's metadata log read from its folder: the first time all of it, then only what grew."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from itertools import pairwise
from pathlib import Path

from harness.base.errors import HarnessError
from harness.cluster.metadata_log.batches import HEADER, SNAPSHOT_FOOTER, SNAPSHOT_HEADER, Batch, read_batches
from harness.cluster.metadata_log.files import (
    FORMAT,
    MOST_STATE_BYTES,
    QUORUM_STATE,
    QuorumState,
    SnapshotId,
    parse_quorum_state,
    segment_base,
    snapshot_id,
)
from harness.cluster.metadata_log.node_log import NodeLog
from harness.cluster.metadata_log.topic_changes import Topics, topics_of

MOST_BATCHES = 200_000  # no-ops of a day
_CHUNK = 4 * 2**20
_BEGINNING = SnapshotId(0, 0)  # what StorageTool makes: voters, and no record


@dataclass(frozen=True, slots=True)
class _Read:
    """What a file was found to hold: of its first `size` bytes batches, behind them damage, or the beginning of one.

    `header` is that of the last batch, which begins at `last`; while it stands there, so does all before it, since
    files are only appended to and cut off.
    """

    file: tuple[int, int]
    batches: tuple[Batch, ...] = ()
    last: int = 0
    size: int = 0
    header: bytes = b""
    rest: int = 0
    damage: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether there is nothing in it but whole batches."""
        return not self.rest and not self.damage


class LogFolder:
    """Reads the log of one node; remembers what it has read of each file."""

    def __init__(self, node: int, folder: Path) -> None:
        self._node = node
        self._folder = folder
        self._files: dict[str, _Read] = {}

    @property
    def life(self) -> str:
        """Which folder it is, by itself and by what is written with a disk's format; empty for none."""
        try:
            formatted, folder = (self._folder / FORMAT).stat(), self._folder.stat()
        except FileNotFoundError:
            return ""
        return f"{formatted.st_ino}/{formatted.st_mtime_ns} {folder.st_ino}"

    def read(self, *, anew: bool = False, ended_in_order: bool = False) -> NodeLog:
        """Return the log as it stands; one whose files went away meanwhile is not whole.

        With `anew`, files are read from their beginning. Where the node `ended_in_order`, half a batch at the end is
        damage; one that was killed, or that runs, may have been about to write it.
        """
        if not self.life:
            return NodeLog(self._node, "")
        try:
            return self._read(anew, ended_in_order)
        except FileNotFoundError:
            return NodeLog(self._node, self.life, is_whole=False)

    def _read(self, anew: bool, ended_in_order: bool) -> NodeLog:
        known = {} if anew else self._files
        names = sorted(path.name for path in self._folder.iterdir() if path.is_file())
        snapshots = {name: self._read_file(name, known, once=True) for name in names if snapshot_id(name) is not None}
        segments = dict(self._segments(names, known))
        self._files = {**segments, **snapshots}
        quorum, unread = self._quorum_state()  # after the log, which may be ahead of it otherwise
        batches = tuple(batch for read in segments.values() for batch in read.batches)
        kept = {found: read for name, read in snapshots.items() if (found := snapshot_id(name)) and found != _BEGINNING}
        return NodeLog(
            self._node,
            self.life,
            batches[:MOST_BATCHES],
            tuple(kept),
            quorum,
            (*_damages(segments, snapshots, ended_in_order), *unread),
            len(batches) <= MOST_BATCHES,
            {found: _topics_in(read) for found, read in kept.items() if read.is_whole},
        )

    def _segments(self, names: list[str], known: dict[str, _Read]) -> Iterator[tuple[str, _Read]]:
        """Yield each segment by its name, oldest first, until there are more batches than are kept."""
        count = 0
        for name in names:
            if segment_base(name) is not None and count <= MOST_BATCHES:
                read = self._read_file(name, known)
                count += len(read.batches)
                yield name, read

    def _read_file(self, name: str, known: dict[str, _Read], *, once: bool = False) -> _Read:
        with (self._folder / name).open("rb") as stream:
            stat = os.fstat(stream.fileno())
            before = known.get(name, _Read((0, 0)))
            if before.file != (stat.st_dev, stat.st_ino) or not _stands(before, stream):
                before = _Read((stat.st_dev, stat.st_ino))
            return before if once and before.header else _read_on(before, stream)

    def _quorum_state(self) -> tuple[QuorumState | None, tuple[str, ...]]:
        try:
            with (self._folder / QUORUM_STATE).open("rb") as stream:
                return parse_quorum_state(stream.read(MOST_STATE_BYTES)), ()
        except FileNotFoundError:
            return None, ()
        except HarnessError as error:
            return None, (f"{QUORUM_STATE} cannot be read: {error.message}",)


def _stands(before: _Read, stream: BufferedReader) -> bool:
    """Whether what was read still stands in the file: what is cut off and written again has another last batch."""
    stream.seek(before.last)
    return stream.read(len(before.header)) == before.header


def _read_on(before: _Read, stream: BufferedReader) -> _Read:
    """Read what stands behind what was read before, a few megabytes at a time."""
    batches, last, size, header, pending = list(before.batches), before.last, before.size, before.header, b""
    stream.seek(size)
    while chunk := stream.read(_CHUNK):
        pending += chunk
        found = read_batches(pending, with_topics=True)
        if found.batches:
            batches += found.batches
            last, header = size + found.last, pending[found.last : found.last + HEADER.size]
            size += found.size
        pending = pending[found.size :]
        if found.damage or len(batches) > MOST_BATCHES:
            return _Read(before.file, tuple(batches), last, size, header, damage=found.damage)
    return _Read(before.file, tuple(batches), last, size, header, len(pending))


def _topics_in(snapshot: _Read) -> Topics:
    return topics_of(batch.topics for batch in snapshot.batches)


def _wrong_in_snapshot(batches: Sequence[Batch]) -> Iterator[str]:
    """Yield where a snapshot lacks records: it numbers its own from 0 on, and has a header.

    Since Kafka 3.0 that is a record of its own, and the last one is a footer (RecordsSnapshotWriter): what is cut off
    between two batches has none.
    """
    if not batches:
        yield "has no whole batch"
    elif batches[0].control == SNAPSHOT_HEADER and batches[-1].control != SNAPSHOT_FOOTER:
        yield "was cut off: it begins with a header and does not end with a footer"
    expected = 0
    for batch in batches:
        if batch.base_offset != expected:
            yield f"has its record {batch.base_offset} where {expected} is due"
        expected = batch.last_offset + 1


def _without_beginning(segments: dict[str, _Read], snapshots: dict[str, _Read]) -> Iterator[str]:
    """Yield that segments without a batch begin behind offset 0, and no snapshot stands for what is before."""
    begin = segment_base(next(iter(segments), "")) or 0
    ends = [found.end_offset for name in snapshots if (found := snapshot_id(name)) is not None]
    if begin > max(ends, default=0) and not any(read.batches for read in segments.values()):
        yield f"{next(iter(segments))} is empty, and no snapshot stands for what is before"


def _damages(segments: dict[str, _Read], snapshots: dict[str, _Read], ended_in_order: bool) -> Iterator[str]:
    """Yield what is wrong with the files, as clauses."""
    for name, read in (*segments.items(), *snapshots.items()):
        if read.damage:
            yield f"{name}, byte {read.size}: {read.damage}"
    for name, read in segments.items():
        if read.batches and read.batches[0].base_offset != segment_base(name):
            yield f"{name} begins with offset {read.batches[0].base_offset}"
    yield from _without_beginning(segments, snapshots)
    for (name, before), (following, read) in pairwise(segments.items()):
        end = before.batches[-1].last_offset + 1 if before.batches else segment_base(name)
        if not read.batches and segment_base(following) != end:
            yield f"{following} is empty, and {name} ends before offset {end}"
    for name, read in snapshots.items():
        yield from (f"{name} {wrong}" for wrong in _wrong_in_snapshot(read.batches))
    torn = [*list(segments.items())[:-1], *snapshots.items()]
    newest = list(segments.items())[-1:] if ended_in_order else []
    for name, read in (*torn, *newest):
        if read.rest and not read.damage:
            yield f"{name} ends with {read.rest} bytes that are no whole batch"
