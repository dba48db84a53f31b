"""Which layout a log has, found out by its first lines; pure."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from harness.logs.read.carriers import SEPARATOR, carried_by
from harness.logs.read.layout import COMMON, Layout, compile_layout


def detect(lines: Sequence[str], patterns: Sequence[str] = COMMON) -> Layout | None:
    """Return the layout among `patterns` that whole lines fit best; None where no line fits any.

    `lines` are the first lines of a log. The more lines fit the better; among equals the one with more fields,
    then the one that comes first. Where none fits, the same patterns are tried behind carriers, known and unknown.
    """
    sample = pl.Series(lines, dtype=pl.String)
    carried = [f"{carrier}{SEPARATOR}{each}" for carrier in carried_by(sample) for each in patterns]
    behind_anything = [f"%x {each}" for each in patterns]
    tries = (_best(sample, each) for each in (patterns, carried, behind_anything) if each)
    return next((found for found in tries if found), None)


def _best(sample: pl.Series, patterns: Sequence[str]) -> Layout | None:
    layouts = [compile_layout(pattern) for pattern in patterns]
    ranked = [(fitting(layout, sample), len(layout.fields), -place) for place, layout in enumerate(layouts)]
    fits, _, place = max(ranked)
    return layouts[-place] if fits else None


def fitting(layout: Layout, lines: pl.Series) -> int:
    """Return how many of `lines` are events of the layout from their header to the end of their message."""
    lines = layout.unwrapped(lines)
    cut = pl.col("line").str.extract_groups(layout.event).struct.field("cut")
    matches = pl.col("line").str.contains(layout.event)
    return int(pl.DataFrame({"line": lines}).select((matches & cut.is_null()).sum()).item())
