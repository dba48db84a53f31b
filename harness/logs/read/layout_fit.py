"""How well lines fit a layout, and which of them look like events of whatever layout; pure."""

from __future__ import annotations

import polars as pl

from harness.logs.read.event_counts import MAX_EVENT
from harness.logs.read.layout import Layout

# What most layouts begin with, whatever their order: a time of day and a level, or the level's key of a JSON object.
_TIME = r"\d\d:\d\d:\d\d"
_LEVEL = r'(?:\b(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|SEVERE|CRITICAL)\b|"(?:log\.)?(?:level|severity)")'
_WARNS = r"(?i)\b(?:WARN|WARNING|ERROR|FATAL|SEVERE|CRITICAL)\b"
# What goes on with an event, however like another's beginning it looks: an exception's own words name times and levels.
_GOES_ON = r"^(?:\s|Caused by: |Suppressed: |\.\.\. \d+ |(?:[\w$]+\.)+[\w$]*(?:Exception|Error|Throwable)\b)"
_BEGINNING = 160  # characters
_LINES = 500  # of an event: a broker's configuration has 300
_LONG = MAX_EVENT // 2  # bytes of a line whose end a sample may lack
# Of the JVM's garbage collector, beside every Kafka's logs: -Xlog with any decorations, and as Java 8 has it.
_COLLECTOR = r"^(?:\[[^\]]*\])*\[(?:[\w+]+,)*(?:gc|safepoint)\b[^\]]*\]|^\S+: [\d.,]+: \[(?:Full )?GC\b"
# The same among events, of a JVM that writes it to its standard output (Strimzi's do): no part of any event.
_COLLECTING = rf"{_COLLECTOR}|^\[[^\]]+\](?:\[[^\]]*\])* GC\(\d+\) "
COLLECTED = "they are the garbage collector's"
HOLE = "it begins with NUL bytes only, as a log does that was truncated while somebody wrote it"
TIMELESS = "no line of its beginning has a time of day"
_CLASS = r"^(?:(?:[\w$-]+\.)+[\w$-]+|[A-Z][\w$]*|root|-)$"


def fitting(layout: Layout, lines: pl.Series, *, of_classes: bool = False) -> int:
    """Return how many of `lines` are events of the layout, with all its fields, from header to the end of a message.

    `lines` are without what carried them. The end of a line that is too long was not looked at: its header will do.
    With `of_classes` a logger has to be named as classes are, and threads are not. What comes after a message comes
    after its last line: `KafkaConfig values:` and all that follows are one event.
    """
    return max(_fitting(layout, each, of_classes) for each in (lines, joined(lines)))


def joined(lines: pl.Series) -> pl.Series:
    """Return the lines with those that begin no event behind the one before them; of many the first."""
    begun = begins(lines)
    table = pl.DataFrame({"line": lines, "event": begun.cum_sum()})
    return table.group_by("event", maintain_order=True).agg(pl.col("line").head(_LINES).str.join("\n"))["line"]


def _fitting(layout: Layout, lines: pl.Series, of_classes: bool) -> int:
    groups = pl.select(pl.lit(lines).str.extract_groups(layout.event).alias("found")).unnest("found")
    names = [name for name in layout.fields if name not in ("rest", "cut")]
    first, whole = (pl.all_horizontal(pl.col(each).is_not_null()) for each in (names[: names.index("message")], names))
    is_cut, is_long = pl.col("cut").is_not_null(), pl.lit(lines.str.len_bytes() >= _LONG)
    fits = (whole & ~is_cut) | (first & is_cut & is_long)
    if of_classes and "logger" in names:
        fits &= pl.col("logger").str.contains(_CLASS).fill_null(value=True)
    return int(groups.select(fits.sum()).item())


def begins(lines: pl.Series) -> pl.Series:
    """Say of each line whether it looks as if an event began there in some layout."""
    beginnings = lines.str.slice(0, _BEGINNING)
    return (beginnings.str.contains(_TIME) & beginnings.str.contains(_LEVEL)).fill_null(value=False)


def warning(lines: pl.Series) -> int:
    """Return how many lines that begin an event in some layout name a level of WARN or worse."""
    return int(lines.str.slice(0, _BEGINNING).str.contains(_WARNS).sum())


def dated(lines: list[str], most: int) -> list[str]:
    """Return the first lines that may begin an event in some layout: a log may begin with pages of anything."""
    sample = pl.Series(lines, dtype=pl.String)
    return sample.filter(sample.str.contains(_TIME) | sample.str.contains(r"^(?:data: )?\{")).head(most).to_list()


def no_events(lines: list[str]) -> str:
    """Return what a log is that fits no layout, where its lines that may begin an event (`dated`) are no program's."""
    if not lines:
        return TIMELESS
    collected = pl.Series(lines, dtype=pl.String).str.contains(_COLLECTOR).sum()
    return COLLECTED if collected > len(lines) / 2 else ""


def without_collector(lines: pl.Series, starts: pl.Series) -> pl.Series:
    """Return lines, null where the garbage collector wrote one that begins no event."""
    places = (~starts).arg_true()
    theirs = places.filter(lines.gather(places).str.contains(_COLLECTING).fill_null(value=False))
    return lines.scatter(theirs, None) if len(theirs) else lines


def without_others(lines: pl.Series, starts: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return lines, null where another layout's event ends the one before, and those that look as if they began one.

    What follows such a line up to the next that `starts` an event is part of it.
    """
    odd = begins(lines) & ~starts & ~lines.str.contains(_GOES_ON).fill_null(value=False)
    if not odd.any():
        return lines, lines.clear()
    events = pl.DataFrame({"odd": odd.cast(pl.Int8), "event": starts.cum_sum()})
    theirs = events.select(pl.col("odd").cum_max().over("event") > 0).to_series().arg_true()
    begun = lines.filter(odd)  # before the next line, which changes them in place
    return lines.scatter(theirs, None), begun
