"""What a node counts of itself, once a second: Kafka's own metrics of the raft module, and the heap.

A small metrics reporter (NodeFigures.java) runs in every node and appends lines to a file in the node's folder. What it
says is read here; the file may be large, cut short or full of anything, since the jar under test runs beside it.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness.model.told import TEXT

REPORTER_SOURCE = Path(__file__).with_name("NodeFigures.java")
_REPORTERS = "metric.reporters"
_STATE = "current-state"
ACTIVE_CONTROLLER = "active-controller"  # of a controller: 1 where it is the active one
# Of the reporter itself, and no metrics of Raft.
_OWN = frozenset(
    {
        ACTIVE_CONTROLLER,
        "controller-events",
        "controller-event-ms-mean",
        "commit-pause-ms",
        "heap-after-gc",
        "gc-ms",
        "live",
        "direct",
        "allocated",
    }
)
_WHOLE = re.compile(r"-?\d{1,19}")
_MOST_BYTES = 16 * 2**20  # a line has some 500 bytes: nine hours of a node
_MOST_LINE_BYTES = 8192


@dataclass(frozen=True, slots=True)
class FiguresLine:
    """One line: `at` in seconds since the Unix epoch, the node's own `state` (`leader`, `follower`, `observer`, …).

    `numbers` are by Kafka's names of raft-metrics (KIP-595), such as `poll-idle-ratio-avg` and `commit-latency-avg`
    (ms, over the last half minute), with `controller-events` and `controller-event-ms-mean` since the start,
    `active-controller` (Kafka's ActiveControllerCount), `commit-pause-ms` (the longest between two commits of one epoch
    that this node leads, since the line before), `heap-after-gc` (bytes), `gc-ms`, `direct` (bytes of buffers outside
    of the heap), `allocated` (bytes on the heap, by all threads since the start), and `live` (bytes) in lines that
    follow a collection that was asked for. `metrics` are the types of Kafka's own by their names, whatever their values
    are: `decimal`, `whole` or `text`.
    """

    at: float
    state: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)
    metrics: Mapping[str, str] = field(default_factory=dict)


def with_reporter(properties: Mapping[str, str], usual: str) -> dict[str, str]:
    """Return server properties with the reporter beside those that they name, or beside the `usual` ones of Kafka."""
    named = properties.get(_REPORTERS, "").strip() or usual
    return {**properties, _REPORTERS: ",".join(filter(None, [named, REPORTER_SOURCE.stem]))}


def read_figures(file: Path) -> tuple[FiguresLine, ...]:
    """Return the lines of a file that can be read, in its order; none where there is no file."""
    with suppress(FileNotFoundError), file.open("rb") as stream:
        content = stream.read(_MOST_BYTES)
        return tuple(_lines(content))
    return ()


def _lines(content: bytes) -> Iterator[FiguresLine]:
    for raw in content.split(b"\n")[:-1]:  # the last one may be half written
        if len(raw) <= _MOST_LINE_BYTES and (line := parse_figures(raw.decode("utf-8", "replace"))):
            yield line


def parse_figures(text: str) -> FiguresLine | None:
    """Return what a line says, None where it does not begin with a time; what is no number is left out."""
    first, *pairs = text.split()[:1000] or [""]
    at = _number(first)
    if at is None or at < 0:
        return None
    said = dict(pair.partition("=")[::2] for pair in pairs)
    numbers = {name: number for name, value in said.items() if (number := _number(value)) is not None}
    metrics = {sys.intern(name): _type(value) for name, value in said.items() if name not in _OWN}
    return FiguresLine(at / 1000, said.get(_STATE, ""), numbers, metrics)


def _type(value: str) -> str:
    """Return of which type a metric is, by how Java writes its value: a whole number has no point, and no NaN."""
    if _WHOLE.fullmatch(value):
        return "whole"
    try:
        float(value)
    except ValueError:
        return TEXT
    return "decimal"


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def ask_for_collection(file: Path) -> Path:
    """Ask the node that writes a file to collect its heap; return the file that is gone when it has."""
    asked = file.with_name(f"{file.name}.collect")
    asked.touch()
    return asked
