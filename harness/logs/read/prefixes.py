"""What stands before every line of a log and is in no table of carriers, as an expression read off the lines; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

import polars as pl

from harness.logs.read.layout import Layout

ANYTHING = "%x"  # before a layout
_LOOKED_AT, _HEAD = 50, 1000  # lines, and characters of each
_NEARLY_ALL = 0.9
_BLANK = r"\x20"
_NAME, _ANY_NAME = re.compile(r"[\w.-]+"), r"[\w.-]+"


def prefix_before(layout: Layout, lines: pl.Series) -> str:
    """Return an expression, between slashes, for what all lines begin with where those with events have a layout.

    Empty where lines begin otherwise: those of stack traces tell a prefix of every line from the beginning of a layout.
    """
    header = re.compile(layout.header.removeprefix("^"))
    heads = [line[:_HEAD] for line in lines.drop_nulls()]
    found = (at.string[: at.start()] for at in map(header.search, heads) if at)
    expression = _alike(list(islice(found, _LOOKED_AT)))
    matching = sum(map(bool, map(re.compile(expression).match, heads))) if expression else 0
    return f"/{expression}/" if matching > _NEARLY_ALL * len(heads) else ""


def _alike(prefixes: Sequence[str]) -> str:
    """Return an expression for all of the prefixes, with any name or number for theirs: further on are others."""
    words = [re.split("( +)", prefix) for prefix in prefixes]
    if not any(prefixes) or len({len(each) for each in words}) > 1:
        return ""
    return "^" + "".join(map(_column, zip(*words, strict=True)))


def _column(words: Sequence[str]) -> str:
    """Return an expression for the words, or the blanks, that stand at one place of the prefixes."""
    shapes = set(map(_shape, words))
    if len(shapes) == 1:
        return shapes.pop()
    return f"{_BLANK}+" if words[0].isspace() else rf"\S{'*' if '' in words else '+'}"


def _shape(word: str) -> str:
    """Return an expression for a word, without a blank in it."""
    parts = _NAME.split(word)
    return _ANY_NAME.join(re.escape(part).replace("\\ ", _BLANK) for part in parts)
