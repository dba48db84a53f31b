"""What does not come back, as an action of somebody's own may: interrupted once it alone has used a plan's budget."""

from __future__ import annotations

import signal
import sysconfig
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

# A timer of no time at all would be none.
_LEAST_SECONDS = 0.001
_LIBRARY = sysconfig.get_path("stdlib")


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
            raise Overlong(_place_of(frame))

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, _LEAST_SECONDS))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _place_of(frame: FrameType | None) -> str:
    """Return the innermost line outside of Python's own library."""
    lines = [each for each in traceback.extract_stack(frame) if not each.filename.startswith(_LIBRARY)]
    return f"{lines[-1].filename}, line {lines[-1].lineno}" if lines else "at an unknown place"
