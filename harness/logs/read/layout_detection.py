"""Which layout a log has, found out by its first lines; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from harness.logs.read.carriers import JSON, SEPARATOR, carried_by
from harness.logs.read.event_counts import MAX_EVENT
from harness.logs.read.layout import COMMON, KAFKA_DEFAULT, Layout, compile_layout

# What most layouts begin with, whatever their order: a time of day and a level, or the level's key of a JSON object.
_TIME = r"\d\d:\d\d:\d\d"
_LEVEL = r'(?:\b(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|SEVERE|CRITICAL)\b|"(?:log\.)?(?:level|severity)")'
_BEGINNING = 160  # characters
_LONG = MAX_EVENT // 2  # bytes of a line whose end a sample may lack
_THREAD = "[%t] %m"
_MESSAGE = "%m"


def layouts_of(samples: Mapping[str, Sequence[str]], patterns: Sequence[str] = COMMON) -> dict[str, Layout]:
    """Return the layout of each log by its first lines; those that fit none are left out.

    What stands in brackets before the message is a thread only if no log has lines without it. All logs are asked
    together, because a log whose first lines all have one of Kafka's log contexts looks as if it named threads: its
    events must not be read otherwise than those of the log beside it.
    """
    found = {name: layout for name, lines in samples.items() if (layout := detect(lines, patterns))}
    seen = {layout.pattern for layout in found.values()}
    return {
        name: compile_layout(plain) if (plain := layout.pattern.replace(_THREAD, _MESSAGE)) in seen else layout
        for name, layout in found.items()
    }


def detect(lines: Sequence[str], patterns: Sequence[str] = COMMON) -> Layout | None:
    """Return the layout among `patterns`, plain or behind carriers, that whole lines fit best; None if none fits any.

    `lines` are the first lines of a log. The more lines fit the better; among equals the plainer one, then the one with
    more fields, then the one that comes first.
    """
    sample = pl.Series(lines, dtype=pl.String)
    best: Layout | None = None
    most = 0
    for some in _tries(sample, patterns):
        found, fits = _best(sample, some)
        if fits > most:
            best, most = found, fits
        if most == len(sample):
            break
    return best


def _tries(sample: pl.Series, patterns: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the patterns to be tried: as they are, behind carriers that some lines came by, behind anything."""
    yield patterns
    carried = carried_by(sample)
    yield [
        f"{carrier}{SEPARATOR}{each}"
        for carrier in carried
        for each in patterns
        if carrier != JSON or each == KAFKA_DEFAULT
    ]
    yield [f"%x {each}" for each in patterns]


def _best(sample: pl.Series, patterns: Sequence[str]) -> tuple[Layout | None, int]:
    """Return the best of some layouts, and how many lines fit it."""
    layouts = [compile_layout(pattern) for pattern in patterns]
    ranked = [(fitting(layout, sample), len(layout.fields), -place) for place, layout in enumerate(layouts)]
    fits, _, place = max(ranked, default=(0, 0, 0))
    return (layouts[-place] if fits else None), fits


def fitting(layout: Layout, lines: pl.Series) -> int:
    """Return how many of `lines` are events of the layout, with all its fields, from header to the end of a message.

    The end of a line that is too long was not looked at: its header will do.
    """
    lines = layout.unwrapped(lines)
    groups = pl.select(pl.lit(lines).str.extract_groups(layout.event).alias("found")).unnest("found")
    names = [name for name in layout.fields if name not in ("rest", "cut")]
    first, whole = (pl.all_horizontal(pl.col(each).is_not_null()) for each in (names[: names.index("message")], names))
    is_cut, is_long = pl.col("cut").is_not_null(), pl.lit(lines.str.len_bytes() >= _LONG)
    return int(groups.select(((whole & ~is_cut) | (first & is_cut & is_long)).sum()).item())


def dated(lines: Sequence[str], most: int) -> list[str]:
    """Return the first lines that may begin an event in some layout: a log may begin with pages of anything."""
    sample = pl.Series(lines, dtype=pl.String)
    return sample.filter(sample.str.contains(_TIME) | sample.str.starts_with("{")).head(most).to_list()


def foreign(lines: pl.Series) -> int:
    """Return how many lines that begin no event look as if they did in another layout."""
    beginnings = lines.str.slice(0, _BEGINNING)
    return int((beginnings.str.contains(_TIME) & beginnings.str.contains(_LEVEL)).sum())
