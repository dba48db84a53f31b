"""What lies on one broker's disks as a file that is carried to where all are compared: JSON, a line a directory."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from sys import intern
from typing import Any

from harness.base.errors import HarnessError
from harness.base.files import write_with
from harness.base.json import parse_json, record_of
from harness.topicids.records import DataDirectory, PartitionDirectory

_KIND = "topic ids of a broker"
_BEGINS = json.dumps({"kind": _KIND})[:-1].encode()
_SCHEMA = 1
_REMEDY = "Write it again on the broker's host: harness topic-ids check --config server.properties --export FILE"


def write_export(path: Path, data: Sequence[DataDirectory]) -> Path:
    """Write what was read of data directories, and return the file's path."""

    def write(staged: Path) -> None:
        with staged.open("w", encoding="utf-8") as stream:
            for line in _lines(data):
                stream.write(json.dumps(line, ensure_ascii=True) + "\n")

    try:
        return write_with(path, write)
    except OSError as error:
        raise HarnessError(f"{path} cannot be written: {error.strerror}.", "Name another file by --export.") from error


def _lines(data: Sequence[DataDirectory]) -> Iterator[Any]:
    yield {"kind": _KIND, "schema": _SCHEMA, "data": len(data)}
    for disk in data:
        head = {name: getattr(disk, name) for name in ("path", "broker", "cluster_id", "passed_over", "problems")}
        yield {**head, "settings": disk.settings, "partitions": len(disk.partitions)}
        for each in disk.partitions:
            yield [getattr(each, name) for name in PartitionDirectory.__slots__]


def is_export(path: Path) -> bool:
    """Whether a file begins as an export does. Raises HarnessError where it cannot be read."""
    try:
        with path.open("rb") as stream:
            return stream.read(len(_BEGINS)) == _BEGINS
    except OSError as error:
        raise HarnessError(f"{path} cannot be read: {error.strerror}.", "Name files that are there.") from error


def read_export(path: Path) -> tuple[DataDirectory, ...]:
    """Return what an export holds. Raises HarnessError where it is none, is damaged, or was cut off."""
    try:
        with path.open(encoding="utf-8") as stream:
            lines = (parse_json(line) for line in stream)
            return tuple(_read(lines))
    except OSError as error:
        raise HarnessError(f"{path} cannot be read: {error.strerror}.", _REMEDY) from error
    except StopIteration as error:
        raise HarnessError(f"{path} ends too early: it was cut off.", _REMEDY) from error
    except (HarnessError, UnicodeDecodeError, TypeError, KeyError, ValueError) as error:
        why = error.message if isinstance(error, HarnessError) else str(error)
        raise HarnessError(f"{path} is no export of topic ids: {why}", _REMEDY) from error


def _read(lines: Iterator[Any]) -> list[DataDirectory]:
    head = next(lines)
    if not isinstance(head, dict) or head.get("kind") != _KIND:
        raise HarnessError("its first line is another.")
    if head.get("schema") != _SCHEMA:
        raise HarnessError(f"it has schema {head.get('schema')}, and this harness reads {_SCHEMA}.")
    return [_read_disk(next(lines), lines) for _ in range(head["data"])]


def _read_disk(head: Any, lines: Iterator[Any]) -> DataDirectory:
    count = head["partitions"]
    disk = record_of(DataDirectory, {**head, "partitions": []})
    return replace(disk, partitions=tuple(_partition(next(lines)) for _ in range(count)))


def _partition(line: list[Any]) -> PartitionDirectory:
    each = record_of(PartitionDirectory, dict(zip(PartitionDirectory.__slots__, line, strict=True)))
    return replace(each, topic=intern(each.topic), topic_id=intern(each.topic_id))
