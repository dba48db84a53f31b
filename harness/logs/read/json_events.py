"""Events that are JSON objects, as log4j 2, logback, Elastic's and others' appenders write them; pure.

An object is an event if it has a time and anything else that only events have. What it lacks has a default, so that no
event becomes a part of the one before it, and one that is torn is an event with all that is left of it as its message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl

from harness.logs.read import flat_objects
from harness.model.findings import LEVELS

_TIME = ("@timestamp", "timestamp", "time", "timeMillis", "instant", "ts")
_LEVEL = (
    *("level", "log.level", "severity", "levelname", "logLevel", "loglevel", "log_level", "levelName", "lvl"),
    *("severityText", "severity_text", "@level", "status"),
)
_LOGGER = ("loggerName", "logger_name", "logger", "log.logger", "_logger")
_MESSAGE = ("message", "msg", "short_message")
_THROWN = (
    "stack_trace",
    "stackTrace",
    "stacktrace",
    "error",
    "exception",
    "thrown",
    "throwable",
    "_exception",
    "full_message",
)
_TRACE = (*_THROWN[:3], "extendedStackTrace", "stack", "trace", "frames")
_NAME = ("name", "type", "class", "className", "exception_class")
_TEXT = ("message", "localizedMessage", "exception_message")
_CAUSE = ("cause", "causedBy")
_SYNONYMS = {
    "WARNING": "WARN",
    "ERR": "ERROR",
    "SEVERE": "ERROR",
    "CRITICAL": "FATAL",
    "CRIT": "FATAL",
    "ALERT": "FATAL",
    "EMERGENCY": "FATAL",
    "FINE": "DEBUG",
    "VERBOSE": "DEBUG",
    "FINEST": "TRACE",
}
# Levels as numbers: syslog's (Graylog), those of pino and bunyan, those of logback.
_SYSLOG = dict(enumerate(("FATAL", "FATAL", "FATAL", "ERROR", "WARN", "INFO", "INFO", "DEBUG")))
_TENS = {10: "TRACE", 20: "DEBUG", 30: "INFO", 40: "WARN", 50: "ERROR", 60: "FATAL"}
_LOGBACK = {5_000: "TRACE", 10_000: "DEBUG", 20_000: "INFO", 30_000: "WARN", 40_000: "ERROR"}
_NUMBERS = {str(number): name for number, name in (_SYSLOG | _TENS | _LOGBACK).items()}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))  # from which number on a time is so many times the seconds
_NOT_IN_NAMES = re.compile(r"[\s()\[\]:]+")
_NO_NAME = "-"
_HALVES = re.compile("[\ud800-\udfff]")  # of characters: JSON can name one without the other
_KEY = r'"(?:{})"\s*:\s*(?:"((?:[^"\\]|\\.)*)|([\d.]+))'
_TORN_TIME, _TORN_LEVEL, _TORN_OTHER = (
    re.compile(_KEY.format("|".join(map(re.escape, names)))) for names in (_TIME, _LEVEL, (*_LOGGER, *_MESSAGE))
)


class JsonEvents:
    """What writes events as JSON objects."""

    def unwrapped(self, lines: pl.Series) -> pl.Series:
        """Write events as Kafka's default layout does, stack traces below; any other line stays as it is."""
        is_object = lines.str.starts_with("{").fill_null(value=False)
        if not is_object.any():
            return lines
        events = pl.select(pl.coalesce(flat_objects.written(lines), pl.lit(lines))).to_series()
        left = (is_object & (events == lines)).arg_true()
        return events.scatter(left, pl.Series(map(_written, lines.gather(left)), dtype=pl.String))


class PrettyObjects:
    """What writes events as JSON objects of several lines, as log4j 2's JsonLayout does if it is not set to be compact.

    Such an object becomes an event when it is whole (`whole`), so line by line everything stays as it is.
    """

    begins = r"^(?:\[|,)? ?\{\s*$"

    def unwrapped(self, lines: pl.Series) -> pl.Series:
        """Return the lines as they are."""
        return lines

    def whole(self, texts: pl.Series) -> pl.Series:
        """Write whole objects as events, with whatever separates them from the next gone."""
        return JsonEvents().unwrapped(texts.str.replace_all("\n", " ", literal=True).str.strip_chars("[], "))

    def folded(self, lines: pl.Series) -> pl.Series:
        """Return the events of lines."""
        begun = lines.str.contains(self.begins).fill_null(value=False)
        numbered = pl.DataFrame({"text": lines, "event": begun.cum_sum()}).filter(pl.col("event") > 0)
        return self.whole(numbered.group_by("event", maintain_order=True).agg(pl.col("text").str.join("\n"))["text"])


def _written(line: str) -> str:
    try:
        event = json.loads(line)
        written = _of_object(event) if isinstance(event, dict) else None
    except (ValueError, RecursionError):
        written = _of_torn(line)
    return _HALVES.sub("\ufffd", written) if written else line


def _of_object(event: Mapping[str, Any]) -> str | None:
    at = next(filter(None, (_time(_at(event, name)) for name in _TIME)), None)
    level, logger, message, thrown = (_first(event, names) for names in (_LEVEL, _LOGGER, _MESSAGE, _THROWN))
    if at is None or all(each is None for each in (level, logger, message, thrown)):
        return None
    text = _plain(message)
    if text.startswith("{") and (carried := _written(text)) != text:
        return carried
    return _event(at, level, text, logger, _trace(thrown).removeprefix(text).removeprefix("\n"))


def _of_torn(line: str) -> str | None:
    """Return the event of an object whose end is missing."""
    stamp, level = _TORN_TIME.search(line), _TORN_LEVEL.search(line)
    at = _time(stamp[1] or stamp[2]) if stamp else None
    if at is None or not (level or _TORN_OTHER.search(line)):
        return None
    return _event(at, level[1] if level else "", line, "", "")


def _event(at: datetime, level: object, message: str, logger: object, trace: str) -> str:
    name = _NOT_IN_NAMES.sub("_", _plain(logger)) or _NO_NAME
    below = f"\n{trace.rstrip()}" if trace.strip() else ""
    stamp = at.replace(tzinfo=None).isoformat(" ", "milliseconds").replace(".", ",")
    return f"[{stamp}] {_level(level)} {message} ({name}){below}"


def _level(value: object) -> str:
    word = _plain(value.get("name") if isinstance(value, dict) else _NUMBERS.get(str(value), value)).strip().upper()
    known = _SYNONYMS.get(word, word)
    return known if known in LEVELS else "INFO"


def _time(value: object) -> datetime | None:
    """Return when, in UTC: an ISO date, without an offset too, or a number since 1970 in whatever unit it must be."""
    if isinstance(value, dict):
        seconds: Any = value.get("epochSecond")
        nanoseconds: Any = value.get("nanoOfSecond", 0)
        is_known = type(seconds) is int and type(nanoseconds) is int
        return _since_1970(seconds * 1000 + nanoseconds // 10**6) if is_known else None
    text = str(value).strip() if type(value) in (int, float, str) else ""
    try:
        if _NUMBER.fullmatch(text):
            number = float(text)
            return _since_1970(round(1000 * (number / next((unit for least, unit in _UNITS if number >= least), 1))))
        at = datetime.fromisoformat(text)
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _since_1970(milliseconds: int) -> datetime | None:
    try:
        return _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None


def _at(event: Mapping[str, Any], name: str) -> Any:
    """Return what stands at `a.b`, written so or as an object in an object, or all that is written as `a.b.…`."""
    if name in event:
        return event[name]
    outer, _, inner = name.partition(".")
    if inner:
        return _at(event[outer], inner) if isinstance(event.get(outer), dict) else None
    return {key[len(name) + 1 :]: value for key, value in event.items() if key.startswith(f"{name}.")} or None


def _first(event: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((found for name in names if (found := _at(event, name)) not in (None, "", [], {})), None)


def _plain(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _trace(value: object) -> str:
    """Return what was thrown as Java prints it: a text, lines, frames, or an object of these; numbers are none."""
    if isinstance(value, (bool, int, float)):
        return ""
    if isinstance(value, list):
        return "\n".join(map(_trace, value))
    if not isinstance(value, dict):
        text = _plain(value)
        return f"\t{text}" if text.startswith("at ") else text
    if frame := _frame(value):
        return frame
    trace, cause = _first(value, _TRACE), _first(value, _CAUSE)
    if isinstance(trace, str):
        return trace
    head = ": ".join(_plain(each) for each in (_first(value, _NAME), _first(value, _TEXT)) if each is not None)
    parts = (head, _trace(trace) if trace else "", f"Caused by: {_trace(cause)}" if cause else "")
    return "\n".join(filter(None, parts)) or _plain(value)


def _frame(value: Mapping[str, Any]) -> str:
    method = _first(value, ("method", "methodName"))
    owner = _first(value, ("class", "className", "declaringClass"))
    if method is None or owner is None:
        return ""
    place = [_plain(each) for name in ("file", "line") if (each := value.get(name)) is not None]
    return f"\tat {_plain(owner)}.{_plain(method)}({':'.join(place)})"
