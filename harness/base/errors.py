"""The one exception that a user meets: what went wrong, where, why, and what to do now."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from harness.base.text import visible


class HarnessError(Exception):
    """A usage or harness error, in one or two sentences; the command line prints it and exits 2.

    The message says what, where and why; `hint` says what to do now. Both may quote what others wrote (a jar's
    entry names, a compiler's output), so that control characters and the like are shown as escapes. `kept` is a file
    that the hint points at: it alone is left of a run directory that nobody can go on with.
    """

    def __init__(self, message: str, hint: str = "", *, kept: Path | None = None) -> None:
        self.message = visible(message)
        self.hint = visible(hint)
        self.kept = kept
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class NotOnThisHostError(HarnessError):
    """This host has no such thing at all: a builder, an engine. Where none was named, another is tried silently."""


def reason_of(error: Exception) -> str:
    """Return why something could not be read, without the number and the path that an OSError puts beside it."""
    return str(getattr(error, "strerror", None) or error)


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """Return the sentence for a name that nobody knows, with the nearest names first."""
    everything = sorted(known)
    near = difflib.get_close_matches(name, everything, n=3)
    meant = f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(everything)}."
    return f"No {kind} is named {name!r}. {meant}"
