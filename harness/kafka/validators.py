"""Ranges of numbers as Kafka prints them (ConfigDef.Range); pure."""

from __future__ import annotations

import re

_RANGE = re.compile(r"\[(?P<low>-?[\d.E+-]*?)?,?\.\.\.,?(?P<high>-?[\d.E+-]*)\]")
_FAR = float("inf")


def range_of(validator: str) -> tuple[float, float] | None:
    """Return the range of `[0,...]`, `[1,...,10]` or `[...,5]`; None for what is no range."""
    found = _RANGE.fullmatch(validator)
    if not found:
        return None
    try:
        return float(found["low"] or -_FAR), float(found["high"] or _FAR)
    except ValueError:
        return None
