"""When what was wrong in a run: faults from their beginning to their end, and nodes that did not serve; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.model.events import FaultChanged
from harness.report.timeline import GOING, Lane, Timeline, of_kind
from harness.rundir.journal import Entry


@dataclass(frozen=True, slots=True)
class FaultWindow:
    """Something was wrong from `start` to `end`, in seconds since the run began; `links` are those it was about.

    With `is_absence` it is a node that did not serve. `short` says in a word or two what it was.
    """

    text: str
    start: float
    end: float
    links: frozenset[tuple[str, str]] = frozenset()
    is_absence: bool = False
    short: str = ""


def fault_windows(entries: Sequence[Entry], timeline: Timeline) -> tuple[FaultWindow, ...]:
    """Return the windows in which a fault was in effect, or a node that had been ready was not; by their start."""
    windows = [*_faults(entries, timeline.seconds), *(each for lane in timeline.lanes for each in _absences(lane))]
    return tuple(sorted(windows, key=lambda each: (each.start, each.end, each.text)))


def _faults(entries: Sequence[Entry], seconds: float) -> list[FaultWindow]:
    ended: list[FaultWindow] = []
    lasting: list[tuple[FaultChanged, FaultWindow]] = []
    for at, change in of_kind(entries, FaultChanged):
        if change.status == "begun" and at <= seconds:
            lasting.append((change, FaultWindow(change.text, at, seconds, frozenset(change.links), short=change.fault)))
        if change.status == "ended":
            after = [(fault.after(change), window) for fault, window in lasting]
            ended += [replace(window, end=min(at, seconds)) for left, window in after if left is None]
            lasting = [(left, window) for left, window in after if left is not None]
    return [*ended, *(window for _, window in lasting)]


def _absences(lane: Lane) -> list[FaultWindow]:
    """Return from when to when a node that had been ready did not serve."""
    windows: list[FaultWindow] = []
    since, was_ready = -1.0, False
    for span in lane.life:
        if span.name == "ready":
            if since >= 0:
                windows.append(_absence(lane, since, span.start))
            since, was_ready = -1.0, True
        elif span.name in GOING and was_ready and since < 0:
            since = span.start
    if since >= 0:
        windows.append(_absence(lane, since, lane.life[-1].end))
    return windows


def _absence(lane: Lane, start: float, end: float) -> FaultWindow:
    return FaultWindow(f"node {lane.node} down", start, end, is_absence=True, short=f"{lane.node} down")
