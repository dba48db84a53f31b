"""Where the time of a verification went, as a Gantt chart: numbers for an inline SVG, and the same as a table; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from harness.model.time_book import TimeBook, TimeKind, TimeSpan
from harness.report.drawing import AXIS, LEFT, WIDTH, Box, Scale, fitting
from harness.report.limits import beyond

_LANE = 26.0
_BAR = 18.0
_NAMES = {TimeKind.STAGE: "stages", TimeKind.PART: "parts", TimeKind.BESIDE: "beside"}
_CLUSTERS = (TimeKind.RUN, TimeKind.COVERAGE)


@dataclass(frozen=True, slots=True)
class GanttBar:
    """A bar; `used` is the height of that part of it that stands for CPU seconds, 0 where nobody counted them."""

    box: Box
    used: float


@dataclass(frozen=True, slots=True)
class GanttLane:
    """What went on one after the other, at `y`."""

    name: str
    y: float
    bars: tuple[GanttBar, ...]


@dataclass(frozen=True, slots=True)
class GanttRow:
    """The same as a line of a table; `used` is the share of all processors in percent, None where nobody counted."""

    kind: str
    name: str
    start: float
    seconds: float
    cpu_seconds: float | None
    used: float | None
    held_seconds: float


@dataclass(frozen=True, slots=True)
class Gantt:
    """The chart in user units: `description` is what it shows in all, `hidden` how many shorter spans it does not."""

    width: float
    height: float
    left: float
    bar: float
    axis_y: float
    lanes: tuple[GanttLane, ...]
    ticks: tuple[tuple[float, str], ...]
    rows: tuple[GanttRow, ...]
    description: str
    hidden: int = 0


def gantt(book: TimeBook, most: int) -> Gantt:
    """Lay out what went on in a command, from left to right on one axis of seconds; of many the longest."""
    longest = sorted(book.spans, key=lambda span: -span.seconds)[:most]
    hidden = beyond(book.spans, most)
    book = replace(book, spans=tuple(span for span in book.spans if span in longest))
    scale = Scale(max((span.end for span in book.spans), default=0.0))
    named = [lane for lane in _lanes(book.spans) if lane[1]]
    lanes = tuple(
        GanttLane(name, round(at * _LANE, 1), tuple(_bar(span, book.processors, scale) for span in spans))
        for at, (name, spans) in enumerate(named)
    )
    axis_y = len(lanes) * _LANE + 2
    rows = tuple(_row(span, book.processors) for span in sorted(book.spans, key=lambda span: (span.start, span.name)))
    ticks = scale.ticks()
    description = _description(book, scale.seconds)
    return Gantt(WIDTH, axis_y + AXIS, LEFT, _BAR, axis_y, lanes, ticks, rows, description, hidden)


def _lanes(spans: Sequence[TimeSpan]) -> Iterator[tuple[str, Sequence[TimeSpan]]]:
    def of(kind: TimeKind) -> list[TimeSpan]:
        return [span for span in spans if span.kind is kind]

    yield from ((_NAMES[TimeKind.STAGE], each) for each in packed(of(TimeKind.STAGE)))
    yield from ((_NAMES[TimeKind.PART], each) for each in packed(of(TimeKind.PART)))
    clusters = packed([span for span in spans if span.kind in _CLUSTERS])
    yield from ((f"cluster {number}", each) for number, each in enumerate(clusters, 1))
    yield from ((_NAMES[TimeKind.BESIDE], each) for each in packed(of(TimeKind.BESIDE)))


def packed(spans: Sequence[TimeSpan]) -> list[list[TimeSpan]]:
    """Return the spans in as few lanes as they can stand in one after the other, each in the first that is free."""
    lanes: list[list[TimeSpan]] = []
    for span in sorted(spans, key=lambda span: (span.start, span.end, span.name)):
        free = next((lane for lane in lanes if lane[-1].end <= span.start), None)
        if free is None:
            lanes.append([span])
        else:
            free.append(span)
    return lanes


def _bar(span: TimeSpan, processors: int, scale: Scale) -> GanttBar:
    width = scale.width(span)
    box = Box(scale.x(span.start), width, span.kind.value, fitting(span.name, width), _title(span, processors))
    return GanttBar(box, round(_BAR * (used_share(span, processors) or 0.0), 1))


def _title(span: TimeSpan, processors: int) -> str:
    share = used_share(span, processors)
    cpu = "" if share is None else f", {span.cpu_seconds:.1f} CPU s ({100 * share:.0f} % of the processors)"
    held = f", held for {span.held_seconds:.1f} s" if span.held_seconds else ""
    return f"{span.name}, {span.start:.1f} to {span.end:.1f} s{cpu}{held}"


def used_share(span: TimeSpan, processors: int) -> float | None:
    """Return which share of all processors' time a span used, 1 at most; None where nobody counted."""
    if span.cpu_seconds is None:
        return None
    return min(1.0, span.cpu_seconds / (processors * span.seconds)) if span.seconds else 0.0


def _row(span: TimeSpan, processors: int) -> GanttRow:
    share = used_share(span, processors)
    used = None if share is None else round(100 * share, 1)
    return GanttRow(span.kind.value, span.name, span.start, span.seconds, span.cpu_seconds, used, span.held_seconds)


def _description(book: TimeBook, seconds: float) -> str:
    """Return how long all took, and how much of the processors it used: stages count what goes on beside them."""
    cpu = sum(span.cpu_seconds or 0.0 for span in book.spans if span.kind is TimeKind.STAGE)
    share = min(100.0, 100 * cpu / (seconds * book.processors))
    return (
        f"{seconds:.1f} s on {book.processors} processor{'s' * (book.processors > 1)}, of which {cpu:.1f} CPU seconds "
        f"were used: {share:.0f} %"
    )
