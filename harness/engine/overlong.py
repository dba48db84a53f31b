"""What does not come back, as an action of somebody's own may: interrupted once it alone has used a plan's budget."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from harness.base.code_lines import line_at

# A timer of no time at all would be none.
_LEAST_SECONDS = 0.001
_AGAIN_SECONDS = 5.0


class Overlong(BaseException):
    """A step did not come back; the text says in which line it was. No Exception: a loop may catch those for ever."""


@contextmanager
def interrupted_after(seconds: float, factor: Callable[[], float]) -> Iterator[None]:
    """Raise Overlong within the block once it has taken `seconds` times `factor()`, which is at least 1.

    A signal does it, which only a main thread gets: a run has a process of its own, and is its main thread. Elsewhere
    nothing is interrupted.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    began = time.monotonic()

    def look(_: int, frame: FrameType | None) -> None:
        if (left := began + seconds * factor() - time.monotonic()) > 0:
            signal.setitimer(signal.ITIMER_REAL, left)
        else:
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_SECONDS)  # what cleans up after it may wait for it as well
            raise Overlong(line_at(frame))

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, _LEAST_SECONDS))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
