"""What lies on one broker's disks as a file that is carried to where all are compared: JSON, a line a directory."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from sys import intern
from typing import Any, TextIO

from harness.base.errors import HarnessError
from harness.base.files import write_with
from harness.base.json import parse_json, record_of
from harness.topicids.names import Kind, parse_folder_name
from harness.topicids.records import MOST_BROKER, UNKNOWN_BROKER, DataDirectory, PartitionDirectory
from harness.topicids.topic_id import is_topic_id

_KIND = "topic ids of a broker"
_BEGINS = json.dumps({"kind": _KIND})[:-1].encode()
_SCHEMA = 4
_LONGEST = 2**20  # characters of a line: that of a data directory names what could not be looked at
_REMEDY = "Write it again on the broker's host: harness topic-ids check --config server.properties --export FILE"


def write_export(path: Path, data: Sequence[DataDirectory]) -> Path:
    """Write what was read of data directories, and when, and return the file's path."""

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
        more = {"settings": disk.settings, "exported": disk.exported or time.time()}
        yield {**head, **more, "partitions": len(disk.partitions)}
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
            return _read(stream)
    except OSError as error:
        raise HarnessError(f"{path} cannot be read: {error.strerror}.", _REMEDY) from error
    except EOFError as error:
        raise HarnessError(f"{path} ends too early: it was cut off.", _REMEDY) from error
    except UnicodeDecodeError as error:
        raise HarnessError(f"{path} is no export of topic ids: it is no UTF-8.", _REMEDY) from error
    except HarnessError as error:
        raise HarnessError(f"{path} is no export of topic ids: {error.message}", _REMEDY) from error


def _read(stream: TextIO) -> tuple[DataDirectory, ...]:
    head = _next(stream)
    if not isinstance(head, dict) or head.get("kind") != _KIND:
        raise HarnessError("its first line is another.")
    if head.get("schema") != _SCHEMA:
        raise HarnessError(f"it has schema {head.get('schema')}, and this harness reads {_SCHEMA}.")
    found = tuple(_read_disk(stream) for _ in range(_count(head, "data")))
    if stream.read(1):
        raise HarnessError("it goes on behind its end.")
    return found


def _next(stream: TextIO) -> Any:
    """Return the next line. Raises EOFError where there is no whole one, and HarnessError where it is no JSON."""
    line = stream.readline(_LONGEST)
    if len(line) == _LONGEST and not line.endswith("\n"):
        raise HarnessError(f"it has a line of more than {_LONGEST} characters.")
    if not line.endswith("\n"):
        raise EOFError
    return parse_json(line)


def _read_disk(stream: TextIO) -> DataDirectory:
    head = _next(stream)
    count = _count(head, "partitions")
    disk = record_of(DataDirectory, {**head, "partitions": []})
    if not UNKNOWN_BROKER <= disk.broker <= MOST_BROKER:
        raise HarnessError(f"it names broker {disk.broker}.")
    if disk.exported <= 0:
        raise HarnessError("it does not say when it was written.")
    return replace(disk, partitions=tuple(_partition(_next(stream)) for _ in range(count)))


def _count(head: Any, name: str) -> int:
    count = head.get(name) if isinstance(head, dict) else None
    if type(count) is not int or count < 0:
        raise HarnessError(f"a line says no number of {name}.")
    return count


def _partition(line: Any) -> PartitionDirectory:
    if not isinstance(line, list) or len(line) != len(PartitionDirectory.__slots__):
        raise HarnessError("a line of a directory has other fields.")
    each = record_of(PartitionDirectory, dict(zip(PartitionDirectory.__slots__, line, strict=True)))
    named = parse_folder_name(each.name)
    if (named.topic, named.partition) != (each.topic, each.partition) or named.kind in (Kind.OTHER, Kind.METADATA):
        raise HarnessError(f"{each.name!r} is no folder of partition {each.partition} of topic {each.topic!r}.")
    if each.topic_id and (each.problem or not is_topic_id(each.topic_id)):
        raise HarnessError(f"{each.name} has the id {each.topic_id!r}, which is none.")
    return replace(each, topic=intern(each.topic), topic_id=intern(each.topic_id))
