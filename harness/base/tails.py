"""Reading files that may be larger than memory, or hold a line that is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

LINE_BYTES = 2000
_SHOWN_BYTES = 300
_CHUNK = 2**20


def beginnings(path: Path, start: int = 0, most: int = LINE_BYTES) -> Iterator[tuple[int, bytes]]:
    """Yield number (from 1) and the first `most` bytes of each line from the byte `start` on, without line ends."""
    number = 0
    with path.open("rb") as stream:
        stream.seek(start)
        while line := stream.readline(most):
            number += 1
            yield number, line.rstrip(b"\r\n")
            while line and not line.endswith(b"\n"):
                line = stream.readline(_CHUNK)


def ended_lines(path: Path, start: int = 0, most: int = LINE_BYTES) -> Iterator[tuple[int, bytes]]:
    """Yield where each line from the byte `start` on ends, and its first `most` bytes, without what has no end yet."""
    with path.open("rb") as stream:
        stream.seek(start)
        while piece := stream.readline(most):
            line = piece
            while piece and not piece.endswith(b"\n"):
                piece = stream.readline(_CHUNK)
            if piece:
                yield stream.tell(), line


def last_line(*paths: Path) -> str:
    """Return the last line, or its beginning, of the first of these files that has one; empty where none has."""
    for path in paths:
        if path.exists() and (lines := tail(path)[1]):
            return lines[-1][:_SHOWN_BYTES].decode("utf-8", "replace")
    return ""


def tail(path: Path, most: int = _CHUNK) -> tuple[int, list[bytes]]:
    """Return how many lines a file has, and the beginnings of those in its last `most` bytes."""
    size, lines, last = path.stat().st_size, 0, b"\n"
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            lines += chunk.count(b"\n")
            last = chunk
    cut = max(size - most, 0)
    found = [line for _, line in beginnings(path, cut)]
    return lines + (not last.endswith(b"\n")), found[1:] if cut else found
