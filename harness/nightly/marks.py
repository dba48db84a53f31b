"""What is new tonight: each cell and finding against the nights before it; pure.

A night that could not ask says nothing: INCONCLUSIVE, BROKEN and MISSING neither mend anything nor break it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from harness.nightly.history import PastNight
from harness.nightly.showings import Found, Shown, Standing, compared

_WINDOW = 10  # nights that are looked at for flakiness
_FLAKY_CHANGES = 2


class Mark(StrEnum):
    """How something compares with the nights before."""

    NEW = "new"
    RECURRING = "recurring"
    FIXED = "fixed"
    FLAKY = "flaky"
    UNDECIDED = "undecided"
    SAME = ""  # as claimed, as it was


@dataclass(frozen=True, slots=True)
class MarkedCell:
    """A cell of tonight; `past` are its standings in the nights before, oldest first, None where it was not there."""

    cell: Shown
    mark: Mark
    past: tuple[Standing | None, ...]


@dataclass(frozen=True, slots=True)
class MarkedFinding:
    """A finding of tonight, or (fixed) of an earlier night; `past` tells where it was, None where nobody looked."""

    found: Found
    mark: Mark
    past: tuple[bool | None, ...]


def mark_cells(tonight: Sequence[Shown], history: Sequence[PastNight]) -> tuple[MarkedCell, ...]:
    """Mark every cell of tonight, in its order."""
    nights = [_by_key(night.cells) for night in history]
    return tuple(_marked_cell(cell, [night.get(cell.key) for night in nights]) for cell in tonight)


def mark_findings(
    tonight: Sequence[Found], cells: Sequence[Shown], history: Sequence[PastNight]
) -> tuple[MarkedFinding, ...]:
    """Mark tonight's findings, then those of the last nights that tonight looked for and did not find."""
    today, asked = {each.id for each in tonight}, _by_key(cells)
    nights = [(_by_key(night.cells), {each.id: each for each in night.findings}) for night in history]
    earlier = {each.id: each for _, found in nights[-_WINDOW:] for each in found.values()}
    gone = [each for name, each in sorted(earlier.items()) if name not in today and compared(asked, each)]
    marked = []
    for found in (*tonight, *gone):
        past = tuple(found.id in seen if compared(there, found) or found.id in seen else None for there, seen in nights)
        marked.append(MarkedFinding(found, _mark_finding(found.id in today, past), past))
    return tuple(each for each in marked if each.mark is not Mark.SAME)


def _by_key(cells: Sequence[Shown]) -> Mapping[tuple[str, str, str], Shown]:
    return {cell.key: cell for cell in cells}


def _marked_cell(cell: Shown, past: Sequence[Shown | None]) -> MarkedCell:
    decided = [each for each in past if each is not None and each.decided]
    return MarkedCell(cell, _mark_cell(cell, decided), tuple(each.standing if each else None for each in past))


def _mark_cell(cell: Shown, decided: Sequence[Shown]) -> Mark:
    """Return a cell's mark; `decided` are the nights that said something of it."""
    failed = decided[-1].shown if decided and decided[-1].standing is Standing.NOT_AS_CLAIMED else ""
    match cell.standing:
        case Standing.NOT_ASKED:
            return Mark.SAME
        case Standing.UNDECIDED:
            return Mark.UNDECIDED
        case Standing.AS_CLAIMED | Standing.NOT_AS_CLAIMED if cell.unstable or _is_flaky([*decided, cell]):
            return Mark.FLAKY
        case Standing.NOT_AS_CLAIMED:
            return Mark.RECURRING if failed == cell.shown else Mark.NEW
        case Standing.AS_CLAIMED:
            return Mark.FIXED if failed else Mark.SAME


def _is_flaky(nights: Sequence[Shown]) -> bool:
    """Whether the same jars gave one answer, another and the first again: one change may be somebody's doing."""
    recent = nights[-_WINDOW:]
    pairs = itertools.pairwise(recent)
    changes = sum(old.jars == new.jars and old.standing is not new.standing for old, new in pairs)
    return changes >= _FLAKY_CHANGES


def _mark_finding(today: bool, past: Sequence[bool | None]) -> Mark:
    looked = [*(each for each in past if each is not None), today][-_WINDOW:]
    if sum(old != new for old, new in itertools.pairwise(looked)) >= _FLAKY_CHANGES:
        return Mark.FLAKY
    was = looked[-2] if len(looked) > 1 else False
    if today:
        return Mark.RECURRING if was else Mark.NEW
    return Mark.FIXED if was else Mark.SAME
