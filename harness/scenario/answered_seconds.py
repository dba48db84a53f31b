"""What a client was answered, second by second: how much, how soon, and what failed."""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import median

from harness.model.events import ClientSeconds

_DIGITS = 1  # of milliseconds


class AnsweredSeconds:
    """Takes every answer, from any thread; seconds are counted from `begin` on."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._answers: Counter[int] = Counter()
        self._failures: Counter[int] = Counter()
        self._latencies: defaultdict[int, list[float]] = defaultdict(list)
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Count seconds from now on."""
        self._began = time.monotonic()

    def answered(self, latencies_seconds: Sequence[float | None]) -> None:
        """Note answers that came at one moment, and how long each took where that is known."""
        second = self._second()
        with self._lock:
            self._answers[second] += len(latencies_seconds)
            self._latencies[second] += [each for each in latencies_seconds if each is not None]

    def failed(self) -> None:
        """Note a request that failed for good."""
        with self._lock:
            self._failures[self._second()] += 1

    def event(self, client: str) -> ClientSeconds:
        """Return everything until now as an event of the journal."""
        with self._lock:
            seconds = range(self._second() + 1)
            took = [[1000 * each for each in self._latencies.get(second, ())] for second in seconds]
            return ClientSeconds(
                client,
                round(time.monotonic() - self._began, 3),
                tuple(self._answers[second] for second in seconds),
                tuple(self._failures[second] for second in seconds),
                tuple(round(median(each), _DIGITS) if each else 0.0 for each in took),
                tuple(round(max(each), _DIGITS) if each else 0.0 for each in took),
            )

    def _second(self) -> int:
        return int(time.monotonic() - self._began)
