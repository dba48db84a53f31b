"""Reading what nodes say and leave: logs as these grow, and at the end their metrics and the files of metadata logs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path

from harness.base.errors import HarnessError
from harness.cluster.conformance.log_lines import read_line
from harness.cluster.conformance.observations import Files, Metered, Named, Place, Said, Unseen
from harness.cluster.metadata_log.batches import read_batches
from harness.cluster.metadata_log.control_records import ControlRecords, control_records
from harness.cluster.metadata_log.files import (
    MOST_STATE_BYTES,
    QUORUM_STATE,
    QuorumState,
    parse_quorum_state,
    segments_among,
    snapshots_among,
)
from harness.cluster.node_figures import ACTIVE_CONTROLLER, read_figures

_CHUNK = 2**20
# A flood of lines that is longer is read up to here.
MOST_BYTES = 256 * _CHUNK
_MOST_LINE_BYTES = 16 * _CHUNK
_MOST_SEGMENT_BYTES = 64 * 2**20
_METRICS = {
    "epoch": "current-epoch",
    "leader": "current-leader",
    "voted": "current-vote",
    "high_watermark": "high-watermark",
    "log_end": "log-end-offset",
}


class LogReader:
    """Reads on in one node's log. Only whole lines count: the rest of one may be on its way."""

    def __init__(self, node: int, log: Path) -> None:
        self._node = node
        self._log = log
        self._position = 0
        self.lines = 0

    def read_on(self) -> Iterator[Said]:
        """Yield what was said since the last time; that lines are missing, where the log has become shorter."""
        with suppress(FileNotFoundError), self._log.open("rb") as stream:
            size = stream.seek(0, 2)
            if size < self._position:
                self._position = self.lines = 0
                yield Unseen(Place(self._node, 0))
            if self._position >= MOST_BYTES:
                return
            stream.seek(self._position)
            rest = b""
            while self._position < MOST_BYTES and (chunk := stream.read(_CHUNK)):
                whole, end, rest = (rest + chunk).rpartition(b"\n")
                self._position += len(whole) + len(end)
                yield from self._said_in(whole + end)
                if len(rest) > _MOST_LINE_BYTES:  # no line of a log is as long: what follows is read as another
                    self._position += len(rest)
                    rest = b""
            if self._position >= MOST_BYTES:
                yield Unseen(Place(self._node, self.lines))

    def _said_in(self, lines: bytes) -> Iterator[Said]:
        for line in lines.split(b"\n")[:-1]:
            self.lines += 1
            if (said := read_line(self._node, self.lines, line)) is not None:
                yield said


def files_of(node: int, folder: Path, ended: float) -> Files:
    """Return what lies in the metadata log of a node that has ended at a moment; nothing where there is none."""
    with suppress(FileNotFoundError):
        names = [path.name for path in folder.iterdir()]
        segments = segments_among(names)
        snapshots = {found.end_offset: name for found, name in snapshots_among(names).items()}
        records = _records_of([folder / name for name in segments.values()])
        named = {end: what for end, name in snapshots.items() if (what := _named(folder / name)) is not None}
        return Files(
            node,
            ended,
            tuple(segments),
            tuple(snapshots),
            records.voters,
            records.versions,
            named,
            _quorum_state(folder),
        )
    return Files(node, ended)


def _quorum_state(folder: Path) -> QuorumState | None:
    """Return what `quorum-state` says; the oracle of the metadata log tells of one that cannot be read."""
    with suppress(FileNotFoundError, HarnessError), (folder / QUORUM_STATE).open("rb") as stream:
        return parse_quorum_state(stream.read(MOST_STATE_BYTES))
    return None


def metered_of(node: int, figures: Path) -> Iterator[Metered]:
    """Yield what a node's metrics said, line by line; a line is written before the next one begins."""
    for line, after in zip_longest(lines := read_figures(figures), lines[1:]):
        named = {name: int(line.numbers.get(metric, -1)) for name, metric in _METRICS.items()}
        is_active = line.numbers.get(ACTIVE_CONTROLLER, 0) > 0
        yield Metered(node, line.at, after.at if after else math.inf, line.state, **named, is_active=is_active)


def _records_of(segments: Sequence[Path]) -> ControlRecords:
    """Return the control records of all segments; none where one is too large, which may have the newest."""
    if any(path.stat().st_size > _MOST_SEGMENT_BYTES for path in segments):
        return ControlRecords()
    found = [control_records(path.read_bytes()) for path in segments]
    return ControlRecords(
        {offset: voters for each in found for offset, voters in each.voters.items()},
        {offset: version for each in found for offset, version in each.versions.items()},
    )


def _named(snapshot: Path) -> Named | None:
    """Return what a snapshot names, which it does at its beginning; None where no batch can be read there."""
    with snapshot.open("rb") as stream:
        data = stream.read(_CHUNK)
    if not read_batches(data).batches:
        return None
    found = control_records(data)
    return Named(
        found.voters[max(found.voters)] if found.voters else frozenset(), max(found.versions.values(), default=0)
    )
