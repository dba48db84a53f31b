"""Where logs lie: on this machine, or at an address (`s3a://bucket/logs`) in a file system that Spark reads from.

A place is the path of a file or folder here, or the address of one elsewhere.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import polars as pl

from harness.base.archives import is_archive
from harness.base.errors import HarnessError
from harness.logs.read.blocks import decoded, path_of
from harness.logs.read.event_counts import MAX_EVENT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# What holds a compressed file cannot be checked against its size; Spark reads such a file as one piece.
COMPRESSED = (".gz", ".bz2", ".zst", ".deflate", ".lz4", ".snappy")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
UNSAYABLE = "it has a colon, or bytes that are not UTF-8"
_GLOB = re.compile(r"[][{}*?\\]")
_HEADS_AT_ONCE = 256
_LOG_NAME = re.compile(r"\.(log|out)")
_NO_CONNECTOR = re.compile(r"No FileSystem for scheme|ClassNotFoundException")


def is_address(place: str) -> bool:
    """Whether a place is not a path of this machine."""
    return _ADDRESS.match(place) is not None


def here_if_file(place: str) -> str:
    """Return the path of a `file:` address, which is one of this machine; other places stay as they are."""
    return path_of(place) if place.startswith("file:") else place


def is_hidden(place: str) -> bool:
    """Whether Spark passes over a file because of its name."""
    return PurePosixPath(place).name.startswith((".", "_"))


def is_gone(path: Path) -> bool:
    """Whether there is no such file of this machine; one that may not be looked up is there."""
    if is_address(str(path)):
        return False
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def check_readable(place: str) -> None:
    """Raise HarnessError for a file that cannot be opened here, or that Spark passes over or cannot name."""
    try:
        if not is_address(place):
            Path(place).open("rb").close()
    except OSError as error:
        raise HarnessError(f"The log {place} cannot be read: {error.strerror}.") from error
    if is_hidden(place):
        raise HarnessError(f"Spark does not read {place}: its name begins as hidden files do.", "Rename it.")
    if not is_sayable(place):
        raise HarnessError(f"Spark cannot name {place}: {UNSAYABLE}.", "Rename it.")


def is_sayable(place: str) -> bool:
    """Whether Spark can name a file: no colon may be in its name, nor anywhere in a path with `[` or `*`."""
    try:
        place.encode()
    except UnicodeEncodeError:
        return False
    path = _ADDRESS.sub("", place)
    return ":" not in (path if _GLOB.search(path) else PurePosixPath(path).name)


def size(spark: SparkSession, place: str) -> int:
    """Return the bytes that a file has now."""
    if not is_address(place):
        return Path(place).stat().st_size
    with _as_harness_error(place):
        system, path = _found(spark, place)
        return int(system.getFileStatus(path).getLen())


def logs_below(spark: SparkSession, address: str) -> Among:
    """Return the addresses of the files below one, which may be that of a log; see `logs_among`."""
    with _as_harness_error(address):
        system, path = _found(spark, address)
        listed = {str(each.getPath().toString()): each.getLen() for each in _each(system.listFiles(path, True))}
    return logs_among(address, listed)


@dataclass(frozen=True, slots=True)
class Among:
    """The files below a place: its `logs`, and the `others` beside them, which are not named as logs are."""

    logs: tuple[str, ...]
    others: tuple[str, ...] = ()


def logs_among(place: str, sizes: Mapping[str, int]) -> Among:
    """Return which of the files below a place are its logs: those named `*.log*`, `*.out*` or as archives, or else all.

    `sizes` are their bytes. No file at all, or no log that is not empty, is a HarnessError.
    """
    if not sizes:
        raise HarnessError(f"{place} has no files.", "Name a log, or a folder that holds logs.")
    named = [file for file in sizes if _LOG_NAME.search(PurePosixPath(file).name) or is_archive(file)]
    logs = sorted(named or sizes)
    if not any(sizes[log] for log in logs):
        raise HarnessError(f"{logs[0]} and all other logs in {place} are empty.", "Name one with events.")
    others = sorted(file for file in sizes.keys() - logs if sizes[file] and not is_hidden(file))
    return Among(tuple(logs), tuple(others))


def folders_in(spark: SparkSession, address: str) -> list[str]:
    """Return the addresses of the folders in one."""
    with _as_harness_error(address):
        system, path = _found(spark, address)
        return sorted(str(each.getPath().toString()) for each in system.listStatus(path) if each.isDirectory())


@dataclass(frozen=True, slots=True)
class Samples:
    """The first lines of files, by file, and why those that a codec cannot open have none."""

    lines: Mapping[str, list[str]]
    refused: Mapping[str, str]


def first_lines(spark: SparkSession, places: Sequence[str], number: int, most: int = MAX_EVENT) -> Samples:
    """Return the first lines of each file, of its first bytes, long ones cut.

    A file that cannot be read at all is a HarnessError. A job for each would take longer than reading 10 MB.
    """
    found: dict[str, list[str]] = {}
    refused: dict[str, str] = {}
    at_once = max(_HEADS_AT_ONCE * MAX_EVENT // most, 1)
    for at in range(0, len(places), at_once):
        heads = _heads(spark, places[at : at + at_once], most, refused)
        found |= {place: lines_of(head, number, most) for place, head in heads.items()}
    return Samples(found, refused)


def _heads(spark: SparkSession, places: Iterable[str], most: int, refused: dict[str, str]) -> dict[str, bytes]:
    """Return the first bytes of each file, in one answer: py4j waits 40 ms for each that does not fit a packet.

    Of those that their codec cannot open `refused` is told why.
    """
    java = _java(spark)
    codecs = java.org.apache.hadoop.io.compress.CompressionCodecFactory(_settings(spark))
    heads, spans = java.java.io.ByteArrayOutputStream(), dict[str, tuple[int, int]]()
    for place in places:
        check_readable(place)
        start = heads.size()
        try:
            with _as_harness_error(place):
                system, path = _found(spark, place)
                opened, codec = system.open(path), codecs.getCodec(path)
                stream = codec.createInputStream(opened) if codec else opened
                java.org.apache.commons.io.IOUtils.copyLarge(stream, heads, 0, most)
                stream.close()
        except HarnessError as error:
            if not place.endswith(COMPRESSED):
                raise
            refused[place] = str(error)
        else:
            spans[place] = start, heads.size()
    content = heads.toString("ISO-8859-1").encode("latin-1")  # py4j takes bytes apart one by one
    return {place: content[start:end] for place, (start, end) in spans.items()}


def lines_of(head: bytes, number: int, most: int = MAX_EVENT) -> list[str]:
    """Return the first lines of a file's beginning as they are read, without what ends them; `most` bytes are torn."""
    lines = head.removeprefix(BOM_UTF8).removesuffix(b"\n").split(b"\n") if head else []
    is_torn = len(head) == most and len(lines) > 1
    texts = decoded(pl.Series(lines[: -1 if is_torn else None][:number], dtype=pl.Binary))
    return texts.str.strip_suffix("\r").str.head(MAX_EVENT).to_list()


def _java(spark: SparkSession) -> Any:
    return spark.sparkContext._jvm


def _settings(spark: SparkSession) -> Any:
    return spark.sparkContext._jsc.hadoopConfiguration()


def _found(spark: SparkSession, place: str) -> tuple[Any, Any]:
    """Return the file system of a place and its path there."""
    here = Path(place)
    uri = place if is_address(place) else f"file:{here.parent.resolve() / here.name}"  # a link is named as it is
    path = _java(spark).org.apache.hadoop.fs.Path(uri)
    return path.getFileSystem(_settings(spark)), path


def _each(iterator: Any) -> Iterator[Any]:
    while iterator.hasNext():
        yield iterator.next()


@contextmanager
def _as_harness_error(place: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # py4j raises whatever the JVM made of it
        why = reason(error)
        hint = "Spark needs a connector for it: start the harness by spark-submit, with --packages or --jars."
        raise HarnessError(f"Spark could not read {place}: {why}", hint if _NO_CONNECTOR.search(why) else "") from error


def reason(error: Exception) -> str:
    """Return the line of a Spark error that says what happened and the file it happened in, without traces."""
    file = re.search(r"file (file:\S+?)\.? ", str(error))
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [
        line.removeprefix(": ") for line in lines if re.match(r"(: |Caused by: )?[\w.]*(Error|Exception): ", line)
    ]
    why = (causes or lines or [type(error).__name__])[-1][:500]
    return f"{path_of(file[1])}: {why}" if file else why
