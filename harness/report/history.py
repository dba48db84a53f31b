"""What became of a run's cells in earlier nights: history.json, which a night puts into each of its run directories."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.base.json import from_json

FILE = "history.json"


@dataclass(frozen=True, slots=True)
class Strip:
    """A cell's last nights, oldest first and tonight last: `signs` such as `✓✓✕?✕`, `spoken` the same in words.

    `mark` says what is new about tonight (`new`, `recurring`, `fixed`, `flaky`, `undecided`), empty for nothing.
    """

    scenario: str
    arm: str
    signs: str
    spoken: str
    mark: str


@dataclass(frozen=True, slots=True)
class History:
    """The strips of a run's cells; `nights` are the labels of the nights before, oldest first."""

    legend: str
    nights: tuple[str, ...]
    strips: tuple[Strip, ...]


def read_history(run_dir: Path) -> History | None:
    """Return the history beside a verdict; None for a run that is no part of a night."""
    path = run_dir / FILE
    return from_json(History, path.read_bytes()) if path.is_file() else None
