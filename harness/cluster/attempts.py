"""Asking a cluster until what is asked for is so."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Protocol


class _Closable(Protocol):
    @property
    def is_closed(self) -> bool: ...


def attempts(cluster: _Closable, seconds: float, apart: float) -> Iterator[None]:
    """Yield again and again, `apart` seconds after each attempt, for so many seconds or until the cluster is closed."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not cluster.is_closed:
        yield
        time.sleep(apart)
