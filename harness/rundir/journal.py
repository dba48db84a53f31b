"""The journal of one run as a file: one event a line, flushed as it happens, and read back as the same records."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, get_args

from harness.base.errors import HarnessError
from harness.base.files import PARTIAL
from harness.base.json import parse_json, plain, record_of, written
from harness.base.room import HeldRoom, lacks_room
from harness.model.events import Event, Unknown

_KINDS = {event.kind: event for event in get_args(Event) if event is not Unknown}
_STAMPS = ("seq", "t", "at", "event")
_LONGEST_LINE = 64 << 20  # characters; what is longer ends a journal, as half a line does


@dataclass(frozen=True, slots=True)
class _Stamps:
    """What every line has."""

    seq: int
    t: float
    at: str
    event: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a journal: its number (from 1), seconds since the run began, wall time (ISO 8601 UTC), the event."""

    seq: int
    t: float
    at: str
    event: Event


class Journal:
    """Append-only; may be written by several threads of a run. One that a crash has cut is gone on with.

    It holds some room on its disk: where that fills up, what comes then can still be written, and a result after it.
    `disk_is_full` says that this has happened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.disk_is_full = False
        self._lines, seconds = _whole_part(path)
        self._stream = path.open("ab", buffering=0)
        self._room = HeldRoom(path.with_name(f"{PARTIAL}{path.name}-room"))
        self._lock = threading.Lock()
        self._began = time.monotonic() - seconds

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        with self._lock, suppress(OSError):  # the write that failed has said so
            self._stream.close()
        self._room.release()

    def write(self, event: Event) -> int:
        """Append an event; return its line number, which is what evidence points at.

        Raises ValueError for one with NaN in it: no reader would read on behind that; HarnessError where the disk is
        full, and no room is held any more.
        """
        with self._lock:
            if self._stream.closed:  # a thread that was late
                return self._lines
            number = self._lines + 1
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            entry = Entry(number, round(time.monotonic() - self._began, 3), now, event)
            try:
                self._append(f"{written(line_of(entry))}\n".encode())
            except OSError as error:
                raise HarnessError(
                    f"{self.path} cannot be written: {error.strerror}.",
                    "Free room on its disk, then go on by --resume.",
                ) from error
            self._lines = number
            return number

    def _append(self, line: bytes) -> None:
        while line:
            try:
                line = line[self._stream.write(line) :]
            except OSError as error:
                if not (lacks_room(error) and self._room.release()):
                    raise
                self.disk_is_full = True


def _whole_part(path: Path) -> tuple[int, float]:
    """Cut off the half line that a journal may end with; return how many lines are left, and the time of the last."""
    if not path.is_file():
        return 0, 0.0
    os.truncate(path, path.read_bytes().rfind(b"\n") + 1)
    lines, seconds = 0, 0.0
    for number, values in _whole_lines(path):
        lines, seconds = number, float(values["t"])
    return lines, seconds


def line_of(entry: Entry) -> dict[str, Any]:
    """Return an entry as the JSON object of its line."""
    event = entry.event
    name, values = (event.name, dict(event.fields)) if isinstance(event, Unknown) else (event.kind, plain(event))
    return {"seq": entry.seq, "t": entry.t, "at": entry.at, "event": name, **values}


def read_journal(path: Path) -> Iterator[Entry]:
    """Yield the entries of a journal; a missing one has none, and a line that a crash cut ends it.

    Raises HarnessError that names file and line for an event that is none of its kind, or whose number or times are
    none.
    """
    for number, values in _whole_lines(path):
        yield _entry(values, path, number)


def read_undamaged(path: Path) -> Iterator[Entry]:
    """Yield the entries that `read_journal` does, for a page: a damaged line is passed over."""
    for number, values in _whole_lines(path):
        with suppress(HarnessError):
            yield _entry(values, path, number)


def _whole_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the object of each line up to the first that holds none."""
    if not path.is_file():
        return
    with path.open(encoding="utf-8", errors="replace", newline="\n") as stream:
        for number, line in enumerate(iter(lambda: stream.readline(_LONGEST_LINE), ""), 1):
            try:
                values = parse_json(line) if line.endswith("\n") else None
            except HarnessError:
                return
            if not isinstance(values, dict) or not set(_STAMPS) <= values.keys():
                return
            yield number, values


def _entry(values: dict[str, Any], path: Path, number: int) -> Entry:
    rest = {key: value for key, value in values.items() if key not in _STAMPS}
    try:
        stamps = record_of(_Stamps, {key: values[key] for key in _STAMPS})
        kind = _KINDS.get(stamps.event)
        event = record_of(kind, rest) if kind else Unknown(stamps.event, rest)
    except HarnessError as error:
        raise HarnessError(
            f"{path}, line {number}: this is no {_kind(values['event'])}event. {error.message}",
            "A folder that an earlier harness wrote is converted by: harness convert DIR",
        ) from error
    return Entry(stamps.seq, stamps.t, stamps.at, event)


def _kind(name: object) -> str:
    return f"`{name}` " if isinstance(name, str) else ""


def events_of(entries: Iterable[Entry]) -> Iterator[Event]:
    """Yield the events alone."""
    return (entry.event for entry in entries)
