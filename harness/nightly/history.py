"""The nights before this one: a file of JSON lines, one night a line, oldest first."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.base.files import write_text
from harness.base.json import plain, written
from harness.base.recordfile import read_record
from harness.nightly.cell_history import NightCell, NightFinding
from harness.nightly.night import VerificationStatus

SCHEMA = 2
KEPT_NIGHTS = 90


@dataclass(frozen=True, slots=True)
class PastVerification:
    """How a verification of a past night ended; `seconds` is wall time."""

    id: str
    outcome: VerificationStatus
    seconds: float


@dataclass(frozen=True, slots=True)
class PastNight:
    """One night: its label, when it began (ISO 8601 UTC) and what it showed."""

    schema: int
    label: str
    started_at: str
    verified: tuple[PastVerification, ...]
    cells: tuple[NightCell, ...]
    findings: tuple[NightFinding, ...]


def read_history(path: Path) -> tuple[PastNight, ...]:
    """Return the nights of a history, oldest first; none when there is no file. Raises HarnessError."""
    if not path.is_file():
        return ()
    text = path.read_text(encoding="utf-8", errors="replace")
    lines = text.removesuffix("\n").split("\n") if text else []  # an odd line end in a text ends no night
    remedy = "Move the file away to begin a new history."
    return tuple(
        read_record(PastNight, line, f"{path}, line {number}", path, SCHEMA, remedy)
        for number, line in enumerate(lines, 1)
    )


def with_night(history: Sequence[PastNight], night: PastNight, kept: int = KEPT_NIGHTS) -> tuple[PastNight, ...]:
    """Return the history with a night in its place, the oldest beyond `kept` pruned. Pure.

    The same night, concluded again, replaces what was there.
    """
    others = [each for each in history if each.label != night.label]
    return tuple(sorted((*others, night), key=lambda each: (each.started_at, each.label))[-kept:])


def before(history: Sequence[PastNight], label: str, started_at: str) -> tuple[PastNight, ...]:
    """Return the nights that began before this one. Pure."""
    return tuple(each for each in history if each.label != label and each.started_at <= started_at)


def add_to_history(path: Path, night: PastNight) -> None:
    """Write a night into the history, by atomic rename; two that end together both get in."""
    with _alone(path):
        nights = with_night(read_history(path), night)
        write_text(path, "".join(written(plain(each)) + "\n" for each in nights))


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f".{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
