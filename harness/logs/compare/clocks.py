"""Clocks that were set back, by the counts of a log: who compares times should know; pure."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

JUMP = 5.0  # seconds; threads that log side by side are out of order by less


def set_back(counts: pl.DataFrame) -> tuple[int, float] | None:
    """Return before which line of a file its clock had been set back, and by how many seconds, where most.

    Of what was logged once the time is known line by line; a clock that was set back between two such lines shows.
    """
    once = counts.filter((pl.col("count") == 1) & (pl.col("part") == "event")).drop_nulls("first_at").sort("line")
    behind = once.select("line", back=(pl.col("first_at").cum_max() - pl.col("first_at")) / 1000)
    worst = behind.filter(pl.col("back") == pl.col("back").max()).head(1)
    return next(((line, back) for line, back in worst.iter_rows() if back > JUMP), None)


def set_back_sentences(files: Iterable[tuple[str, pl.DataFrame]]) -> list[str]:
    """Return a sentence for each file whose clock was set back."""
    found = ((name, set_back(counts)) for name, counts in files)
    return [
        f"{name}: its clock is set back by {back[1]:.0f} s before line {back[0]}; its times mean little."
        for name, back in found
        if back
    ]
