"""Whether a key's validator refuses what it accepted, by the words that Kafka prints for validators; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RANGE = re.compile(r"\[(?P<low>-?[\d.E+-]*?)?,?\.\.\.,?(?P<high>-?[\d.E+-]*)\]")
_SET = re.compile(r"\(?(?:case insensitive\) )?\[(?P<values>[^\[\]]*)\]")
_FAR = float("inf")


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What the other validator does to values that were accepted; `refuses` when some of them are known to fail."""

    refuses: bool
    sentence: str


def narrowing(before: str, after: str) -> Narrowing | None:
    """Return what a change of validators means, None where it only accepts more."""
    if not after:
        return None
    ranges = _range(before), _range(after)
    if ranges[0] and ranges[1]:
        return _of_ranges(ranges[0], ranges[1])
    sets = _set(before), _set(after)
    if sets[0] and sets[1]:
        return _of_sets(sets[0], sets[1])
    if not before:
        return Narrowing(False, f"Its values are checked now: what is not {after} is refused.")
    return Narrowing(False, "Its values are checked otherwise: one that was accepted may be refused.")


def _of_ranges(before: tuple[float, float], after: tuple[float, float]) -> Narrowing | None:
    if after[0] <= before[0] and before[1] <= after[1]:
        return None
    return Narrowing(True, "Values that were accepted are refused now: its range is narrower.")


def _of_sets(before: frozenset[str], after: frozenset[str]) -> Narrowing | None:
    gone = sorted(before - after)
    return Narrowing(True, f"No longer accepted: {', '.join(gone)}.") if gone else None


def _range(validator: str) -> tuple[float, float] | None:
    """Return the range of `[0,...]`, `[1,...,10]` or `[...,5]` (ConfigDef.Range)."""
    found = _RANGE.fullmatch(validator)
    if not found:
        return None
    try:
        return float(found["low"] or -_FAR), float(found["high"] or _FAR)
    except ValueError:
        return None


def _set(validator: str) -> frozenset[str]:
    """Return the values of `[a, b]` (ConfigDef.ValidString, ValidList)."""
    found = _SET.fullmatch(validator)
    return frozenset(value.strip() for value in found["values"].split(",") if value.strip()) if found else frozenset()
