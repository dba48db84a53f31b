"""Whether a key's validator refuses what it accepted, by the words that Kafka prints for validators; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.kafka.validators import range_of

_VALUES = re.compile(
    r"(?P<any_case>\(case insensitive\) )?\[(?P<values>[^\[\]]*)\](?P<but>(?: \((?:empty|null)[^()]*\))*)"
)
_NO_EMPTY = "(empty not allowed)"


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What the other validator does to values that were accepted; `refuses` when some of them are known to fail."""

    refuses: bool
    sentence: str


def narrowing(before: str, after: str) -> Narrowing | None:
    """Return what a change of validators means, None where it only accepts more."""
    if not after:
        return None
    ranges = range_of(before), range_of(after)
    if ranges[0] and ranges[1]:
        return _of_ranges(ranges[0], ranges[1])
    old, new = _values(before) if before else _ANYTHING, _values(after)
    if old and new:
        return _of_values(old, new)
    if not before:
        return Narrowing(False, f"Its values are checked now: what is not {after} is refused.")
    return Narrowing(False, "Its values are checked otherwise: one that was accepted may be refused.")


def _of_ranges(before: tuple[float, float], after: tuple[float, float]) -> Narrowing | None:
    if after[0] <= before[0] and before[1] <= after[1]:
        return None
    return Narrowing(True, "Values that were accepted are refused now: its range is narrower.")


@dataclass(frozen=True, slots=True)
class _Values:
    """What ConfigDef.ValidString and ValidList accept: these values, any where there are none; of lists perhaps no
    empty one (KIP-1161)."""

    values: frozenset[str]
    any_case: bool
    no_empty: bool

    def accepts(self, value: str) -> bool:
        accepted = {each.lower() for each in self.values} if self.any_case else self.values
        return not self.values or (value.lower() if self.any_case else value) in accepted


_ANYTHING = _Values(frozenset(), any_case=False, no_empty=False)


def _of_values(before: _Values, after: _Values) -> Narrowing | None:
    accepted = ", ".join(sorted(after.values))
    if after.values and not before.values:
        return Narrowing(False, f"Its values are checked now: what is none of {accepted} is refused.")
    if gone := sorted(value for value in before.values if not after.accepts(value)):
        return Narrowing(True, f"No longer accepted: {', '.join(gone)}.")
    if after.values and before.any_case and not after.any_case:
        return Narrowing(True, f"In other capitals than these its values are refused now: {accepted}.")
    return Narrowing(False, "An empty list is refused now.") if after.no_empty and not before.no_empty else None


def _values(validator: str) -> _Values | None:
    """Return what `[a, b]`, `(case insensitive) [A, B]` or `[a, b] (empty not allowed)` accepts."""
    found = None if range_of(validator) else _VALUES.fullmatch(validator)
    if not found:
        return None
    values = frozenset(value.strip() for value in found["values"].split(",") if value.strip())
    return _Values(values, any_case=bool(found["any_case"]), no_empty=_NO_EMPTY in found["but"])
