"""What became of a run's cells in earlier nights: history.json, which a night puts into each of its run directories."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sparkline:
    """A cell's last nights, oldest first and tonight last: `signs` such as `✓✓✕?✕`, `spoken` the same in words.

    `trend` says what is new about tonight (`new`, `recurring`, `fixed`, `flaky`, `undecided`), empty for nothing.
    """

    scenario: str
    arm: str
    signs: str
    spoken: str
    trend: str


@dataclass(frozen=True, slots=True)
class Sparklines:
    """The sparklines of a run's cells; `nights` are the labels of the nights before, oldest first."""

    legend: str
    nights: tuple[str, ...]
    cells: tuple[Sparkline, ...]
