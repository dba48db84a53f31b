"""A cell's or a finding's last nights as a strip of signs, oldest first, tonight last; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness.model.sparklines import Sparkline, Sparklines
from harness.nightly.marks import MarkedCell
from harness.nightly.showings import Standing

_NIGHTS = 14
_SIGNS: Mapping[Standing | None, str] = {
    Standing.AS_CLAIMED: "✓",
    Standing.NOT_AS_CLAIMED: "✕",
    Standing.UNDECIDED: "?",
    Standing.NOT_ASKED: "–",
    None: "·",
}
LEGEND = "✓ as claimed, ✕ not as claimed, ? undecided, – not asked, · not part of that night"


def history_of(verification: str, cells: Iterable[MarkedCell], nights: tuple[str, ...]) -> Sparklines:
    """Return what the report of one verification tells of the nights before."""
    ours = [marked for marked in cells if marked.cell.verification == verification]
    cells_told = (Sparkline(m.cell.scenario, m.cell.arm, strip_of(m), spoken(m), m.mark.value) for m in ours)
    return Sparklines(LEGEND, nights, tuple(cells_told))


def strip_of(marked: MarkedCell) -> str:
    """Return the strip, such as `✓✓✕?✕`."""
    return "".join(_SIGNS[standing] for standing in _recent(marked))


def spoken(marked: MarkedCell) -> str:
    """Return the strip in words, for those who hear it."""
    return ", ".join(str(standing) if standing else "not there" for standing in _recent(marked))


def _recent(marked: MarkedCell) -> tuple[Standing | None, ...]:
    return (*marked.past, marked.cell.standing)[-_NIGHTS:]
