"""How long a client got no answer: the gaps between its acknowledgements, partition by partition."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

_WORTH_KEEPING_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Pause:
    """A stretch without any answer for one thing that is asked all the time; monotonic times."""

    start: float
    end: float

    @property
    def seconds(self) -> float:
        """How long it lasted."""
        return self.end - self.start


class Pauses:
    """Takes every answer, from any thread; each key (a partition) is asked all the time from `begin` on."""

    def __init__(self, keys: Iterable[Hashable] = (0,)) -> None:
        self._keys = tuple(keys)
        self._last: dict[Hashable, float] = {}
        self._kept: list[Pause] = []
        self._longest = 0.0
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Expect answers from now on; what was before counts no more."""
        now = time.monotonic()
        with self._lock:
            self._last = dict.fromkeys(self._keys, now)
            self._kept, self._longest = [], 0.0

    def answered(self, key: Hashable = 0) -> None:
        """Note an answer: it ends the pause of this key."""
        now = time.monotonic()
        with self._lock:
            self._end(key, now)
            self._last[key] = now

    def close(self) -> None:
        """Expect no more answers; pauses that were open end now."""
        now = time.monotonic()
        with self._lock:
            for key in self._last:
                self._end(key, now)
            self._last = {}

    def _end(self, key: Hashable, now: float) -> None:
        pause = Pause(self._last.get(key, now), now)
        self._longest = max(self._longest, pause.seconds)
        if pause.seconds >= _WORTH_KEEPING_SECONDS:
            self._kept.append(pause)

    @property
    def longest(self) -> float:
        """The longest pause that has ended, in seconds."""
        return self._longest

    def all_answered_since(self, moment: float) -> bool:
        """Whether every key was answered after a monotonic moment."""
        with self._lock:
            return bool(self._last) and all(at > moment for at in self._last.values())

    def longest_after(self, moment: float) -> float:
        """Return the seconds of the longest pause that lasted at or after a moment, open ones too; short ones are 0."""
        now = time.monotonic()
        with self._lock:
            pauses = [*self._kept, *(Pause(at, now) for at in self._last.values())]
        longest = max((pause.seconds for pause in pauses if pause.end > moment), default=0.0)
        return longest if longest >= _WORTH_KEEPING_SECONDS else 0.0
