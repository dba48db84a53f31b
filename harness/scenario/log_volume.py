"""How much nodes log: lines by level, and bytes; read as a stream, whatever was logged."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.cluster.threads import DUMP_BEGINS

# The layout of node logs (harness.cluster.config.LOG_PATTERN): [time] LEVEL message (logger).
_LEVEL = re.compile(rb"^\[[^\]\n]{10,40}\] (DEBUG|INFO|WARN|ERROR|FATAL) ", re.MULTILINE)
_LEVELS = {"DEBUG": "debug", "INFO": "info", "WARN": "warn", "ERROR": "error", "FATAL": "error"}
_CHUNK = 2**20
# A flood that is longer is counted by its beginning.
_MOST_READ = 256 * _CHUNK
# A node that lived for seconds logs its start, 30 lines a second.
_LEAST_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class LoggedSpan:
    """A part of a node's log, from one place to another in bytes, and the seconds in which it was written."""

    kind: str
    log: Path
    start: int
    end: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Volume:
    """Lines and bytes by level (`debug info warn error`), and all bytes; a stack trace is of the line above it."""

    lines: Mapping[str, float]
    bytes: Mapping[str, float]
    size: int


def volume_of(span: LoggedSpan, most: int = _MOST_READ) -> Volume:
    """Count a part of a log; what is larger than `most` bytes is taken to go on as it begins."""
    size, counted = max(span.end - span.start, 0), min(max(span.end - span.start, 0), most)
    lines, sizes = dict.fromkeys(_LEVELS.values(), 0.0), dict.fromkeys(_LEVELS.values(), 0.0)
    scale = size / counted if counted else 1.0
    for level, begins, length in _stretches(span.log, span.start, counted):
        if level:
            lines[level] += scale * begins
            sizes[level] += scale * length
    return Volume(lines, sizes, size)


def _stretches(log: Path, start: int, size: int) -> Iterator[tuple[str, bool, int]]:
    """Yield a log in stretches of one level: which, whether a line of it begins there, and how many bytes it has."""
    level, rest = "", b""
    with suppress(FileNotFoundError), log.open("rb") as stream:
        stream.seek(start)
        while size > 0 and (chunk := stream.read(min(_CHUNK, size))):
            size -= len(chunk)
            whole, end, rest = (rest + chunk).rpartition(b"\n")
            stretches = list(_stretches_in(whole + end, level))
            yield from stretches
            level, *_ = stretches[-1]
            rest = rest[:_CHUNK]  # no line of a log is as long
    yield from _stretches_in(rest, level)


def _stretches_in(text: bytes, level: str) -> Iterator[tuple[str, bool, int]]:
    """Yield the stretches of a text that begins at a level, empty where that is not known."""
    at, begins = 0, False
    for found in _LEVEL.finditer(text):
        yield level, begins, found.start() - at
        level, begins, at = _LEVELS[found.group(1).decode()], True, found.start()
    yield level, begins, len(text) - at


def printed_lines(output: Path) -> int:
    """Count the lines that a node printed beside its log, up to a dump of its threads, which the harness asks for."""
    lines, last, left = 0, b"", _MOST_READ
    with suppress(FileNotFoundError), output.open("rb") as stream:
        while left > 0 and (chunk := stream.read(_CHUNK)):
            printed, dump, _ = (last + chunk).partition(DUMP_BEGINS)
            lines += printed.count(b"\n", len(last))
            if dump:
                return lines
            left, last = left - len(chunk), printed[-len(DUMP_BEGINS) :]
    return lines + bool(last and not last.endswith(b"\n"))


def measures_of_logs(spans: Iterable[LoggedSpan], window: str = "") -> Mapping[str, float]:
    """Return a second's lines and kilobytes by level, and all but those at DEBUG, of the node of a kind that has most.

    Names begin with the window.
    """
    by_node: dict[tuple[str, Path], list[LoggedSpan]] = defaultdict(list)
    for span in spans:
        by_node[span.kind, span.log].append(span)
    found: dict[str, float] = {}
    for (kind, _), lives in by_node.items():
        lived = sum(span.seconds for span in lives)
        seconds = lived if window or lived <= 0 else max(lived, _LEAST_SECONDS)
        for name, value in _rates([volume_of(span) for span in lives], seconds).items():
            key = f"{window}_{kind}_{name}" if window else f"{kind}_{name}"
            found[key] = max(found.get(key, 0.0), value)
    return found


def _rates(volumes: list[Volume], seconds: float) -> Mapping[str, float]:
    if seconds <= 0:
        return {}
    rates = {
        f"{level}_lines_per_second": sum(volume.lines[level] for volume in volumes) / seconds
        for level in dict.fromkeys(_LEVELS.values())
    }
    rates |= {
        f"{level}_kilobytes_per_second": sum(volume.bytes[level] for volume in volumes) / seconds / 1000
        for level in dict.fromkeys(_LEVELS.values())
    }
    # As operators log: a node of the harness logs the raft package at DEBUG, which lines of that level are counted for.
    written = sum(max(volume.size - volume.bytes["debug"], 0.0) for volume in volumes)
    rates["log_kilobytes_per_second"] = written / seconds / 1000
    return {name: round(rate, 3) for name, rate in rates.items()}
