"""Ending runs early: Ctrl-C must reach clusters that run in other threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class RunCancelled(Exception):  # noqa: N818 - the user's wish, not a fault
    """The run was cancelled; it has no result."""


class Cancellation:
    """Cancels runs; each registers how to end it at once."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._enders: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    @property
    def is_set(self) -> bool:
        """Whether runs should end."""
        return self._event.is_set()

    @contextmanager
    def ending(self, end: Callable[[], None]) -> Iterator[None]:
        """While the block lasts, `end` is what ends the run; called at once when it is already too late."""
        with self._lock:
            self._enders.append(end)
        try:
            if self.is_set:
                end()
            yield
        finally:
            with self._lock:
                self._enders.remove(end)

    def cancel(self) -> None:
        """End every run, now and to come; one that cannot be ended does not keep the others from it."""
        self._event.set()
        with self._lock:
            enders = list(self._enders)
        errors = [error for end in enders if (error := _failure_of(end)) is not None]
        if errors:
            raise errors[0]


def _failure_of(end: Callable[[], None]) -> Exception | None:
    try:
        end()
    except Exception as error:
        return error
    return None
