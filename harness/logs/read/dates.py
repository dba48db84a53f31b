"""How the dates of logs are written: the letters of `%d{…}`, the names that log4j has for some, and what lines show."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from types import MappingProxyType

ISO8601 = "yyyy-MM-dd HH:mm:ss,SSS"
# What log4j 1 and 2 call them (log4j 2: org.apache.logging.log4j.core.util.datetime.FixedDateFormat).
NAMED = MappingProxyType(
    {
        "": ISO8601,
        "ISO8601": ISO8601,
        "DEFAULT": ISO8601,
        "DEFAULT_PERIOD": "yyyy-MM-dd HH:mm:ss.SSS",
        "DATE": "dd MMM yyyy HH:mm:ss,SSS",
        "DATE_PERIOD": "dd MMM yyyy HH:mm:ss.SSS",
        "ISO8601_PERIOD": "yyyy-MM-dd'T'HH:mm:ss.SSS",
        "ISO8601_BASIC": "yyyyMMdd'T'HHmmss,SSS",
        "ISO8601_OFFSET_DATE_TIME_HH": "yyyy-MM-dd'T'HH:mm:ss,SSSX",
        "ISO8601_OFFSET_DATE_TIME_HHMM": "yyyy-MM-dd'T'HH:mm:ss,SSSXX",
        "ISO8601_OFFSET_DATE_TIME_HHCMM": "yyyy-MM-dd'T'HH:mm:ss,SSSXXX",
    }
)
# SimpleDateFormat letters: what they look like, and what chrono (Polars) calls them.
LETTERS = MappingProxyType(
    {
        "yyyy": (r"\d{4}", "%Y"),
        "uuuu": (r"\d{4}", "%Y"),
        "yy": (r"\d{2}", "%y"),
        "EEE": (r"[A-Z][a-z]{2}", "%a"),
        "MMM": (r"[A-Z][a-z]{2}", "%b"),
        "MM": (r"\d{2}", "%m"),
        "dd": (r"\d{2}", "%d"),
        "HH": (r"\d{2}", "%H"),
        "mm": (r"\d{2}", "%M"),
        "ss": (r"\d{2}", "%S"),
        "SSS": (r"\d{3}", "%3f"),
        "SSSSSS": (r"\d{6}", "%6f"),
        "SSSSSSSSS": (r"\d{9}", "%9f"),
        "Z": (r"[+-]\d{4}", "%z"),
        "X": (r"(?:Z|[+-]\d{2})", "%#z"),
        "XX": (r"(?:Z|[+-]\d{4})", "%z"),
        "XXX": (r"(?:Z|[+-]\d{2}:\d{2})", "%:z"),
    }
)
_DAYS = {
    "iso": "yyyy-MM-dd'T'",
    "day": "yyyy-MM-dd ",
    "slashes": "yyyy/MM/dd ",
    "month": "dd MMM yyyy ",
    "dots": "dd.MM.yyyy ",
    "year": "yy/MM/dd ",
}
_DATE = re.compile(
    r"(?<![\d/.-])(?:(?P<iso>\d{4}-\d\d-\d\dT)|(?P<day>\d{4}-\d\d-\d\d )|(?P<slashes>\d{4}/\d\d/\d\d )|"
    r"(?P<month>\d\d [A-Z][a-z]{2} \d{4} )|(?P<dots>\d\d\.\d\d\.\d{4} )|(?P<year>\d\d/\d\d/\d\d ))"
    r"\d\d:\d\d:\d\d(?P<fraction>[.,](?:\d{9}|\d{6}|\d{3}))?(?![.,]?\d)"
    r"(?P<zone> ?(?:Z|[+-]\d\d:\d\d|[+-]\d{4}|[+-]\d\d)(?![\w:]))?"
)
_ZONES = {0: "", 1: "XXX", 3: "X", 5: "Z", 6: "XXX"}  # by the length of what stands there
_SHORT = {ISO8601: "%d", NAMED["DATE"]: "%d{DATE}"}
_BEGINNING = 100  # characters
_LINES = 20
_TOKEN = re.compile(r"'([^']*)'|([a-zA-Z])\2*|[^a-zA-Z']+")


def tokens(option: str) -> list[tuple[str, bool]]:
    """Return what a date format is made of: each text, and whether it is one of letters that stand for a part."""
    return [(found[1] if found[1] is not None else found[0], bool(found[2])) for found in _TOKEN.finditer(option)]


def date_at(line: str, at: int = 0) -> tuple[str, int]:
    """Return the conversion (`%d{…}`) of the date that stands at a place, and where it ends; empty where none does."""
    found = _DATE.match(line, at)
    return (_conversion(found), found.end()) if found else ("", at)


def dates_in(lines: Iterable[str]) -> list[str]:
    """Return the conversions of the dates near the beginning of the first lines, the most frequent first."""
    heads = (line[:_BEGINNING] for line in islice(lines, _LINES))
    seen = Counter(_conversion(found) for head in heads for found in _DATE.finditer(head))
    return [conversion for conversion, _ in seen.most_common()]


def _conversion(found: re.Match[str]) -> str:
    day = next(_DAYS[name] for name in _DAYS if found[name])
    fraction, zone = found["fraction"] or "", found["zone"] or ""
    parts = fraction[:1] + "S" * len(fraction[1:])
    option = f"{day}HH:mm:ss{parts}{' ' if zone.startswith(' ') else ''}{_ZONES[len(zone.strip())]}"
    return _SHORT.get(option, f"%d{{{option}}}")
