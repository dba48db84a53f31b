"""Ending runs early: Ctrl-C must reach clusters that run in other threads."""

from __future__ import annotations

import threading
from collections.abc import Callable


class RunCancelled(Exception):  # noqa: N818 - the user's wish, not a fault
    """The run was told to end; it has no result."""


class Cancellation:
    """Tells runs to end; each registers how to end it at once."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._enders: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    @property
    def is_set(self) -> bool:
        """Whether runs should end."""
        return self._event.is_set()

    def on_cancel(self, end: Callable[[], None]) -> None:
        """Register how to end a run; called at once when it is already too late."""
        with self._lock:
            self._enders.append(end)
        if self.is_set:
            end()

    def cancel(self) -> None:
        """End every run, now and to come."""
        self._event.set()
        with self._lock:
            enders = list(self._enders)
        for end in enders:
            end()
