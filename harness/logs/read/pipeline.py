"""Log files through Spark: every line is accounted for, every template counted with the place of its first event."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
import xxhash
from pyspark.sql import functions as f
from pyspark.sql.types import LongType, StringType, StructField, StructType

from harness.base.errors import HarnessError
from harness.logs.read.active_time import MINUTES, active_time, minutes
from harness.logs.read.blocks import (
    EDGES,
    HEAD,
    MINUTE,
    PARTIAL,
    PIECE,
    TAIL,
    LogFile,
    joined,
    partials,
    path_of,
    whole,
)
from harness.logs.read.event_counts import COUNTS, Reading, count, merge, timed
from harness.logs.read.places import COMPRESSED, check_readable, is_address, reason, size
from harness.logs.read.proposals import layout_mismatch
from harness.model.log_totals import FileTotal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WHOLE = 48 << 20  # bytes of a file that is read in one piece: a worker and the JVM hold several times as much
_BATCH_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
_KINDS = {pl.String: (StringType(), pa.string()), pl.Int64: (LongType(), pa.int64())}
# Not as text, for which Spark would load a parser.
_SPARK_SCHEMA = StructType([StructField(name, _KINDS[type(kind)][0]) for name, kind in PARTIAL.items()])
_ARROW_SCHEMA = pa.schema([(name, _KINDS[type(kind)][1]) for name, kind in PARTIAL.items()])


@dataclass(frozen=True, slots=True)
class FileCounts:
    """The template counts of one file (COUNTS; `line` from 1), its total, and the first lines that were not understood.

    These are those before its first event, and the one that looks first like an event of another layout.
    """

    counts: pl.DataFrame
    total: FileTotal
    unparsed: tuple[str, ...]
    foreign: str = ""


def read(
    spark: SparkSession,
    root: Path,
    readings: Mapping[str, Reading],
    copies: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, FileCounts]:
    """Count the templates of files; the keys of `readings` are their paths relative to `root`, or addresses.

    `copies` are the paths of unpacked copies, from which packed ones are read. A file that does not fit its layout at
    all, cannot be read or changes meanwhile is a HarnessError.
    """
    places = {name: copies.get(name) or _place(root, name) for name in readings}
    for place in places.values():
        check_readable(place)
    pieces = _pieces(spark, {place: readings[name] for name, place in places.items()})
    of_file = {str(place): rows for (place,), rows in pieces.group_by("file")}
    result = {}
    for name, place in places.items():
        file = join(name, of_file.get(place, PARTIAL.to_frame()), readings[name])
        _check(file, file.total.bytes if place.endswith(COMPRESSED) else size(spark, place))
        result[name] = file
    return result


def _place(root: Path, name: str) -> str:
    """Return an address as it is, and a path without the `..` that Hadoop would take out of it."""
    path = root / name
    return name if is_address(name) else str(path.parent.resolve() / path.name)


def _pieces(spark: SparkSession, readings: dict[str, Reading]) -> pl.DataFrame:
    """Read small files whole, which takes a tenth of the time that Spark needs to find lines, others in splits."""
    small = [place for place in readings if not place.endswith(COMPRESSED) and size(spark, place) <= WHOLE]
    split = [place for place in readings if place not in set(small)]
    found = [PARTIAL.to_frame()]
    if small:
        spark.conf.set(_BATCH_BYTES, 4 << 20)  # about a file at once: a buffer that grows is copied each time
        sources = {place: LogFile(place, readings[place]) for place in small}
        with _as_harness_error():
            rows = contents(spark, small)
        found.append(_job(rows, lambda batches: _of_files(batches, sources)))
    if split:
        spark.conf.set(_BATCH_BYTES, 32 << 20)  # many lines at once, but fewer of those that are long
        with _as_harness_error():
            rows = lines(spark, split)
            uris = rows.inputFiles()
        numbered = {_number(uri): LogFile(path_of(uri), readings[path_of(uri)]) for uri in uris}
        found.append(_job(rows, lambda batches: _of_lines(batches, numbered)))
    return pl.concat(found)


def _job(rows: DataFrame, counter: Callable[[Iterable[pa.RecordBatch]], Iterator[pl.DataFrame]]) -> pl.DataFrame:
    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for counts in counter(batches):
            yield from counts.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(_ARROW_SCHEMA).to_batches()

    with _as_harness_error():
        table = rows.mapInArrow(work, _SPARK_SCHEMA).toArrow()
    return pl.DataFrame(pl.from_arrow(table), schema=PARTIAL)


def _of_files(batches: Iterable[pa.RecordBatch], sources: Mapping[str, LogFile]) -> Iterator[pl.DataFrame]:
    for batch in batches:
        for path, content in zip(batch["path"].to_pylist(), batch["content"], strict=True):
            yield whole(content, sources[re.sub("^file:/+", "/", path)])


def _of_lines(batches: Iterable[pa.RecordBatch], sources: Mapping[int, LogFile]) -> Iterator[pl.DataFrame]:
    return partials((pl.DataFrame(pl.from_arrow(batch)) for batch in batches), sources)


def _number(uri: str) -> int:
    """Return the number that Spark gives a file in `lines`: a path in every row would cost more than reading it."""
    named = re.sub("^file:///", "file:/", uri)  # as the metadata column writes it
    return int.from_bytes(xxhash.xxh64_digest(named.encode(), seed=42), "big", signed=True)


@contextmanager
def _as_harness_error() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # py4j and pyspark raise whatever the JVM or a worker made of it
        raise HarnessError(f"Spark could not read the logs: {reason(error)}") from error


def lines(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Return the lines of files as blocks.LINES says; with `contents` the one place where log data is opened.

    Only a newline ends a line, so that lines are numbered as editors number them.
    """
    reader = spark.read.option("lineSep", "\n").option("recursiveFileLookup", "true")
    return reader.text([_named(path) for path in paths]).select(
        f.xxhash64("_metadata.file_path").alias("file"),
        f.col("_metadata.file_block_start").alias("block"),
        f.col("value").cast("binary").alias("line"),
    )


def contents(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Return the `path` and the whole `content` of files; Spark copies the content once more for any other column."""
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    return reader.load([_named(path) for path in paths]).select("path", "content")


def _named(path: str) -> str:
    """Return a path as Spark wants it: as it is written, and of this machine if it is no address."""
    plain = re.sub(r"([][{}*?\\])", r"\\\1", path)
    return plain if is_address(path) else f"file:{plain}"


def join(name: str, rows: pl.DataFrame, reading: Reading) -> FileCounts:
    """Put the pieces of one file together: events that lie across them, line numbers, totals."""
    blocks = rows.filter(part=PIECE).sort("block")
    offsets = blocks.select("block", first=pl.col("lines").cum_sum() - pl.col("lines"))
    placed = rows.join(offsets, on="block").with_columns(line=pl.col("line") + pl.col("first") + 1)
    edges = placed.filter(pl.col("part").is_in([PIECE, HEAD, TAIL])).sort("block", "part", maintain_order=True)
    unparsed, across, others = _across(edges)
    counts = placed.filter(~pl.col("part").is_in(EDGES)).select(COUNTS.names())
    counts = counts.sort("line", maintain_order=True)
    found = rows.filter(part=MINUTE).select("first_at", "last_at", minute="line").select(MINUTES.names())
    if not across.is_empty():
        across = timed(across.with_columns(text=reading.layout.whole(across["text"])), reading)
        found = pl.concat([found, minutes(across, reading)])
        counts = merge([pl.concat([counts, count(across, reading)]).sort("line", maintain_order=True)])
    unparsed_lines, unparsed_bytes = _unparsed(blocks)
    active = active_time(found)
    whole, size = int(blocks["lines"].sum()), int(blocks["bytes"].sum())
    total = FileTotal(
        file=name,
        pattern=reading.layout.pattern,
        lines=whole,
        bytes=size,
        events=int(blocks["events"].sum()),
        event_lines=whole - unparsed_lines,
        event_bytes=size - unparsed_bytes,
        unparsed_lines=unparsed_lines,
        unparsed_bytes=unparsed_bytes,
        first_at=_seconds(counts["first_at"].min()),
        last_at=_seconds(counts["last_at"].max()),
        active=_seconds(active.length),
        idle=_seconds(active.idle),
        foreign_lines=int(blocks["foreign_lines"].sum()),
        foreign_warnings=int(blocks["foreign_warnings"].sum()),
        other_lines=int(blocks["other_lines"].sum()) + others,
    )
    foreign = next(filter(None, blocks["excerpt"]), "")
    return FileCounts(counts, total, tuple(unparsed.split("\n")[:3]) if unparsed_lines else (), foreign)


def _seconds(milliseconds: object) -> float:
    return milliseconds / 1000 if isinstance(milliseconds, int) else 0.0


def _across(edges: pl.DataFrame) -> tuple[str, pl.DataFrame, int]:
    """Return the text before the first header, the last event of each block with what its writer wrote in the next,
    and how many lines of the next others wrote.
    """
    unparsed: str | None = None
    events: list[tuple[int, str, str | None]] = []
    before = last = None  # who wrote the last line of the block before, and of this one
    others = 0
    for part, line, text, writer, lines in edges.select("part", "line", "excerpt", "writer", "head_lines").iter_rows():
        if part == PIECE:
            before, last = last, writer or last
        elif part == TAIL:
            events.append((line, text, writer))
        elif not events:
            unparsed = joined(unparsed, pl.Series([text]))
        elif _are_two(writer or before, events[-1][2]):
            others += lines
        else:
            events[-1] = (events[-1][0], joined(events[-1][1], pl.Series([text])), events[-1][2])
    schema = {"line": pl.Int64, "text": pl.String, "writer": pl.String}
    return unparsed or "", pl.DataFrame(events, schema=schema, orient="row").drop("writer"), others


def _are_two(one: str | None, other: str | None) -> bool:
    return bool(one and other) and one != other


def _unparsed(blocks: pl.DataFrame) -> tuple[int, int]:
    """Return the lines and bytes before the first header: the heads of all blocks up to the first with events."""
    before = blocks.filter(pl.col("events").cum_sum() - pl.col("events") == 0)
    return int(before["head_lines"].sum()), int(before["head_bytes"].sum())


def _check(file: FileCounts, size: int) -> None:
    """Refuse a file whose parts do not add up, or whose layout is another."""
    total = file.total
    counted = int(file.counts.filter(part="event")["count"].sum())
    # The last line may lack its newline; Spark takes a byte order mark away.
    if counted != total.events or not -1 <= size - total.bytes <= 3:
        raise HarnessError(
            f"{total.file} does not add up: {total.bytes} of {size} bytes read, {counted} of {total.events} events.",
            "Was it being written to? Run the diff again.",
        )
    if total.lines and not total.events:
        raise layout_mismatch(total.file, total.pattern, file.unparsed)
