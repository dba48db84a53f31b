"""Reading what nodes say and leave: their logs as these grow, and at the end the files of their metadata logs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from harness.cluster.conformance.log_lines import read_line
from harness.cluster.conformance.observations import Files, Place, Said, Unseen
from harness.cluster.metadata_log.files import segment_base, snapshot_id
from harness.cluster.metadata_log.voter_records import voters_in

_CHUNK = 2**20
# A flood of lines that is longer is read up to here.
MOST_BYTES = 256 * _CHUNK
_MOST_SEGMENT_BYTES = 64 * 2**20


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
        segments = {base: name for name in names if (base := segment_base(name)) is not None}
        snapshots = [found.end_offset for name in names if (found := snapshot_id(name)) is not None]
        voters: dict[int, frozenset[int]] = {}
        for name in segments.values():
            path = folder / name
            if path.stat().st_size <= _MOST_SEGMENT_BYTES:
                voters |= voters_in(path.read_bytes())
        return Files(node, ended, tuple(sorted(segments)), tuple(sorted(snapshots)), voters)
    return Files(node, ended)
