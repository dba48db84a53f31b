"""How long a log from anywhere is: the time in which it has events, so that one odd date or a pause does not count.

A run's phases have bounds that its journal knows; a log that is known to no run has only its events. Of each minute the
first and the last are kept, which is enough: within a minute no pause is long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from harness.logs.read.event_counts import WHOLE_LOG, Reading

MINUTES = pl.Schema({"minute": pl.Int64, "first_at": pl.Int64, "last_at": pl.Int64})
MINUTE = 60_000  # milliseconds
PAUSE = 15 * MINUTE  # up to which a pause is a part of the log, whatever else there is
_RHYTHM, _ALIKE = 5, 2  # so many pauses, the longest so many times as long as the shortest


@dataclass(frozen=True, slots=True)
class ActiveTime:
    """How long a log is in milliseconds, and how long it paused beside that."""

    length: int = 0
    idle: int = 0


def minutes(events: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Return the first and the last time of events (`at`, milliseconds) in each minute, of logs known to no run."""
    if reading.phases != (WHOLE_LOG,):
        return MINUTES.to_frame()
    return earliest_and_latest(events.select(minute=pl.col("at") // MINUTE, first_at="at", last_at="at").drop_nulls())


def earliest_and_latest(found: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each minute, in order."""
    of_minute = found.group_by("minute").agg(pl.col("first_at").min(), pl.col("last_at").max())
    return of_minute.sort("minute").select(MINUTES.names())


def active_time(found: pl.DataFrame) -> ActiveTime:
    """Return how long a log is by its minutes.

    A longer pause is a part of the log if it is no longer than all that is shorter and what lies between, or if it is
    one of several alike: a log with a line each half hour is quiet, and an odd date or two are no rhythm.
    """
    ordered = earliest_and_latest(found)
    pauses = (ordered["first_at"].shift(-1) - ordered["last_at"]).drop_nulls().sort().to_list()
    return _with_pauses(int((ordered["last_at"] - ordered["first_at"]).sum()), pauses)


def _with_pauses(length: int, pauses: Sequence[int]) -> ActiveTime:
    steady = 0.0
    for number, pause in enumerate(pauses):
        if pause > max(length, PAUSE, steady):
            if sum(other <= _ALIKE * pause for other in pauses[number:]) < _RHYTHM:
                return ActiveTime(length, sum(pauses[number:]))
            steady = _ALIKE * pause
        length += pause
    return ActiveTime(length)
