"""What is noted of the processes of nodes while they run: samples, and where their logs were when they became warm."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from harness.scenario.log_volume import LoggedSpan
from harness.scenario.processor_shares import Sample


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment by both clocks, in seconds, and how large logs were then, in bytes."""

    monotonic: float
    epoch: float
    log_bytes: dict[Path, int] = field(default_factory=dict)

    @classmethod
    def now(cls, *logs: Path) -> Moment:
        """Return this moment."""
        return cls(time.monotonic(), time.time(), {log: log.stat().st_size for log in logs if log.is_file()})


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of time, such as a measured window."""

    start: Moment
    end: Moment


@dataclass(slots=True)
class Life:
    """One process of a node from where it was warm to its end; `kind` is `voter` or `observer`."""

    node: int
    kind: str
    log: Path
    warm: Moment
    samples: list[Sample] = field(default_factory=list)
    end: Moment | None = None

    def without(self, windows: Iterable[Period]) -> list[Period]:
        """Return the stretches of it outside of windows, in which a node does less than in the plan.

        It may have begun in a window, or ended in one.
        """
        start, end, found = self.warm, self.end or Moment.now(self.log), []
        for window in windows:
            if window.end.monotonic <= start.monotonic or end.monotonic <= window.start.monotonic:
                continue
            if start.monotonic < window.start.monotonic:
                found.append(Period(start, window.start))
            start = window.end
        return [*found, Period(start, end)] if start.monotonic < end.monotonic else found

    def samples_in(self, period: Period) -> list[Sample]:
        """Return its samples of a stretch."""
        return [each for each in self.samples if period.start.monotonic <= each.at <= period.end.monotonic]


def logged_in(period: Period, kind: str, log: Path) -> LoggedSpan:
    """Return what was logged in a stretch."""
    start, end = period.start, period.end
    places = start.log_bytes.get(log, 0), end.log_bytes.get(log, 0)
    return LoggedSpan(kind, log, *places, end.monotonic - start.monotonic)
