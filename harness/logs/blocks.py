"""Lines of a piece of a file to whole events, wherever Spark cut the file.

A worker sees one contiguous piece (a *block*) of a file at a time. All events that begin and end within it are
counted there. What an event at its edges needs from the neighbours is handed to the driver as text: the lines
before the block's first header (`head`) and the last event (`tail`). `join` puts them together, in file order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

import polars as pl

from harness.logs.events import COUNTS, MAX_EVENT, Reading, count, merge

# What a worker returns: rows of COUNTS, and for each block one row `block` (what it held), at most one `head`
# and at most one `tail`, whose text is in `excerpt`, whose number of lines or place of the first is in `line`.
PIECE, HEAD, TAIL = "block", "head", "tail"
_SIZES = ("lines", "bytes", "events", "head_lines", "head_bytes")
PARTIAL = pl.Schema(
    [("file", pl.String()), ("block", pl.Int64()), *COUNTS.items(), *((name, pl.Int64()) for name in _SIZES)]
)
# What a worker is given: where a line comes from, its text (of a huge line, the beginning) and its length.
LINES = pl.Schema({"file": pl.String, "block": pl.Int64, "text": pl.String, "bytes": pl.Int64})


@dataclass(slots=True)
class _Block:
    """The block that is being read: what it held so far, and the event that has not ended yet."""

    file: str
    start: int
    reading: Reading
    lines: int = 0
    bytes: int = 0
    events: int = 0
    head_lines: int = 0
    head_bytes: int = 0
    head: str | None = None
    open: tuple[int, str] | None = None
    counts: list[pl.DataFrame] = field(default_factory=list)

    def add(self, lines: pl.DataFrame) -> None:
        """Take the next lines (columns `text` and `bytes`)."""
        starts = lines.select(self.reading.layout.starts(pl.col("text"))).to_series()
        numbered = lines.select(
            text=_without_returns(lines["text"]),
            bytes="bytes",
            line=pl.int_range(pl.len(), dtype=pl.Int64) + self.lines,
            starts=starts,
            event=starts.cum_sum(),
        )
        self.lines += lines.height
        self.bytes += int(lines["bytes"].sum()) + lines.height
        before = lines.height if not starts.any() else int(starts.arg_max() or 0)
        self._continue(numbered.head(before))
        self._begin(assemble(numbered.slice(before)))

    def _continue(self, lines: pl.DataFrame) -> None:
        """Lines before the first header belong to the open event, or to the previous block."""
        if lines.is_empty():
            return
        if self.open is not None:
            self.open = (self.open[0], joined(self.open[1], lines["text"]))
            return
        self.head = joined(self.head, lines["text"])
        self.head_lines += lines.height
        self.head_bytes += int(lines["bytes"].sum()) + lines.height

    def _begin(self, events: pl.DataFrame) -> None:
        """All events but the last have ended, and so has the one that was open before them."""
        if events.is_empty():
            return
        before = [] if self.open is None else [_event(*self.open)]
        self.events += events.height
        self.counts.append(count(pl.concat([*before, events.head(-1)]), self.reading))
        self.open = (int(events["line"][-1]), str(events["text"][-1]))

    def result(self) -> pl.DataFrame:
        """Return the block's rows of PARTIAL."""
        sizes = {name: getattr(self, name) for name in _SIZES}
        edges: list[dict[str, object]] = [{"part": PIECE, **sizes}]
        if self.head is not None:
            edges.append({"part": HEAD, "line": 0, "excerpt": self.head})
        if self.open is not None:
            edges.append({"part": TAIL, "line": self.open[0], "excerpt": self.open[1]})
        rows = pl.DataFrame([dict.fromkeys(PARTIAL) | edge for edge in edges], schema=PARTIAL)
        counted = pl.concat([merge(self.counts), rows.drop("file", "block")], how="diagonal")
        place = {"file": pl.lit(self.file), "block": pl.lit(self.start, pl.Int64)}
        return counted.with_columns(**place).select(PARTIAL.names())


def assemble(lines: pl.DataFrame) -> pl.DataFrame:
    """Join lines that share an `event` number into events (`line`, `text`); each begins with a line that `starts`."""
    first = lines.filter("starts").select("event", "line", "text")
    if first.height < lines.height:
        more = lines.filter(~pl.col("starts")).group_by("event", maintain_order=True)
        later = more.agg(more=pl.lit("\n") + pl.col("text").str.join("\n"))
        whole = pl.concat_str("text", "more", ignore_nulls=True)
        first = first.join(later, on="event", how="left", maintain_order="left").with_columns(text=whole)
    if (first["text"].str.len_bytes() > MAX_EVENT).any():
        first = first.with_columns(pl.col("text").str.head(MAX_EVENT))
    return first.select("line", "text")


def _without_returns(text: pl.Series) -> pl.Series:
    return text.str.strip_suffix("\r") if text.str.ends_with("\r").any() else text


def joined(before: str | None, lines: pl.Series) -> str:
    """Append lines to a text, which does not grow beyond MAX_EVENT."""
    if before is not None and len(before) >= MAX_EVENT:
        return before
    texts = [] if before is None else [before]
    return "\n".join([*texts, *lines.head(MAX_EVENT)])[:MAX_EVENT]


def _event(line: int, text: str) -> pl.DataFrame:
    return pl.DataFrame({"line": [line], "text": [text]}, schema={"line": pl.Int64, "text": pl.String})


def partials(batches: Iterable[pl.DataFrame], readings: Mapping[str, Reading]) -> Iterator[pl.DataFrame]:
    """Return PARTIAL rows of each block in `batches` of LINES, in which each block's lines are contiguous."""
    current: _Block | None = None
    here: tuple[object, ...] = ()
    for batch in batches:
        for (file, start), lines in batch.group_by("file", "block", maintain_order=True):
            if current is None or here != (file, start):
                if current is not None:
                    yield current.result()
                path = path_of(str(file))
                current, here = _Block(path, int(str(start)), readings[path]), (file, start)
            current.add(lines)
    if current is not None:
        yield current.result()


def path_of(uri: str) -> str:
    """Return the path of a local file as Spark names it (`file:///a%20b`); a plain path stays as it is."""
    return unquote(urlsplit(uri).path) if uri.startswith("file:") else uri
