"""What is new tonight: each cell and finding against the nights before it; pure.

An undecided night is passed over: INCONCLUSIVE, BROKEN and MISSING neither fix nor break anything. What an earlier
night decided and this host cannot run is no answer either, and no night as before.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from harness.model.verdict import Standing
from harness.nightly.cell_history import NightCell, NightFinding, compared
from harness.nightly.history import PastNight

_WINDOW = 10  # nights that are looked at for flakiness
_FLAKY_CHANGES = 2


class Trend(StrEnum):
    """How something compares with the nights before."""

    NEW = "new"
    RECURRING = "recurring"
    FIXED = "fixed"
    FLAKY = "flaky"
    UNDECIDED = "undecided"
    NOT_RUN = "not run any more"
    SAME = ""  # as claimed, as it was


@dataclass(frozen=True, slots=True)
class CellTrend:
    """A cell of tonight; `past` are its standings in the nights before, oldest first, None where it was not there."""

    cell: NightCell
    trend: Trend
    past: tuple[Standing | None, ...]


@dataclass(frozen=True, slots=True)
class FindingTrend:
    """A finding of tonight, or (fixed) of an earlier night; `past` is where it was, None where nobody looked."""

    found: NightFinding
    trend: Trend
    past: tuple[bool | None, ...]


def cell_trends(tonight: Sequence[NightCell], history: Sequence[PastNight]) -> tuple[CellTrend, ...]:
    """Return the trend of every cell of tonight, in its order."""
    nights = [_by_key(night.cells) for night in history]
    return tuple(_cell_trend(cell, [night.get(cell.key) for night in nights]) for cell in tonight)


def finding_trends(
    tonight: Sequence[NightFinding], cells: Sequence[NightCell], history: Sequence[PastNight]
) -> tuple[FindingTrend, ...]:
    """Return the trends of tonight's findings, then of earlier ones that tonight looked for and did not find."""
    today, tonights = {each.id for each in tonight}, _by_key(cells)
    nights = [(_by_key(night.cells), {each.id: each for each in night.findings}) for night in history]
    earlier = {each.id: each for _, found in nights[-_WINDOW:] for each in found.values()}
    gone = [each for name, each in sorted(earlier.items()) if name not in today and compared(tonights, each)]
    trends = []
    for found in (*tonight, *gone):
        past = tuple(found.id in seen if compared(there, found) or found.id in seen else None for there, seen in nights)
        looked = [(_jars(there, found), was) for (there, _), was in zip(nights, past, strict=True) if was is not None]
        tonights_own = (_jars(tonights, found), found.id in today)
        trends.append(FindingTrend(found, _finding_trend([*looked, tonights_own]), past))
    return tuple(each for each in trends if each.trend is not Trend.SAME)


def _jars(cells: Mapping[tuple[str, str, str], NightCell], found: NightFinding) -> str:
    """Return what stands for the jars that the verification of a finding compared in a night."""
    return next((cell.jars for cell in cells.values() if cell.verification == found.verification), "")


def _by_key(cells: Sequence[NightCell]) -> Mapping[tuple[str, str, str], NightCell]:
    return {cell.key: cell for cell in cells}


def _cell_trend(cell: NightCell, past: Sequence[NightCell | None]) -> CellTrend:
    decided = [each for each in past[-_WINDOW:] if each is not None and each.decided]
    return CellTrend(cell, _trend_of(cell, decided), tuple(each.standing if each else None for each in past))


def _trend_of(cell: NightCell, decided: Sequence[NightCell]) -> Trend:
    """Return a cell's trend; `decided` are the nights that said something of it."""
    failed = decided[-1].outcome if decided and decided[-1].standing is Standing.NOT_AS_CLAIMED else ""
    match cell.standing:
        case Standing.UNSUPPORTED:
            return Trend.NOT_RUN if decided else Trend.SAME
        case Standing.UNDECIDED:
            return Trend.UNDECIDED
        case _ if cell.unstable or _is_flaky([(each.jars, each.standing) for each in (*decided, cell)]):
            return Trend.FLAKY
        case Standing.NOT_AS_CLAIMED:
            return Trend.RECURRING if failed == cell.outcome else Trend.NEW
        case Standing.AS_CLAIMED:
            return Trend.FIXED if failed else Trend.SAME


def _is_flaky(answers: Sequence[tuple[str, object]]) -> bool:
    """Whether the same jars gave one answer, another and the first again: one change may be somebody's doing.

    `answers` are of the nights, oldest first, each with what stands for its jars.
    """
    pairs = itertools.pairwise(answers[-_WINDOW:])
    changes = sum(old[0] == new[0] and old[1] != new[1] for old, new in pairs)
    return changes >= _FLAKY_CHANGES


def _finding_trend(looked: Sequence[tuple[str, bool]]) -> Trend:
    """Return a finding's trend by the nights that looked for it, tonight last, each with what stands for its jars."""
    if _is_flaky(looked):
        return Trend.FLAKY
    was, today = (looked[-2][1] if len(looked) > 1 else False), looked[-1][1]
    if today:
        return Trend.RECURRING if was else Trend.NEW
    return Trend.FIXED if was else Trend.SAME
