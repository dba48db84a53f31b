"""What the driver of simulations writes, read with distrust: it comes from a JVM with a foreign jar; pure."""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from harness.base.text import cut, visible

_BEGIN = re.compile(r"BEGIN ([\w.$#]{1,300}) (\d{1,12}) (\[[^\]]{0,200}\])")
_PASSED = re.compile(r"PASSED \d+")
_FAILED = re.compile(r"FAILED \d+ (\S+) (\S+)")
_MESSAGE, _TRACE = 500, 8_000


@dataclass(frozen=True, slots=True)
class Try:
    """One property with one seed; `passed` is None where its JVM ended before it, and `message` says how that did."""

    property: str
    seed: int
    arguments: str
    passed: bool | None = None
    message: str = ""
    trace: str = ""


@dataclass(frozen=True, slots=True)
class Feed:
    """Everything that a feed says; `whole` when the driver came to its end."""

    tries: tuple[Try, ...]
    whole: bool


def parse_feed(text: str) -> Feed:
    """Return what a feed says; a line that is not one of the driver's is passed over."""
    tries: list[Try] = []
    whole = False
    for line in text.splitlines():
        if begun := _BEGIN.fullmatch(line):
            tries.append(Try(begun.group(1), int(begun.group(2)), visible(begun.group(3))))
        elif tries and tries[-1].passed is None:
            tries[-1] = _ended(tries[-1], line)
        whole = line == "END"
    return Feed(tuple(tries), whole)


def settled(feed: Feed, problem: str) -> tuple[Try, ...]:
    """Return the tries; one that never ended says what `problem` ended its JVM."""
    return tuple(each if each.passed is not None else replace(each, message=problem) for each in feed.tries)


def failed(tries: Iterable[Try]) -> tuple[Try, ...]:
    """Return those that did not pass, a property's first seed before any other's second."""
    turn: Counter[str] = Counter()
    found: list[tuple[int, Try]] = []
    for each in sorted(tries, key=lambda each: (each.seed, each.property)):
        if not each.passed:
            found.append((turn[each.property], each))
            turn[each.property] += 1
    return tuple(each for _, each in sorted(found, key=lambda pair: pair[0]))


def _ended(begun: Try, line: str) -> Try:
    if _PASSED.fullmatch(line):
        return replace(begun, passed=True)
    if found := _FAILED.fullmatch(line):
        message, trace = (_decoded(word) for word in found.groups())
        return replace(begun, passed=False, message=cut(visible(message), _MESSAGE), trace=cut(trace, _TRACE))
    return begun


def _decoded(word: str) -> str:
    try:
        return base64.b64decode(word, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return "it says nothing that can be read"
