"""What goes on in the places that runs leave when no cell waits for them any more, and on beside what comes after."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from harness.engine.cancel import Cancellation
from harness.engine.schedule import finish

# Something that takes a place; it is given how it is ended early.
Errand = Callable[[Cancellation], None]


class LeftPlaces:
    """Errands, found when the first place is left and done one after another in each."""

    def __init__(self, pool: ThreadPoolExecutor, places: int, find: Callable[[], Sequence[Errand]]) -> None:
        self._pool, self._places, self._find = pool, places, find
        self._lock = threading.Lock()
        self._waiting: deque[Errand] | None = None
        self._cancellation = Cancellation()
        self._work: list[Future[None]] = []

    def leave(self) -> None:
        """Have errands done in one place more."""
        self._work.append(self._pool.submit(self._do))

    def leave_all(self) -> None:
        """Have errands done in every place: no run takes one any more."""
        while len(self._work) < self._places:
            self.leave()

    def finish(self) -> None:
        """Wait until all is done that has a place; raise what one of them raised."""
        finish(self._work, self._cancellation)

    def end(self) -> None:
        """End what goes on, and let nothing begin."""
        self._cancellation.cancel()

    def _do(self) -> None:
        while not self._cancellation.is_set and (errand := self._next()):
            errand(self._cancellation)

    def _next(self) -> Errand | None:
        with self._lock:
            if self._waiting is None:
                self._waiting = deque(self._find())
            return self._waiting.popleft() if self._waiting else None


@contextmanager
def left_places(places: int, find: Callable[[], Sequence[Errand]]) -> Iterator[LeftPlaces]:
    """Give places, so many at most; however the block is left, nothing goes on in them after it."""
    with ThreadPoolExecutor(places, thread_name_prefix="left place") as pool:
        left = LeftPlaces(pool, places, find)
        try:
            yield left
        finally:
            left.end()
