"""A cell's last nights as a line of signs, oldest first, tonight last; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness.model.sparklines import Sparkline, Sparklines
from harness.model.verdict import Standing
from harness.nightly.trend import CellTrend

_NIGHTS = 14
_SIGNS: Mapping[Standing | None, str] = {
    Standing.AS_CLAIMED: "✓",
    Standing.NOT_AS_CLAIMED: "✕",
    Standing.UNDECIDED: "?",
    Standing.UNSUPPORTED: "–",
    None: "·",
}
LEGEND = "✓ as claimed, ✕ not as claimed, ? undecided, – unsupported, · not part of that night"


def sparklines_of(verification: str, cells: Iterable[CellTrend], nights: tuple[str, ...]) -> Sparklines:
    """Return what the report of one verification shows of the nights before."""
    ours = [each for each in cells if each.cell.verification == verification]
    lines = (Sparkline(o.cell.scenario, o.cell.arm, signs_of(o), spoken(o), o.trend.value) for o in ours)
    return Sparklines(LEGEND, nights, tuple(lines))


def signs_of(each: CellTrend) -> str:
    """Return the signs, such as `✓✓✕?✕`."""
    return "".join(_SIGNS[standing] for standing in _recent(each))


def spoken(each: CellTrend) -> str:
    """Return the signs in words, for screen readers."""
    return ", ".join(str(standing) if standing else "not there" for standing in _recent(each))


def _recent(each: CellTrend) -> tuple[Standing | None, ...]:
    return (*each.past, each.cell.standing)[-_NIGHTS:]
