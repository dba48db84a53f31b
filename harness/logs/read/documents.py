"""Logs that are JSON documents (`gcloud logging read --format=json`): copies with one object a line, as carriers are.

Entries are objects that follow each other (`journalctl -o json-pretty`), those of an array, or those of the list in
which a service answers: `events` (CloudWatch), `entries` (Cloud Logging), `hits.hits` (Elasticsearch), `data.result`
(Loki, https://grafana.com/docs/loki/latest/reference/loki-http-api/). What is read is never more than one entry.
"""

from __future__ import annotations

import codecs
import json
import re
import shutil
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from harness.base.files import PARTIAL
from harness.logs.read.unpacking import MOST, UNPACKING_ERRORS, opened

LONGEST = 64 << 20  # characters of an entry
_AT_ONCE = 4 << 20
_SHOWN = 80  # characters
_OF_LOKI = ("timestamp", "line")
_LOOKED_AT = 64 << 10  # bytes by which a file is known
_BLANK = re.compile(r"\s*")
_OBJECTS = re.compile(r"\s*\[\s*\{")
_DECODER = json.JSONDecoder()
_DECODE = codecs.getincrementaldecoder("utf-8-sig")
# Where entries are in what a service answers, key by key.
_LISTS: Mapping[str, Any] = {"events": {}, "entries": {}, "hits": {"hits": {}}, "data": {"result": {}}}
_OF_ENTRIES = ("@timestamp", "timestamp", "time", "message")  # what has one of these is no answer
_MEMBER = rb'\s*"(?!(?:' + "|".join(_OF_ENTRIES).encode() + rb')")\w+"\s*:\s*(?:"[^"\\]*"|[\w.+-]+|\{[^{}]*\})\s*,'
_LIST = rb'\s*"(?:(?:events|entries)"\s*:\s*\[\s*\{|hits"\s*:\s*\{|data"\s*:\s*\{\s*"resultType")'
# An array of objects, an object of several lines, or what a service answers on a single one.
_DOCUMENT = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\[\s*\{|\{\s*\n|\{(?:" + _MEMBER + rb")*" + _LIST + rb")")
_YAML = re.compile(rb"---\r?\n(?:(?:\w+:(?:[ \r].*)?|[ -].*|\r?)\n)+?(?:---\r?\n|\Z)")
_IS_YAML = "it is YAML; have it written as JSON: gcloud logging read --format=json"


@dataclass(frozen=True, slots=True)
class OneALine:
    """The copies, by the log's name, and why other documents have none."""

    copies: Mapping[str, str]
    refused: Mapping[str, str]


@contextmanager
def one_a_line(logs: Iterable[str], copies: Mapping[str, str], folder: Path, most: int = MOST) -> Iterator[OneALine]:
    """Copy logs that are JSON documents into `folder` for the time being, one entry a line.

    `copies` are the unpacked copies of packed ones, `most` is how many bytes the copies of all may have.
    """
    with TemporaryDirectory(dir=folder, prefix=PARTIAL) as name:
        made: dict[str, str] = {}
        refused: dict[str, str] = {}
        for number, log in enumerate(logs):
            place, copy = copies.get(log, log), Path(name, f"{number}.log").resolve()
            head = _head(place)
            if _YAML.match(head):
                refused[log] = _IS_YAML
            if not _DOCUMENT.match(head):
                continue
            try:
                most -= _rewrite(place, copy, most)
            except UNPACKING_ERRORS as error:
                copy.unlink(missing_ok=True)
                refused[log] = f"it is a JSON document that could not be read ({error})"
            else:
                made[log] = str(copy)
        yield OneALine(made, refused)


def _head(place: str) -> bytes:
    """Return the first bytes of a file; none of one that cannot be opened, which is told where logs are read."""
    try:
        with opened(place) as file:
            return file.read(_LOOKED_AT)
    except UNPACKING_ERRORS:
        return b""


def _rewrite(place: str, copy: Path, most: int) -> int:
    """Write the entries of a document, one a line, and return the bytes that they have. OSError for too many."""
    written, room = 0, min(most, shutil.disk_usage(copy.parent).free // 2)
    with opened(place) as file, copy.open("wb") as target:
        for entry in entries(file):
            written += target.write(f"{_compact(entry)}\n".encode())
            if written > room:
                raise OSError(f"its copy would have more than {room} bytes")
    return written


def _compact(entry: object) -> str:
    return json.dumps(entry, separators=(",", ":"))


@dataclass(slots=True)
class _Text:
    """A JSON text of which no more is held than one value; ValueError names the line of what is wrong in it."""

    file: BinaryIO
    held: str = ""
    at: int = 0
    lines: int = 1  # the number of the line that what is held begins in
    decoder: codecs.IncrementalDecoder = field(default_factory=lambda: _DECODE("replace"))

    def peek(self) -> str:
        """Return the next character that is no blank; empty at the end."""
        while True:
            self.at = _BLANK.match(self.held, self.at).end()  # type: ignore[union-attr] # it matches anything
            if self.at < len(self.held):
                return self.held[self.at]
            if not self._more():
                return ""

    def skip(self, char: str) -> None:
        """Go on behind a character that has to come next."""
        if (found := self.peek()) != char:
            raise self._error(f"{found!r} stands where {char!r} is due" if found else "it ends there")
        self.at += 1

    def is_at(self, what: re.Pattern[str]) -> bool:
        """Whether something comes next; blanks in it may not be many."""
        while len(self.held) - self.at < _LOOKED_AT and self._more():
            pass
        return what.match(self.held, self.at) is not None

    def value(self) -> Any:
        """Return the next value."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self.held, self.at)
            except RecursionError as error:
                raise self._error("it is nested too deeply") from error
            except ValueError as error:
                if not self._more():
                    raise self._error("no whole value begins there") from error
            else:
                if end < len(self.held) or not self._more():  # a number may go on
                    self.at = end
                    return value

    def elements(self) -> Iterator[Any]:
        """Yield the elements of the array that comes next."""
        self.skip("[")
        while self.peek() != "]":
            yield self.value()
            if self.peek() != "]":
                self.skip(",")
        self.skip("]")

    def _more(self) -> bool:
        """Hold more, twice as much as before at least: what is read again and again grows so fast; False at the end."""
        if len(self.held) - self.at > LONGEST:
            raise self._error(f"what begins there has more than {LONGEST} characters")
        self.lines += self.held.count("\n", 0, self.at)
        self.held, self.at = self.held[self.at :], 0
        some = self.file.read(max(_AT_ONCE, len(self.held)))
        self.held += self.decoder.decode(some, final=not some)
        return bool(some)

    def _error(self, what: str) -> ValueError:
        return ValueError(f"line {self.lines + self.held.count(chr(10), 0, self.at)}: {what}")


def entries(file: BinaryIO) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of a JSON document. ValueError says where it is none, or has one that is too long."""
    text = _Text(file)
    while char := text.peek():
        if char == "[":
            yield from chain.from_iterable(map(_unfolded, text.elements()))
        elif char == "{":
            if (members := (yield from _object(text, _LISTS))) is not None:
                yield from _unfolded(members)
        else:
            text.skip(",")


def _object(text: _Text, lists: Mapping[str, Any]) -> Generator[Mapping[str, Any], None, dict[str, Any] | None]:
    """Read an object: yield the entries in its `lists` as they come, or return it if it has none."""
    members: dict[str, Any] = {}
    is_answer = False
    text.skip("{")
    while text.peek() != "}":
        key = text.value()
        text.skip(":")
        within = None if members.keys() & _OF_ENTRIES else lists.get(str(key))
        if within == {} and text.is_at(_OBJECTS):
            yield from chain.from_iterable(map(_unfolded, text.elements()))
            is_answer = True
        elif within and text.peek() == "{":
            members[key] = yield from _object(text, within)
            is_answer = is_answer or members[key] is None
        else:
            members[str(key)] = text.value()
        if text.peek() != "}":
            text.skip(",")
    text.skip("}")
    return None if is_answer else members


def _unfolded(value: object) -> Iterator[Mapping[str, Any]]:
    """Yield what an entry holds, as the tools that print one a line do."""
    if not isinstance(value, dict):
        raise _no_entry(value)
    source, payload, stream = value.get("_source"), value.get("jsonPayload"), value.get("stream")
    if isinstance(source, dict):
        yield source
    elif isinstance(payload, dict):
        yield {name: each for name, each in value.items() if name != "jsonPayload"} | payload
    elif isinstance(stream, dict) and isinstance(value.get("values"), list):
        for logged in value["values"]:
            if not isinstance(logged, list) or len(logged) < len(_OF_LOKI):
                raise _no_entry(logged)
            yield {"labels": stream, **dict(zip(_OF_LOKI, logged, strict=False))}
    else:
        yield value


def _no_entry(value: object) -> ValueError:
    return ValueError(f"{_compact(value)[:_SHOWN]} is no entry")
