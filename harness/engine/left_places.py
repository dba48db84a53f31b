"""What goes on in the places that runs leave when no cell waits for them any more, and on beside what comes after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Semaphore

from harness.engine.cancel import Cancellation
from harness.engine.schedule import Errand, finish


class LeftPlaces:
    """So many places at most, each from when runs leave it."""

    def __init__(self, pool: ThreadPoolExecutor, places: int) -> None:
        self._pool, self._places = pool, places
        self._left = Semaphore(0)
        self._cancellation = Cancellation()
        self._begun: list[Future[None]] = []

    def take(self, errands: Sequence[Errand]) -> Sequence[Errand]:
        """Have errands done in places that are left; return what says of each place that it is."""
        self._begun += [self._pool.submit(self._do, errand) for errand in errands]
        return [lambda _: self._left.release()] * self._places if errands else []

    def finish(self) -> None:
        """Wait until all is done; raise what one of them raised."""
        finish(self._begun, self._cancellation)

    def end(self) -> None:
        """End what goes on, and let nothing begin."""
        self._cancellation.cancel()
        for _ in self._begun:
            self._left.release()

    def _do(self, errand: Errand) -> None:
        with self._left:
            if not self._cancellation.is_set:
                errand(self._cancellation)


@contextmanager
def left_places(places: int) -> Iterator[LeftPlaces]:
    """Give places; however the block is left, nothing goes on in them after it."""
    with ThreadPoolExecutor(places, thread_name_prefix="left place") as pool:
        left = LeftPlaces(pool, places)
        try:
            yield left
        finally:
            left.end()
