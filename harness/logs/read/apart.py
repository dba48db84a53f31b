"""Logs in which lines of several nodes alternate (`docker compose logs`): each node's lines in a copy of their own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

import polars as pl
import pyarrow as pa

from harness.base.files import PARTIAL
from harness.logs.read.blocks import cut, decoded
from harness.logs.read.node_names import NodeNames, Shown
from harness.logs.read.unpacking import MOST, UNPACKING_ERRORS, opened
from harness.model.node_logs import log_of_node

MOST_NODES = 200  # of one log
_LONGEST_NAME = 400  # characters; the longest of a pod and its container have 317
_LONGEST_LINE = 64 << 20
_AT_ONCE = 16 << 20


@dataclass(frozen=True, slots=True)
class TakenApart:
    """The copies, by the log's name (`compose.log[kafka-1]`); those of each file, and why others stay as they are."""

    copies: Mapping[str, str]
    logs: Mapping[str, tuple[str, ...]]
    refused: Mapping[str, str]


@contextmanager
def taken_apart(
    named: Mapping[str, NodeNames], copies: Mapping[str, str], folder: Path, most: int = MOST
) -> Iterator[TakenApart]:
    """Copy each node's lines of files into `folder` for the time being, where a file has those of several nodes.

    `named` are where the lines of each file name their node, `copies` the unpacked copies of packed ones, `most` how
    many bytes the copies of all may have. A line that names no node belongs to that of the line before.
    """
    with TemporaryDirectory(dir=folder, prefix=PARTIAL) as name:
        made: dict[str, str] = {}
        logs: dict[str, tuple[str, ...]] = {}
        refused: dict[str, str] = {}
        for place, names in named.items():
            nodes = _Nodes(Path(name), len(made), most)
            try:
                if not _are_several(copies.get(place, place), names):
                    continue
                _copy(copies.get(place, place), names, nodes)
            except UNPACKING_ERRORS as error:
                refused[place] = str(error)
                nodes.remove()
                continue
            of_node = {log_of_node(place, node): str(copy.resolve()) for node, copy in nodes.copies.items()}
            made |= of_node
            logs[place] = tuple(of_node)
            most -= nodes.written
        yield TakenApart(made, logs, refused)


@dataclass(slots=True)
class _Nodes:
    """The nodes of one file that were found so far, and the copies of their lines, of which there may be `most` bytes.

    A copy is opened for each piece anew: so many nodes need no descriptors.
    """

    folder: Path
    first: int
    most: int
    written: int = 0
    copies: dict[str, Path] = field(default_factory=dict)

    def write(self, node: str, lines: pl.Series) -> None:
        """Append lines to those of a node. OSError for what is too much."""
        content = b"\n".join([*lines, b""])
        self.written += len(content)
        if self.written > min(self.most, shutil.disk_usage(self.folder).free // 2):
            raise OSError(f"copies of its lines would have more than {self.most} bytes")
        with self._copy_of(node).open("ab") as copy:
            copy.write(content)

    def _copy_of(self, node: str) -> Path:
        if node not in self.copies:
            if len(node) > _LONGEST_NAME:
                raise OSError(f"what stands where nodes are named has more than {_LONGEST_NAME} characters")
            if len(self.copies) == MOST_NODES:
                raise OSError(f"more than {MOST_NODES} are named")
            self.copies[node] = self.folder / f"{self.first + len(self.copies)}.log"
        return self.copies[node]

    def remove(self) -> None:
        """Remove the copies."""
        for copy in self.copies.values():
            copy.unlink(missing_ok=True)


def _are_several(place: str, names: NodeNames) -> bool:
    """Say whether a file has lines of more than one node; it is read until there is a second."""
    seen: set[str] = set()
    first: Shown | None = None
    with opened(place) as file:
        for piece in _pieces(file):
            if first and first.begins_all(piece):
                continue
            for lines in _cut(piece):
                texts = decoded(lines.filter(~first.is_in(lines)) if first else lines)
                seen.update(names.of(texts).drop_nulls().unique().head(2))
                first = first or names.first(texts)
            if len(seen) > 1:
                return True
    return False


def _copy(place: str, names: NodeNames, nodes: _Nodes) -> None:
    """Write each line of a file to the copy of its node."""
    last: str | None = None
    for lines in _lines(place):
        named = pl.concat([pl.Series([last], dtype=pl.String), names.of(decoded(lines))])
        whose = named.forward_fill()[1:].backward_fill()
        for (node,), of_node in pl.DataFrame({"node": whose, "line": lines}).partition_by("node", as_dict=True).items():
            nodes.write(str(node), of_node["line"])
        last = whose[-1]


def _lines(place: str) -> Iterator[pl.Series]:
    with opened(place) as file:
        for piece in _pieces(file):
            yield from _cut(piece)


def _cut(piece: bytes) -> Iterator[pl.Series]:
    return cut(pa.scalar(piece, pa.large_binary()))


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """Yield whole lines, many at once. OSError for a line that is too long to be held."""
    rest = b""
    while some := file.read(_AT_ONCE):
        lines, newline, rest = (rest + some).rpartition(b"\n")
        if newline:
            yield lines + newline
        if len(rest) > _LONGEST_LINE:
            raise OSError(f"a line of it has more than {_LONGEST_LINE} bytes")
    if rest:
        yield rest
