"""What clients were answered in a run, second by second, as strips below its timeline: numbers for an SVG; pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness.base.text import counted
from harness.model.events import ClientSeconds
from harness.report.timeline import of_kind
from harness.rundir.journal import Entry

STRIP = 26.0
LATENCY_STRIP = 40.0
GAP = 8.0
LEAST_MS, MOST_MS = 1.0, 60_000.0
_GRID_MS = ((10.0, "10 ms"), (1000.0, "1 s"), (60_000.0, "60 s"))
_MOST_POINTS = 400


@dataclass(frozen=True, slots=True)
class ClientLine:
    """One client from `start` to `end`, in seconds since the run began; a value a second, the last of a part of one."""

    name: str
    start: float
    end: float
    acknowledged: tuple[int, ...]
    failed: tuple[int, ...]
    median_ms: tuple[float, ...]
    longest_ms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Strip:
    """A strip at `y`: paths of its area and its line, a label, what its height stands for, and what it shows in words.

    `marks` are where requests failed, `grid` heights with their labels.
    """

    name: str
    y: float
    height: float
    area: str
    line: str
    top: str
    title: str
    marks: tuple[float, ...] = ()
    grid: tuple[tuple[float, str], ...] = ()


def client_lines(entries: Sequence[Entry]) -> tuple[ClientLine, ...]:
    """Return what each client was answered."""
    lines = (_line(at, event) for at, event in of_kind(entries, ClientSeconds))
    return tuple(line for line in lines if len(line.acknowledged) > 1)


def _line(at: float, event: ClientSeconds) -> ClientLine:
    values = (event.acknowledged, event.failed, event.median_ms, event.longest_ms)
    known = min(map(len, values))
    acknowledged, failed, median, longest = (each[:known] for each in values)
    start = at - event.ago
    end = min(at, start + known)  # the client may have been stopped long before it was asked
    return ClientLine(event.client, start, end, acknowledged, failed, median, longest)  # type: ignore[arg-type]


def tops_of(lines: Iterable[ClientLine]) -> dict[str, int]:
    """Return the most that each client was answered in a second, at least 1."""
    tops: dict[str, int] = {}
    for line in lines:
        tops[line.name] = max(tops.get(line.name, 1), *line.acknowledged)
    return tops


def strips(
    lines: Sequence[ClientLine], tops: Mapping[str, int], y: float, x: Callable[[float], float]
) -> tuple[Strip, ...]:
    """Return a strip of answers for each client, and one of how long answers took, one below the other from `y`."""
    found = []
    for line in lines:
        found.append(_answers(line, tops.get(line.name, 1), y, x))
        y += STRIP + GAP
    timed = [line for line in lines if any(line.longest_ms)]
    return (*found, _latency(timed, y, x)) if timed else tuple(found)


def height_of(lines: Sequence[ClientLine]) -> float:
    """Return how much room the strips of these clients take."""
    timed = any(any(line.longest_ms) for line in lines)
    return len(lines) * (STRIP + GAP) + timed * (LATENCY_STRIP + GAP)


def _answers(line: ClientLine, top: int, y: float, x: Callable[[float], float]) -> Strip:
    floor = y + STRIP
    values = [(line.start + second, STRIP * count / top) for second, count in enumerate(line.acknowledged)]
    failed = tuple(x(line.start + second + 0.5) for second, count in enumerate(line.failed) if count)
    silent = sum(not count for count in line.acknowledged[:-1])
    most = max(line.acknowledged, default=0)
    without = f"{counted(silent, 'second')} without any"
    title = f"{line.name}: {sum(line.acknowledged)} answers, at most {most} a second, {without}"
    if failed:
        title += f", {counted(sum(line.failed), 'failure')} in {counted(len(failed), 'second')}"
    area = _steps(values, floor, x, min, closed=True, end=line.end)
    return Strip(line.name, y, STRIP, area, "", f"{top}/s", title, failed)


def _latency(lines: Sequence[ClientLine], y: float, x: Callable[[float], float]) -> Strip:
    """Return the longest and the median latency of any client, on a logarithmic scale."""
    floor = y + LATENCY_STRIP
    longest = _of_any(lines, lambda line: line.longest_ms)
    median = _of_any(lines, lambda line: line.median_ms)
    worst, end = max(longest.values()), max(line.end for line in lines)
    grid = tuple((round(floor - _log_height(ms), 1), label) for ms, label in _GRID_MS)
    return Strip(
        "latency",
        y,
        LATENCY_STRIP,
        _steps([(at, _log_height(ms)) for at, ms in sorted(longest.items())], floor, x, max, closed=True, end=end),
        _steps([(at, _log_height(ms)) for at, ms in sorted(median.items())], floor, x, max, closed=False, end=end),
        "",
        f"Latency, longest {in_words(worst)}; line: the median, area: the longest of each second, logarithmic",
        grid=grid,
    )


def in_words(milliseconds: float) -> str:
    """Return a time as people write it."""
    return f"{milliseconds / 1000:.1f} s" if milliseconds >= 1000 else f"{milliseconds:.0f} ms"


def _of_any(lines: Sequence[ClientLine], values: Callable[[ClientLine], Sequence[float]]) -> dict[float, float]:
    """Return the highest value of any client by when its second began; seconds without an answer have none."""
    found: dict[float, float] = {}
    for line in lines:
        for second, value in enumerate(values(line)):
            if value > 0:
                at = round(line.start) + second + 0.0
                found[at] = max(found.get(at, 0.0), value)
    return found


def _log_height(milliseconds: float) -> float:
    share = math.log(max(milliseconds, LEAST_MS) / LEAST_MS) / math.log(MOST_MS / LEAST_MS)
    return LATENCY_STRIP * min(share, 1.0)


def _steps(
    values: Sequence[tuple[float, float]],
    floor: float,
    x: Callable[[float], float],
    worst: Callable[[Iterable[float]], float],
    *,
    closed: bool,
    end: float,
) -> str:
    """Return a path of one step for each second, or of the worst of several where there are too many, up to `end`.

    It is broken where there is no value, and `closed` down to its floor.
    """
    thin = -(-len(values) // _MOST_POINTS)
    drawn = []
    for stretch in _unbroken(values):
        kept = [stretch[first : first + thin] for first in range(0, len(stretch), thin)]
        steps = [
            (x(each[0][0]), x(max(each[-1][0], min(each[-1][0] + 1, end))), floor - worst(height for _, height in each))
            for each in kept
        ]
        path = "L".join(f"{start:.1f} {height:.1f}H{end:.1f}" for start, end, height in steps)
        bottom = f"{floor:.1f}"
        drawn.append(f"M{steps[0][0]:.1f} {bottom}L{path}V{bottom}Z" if closed else f"M{path}")
    return "".join(drawn)


def _unbroken(values: Sequence[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    """Return the stretches in which second follows second."""
    if not values:
        return []
    found = [[values[0]]]
    for before, after in pairwise(values):
        if after[0] - before[0] > 1.001:  # seconds begin where the client did, so they are no whole numbers
            found.append([])
        found[-1].append(after)
    return found
