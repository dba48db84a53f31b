"""Waiting for something to become true: at once when it does, and no longer than is allowed."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], bool], seconds: float, every: float = 0.05) -> bool:
    """Poll until the condition holds; return at once when it does, False when the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(every)
    return True
