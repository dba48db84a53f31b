"""A conversion pattern for lines that fit none that is known: read off the lines, then tried on all of them; pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import polars as pl

from harness.base.errors import HarnessError
from harness.logs.read.dates import date_at
from harness.logs.read.layout import compile_layout
from harness.logs.read.layout_fit import fitting
from harness.model.findings import LEVELS

_GAP = re.compile(r"[\s\[\](){}<>|:,;=*/-]*")
_LEVEL = re.compile(rf"(?:{'|'.join(LEVELS)})\b")
_LOGGER = re.compile(r"[A-Za-z_$][\w$]*(?:\.[\w$]+)+(?=[\s\])}>|:;,@])")
_THREAD = re.compile(r"[^\[\]()<>|]+(?=[\])}>|])")
_LAST_LOGGER = re.compile(r" \([A-Za-z_$][\w$]*(?:\.[\w$]+)+\)$")
_PADDED_LEVEL = "%-5p"
_HALF = 0.5
_PATTERNS = 12  # that are looked at
_DATED = re.compile(r"\d\d:\d\d:\d\d")
_SHOWN = 3
_ASK = "Give the conversion pattern of the file's appender with --layout."


def propose(lines: Sequence[str]) -> str:
    """Return the pattern that most of the lines which hold a date fit; empty where none fits half of them."""
    dated = list(filter(_DATED.search, lines))
    sample = pl.Series(dated, dtype=pl.String)
    fits = {pattern: fitting(compile_layout(pattern), sample) for pattern in patterns_of(dated)}
    best = max(fits, key=lambda pattern: fits[pattern], default="")
    return best if best and fits[best] > _HALF * len(dated) else ""


def patterns_of(lines: Sequence[str]) -> list[str]:
    """Return the patterns that lines show, the most frequent first; what cannot be a pattern is none."""
    shown = Counter(filter(None, map(_read_off, lines)))
    return [pattern for pattern, _ in shown.most_common(_PATTERNS) if _can_be_read(pattern)]


def _can_be_read(pattern: str) -> bool:
    try:
        compile_layout(pattern)
    except HarnessError:  # such as one without a date before its message
        return False
    return True


def _read_off(line: str) -> str:
    """Return the pattern of one line: its fields by what they look like, what stands between them as it is."""
    pattern, at, seen = "", 0, set[str]()
    while True:
        gap = _GAP.match(line, at)
        assert gap is not None
        field, end = _field(line, gap.end(), seen, opened=gap[0].endswith(("[", "(", "{", "<", "|")))
        if not field:
            break
        pattern += _between(pattern, gap[0]) + field
        seen.add(field[-1] if field[1] != "d" else "d")
        at = end
    if "d" not in seen:
        return ""
    tail = " (%c)" if "c" not in seen and _LAST_LOGGER.search(line) else ""
    return f"{pattern}{_between(pattern, gap[0])}%m{tail}%n"


def _between(pattern: str, gap: str) -> str:
    """Return what stands before a field, without the blank that pads a level of four letters to five."""
    return gap[1:] if pattern.endswith(_PADDED_LEVEL) and gap.startswith("  ") else gap


def _field(line: str, at: int, seen: set[str], *, opened: bool) -> tuple[str, int]:
    """Return the conversion of the field that begins here and where it ends; no conversion where the message begins."""
    if "d" not in seen and (date := date_at(line, at))[0]:
        return date
    if "p" not in seen and (level := _LEVEL.match(line, at)):
        padded = len(level[0]) == 4 and line[level.end() : level.end() + 2] == "  "
        return (_PADDED_LEVEL if padded else "%p"), level.end()
    if "c" not in seen and (logger := _LOGGER.match(line, at)):
        return "%c", logger.end()
    if opened and "t" not in seen and "d" in seen and (thread := _THREAD.match(line, at)):
        return "%t", thread.end()
    return "", at


def layout_mismatch(file: str, pattern: str, lines: Sequence[str]) -> HarnessError:
    """Return the error for a file none of whose lines has the header that `pattern` describes."""
    shown = " | ".join(f"{number}: {line[:120]}" for number, line in enumerate(lines[:_SHOWN], 1))
    found = propose(lines)
    instead = f"They fit this one: --layout '{found}'" if found else _ASK
    return HarnessError(
        f"No line of {file} begins as the log layout {pattern!r} says; its first lines are: {shown}", instead
    )
