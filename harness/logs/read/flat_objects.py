"""JSON objects that hold an event as plain texts, written as events all at once: most lines of most logs of objects.

`json_events` says what an event is and reads every object, one by one, at a twentieth of the speed. What is written
here it would have written alike; whatever differs in the least is left to it.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from harness.model.findings import LEVELS

_TIMES = ("@timestamp", "timestamp", "time")
_LEVELS = ("level", "log.level", "severity")
_LOGGERS = ("loggerName", "logger_name", "logger", "log.logger", "_logger")
_MESSAGES = ("message", "msg")
_INSTANT = "instant"
_TEXTS = (*_TIMES, *_LEVELS, *_LOGGERS, *_MESSAGES)
_SCHEMA = pl.Struct(
    dict.fromkeys(_TEXTS, pl.String()) | {_INSTANT: pl.Struct({"epochSecond": pl.Int64(), "nanoOfSecond": pl.Int64()})}
)
# Keys of what was thrown or nested, or of another format; and what is read otherwise by other readers of JSON.
_STRANGE = (
    *(f'"{name}' for name in ("stack", "error", "exception", "thrown", "throwable", "_exception", "full_message")),
    *(f'"{name}"' for name in ("short_message", "timeMillis", "ts", "levelname", "trace", "extendedStackTrace")),
    *('"log":', '"log" :', r"\ud", r"\uD", r"\u0000"),
)
_ISO = r"^[1-9]\d{3}-\d\d-\d\d[T ]\d\d:\d\d:[0-5]\d[.,]\d{3,9}Z?$"
_LAST = 253_402_300_799  # seconds until the end of the year 9999
_NAME = r"^[^\s\x1c-\x1f()\[\]:]+$"  # those four are blanks to Python alone
_AT_ONCE = 4096  # lines: one that is no JSON leaves as many to be read one by one


def written(lines: pl.Series) -> pl.Series:
    """Return the objects among lines as Kafka's default layout has their events; null for what is not so plain."""
    plain = lines.str.contains(r'^\{"[^\n]*\}$') & ~lines.str.contains_any(list(_STRANGE))
    return pl.concat(list(_pieces(pl.select(pl.when(plain).then(lines)).to_series())) or [lines.clear()])


def _pieces(lines: pl.Series) -> Iterable[pl.Series]:
    for at in range(0, len(lines), _AT_ONCE):
        piece = lines.slice(at, _AT_ONCE)
        try:
            yield pl.DataFrame({"o": piece.str.json_decode(_SCHEMA)}).unnest("o").select(_event().alias("")).to_series()
        except pl.exceptions.PolarsError:
            yield pl.select(pl.repeat(None, len(piece), dtype=pl.String)).to_series()


def _event() -> pl.Expr:
    level, logger, message = _only(_LEVELS), _only(_LOGGERS), _only(_MESSAGES)
    is_event = level.is_in(LEVELS) & logger.str.contains(_NAME) & ~message.str.starts_with("{")
    parts = (pl.lit("["), _stamp(), pl.lit("] "), level, pl.lit(" "), message, pl.lit(" ("), logger, pl.lit(")"))
    return pl.when(is_event).then(pl.concat_str(*parts))


def _only(names: Iterable[str]) -> pl.Expr:
    """Return the text of the one of these keys that an object has; null where it has several."""
    values = [pl.col(name) for name in names]
    return pl.when(pl.sum_horizontal(value.is_not_null() for value in values) == 1).then(pl.coalesce(values))


def _stamp() -> pl.Expr:
    text, instant = _only(_TIMES), pl.col(_INSTANT).struct
    seconds, nanoseconds = instant.field("epochSecond"), instant.field("nanoOfSecond")
    day, second, fraction = (text.str.slice(*part) for part in ((0, 10), (11, 8), (20, 3)))
    written = pl.concat_str(day, pl.lit(" "), second)
    is_date = text.str.contains(_ISO) & written.str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False).is_not_null()
    is_instant = seconds.is_between(0, _LAST) & nanoseconds.is_between(0, 10**9 - 1)
    since = pl.from_epoch(seconds * 1000 + nanoseconds // 10**6, time_unit="ms")
    no_text = pl.all_horizontal(pl.col(name).is_null() for name in _TIMES)
    return (
        pl.when(is_date & seconds.is_null())
        .then(pl.concat_str(written, pl.lit(","), fraction))
        .when(is_instant & no_text)
        .then(since.dt.strftime("%Y-%m-%d %H:%M:%S,%3f"))
    )
