"""The display of downloads as they arrive."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class Progress(Protocol):
    """Takes the progress of downloads; called from several threads."""

    def advance(self, name: str, done: int, total: int) -> None:
        """`done` of `total` bytes of the file `name` have arrived."""


Show = Callable[[], AbstractContextManager[Progress]]


class Unwatched:
    """A Progress that shows nothing."""

    def advance(self, name: str, done: int, total: int) -> None:
        """Do nothing."""


def unwatched() -> AbstractContextManager[Progress]:
    """Show nothing of downloads."""
    return nullcontext(Unwatched())
