"""The log statements of a Kafka version: made once from its released sources, kept as a file beside the locks.

`builds/statements/<version>.json.gz` names the sources jars that it was made from with their digests. Versions that
the harness does not ship are looked for in the user's data folder.
"""

from __future__ import annotations

import gzip
import json
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from harness.base.errors import HarnessError
from harness.base.files import write_bytes
from harness.base.paths import data_root, user_data_root
from harness.kafka.lock import checked_version
from harness.logs.read.event_counts import Reading
from harness.logs.read.masks import template
from harness.logs.read.statements import Library, SourceClass, Statement, Statements, written
from harness.toolbox.downloads import Downloads
from harness.toolbox.lockfile import Artifact, Lock, Purpose

MAX_ENTRY = 4_000_000  # bytes of a source file in a jar; none of Kafka's is a tenth of it
MAX_LIBRARY = 64_000_000  # bytes of a library, unpacked
# What `Origins` adds to each template's COUNTS.
ORIGIN = pl.Schema([("statement", pl.String()), ("wording", pl.String()), ("values", pl.List(pl.String))])

_KEY = ["part", "level", "logger", "template"]
_FOLDER = "statements"
_KINDS = (".java", ".scala")


def library(version: str) -> Library:
    """Return what is known of a version's sources, nothing if there is no library. A damaged one is a HarnessError."""
    name = f"{checked_version(version)}.json.gz"
    for folder in (data_root() / "builds" / _FOLDER, user_data_root() / _FOLDER):
        if (folder / name).is_file():
            return _parsed(folder / name)
    return Library()


def make_library(lock: Lock, downloads: Downloads, folder: Path) -> Path:
    """Read the released sources of all of Kafka's modules in a lock, write their statements, return the file.

    Raises HarnessError when the sources are not to be had.
    """
    from harness.logs.read.extraction import source_classes, statements  # the parsers take a moment to load

    pinned = downloads.pin_all((coordinate, Purpose.SOURCES) for coordinate in _sources(lock))
    texts = {name: text for each in pinned for name, text in _texts(downloads.cache / each.path).items()}
    found = Library(tuple(statements(texts)), tuple(source_classes(texts)))
    return write_bytes(
        folder / f"{lock.version}.json.gz", gzip.compress(formatted(lock.version, pinned, found).encode(), mtime=0)
    )


def formatted(version: str, sources: Sequence[Artifact], found: Library) -> str:
    """Return a library as JSON, a line for each statement and each class."""
    made_from = {each.coordinate: each.sha256 for each in sources}
    statements = [[each.file, each.line, each.level, each.owner, *each.parts] for each in found.statements]
    classes = [[each.name, each.file, *each.parents] for each in found.classes]
    head = f'{{"version": {json.dumps(version)},\n"sources": {json.dumps(made_from, indent=1)},\n'
    return f'{head}"statements": [\n{_rows(statements)}\n],\n"classes": [\n{_rows(classes)}\n]}}\n'


def _rows(rows: Sequence[Sequence[object]]) -> str:
    return ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


def overlaid(known: Library, sources: Path) -> Library:
    """Return the library of a patched build: its own sources' statements instead of the released files' ones.

    `sources` is the folder `builds/<name>/sources` of a run directory, laid out as Kafka's repository is.
    """
    own = _own_texts(sources)
    if not own:
        return known
    from harness.logs.read.extraction import source_classes, statements

    return Library(
        (*(each for each in known.statements if each.file not in own), *statements(own)),
        (*(each for each in known.classes if each.file not in own), *source_classes(own)),
    )


def _own_texts(sources: Path) -> dict[str, bytes]:
    roots = [root for kind in ("java", "scala") for root in sorted(sources.glob(f"*/src/main/{kind}"))]
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for root in roots
        for path in sorted(root.rglob("*"))
        if path.suffix in _KINDS and path.is_file()
    }


def _sources(lock: Lock) -> list[str]:
    modules = [each.coordinate.split(":") for each in lock.of(Purpose.RUNTIME)]
    return [f"{group}:{name}:jar:sources:{lock.version}" for group, name, *_ in modules if group == "org.apache.kafka"]


def libraries_beside(locks: Path) -> Path:
    """Return where the library of a version goes whose lock is in `locks`."""
    return locks.parent / _FOLDER


def _texts(jar: Path) -> Mapping[str, bytes]:
    with zipfile.ZipFile(jar) as archive:
        wanted = [entry for entry in archive.infolist() if entry.filename.endswith(_KINDS)]
        return {entry.filename: archive.read(entry) for entry in wanted if entry.file_size <= MAX_ENTRY}


def _statement(file: str, line: int, level: str, owner: str, *parts: str) -> Statement:
    return Statement(file, line, level, parts, owner)


def _parsed(path: Path) -> Library:
    try:
        with gzip.open(path) as file:
            document: dict[str, Any] = json.loads(file.read(MAX_LIBRARY))
        return Library(
            tuple(_statement(*row) for row in document["statements"]),
            tuple(SourceClass(name, file, tuple(parents)) for name, file, *parents in document["classes"]),
        )
    except (OSError, EOFError, ValueError, TypeError, KeyError) as error:
        raise HarnessError(
            f"{path} is not a library of log statements: {error}.", "Delete it, or make it again."
        ) from error


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a template comes from: the statement's file and line, its text with `{}` for each value, and the values."""

    place: str = ""
    wording: str = ""
    values: tuple[str, ...] = ()


class Origins:
    """Where in the sources the templates of one build come from; every template is looked up once."""

    def __init__(self, known: Library) -> None:
        self._statements = Statements(known)
        self._known: dict[tuple[str, ...], Origin] = {}

    def with_origins(self, counts: pl.DataFrame, reading: Reading) -> pl.DataFrame:
        """Return counts (events.COUNTS) with the columns of ORIGIN, empty where nothing is known.

        `statement` is a file and line, `wording` what it writes with `{}` for each value, `values` what stood there,
        masked as templates are.
        """
        keys = counts.select(_KEY).rows()
        self._learn(
            counts[[at for at, key in enumerate(keys) if key[0] == "event" and key not in self._known]], reading
        )
        origins = [self._known.get(key, Origin()) for key in keys]
        columns = {
            "statement": [each.place for each in origins],
            "wording": [each.wording for each in origins],
            "values": [each.values for each in origins],
        }
        return counts.hstack(pl.DataFrame(columns, schema=ORIGIN))

    def _learn(self, counts: pl.DataFrame, reading: Reading) -> None:
        """Look up the templates of rows that are not known yet."""
        counts = counts.unique(_KEY, keep="first", maintain_order=True)
        parsed = counts.select(fields=reading.layout.parse(reading.named(pl.col("excerpt"))))
        origins: list[Origin] = []
        for key, message in zip(counts.select(_KEY).iter_rows(), parsed.unnest("fields")["message"], strict=True):
            _, level, logger, _ = key
            found = self._statements.of(level, logger, message)
            origins.append(Origin(found.place, found.text, written(found, message)) if found else Origin())
        values = pl.Series([list(each.values) for each in origins], dtype=pl.List(pl.String))
        masked = pl.select(pl.lit(values).list.eval(template(pl.element()))).to_series()
        for key, origin, own in zip(counts.select(_KEY).iter_rows(), origins, masked, strict=True):
            self._known[key] = replace(origin, values=tuple(own))


def named_version(counts: Iterable[pl.DataFrame]) -> str:
    """Return the version that the first log to name one names, as Kafka does when it starts; else nothing."""
    for each in counts:
        for text in each.filter(logger="org.apache.kafka.common.utils.AppInfoParser")["excerpt"]:
            if found := re.search(r"Kafka version: (\d[\w.-]*)", text):
                return found[1]
    return ""


def versions_of(counts: Mapping[str, pl.DataFrame]) -> dict[str, str]:
    """Return the version of Kafka that wrote each log: that it names itself, or a log beside it, or any of them."""
    own = {name: named_version([each]) for name, each in counts.items()}
    beside = {str(PurePosixPath(name).parent): version for name, version in own.items() if version}
    first = next(filter(None, own.values()), "")
    return {name: version or beside.get(str(PurePosixPath(name).parent), first) for name, version in own.items()}
