"""Whole events to counts of templates: one vectorised pass, the same on a Spark worker and on the driver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
import pyarrow as pa

from harness.logs.read.layout import Layout
from harness.logs.read.masks import template
from harness.model.node_logs import PhaseSpan

MAX_EVENT = 65_536  # characters of an event that are looked at; the rest of a longer one is counted as bytes only
MAX_EXCERPT = 2_000  # characters of an event that are kept to be shown
OUTSIDE = ""  # the phase of an event before, between or after the phases of its run, or with an impossible date

# The phase of logs that are known to no run: all of it, whatever its date.
WHOLE_LOG = PhaseSpan("log", 0.0, 253_402_300_800.0)

# One row per template, level, logger and phase of a piece of a file. `line` (from 0, within the piece) and
# `excerpt` are of the first such event. `part` is `event`, or `item` for one key of a configuration dump, which
# is counted beside its event. Times are milliseconds since the epoch: whole numbers, so that sums and minima do
# not depend on how the rows were grouped.
COUNTS = pl.Schema(
    {
        "phase": pl.String,
        "level": pl.String,
        "logger": pl.String,
        "part": pl.String,
        "template": pl.String,
        "count": pl.Int64,
        "line": pl.Int64,
        "excerpt": pl.String,
        "first_at": pl.Int64,
        "last_at": pl.Int64,
    }
)
_CHUNK = 1 << 17  # bytes that stay in the processor's cache
_KEY = ["phase", "level", "logger", "part", "template"]
_DUMP = r"^[\w$.]+ values: ?\n"
_FRAME = r"\n(?:\t+at [^\n]*|[ \t]+at [^\s(]+\([^\n]*|[ \t]+\.\.\. \d+ (?:more|common frames omitted))"


@dataclass(frozen=True, slots=True)
class Reading:
    """How one file is read: the layout of its events, the phases they fall into, what known texts stand for."""

    layout: Layout
    phases: tuple[PhaseSpan, ...]
    names: Mapping[str, str] = field(default_factory=dict)

    def named(self, text: pl.Expr) -> pl.Expr:
        """Return texts with what known parts of them stand for in their place."""
        names = {known: name for known, name in self.names.items() if known}
        return text.str.replace_many(names) if names else text


def count(events: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Count the templates of `events` (columns `line` and `text`, one row per whole event) as COUNTS says.

    Only one event of those that differ in nothing but their digits is parsed and masked: real logs have a few
    hundred such texts, and no template depends on a digit.
    """
    events = timed(events, reading).with_columns(named=reading.named(pl.col("text")))
    alike = zeroed(events["named"])
    kinds = _kinds(events, alike, reading)
    # A logger is a name: those with digits in them are distinguished by the digits too.
    named = kinds["logger"].str.contains(r"\d")
    if named.any():
        exact = events.filter(alike.is_in(kinds["alike"].filter(named).implode()))
        again = _kinds(exact, exact["named"].cast(pl.Binary), reading)
        kinds = pl.concat([kinds.filter(~named), again]).sort("line")
    bodies = kinds.with_columns(body=_without_frames(pl.col("message") + pl.col("rest")))
    dumps = bodies.filter(pl.col("body").str.contains(_DUMP)).with_columns(as_logged=_as_logged(reading))
    return merge([_tally(_heads(bodies), "event"), _tally(_items(dumps), "item")])


def timed(events: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Return events with the time of each, `at`, in milliseconds since the epoch, if they lack it."""
    at = reading.layout.at(pl.col("text")).dt.timestamp("ms")
    return events if "at" in events.columns else events.with_columns(at=at)


def _without_frames(body: pl.Expr) -> pl.Expr:
    return body.str.replace_all(_FRAME, "")


def _as_logged(reading: Reading) -> pl.Expr:
    """Return the body of a text as it was logged, line for line that of the one with names."""
    parsed = reading.layout.parse(pl.col("text"))
    return _without_frames(parsed.struct.field("message") + parsed.struct.field("rest"))


def zeroed(texts: pl.Series) -> pl.Series:
    """Return the bytes of the texts with every ASCII digit replaced by 0, in one pass over all of them."""
    array = texts.to_arrow(compat_level=pl.CompatLevel.oldest())
    valid, offsets, data = array.buffers()
    read = np.frombuffer(data or b"", np.uint8)
    changed = np.empty_like(read)
    for start in range(0, read.size, _CHUNK):
        piece = read[start : start + _CHUNK]
        above = piece - np.uint8(ord("0"))  # wraps round, so that only digits are below ten
        above *= above < 10
        np.subtract(piece, above, out=changed[start : start + _CHUNK])
    buffers = [valid, offsets, pa.py_buffer(changed)]
    return pl.Series(pl.from_arrow(pa.Array.from_buffers(pa.large_binary(), len(array), buffers)))


def _kinds(events: pl.DataFrame, alike: pl.Series, reading: Reading) -> pl.DataFrame:
    """Return one row for the events of a phase that are `alike`: how many, from when to when, and the first's parts."""
    placed = events.with_columns(alike=alike, phase=_phase(events["at"], reading.phases))
    kinds = placed.group_by("alike", "phase", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("count"),
        pl.col("line", "text", "named").first(),
        pl.col("at").min().alias("first_at"),
        pl.col("at").max().alias("last_at"),
    )
    return kinds.with_columns(parsed=reading.layout.parse(pl.col("named"))).unnest("parsed")


def merge(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Add up counts of pieces that lie in one file, in the file's order."""
    whole = pl.concat([pl.DataFrame(schema=COUNTS), *parts])
    return whole.group_by(_KEY, maintain_order=True).agg(
        pl.col("count").sum(),
        pl.col("line").first(),
        pl.col("excerpt").first(),
        pl.col("first_at").min(),
        pl.col("last_at").max(),
    )


def _heads(events: pl.DataFrame) -> pl.DataFrame:
    """Reduce a configuration dump to its first line: its keys are counted one by one."""
    head = pl.col("body").str.extract(r"^([^\n]*)")
    return events.with_columns(body=pl.when(pl.col("body").str.contains(_DUMP)).then(head).otherwise("body"))


def _items(dumps: pl.DataFrame) -> pl.DataFrame:
    """Return one row per `key = value` of a configuration dump, the dump's first word before each."""
    # A line may look like part of a stack trace as it was logged, and not with the nodes' names in it: then these do.
    items, logged = pl.col("body").str.split("\n"), pl.col("as_logged").str.split("\n")
    keys = dumps.with_columns(
        item=items,
        text=pl.when(items.list.len() == logged.list.len()).then(logged).otherwise(items),
        head=pl.col("body").str.extract(r"^([\w$.]+)"),
    ).explode("item", "text", empty_as_null=True, keep_nulls=True)
    place = (pl.int_range(pl.len()).over("line") + pl.col("line")).alias("line")
    return (
        keys.with_columns(place, pl.col("item", "text").str.strip_chars())
        .filter(pl.col("item").str.contains(r"^[\w.$-]+ = ?"))
        .with_columns(body=pl.col("head") + ": " + pl.col("item"))
    )


def _tally(kinds: pl.DataFrame, part: str) -> pl.DataFrame:
    key = [pl.col("phase"), pl.col("level"), pl.col("logger"), pl.lit(part).alias("part")]
    return (
        kinds.group_by(*key, template(pl.col("body").str.strip_chars_end()).alias("template"), maintain_order=True)
        .agg(
            pl.col("count").sum(),
            pl.col("line").first(),
            pl.col("text").first().str.head(MAX_EXCERPT + 1).alias("excerpt"),
            pl.col("first_at").min(),
            pl.col("last_at").max(),
        )
        .cast({"line": pl.Int64})
        .select(COUNTS.names())
    )


def _phase(at: pl.Series, phases: Sequence[PhaseSpan]) -> pl.Series:
    """Return the name of the phase that each time (milliseconds since the epoch) lies in."""
    ordered = sorted(phases, key=lambda span: span.start)
    starts = pl.Series([span.start * 1000 for span in ordered], dtype=pl.Float64)
    at = at.cast(pl.Float64)
    spans = pl.DataFrame(
        {"name": [OUTSIDE, *(span.name for span in ordered)], "end": [float("-inf"), *(s.end * 1000 for s in ordered)]}
    )
    place = starts.search_sorted(at.fill_null(float("-inf")), side="right").cast(pl.UInt32)
    inside = spans.select(pl.all().gather(place))
    return inside.select(pl.when(at < pl.col("end")).then("name").otherwise(pl.lit(OUTSIDE))).to_series()
