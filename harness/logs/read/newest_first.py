"""Logs that were exported newest first (`logcli`, `gcloud logging read`, `journalctl -r`): copies, oldest first.

An event's stack trace stands above it there, so that each would become a part of the event that was logged after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from harness.base.files import PARTIAL
from harness.logs.read.carriers import PRETTY
from harness.logs.read.layout import Layout
from harness.logs.read.unpacking import UNPACKING_ERRORS, opened

MOST = 1 << 30  # bytes of a log that is turned: it is held in memory
_LEAST, _SHARE = 5, 0.9  # steps back in time, and their share of all steps
_BACKWARDS = "is newest first"


@dataclass(frozen=True, slots=True)
class Turned:
    """The copies, by the log's name, and what is to be said of each log that is newest first."""

    copies: Mapping[str, str]
    notes: tuple[str, ...]


def is_newest_first(layout: Layout, lines: Iterable[str]) -> bool:
    """Whether nearly every event of a log's first lines was logged before the one above it."""
    if PRETTY in layout.carriers:
        return False  # an object of several lines is not turned line by line
    texts = layout.unwrapped(pl.Series(list(lines), dtype=pl.String)).drop_nulls()
    times = pl.select(layout.at(pl.lit(texts.filter(pl.select(layout.starts(pl.lit(texts))).to_series())))).to_series()
    steps = times.drop_nulls().diff().drop_nulls().dt.total_milliseconds()
    back, all_steps = int((steps < 0).sum()), int((steps != 0).sum())
    return back >= _LEAST and back >= _SHARE * all_steps


@contextmanager
def turned(logs: Iterable[str], copies: Mapping[str, str], folder: Path, most: int = MOST) -> Iterator[Turned]:
    """Copy logs that are newest first into `folder` for the time being, their lines the other way round.

    `copies` are the unpacked copies of packed ones; a log of more than `most` bytes stays as it is.
    """
    with TemporaryDirectory(dir=folder, prefix=PARTIAL) as name:
        made: dict[str, str] = {}
        notes = []
        for number, log in enumerate(logs):
            copy = Path(name, f"{number}.log")
            try:
                _turn(copies.get(log, log), copy, most)
            except UNPACKING_ERRORS as error:
                notes.append(f"{log} {_BACKWARDS} and was read so ({error}): stack traces are parts of other events.")
            else:
                made[log] = str(copy.resolve())
                notes.append(f"{log} {_BACKWARDS}: it was read from its end.")
        yield Turned(made, tuple(notes))


def _turn(place: str, copy: Path, most: int) -> None:
    with opened(place) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(f"it has more than {most} bytes")
    end = len(content.removesuffix(b"\n"))
    with copy.open("wb") as made:
        while end >= 0:
            start = content.rfind(b"\n", 0, end)
            made.write(content[start + 1 : end] + b"\n")
            end = start
