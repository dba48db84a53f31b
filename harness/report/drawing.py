"""A timeline as coordinates for an inline SVG: numbers only, the template holds the shapes; pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from harness.report.client_strips import ClientLine, Strip, height_of, strips, tops_of
from harness.report.fault_windows import FaultWindow
from harness.report.timeline import BASE, CANDIDATE, Lane, RoleSpan, Span, Step, Timeline

WIDTH = 1000.0
LEFT = 92.0
RIGHT = 12.0
PHASE_HEIGHT = 22.0
MARK_ROW = 19.0
MARK_GAP = 20.0
LANE = 30.0
OBSERVER_LANE = 56.0
AXIS = 24.0
STRIPS_HEAD = 18.0
_LABEL_ROOM = 90.0
_CHARACTER = 6.4
_MARK_ROWS, _MOST_MARK_ROWS = 3, 7  # more only where marks would lie on each other
_TICKS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600)
_MOST_TICKS = 12
_MOST_POINTS = 240
_BAR_DEPTH = 7.0
_WHOSE = {BASE: "base's jars", CANDIDATE: "the candidate's jars"}


@dataclass(frozen=True, slots=True)
class Box:
    """A bar from `x` over `width`; `label` is what fits into it, `title` all of it."""

    x: float
    width: float
    kind: str
    label: str
    title: str


@dataclass(frozen=True, slots=True)
class MarkBox:
    """A numbered step; `label` is as much of it as fits before the next one in its row."""

    number: int
    x: float
    y: float
    kind: str
    status: str
    title: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class LaneBox:
    """One node's lane at `y`; `path` holds the points of an observer's progress as SVG wants them."""

    name: str
    role: str
    y: float
    height: float
    life: tuple[Box, ...]
    leads: tuple[Box, ...]
    stalls: tuple[Box, ...]
    points: str
    runs: tuple[Box, ...] = ()
    roles: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class Drawing:
    """All that the SVG needs; lengths in user units."""

    width: float
    height: float
    left: float
    lanes_top: float
    axis_y: float
    phases: tuple[Box, ...]
    marks: tuple[MarkBox, ...]
    lanes: tuple[LaneBox, ...]
    ticks: tuple[tuple[float, str], ...]
    faults: tuple[Box, ...] = ()
    strips: tuple[Strip, ...] = ()
    strips_top: float = 0.0


@dataclass(frozen=True, slots=True)
class RunStory:
    """What is drawn of one run: its timeline, what was wrong when, what clients were answered.

    `observers` is what nodes are called that do not vote.
    """

    timeline: Timeline
    faults: tuple[FaultWindow, ...] = ()
    clients: tuple[ClientLine, ...] = ()
    observers: str = "observer"


@dataclass(frozen=True, slots=True)
class Axis:
    """What pictures share that are to be compared: seconds, and the most that each client was answered in one."""

    seconds: float
    tops: Mapping[str, int] = field(default_factory=dict)


def shared_axis(stories: Sequence[RunStory]) -> Axis:
    """Return the axis on which all of these can be drawn."""
    longest = max((story.timeline.seconds for story in stories), default=0.0)
    return Axis(longest, tops_of(line for story in stories for line in story.clients))


def draw(story: RunStory, axis: Axis | None = None) -> Drawing:
    """Lay a run out from left to right: phases on top, then numbered steps, a lane per node, a strip per client."""
    timeline, axis = story.timeline, axis or shared_axis([story])
    scale = Scale(axis.seconds)
    marks, rows = _marks([step for step in timeline.steps if step.notable], scale)
    lanes_top = PHASE_HEIGHT + 6 + rows * MARK_ROW + 4
    lanes = _lanes(timeline.lanes, lanes_top, scale, story.observers)
    strips_top = lanes[-1].y + lanes[-1].height + 4 if lanes else lanes_top
    axis_y = strips_top + (height_of(story.clients) + STRIPS_HEAD if story.clients else 0.0)
    return Drawing(
        WIDTH,
        axis_y + AXIS,
        LEFT,
        lanes_top,
        axis_y,
        tuple(_box(span, "phase", span.name, scale) for span in timeline.phases),
        marks,
        lanes,
        scale.ticks(),
        tuple(_fault(each, scale) for each in story.faults),
        strips(story.clients, axis.tops, strips_top + STRIPS_HEAD, scale.until(timeline.seconds)),
        strips_top,
    )


class Stretch(Protocol):
    """A stretch of time, in seconds."""

    @property
    def start(self) -> float:
        """When it begins."""

    @property
    def end(self) -> float:
        """When it is over."""


class Scale:
    """Seconds from the left end of a picture to user units."""

    def __init__(self, seconds: float) -> None:
        self.seconds = max(seconds, 0.001)
        self.per_second = (WIDTH - LEFT - RIGHT) / self.seconds

    def x(self, at: float) -> float:
        """Return where a moment is."""
        return round(LEFT + min(max(at, 0.0), self.seconds) * self.per_second, 1)

    def until(self, seconds: float) -> Callable[[float], float]:
        """Return where a moment is, up to the end of a run."""
        return lambda at: self.x(min(at, seconds))

    def width(self, span: Stretch) -> float:
        """Return how wide a stretch of time is; as much as can be seen at least."""
        return round(max(self.x(span.end) - self.x(span.start), 1.0), 1)

    def ticks(self) -> tuple[tuple[float, str], ...]:
        """Return where round numbers of seconds are, at most a dozen, with their labels."""
        longer = math.ceil(self.seconds / _MOST_TICKS)
        step = next((tick for tick in _TICKS if self.seconds / tick <= _MOST_TICKS), longer)
        return tuple((self.x(at), f"{at} s") for at in range(0, int(self.seconds) + 1, step))


def _box(span: Span, kind: str, label: str, scale: Scale) -> Box:
    width = scale.width(span)
    return Box(scale.x(span.start), width, kind, fitting(label, width), _title(label, span))


def _fault(window: FaultWindow, scale: Scale) -> Box:
    """Return the window of a fault; a short one is called by its verb, never by half a word."""
    width = scale.width(window)
    label = next((label for label in (window.text, window.short) if _room(width) >= len(label)), "")
    return Box(scale.x(window.start), width, "fault", label, _title(window.text, window))


def _leading(span: Span, scale: Scale) -> Box:
    """Return the bar of an epoch; a short one says less, never half a word."""
    width = scale.width(span)
    labels = (f"leads epoch {span.name}", f"epoch {span.name}", span.name)
    label = next((label for label in labels if _room(width) >= len(label)), "")
    return Box(scale.x(span.start), width, "leader", label, _title(labels[0], span))


def _title(what: str, span: Span | FaultWindow) -> str:
    return f"{what}, {span.start:.1f} to {span.end:.1f} s"


def _room(width: float) -> int:
    """Return how many characters fit into `width`."""
    return int((width - 8) / _CHARACTER)


def fitting(label: str, width: float) -> str:
    """Return as much of `label` as fits; nothing when that would be too little to read."""
    room = _room(width)
    if len(label) <= room:
        return label
    return f"{label[: room - 1]}…" if room >= 5 else ""


def _marks(steps: Sequence[Step], scale: Scale) -> tuple[tuple[MarkBox, ...], int]:
    """Number the steps and put each into the first row that is free there; return them and the rows used."""
    rows: list[list[tuple[int, Step]]] = [[] for _ in range(min(_MARK_ROWS, len(steps)))]
    for number, step in enumerate(steps):  # in turns, so that each has as much room behind it as can be
        ends = [scale.x(row[-1][1].start) if row else float("-inf") for row in rows]
        latest_free = scale.x(step.start) - MARK_GAP
        if min(ends) > latest_free and len(rows) < _MOST_MARK_ROWS:
            rows.append([(number + 1, step)])
            continue
        turn = number % _MARK_ROWS % len(rows)
        rows[turn if ends[turn] <= latest_free else ends.index(min(ends))].append((number + 1, step))
    marks = [mark for row, listed in enumerate(rows) for mark in _row_of_marks(listed, row, scale)]
    return tuple(sorted(marks, key=lambda mark: mark.number)), len(rows)


def _row_of_marks(listed: Sequence[tuple[int, Step]], row: int, scale: Scale) -> list[MarkBox]:
    y = PHASE_HEIGHT + 6 + MARK_ROW * (row + 0.5)
    ends = [*(scale.x(step.start) for _, step in listed[1:]), WIDTH]
    marks = []
    for (number, step), end in zip(listed, ends, strict=True):
        x = scale.x(step.start)
        title = f"{number}: {step.kind} {step.text}, {step.status} at {step.end:.1f} s"
        label = fitting(step.name or step.text, end - x - MARK_GAP) if end - x >= _LABEL_ROOM else ""
        marks.append(MarkBox(number, x, y, step.kind, step.status, title, label))
    return marks


def _lanes(lanes: Iterable[Lane], top: float, scale: Scale, observers: str) -> tuple[LaneBox, ...]:
    placed, y = [], top
    for lane in lanes:
        height = OBSERVER_LANE if lane.offsets else LANE
        placed.append(_lane(lane, y, height, scale, observers))
        y += height
    return tuple(placed)


def _lane(lane: Lane, y: float, height: float, scale: Scale, observers: str) -> LaneBox:
    return LaneBox(
        f"node {lane.node}",
        observers if lane.role == "observer" else lane.role,
        y,
        height,
        tuple(_box(span, span.name, span.name, scale) for span in lane.life),
        tuple(_leading(span, scale) for span in lane.leads),
        tuple(_box(s, "stall", f"no progress for {s.end - s.start:.1f} s", scale) for s in lane.stalls),
        _points(lane, y, height, scale),
        tuple(_box(span, span.name, f"runs {_WHOSE[span.name]}", scale) for span in lane.runs),
        _roles(lane.roles, scale),
    )


def _roles(spans: Sequence[RoleSpan], scale: Scale) -> tuple[Box, ...]:
    """Return a bar for each state; of those that begin at one place the last, since more cannot be seen."""
    seen = {round(scale.x(span.start)): span for span in spans}
    return tuple(Box(scale.x(span.start), scale.width(span), span.role, "", _role(span)) for span in seen.values())


def _role(span: RoleSpan) -> str:
    whom = f" of node {span.leader}" if span.role == "follower" and span.leader >= 0 else ""
    return f"{span.role}{whom} in epoch {span.epoch}, {span.start:.1f} to {span.end:.1f} s"


def _points(lane: Lane, y: float, height: float, scale: Scale) -> str:
    """Return the curve of an observer's log end offset below its bar, thinned evenly when it is long."""
    if not lane.offsets:
        return ""
    thin = max(1, -(-len(lane.offsets) // _MOST_POINTS))
    samples = [*lane.offsets[:-1:thin], lane.offsets[-1]]
    low, high = samples[0][1], max(offset for _, offset in samples)
    floor, ceiling = y + height - _BAR_DEPTH, y + LANE
    per_offset = (floor - ceiling) / max(high - low, 1)
    return " ".join(f"{scale.x(at)},{floor - max(offset - low, 0) * per_offset:.1f}" for at, offset in samples)
