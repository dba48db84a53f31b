"""Conversion patterns of log4j 1, log4j 2 and logback: from `[%d] %p %m (%c)%n` to expressions that read events back.

The expressions are written for the regex engine of Polars (Rust: no look-around, no back-references).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import polars as pl

from harness.base.errors import HarnessError
from harness.logs.read.carriers import (
    CARRIERS,
    PRETTY,
    PRETTY_OBJECTS,
    held_back,
    split_carriers,
    unwrapped,
    whole,
    writers,
)
from harness.logs.read.dates import LETTERS, NAMED, tokens
from harness.model.findings import LEVELS

KAFKA_DEFAULT = "[%d] %p %m (%c)%n"

# Tried in this order on logs from anywhere, each with the dates that the lines show in the place of `%d`. Of two that
# fit equally well the one that yields more fields wins, so that `[%t]` is not read as part of the message; see
# layout_detection.
COMMON = (
    KAFKA_DEFAULT,
    "[%d] %p [%t] %m (%c)%n",
    "%d %-5p [%t] %c: %m%n",
    "%d [%t] %-5p %c - %m%n",
    "%d %-5p [%c] %m%n",
    "%d %-5p %c: %m%n",
    "%d %p %m (%c)%n",
    "%d %p [%t] %m (%c)%n",
    "[%d] %p [%t] %c: %m%n",
    "[%d] %p %c: %m%n",
    "%d %p %m (%c) [%t]%n",
    "[%d] %p %m (%c:%L)%n",  # Kafka Connect, MirrorMaker
    "[%d] %p [%t] %m (%c:%L)%n",
    "%d %p %m (%c:%L)%n",
    "%d %p %m (%c:%L) [%t]%n",
    "%d %-5p %c - %m%n",
    "%d %-5p [%t] %c - %m%n",
    "%d %-5p %c:%L - %m%n",
    "%d %-5p [%t] %c:%L - %m%n",
    "%d %-5p %c{1}:%L [%t] %m%n",
    "%d [%t] %-5p %c:%L - %m%n",
    "%d [myid:%X] - %-5p [%t:%c@%L] - %m%n",  # ZooKeeper
    "%d %5p %pid --- [%t] %-40c : %m%n",  # Spring Boot
    "%d %-5p [%c] (%t) %m%n",  # Quarkus, WildFly
    "[%d][%-5p][%c] %m%n",  # Elasticsearch
    "[%d][%-5p][%c] [%t] %m%n",
    "%-5p [%d] [%t] %c: %m%n",
    "%-5p [%d] %c: %m%n",  # Dropwizard
    "[%d] [%p] [%t] [%c] %m%n",
    "%d | %-5p | %t | %c | %m%n",  # Karaf
)

_FIELDS = {
    "p": f"(?P<level>{'|'.join(LEVELS)})",
    "c": r"(?P<logger>[^\s()\[\]:]+)",
    "C": r"\S+?",
    "t": r"(?P<thread>[^\n]*?)",
    "F": r"\S*?",
    "l": r"\S+?",
    "L": r"(?:\d+|\?)",
    "M": r"\S*?",
    "r": r"\d+",
    "x": r"[^\n]*?",
    "X": r"[^\n]*?",
    "%": "%",
}
# What log4j 2 and logback call them too.
_LONG_NAMES = {
    "date": "d",
    "level": "p",
    "logger": "c",
    "thread": "t",
    "threadName": "t",
    "class": "C",
    "file": "F",
    "location": "l",
    "line": "L",
    "method": "M",
    "relative": "r",
    "threadId": "r",
    "pid": "r",
    "processId": "r",
    "sequenceNumber": "r",
    "mdc": "X",
    "MDC": "X",
    "NDC": "x",
    "marker": "x",
    "contextName": "x",
}
_SPECIFIER = re.compile(
    r"%(?P<left>-?)(?P<width>\d*)(?:\.-?\d+)?"
    rf"(?P<name>{'|'.join(sorted(_LONG_NAMES, key=len, reverse=True))}|[a-zA-Z%])"
    r"(?:\{(?P<option>[^}]*)\}(?:\{(?P<zone>[^}]*)\})?)?"
)
_MESSAGE = re.compile(r"%[-.\d]*(?:message|msg|m)(?![a-zA-Z{])")
# They write a stack trace on lines of its own, or nothing: neither is a part of the first line.
_TRACE = re.compile(r"%(?:nopexception|nopex|[xrw]?Ex|ex|[xr]?Throwable|throwable|exception)(?:\{[^}]*\})*")
_UTC = (None, "UTC", "GMT", "Z")
_EITHER = "[ T]"
_ZULU = "(?:Z|"
_OFFSET = re.compile(r"[XZ](?=[^']*(?:'[^']*'[^']*)*$)")
# A thread right before the message. Kafka's log contexts look the same, and not every line has one: it may lack.
_THREAD_LAST = re.compile(r"\[%[-.\d]*(?:threadName|thread|t)\] $")


@dataclass(frozen=True, slots=True)
class Layout:
    """How one conversion pattern is read.

    `header` matches the beginning of an event's first line; `event` matches the event's text and names the groups
    `at level thread logger message rest` (those that the pattern has). The message ends at the first line that
    ends as the pattern says, and `rest` is what follows: a stack trace, or more lines of a message that ends
    its line. An event without such a line (a killed node, a cut line) is all message: then `cut` matches.
    `time_format` is chrono's; `at_place` is the place and the length of the date where it always is at the same
    one, in characters. `carriers` are what each line is wrapped in; all else is about lines without them.
    """

    pattern: str
    header: str
    event: str
    time_format: str
    at_place: tuple[int, int] | None = None
    carriers: tuple[str, ...] = ()

    def unwrapped(self, lines: pl.Series) -> pl.Series:
        """Return a log's lines without colours and what carried them; null is what is no line of the log."""
        return unwrapped(lines, self.carriers)

    def writers(self, lines: pl.Series) -> pl.Series | None:
        """Return who wrote each of a log's lines, null where that is not said; None where it is said of none."""
        return writers(lines, self.carriers)

    def held_back(self, lines: pl.Series) -> int:
        """Return how many of a log's lines, at their end, have to be read together with what follows them."""
        return held_back(lines, self.carriers)

    @property
    def fields(self) -> tuple[str, ...]:
        """The named groups of `event`, in the order of the pattern."""
        return tuple(re.findall(r"\?P<(\w+)>", self.event))

    def starts(self, line: pl.Expr) -> pl.Expr:
        """Say of each line whether an event begins there."""
        return line.str.contains(PRETTY_OBJECTS.begins if PRETTY in self.carriers else self.header)

    def whole(self, texts: pl.Series) -> pl.Series:
        """Return whole events, as the lines from one that `starts` to the next make them up, as they were written."""
        return whole(texts, self.carriers) if self.carriers else texts

    def at(self, text: pl.Expr) -> pl.Expr:
        """Return the time (UTC) of each event; an impossible date is null."""
        if self.at_place is None:
            date = text.str.extract(self.header, self.fields.index("at") + 1)
        else:
            date = text.str.slice(*self.at_place)
        if _EITHER in self.header:
            date = date.str.replace("T", " ", literal=True)
        if _ZULU in self.header:
            date = date.str.replace("Z$", "+00:00")
        return date.str.to_datetime(self.time_format, strict=False).dt.replace_time_zone(None)

    def parse(self, text: pl.Expr) -> pl.Expr:
        """Return a struct of `level`, `logger`, `thread`, `message` and `rest` for each event.

        A field that the layout or the event does not have is empty.
        """
        groups = text.str.extract_groups(self.event).struct
        names = ("level", "logger", "thread", "message", "rest")
        known = self.fields
        fields = [(groups.field(name).fill_null("") if name in known else pl.lit("")).alias(name) for name in names]
        return pl.struct(*fields)


@lru_cache(1 << 10)
def compile_layout(pattern: str) -> Layout:
    """Return the layout of a conversion pattern of log4j 1, log4j 2 or logback, which may lie behind a carrier.

    A pattern whose events cannot be distinguished from continuation lines (no date before the message, more than one
    line, no message) or with a conversion that is not known is a HarnessError.
    """
    carriers, plain = split_carriers(pattern)
    _check_expressions(pattern, carriers)
    whole = _TRACE.sub("", plain)
    body = whole.removesuffix("%n")
    parts = _MESSAGE.split(body)
    if len(parts) != 2 or body == whole or "%n" in body:
        raise _refused(pattern, "it needs exactly one %m, and %n at its end and nowhere else")
    if "d" not in map(_short, _SPECIFIER.finditer(parts[0])):
        raise _refused(pattern, "events are recognised by their date, so it needs %d before %m")
    time_formats: list[str] = []
    lead, optional = _split_thread(parts[0])
    before, thread, after = ("".join(_regexes(part, pattern, time_formats)) for part in (lead, optional, parts[1]))
    return Layout(
        pattern=pattern,
        header=f"^{before}",
        event=rf"(?s)^{before}(?:{thread})?(?P<message>.*?)(?:{after}(?m:$)(?P<rest>.*)|(?P<cut>))$",
        time_format=time_formats[0],
        at_place=_place(parts[0]),
        carriers=carriers,
    )


def _check_expressions(pattern: str, carriers: Iterable[str]) -> None:
    expressions = [each for each in carriers if each not in CARRIERS]
    try:
        unwrapped(pl.Series([""]), expressions)
    except pl.exceptions.ComputeError as error:
        raise _refused(pattern, f"what stands between the slashes is no regular expression ({error})") from error


def _split_thread(before: str) -> tuple[str, str]:
    """Return what an event certainly begins with, and a thread in brackets that may follow it; date and level do."""
    found = _THREAD_LAST.search(before)
    lead = before[: found.start()] if found else before
    if found is None or not {"d", "p"} <= set(map(_short, _SPECIFIER.finditer(lead))):
        return before, ""
    return lead, found[0]


def _place(before: str) -> tuple[int, int] | None:
    """Return where the date is if nothing of varying length can be before or in it: all letters keep their width."""
    found = _SPECIFIER.search(before)
    if found is None or _short(found) != "d" or found["width"]:
        return None
    date = NAMED.get(found["option"] or "", found["option"])
    return None if _OFFSET.search(date) else (found.start(), len(date.replace("'", "")))


def _regexes(part: str, pattern: str, time_formats: list[str]) -> Iterator[str]:
    end = 0
    for found in _SPECIFIER.finditer(part):
        yield _literal(part[end : found.start()])
        yield _padded(found, _conversion(found, pattern, time_formats))
        end = found.end()
    yield _literal(part[end:])


def _conversion(found: re.Match[str], pattern: str, time_formats: list[str]) -> str:
    name = _short(found)
    if name == "d":
        if found["zone"] not in _UTC:
            raise _refused(pattern, f"its times are of the zone {found['zone']}; only UTC can be read")
        regex, time_format = _date(found["option"] or "", pattern)
        time_formats.append(time_format)
        return f"(?P<at>{regex})" if len(time_formats) == 1 else regex
    if name not in _FIELDS:
        raise _refused(pattern, f"%{name} is not a conversion that can be read")
    return _FIELDS[name]


def _short(found: re.Match[str]) -> str:
    return _LONG_NAMES.get(found["name"], found["name"])


def _padded(found: re.Match[str], regex: str) -> str:
    if not found["width"]:
        return regex
    return f"{regex} *" if found["left"] else f" *{regex}"


def _date(option: str, pattern: str) -> tuple[str, str]:
    """Return the regex and the chrono format of what stands in `%d{…}`."""
    regex, time_format = "", ""
    for text, is_part in tokens(NAMED.get(option, option)):
        looks, chrono = LETTERS.get(text, ("", "")) if is_part else (_literal(text), text)
        if text and not looks:
            raise _refused(pattern, f"the date format {option!r} has {text!r}, which cannot be read")
        regex, time_format = regex + looks, time_format + chrono
    if option == "ISO8601":  # log4j 2 puts a T where the others put a space
        regex = regex.replace(" ", _EITHER)
    if not {"%d", "%H"} <= (said := set(re.findall(r"%\w", time_format))) or not said & {"%Y", "%y"}:
        raise _refused(pattern, f"the date format {option!r} does not say day and time")
    return regex, time_format


def _literal(text: str) -> str:
    """Return the expression for a text; a backslash before a `<` or before a letter would mean something else."""
    return re.sub(r"([\\.+*?()|\[\]{}^$#&~-])", r"\\\1", text)


def _refused(pattern: str, why: str) -> HarnessError:
    return HarnessError(f"The log layout {pattern!r} cannot be read: {why}.", f"An example: {KAFKA_DEFAULT}")
