"""Lines of a piece of a file to whole events, wherever Spark cut the file.

A worker sees a whole file, or one contiguous piece (a *block*) of a larger one at a time. All events that begin and
end within it are counted there. What an event at its edges needs from the neighbours is handed to the driver as text:
the lines before the block's first header (`head`) and the last event (`tail`). `join` puts them together, in order.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, pairwise
from urllib.parse import unquote, urlsplit

import numpy as np
import polars as pl
import pyarrow as pa

from harness.logs.read.active_time import MINUTES, earliest_and_latest, minutes
from harness.logs.read.carriers import MOST_PIECES
from harness.logs.read.event_counts import COUNTS, MAX_EVENT, MAX_EXCERPT, Reading, count, merge, timed
from harness.logs.read.layout_fit import warning, without_collector, without_others

# What a worker returns: rows of COUNTS, and for each block one row `block` (what it held), one `head` of each writer at
# most and at most one `tail`, whose text is in `excerpt` (of a block: the first line that looks like another layout's),
# whose place of the first line is in `line`, and who wrote it in `writer` (of a block: its last line).
# Of logs known to no run also rows `minute`, whose number is in `line`, with the first and the last time in each.
PIECE, HEAD, TAIL, MINUTE = "block", "head", "tail", "minute"
EDGES = (PIECE, HEAD, TAIL, MINUTE)
_SIZES = ("lines", "bytes", "events", "head_lines", "head_bytes", "foreign_lines", "foreign_warnings", "other_lines")
PARTIAL = pl.Schema(
    [
        *(("file", pl.String()), ("block", pl.Int64()), ("writer", pl.String())),
        *COUNTS.items(),
        *((name, pl.Int64()) for name in _SIZES),
    ]
)
_MOST_WRITERS, _OTHERS = 50, "others"  # of lines before a block's first event, that are told apart
# What a worker is given: the number of the file that a line comes from, where in it its block begins, and its bytes.
AT_ONCE = 100_000  # lines: the more at once the fewer texts are parsed and masked twice
LINES = pl.Schema({"file": pl.Int64, "block": pl.Int64, "line": pl.Binary})


@dataclass(slots=True)
class _Head:
    """What one writer wrote before a block's first header."""

    text: str | None = None
    lines: int = 0

    def add(self, lines: pl.Series) -> None:
        self.text = joined(self.text, lines)
        self.lines += len(lines)


@dataclass(slots=True)
class _LineBlock:
    """The block that is being read: what it held so far, and the event that has not ended yet."""

    file: str
    start: int
    reading: Reading
    lines: int = 0
    bytes: int = 0
    events: int = 0
    head_lines: int = 0
    head_bytes: int = 0
    foreign_lines: int = 0
    foreign_warnings: int = 0
    other_lines: int = 0
    foreign: str = ""
    heads: dict[str | None, _Head] = field(default_factory=dict)
    writer: str | None = None  # of the last line, where that is known
    owner: str | None = None  # of the open event
    held: pl.Series = field(default_factory=lambda: pl.Series("line", dtype=pl.Binary))
    open: tuple[int, str] | None = None
    counts: list[pl.DataFrame] = field(default_factory=list)
    minutes: list[pl.DataFrame] = field(default_factory=lambda: [MINUTES.to_frame()])

    def add(self, lines: pl.Series, *, ends: bool = False) -> None:
        """Take the bytes of the next lines; with `ends` the file ends with them."""
        lines = pl.concat([self.held, lines]) if len(self.held) else lines
        held = 0 if ends else self.reading.layout.held_back(decoded(lines.tail(MOST_PIECES)))
        self.held = lines.tail(held)
        self._read(lines.head(len(lines) - held), ends)

    def _read(self, lines: pl.Series, ends: bool) -> None:
        carried = decoded(lines)
        text = self.reading.layout.unwrapped(carried)
        starts = pl.select(self.reading.layout.starts(pl.lit(text)).fill_null(value=False)).to_series()
        text = without_collector(text, starts)
        text, odd = without_others(text, starts)
        text, writer = self._own(text, starts, carried)
        numbered = pl.DataFrame(
            {"text": _without_returns(text), "bytes": lines.bin.size(), "starts": starts, "event": starts.cum_sum()}
        ).with_columns(writer, line=pl.int_range(pl.len(), dtype=pl.Int64) + self.lines)
        self.lines += len(lines)
        self.bytes += int(numbered["bytes"].sum()) + len(lines)
        self.foreign_lines += len(odd)
        self.foreign_warnings += warning(odd)
        self.foreign = self.foreign or "".join(odd.head(1).str.head(MAX_EXCERPT))
        before = int(starts.arg_max() or 0) if starts.any() else len(lines)
        self._continue(numbered.head(before))
        self._begin(assemble(numbered.slice(before)), ends)

    def _own(self, text: pl.Series, starts: pl.Series, carried: pl.Series) -> tuple[pl.Series, pl.Series]:
        """Return lines, null where another wrote them than the event before, and who wrote those that begin none."""
        unknown = pl.repeat(None, len(text), dtype=pl.String, eager=True).alias("writer")
        asked = (~starts | ~starts.shift(-1, fill_value=False)).arg_true()  # of all others it does not matter
        named = self.reading.layout.writers(carried.gather(asked))
        if named is None or named.is_empty():
            return text, unknown
        begun = starts.gather(asked)
        writer = _carried_on(self.writer, named)
        owner = _carried_on(self.owner, pl.select(pl.when(begun).then(writer)).to_series())
        is_other = ~begun & text.gather(asked).is_not_null() & (writer != owner)
        theirs = asked.filter(is_other.fill_null(value=False))
        self.writer, self.owner = writer[-1], owner[-1]
        self.other_lines += len(theirs)
        return text.scatter(theirs, None) if len(theirs) else text, unknown.scatter(asked, writer)

    def _continue(self, lines: pl.DataFrame) -> None:
        """Lines before the first header belong to the open event, or to the previous block."""
        if lines.is_empty():
            return
        if self.open is not None:
            self.open = (self.open[0], joined(self.open[1], lines["text"]))
            return
        for (name,), written in lines.filter(pl.col("text").is_not_null()).group_by("writer", maintain_order=True):
            known = name if name in self.heads or len(self.heads) < _MOST_WRITERS else _OTHERS
            self.heads.setdefault(known, _Head()).add(written["text"])
        self.head_lines += lines.height
        self.head_bytes += int(lines["bytes"].sum()) + lines.height

    def _begin(self, events: pl.DataFrame, ends: bool) -> None:
        """The event that was open has ended, and so have all these but the last, which has if the file ends."""
        self.events += events.height
        opened = [] if self.open is None else [_event(*self.open)]
        if events.is_empty() and not ends:
            return
        ended = pl.concat([*opened, events if ends else events.head(-1)])
        self.open = None if ends else (int(events["line"][-1]), str(events["text"][-1]))
        if not ended.is_empty():
            ended = timed(ended.with_columns(text=self.reading.layout.whole(ended["text"])), self.reading)
            self.counts.append(count(ended, self.reading))
            self.minutes.append(minutes(ended, self.reading))

    def result(self) -> pl.DataFrame:
        """Return the block's rows of PARTIAL."""
        if len(self.held):
            self._read(self.held, ends=False)
        sizes = {name: getattr(self, name) for name in _SIZES}
        edges: list[dict[str, object]] = [{"part": PIECE, "excerpt": self.foreign, "writer": self.writer, **sizes}]
        for name, head in self.heads.items():
            edges.append({"part": HEAD, "line": 0, "excerpt": head.text, "writer": name, "head_lines": head.lines})
        if self.open is not None:
            edges.append({"part": TAIL, "line": self.open[0], "excerpt": self.open[1], "writer": self.owner})
        rows = pl.DataFrame([dict.fromkeys(PARTIAL) | edge for edge in edges], schema=PARTIAL)
        found = (
            earliest_and_latest(pl.concat(self.minutes)).rename({"minute": "line"}).with_columns(part=pl.lit(MINUTE))
        )
        counted = pl.concat([merge(self.counts), rows.drop("file", "block"), found], how="diagonal")
        place = {"file": pl.lit(self.file), "block": pl.lit(self.start, pl.Int64)}
        return counted.with_columns(**place).select(PARTIAL.names())


def assemble(lines: pl.DataFrame) -> pl.DataFrame:
    """Join lines that share an `event` number into events (`line`, `text`); each begins with a line that `starts`."""
    first = lines.filter("starts").select("event", "line", "text")
    if first.height < lines.height:
        more = lines.filter(~pl.col("starts"), pl.col("text").is_not_null()).group_by("event", maintain_order=True)
        later = more.agg(more=pl.lit("\n") + pl.col("text").str.join("\n"))
        whole = pl.concat_str("text", "more", ignore_nulls=True)
        first = first.join(later, on="event", how="left", maintain_order="left").with_columns(text=whole)
    if (first["text"].str.len_bytes() > MAX_EVENT).any():
        first = first.with_columns(pl.col("text").str.head(MAX_EVENT))
    return first.select("line", "text")


def _carried_on(before: str | None, names: pl.Series) -> pl.Series:
    """Return names, in the place of null the one before."""
    return pl.concat([pl.Series([before], dtype=pl.String), names]).forward_fill()[1:]


def _without_returns(text: pl.Series) -> pl.Series:
    return text.str.strip_suffix("\r") if text.str.ends_with("\r").any() else text


def joined(before: str | None, lines: pl.Series) -> str:
    """Append lines to a text, which does not grow beyond MAX_EVENT."""
    if before is not None and len(before) >= MAX_EVENT:
        return before
    texts = [] if before is None else [before]
    return "\n".join([*texts, *lines.drop_nulls().head(MAX_EVENT)])[:MAX_EVENT]


def _event(line: int, text: str) -> pl.DataFrame:
    return pl.DataFrame({"line": [line], "text": [text]}, schema={"line": pl.Int64, "text": pl.String})


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file to be read: its name in the results, and how it is read."""

    name: str
    reading: Reading


def partials(batches: Iterable[pl.DataFrame], sources: Mapping[int, LogFile]) -> Iterator[pl.DataFrame]:
    """Return PARTIAL rows of each block in `batches` of LINES, in which each block's lines are contiguous.

    The keys of `sources` are the numbers of the files.
    """
    current: _LineBlock | None = None
    here: tuple[int, int] | None = None
    for place, lines in chain.from_iterable(map(_runs, batches)):
        if current is None or here != place:
            if current is not None:
                yield current.result()
            here, source = place, sources[place[0]]
            current = _LineBlock(source.name, place[1], source.reading)
        current.add(lines)
    if current is not None:
        yield current.result()


def _runs(batch: pl.DataFrame) -> Iterator[tuple[tuple[int, int], pl.Series]]:
    """Return the place (file and block) and the lines of each stretch of rows that share one."""
    changes = (batch["file"].diff().fill_null(0) != 0) | (batch["block"].diff().fill_null(0) != 0)
    edges = [0, *changes.arg_true().to_list(), batch.height]
    for start, end in pairwise(edges if batch.height else []):
        yield (int(batch["file"][start]), int(batch["block"][start])), batch["line"][start:end]


def whole(content: pa.BinaryScalar, source: LogFile) -> pl.DataFrame:
    """Return the PARTIAL rows of a whole file as one block, in which every event ends."""
    block = _LineBlock(source.name, 0, source.reading)
    frames = list(cut(content))
    for number, lines in enumerate(frames, 1):
        block.add(lines, ends=number == len(frames))
    return block.result()


def cut(content: pa.BinaryScalar) -> Iterator[pl.Series]:
    """Return the lines of a whole file, AT_ONCE together; only a newline ends a line, and the last one may lack it.

    A byte order mark is left out, as Spark's reader of lines does.
    """
    data = content.as_buffer()
    start = len(BOM_UTF8) if data[: len(BOM_UTF8)].to_pybytes() == BOM_UTF8 else 0
    edges = np.append(start, np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1)
    if edges[-1] < data.size:
        edges = np.append(edges, data.size)
    for first in range(0, len(edges) - 1, AT_ONCE):
        offsets = pa.py_buffer(np.ascontiguousarray(edges[first : first + AT_ONCE + 1]))
        rows = pa.Array.from_buffers(pa.large_binary(), len(offsets) // 8 - 1, [None, offsets, data])
        line = pl.Series("line", pl.from_arrow(rows))
        shorter = line.bin.size().cast(pl.Int64) - line.bin.ends_with(b"\n").cast(pl.Int64)
        yield pl.select(pl.lit(line).bin.slice(0, shorter)).to_series()


def decoded(lines: pl.Series) -> pl.Series:
    """Return bytes as text; what is not UTF-8 becomes U+FFFD."""
    try:
        return lines.cast(pl.String)
    except pl.exceptions.PolarsError:
        return pl.Series([line.decode("utf-8", "replace") for line in lines], dtype=pl.String)


def path_of(uri: str) -> str:
    """Return the path of a local file as Spark names it (`file:///a%20b`), or the address of one elsewhere.

    A plain path stays as it is.
    """
    if uri.startswith("/"):
        return uri
    return unquote(urlsplit(uri).path if uri.startswith("file:") else uri)
