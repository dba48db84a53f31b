"""Which layout a log has, found out by its first lines; pure.

What may stand around the lines is tried from nothing on (`carriers.ways`), and within each way the common layouts with
the dates that the lines show. The first that explains most of what looks like events there is taken. Where none does,
patterns are read off the lines (`proposals`), and prefixes (`prefixes`), and the one that most lines fit is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from harness.logs.read.carriers import JSON, PRETTY, Way, split_carriers, ways
from harness.logs.read.dates import dates_in
from harness.logs.read.layout import COMMON, KAFKA_DEFAULT, Layout, compile_layout
from harness.logs.read.layout_fit import begins, fitting
from harness.logs.read.prefixes import ANYTHING, prefix_before
from harness.logs.read.proposals import patterns_of

_LOOKED_AT, _HEAD = 20, 1000  # lines, and characters of each, by which a layout is ruled out
_MOST, _NEARLY_ALL = 0.5, 0.9  # of the lines that look like events
_LEAST = 1 / 3  # of them: what fits less is read off a few lines that happen to look so
_FEW = 0.02  # of all lines
_LEVEL = re.compile(r"%(?:-5)?p")
_THREAD = "[%t] %m"
# Kafka's contexts are `RaftManager id=1`, `Controller 1` and Connect's `name|task-0`; few threads are named like that.
_CONTEXT = r"[\s=|]"
_MESSAGE = "%m"


@dataclass(frozen=True, slots=True)
class _Found:
    """A layout, how its lines came, how many of them are whole events, and how many look like events of some layout."""

    layout: Layout
    way: Way
    fits: int
    begun: int

    def explains(self, share: float, begun: int) -> bool:
        """Say whether it fits such a share of what looks like events, carried or not."""
        return self.fits > share * max(self.begun, begun) and self.fits > _FEW * len(self.way.lines)


def layouts_of(samples: Mapping[str, Sequence[str]], pattern: str = "") -> dict[str, Layout]:
    """Return the layout of each log by its first lines; those that fit none are left out.

    What stands in brackets before the message is a thread if no log has lines without it, or if most of it reads as
    threads' names do. All logs are asked together, because a log whose first lines all have one of Kafka's log contexts
    looks as if it named threads: its events must not be read otherwise than those of the log beside it.
    """
    found: dict[str, Layout] = {}
    for name, lines in samples.items():
        if layout := detect(lines, pattern, dict.fromkeys(found.values())):
            found[name] = layout
    seen = {layout.pattern for layout in found.values()}
    return {
        name: compile_layout(plain)
        if (plain := layout.pattern.replace(_THREAD, _MESSAGE)) in seen - {layout.pattern}
        and not _names_threads(layout, samples[name])
        else layout
        for name, layout in found.items()
    }


def _names_threads(layout: Layout, lines: Sequence[str]) -> bool:
    """Say whether most of what a layout takes for threads does not read as contexts do."""
    events = layout.unwrapped(pl.Series(lines, dtype=pl.String)).str.extract_groups(layout.event)
    named = events.struct.field("thread").drop_nulls()
    return len(named) > 0 and int(named.str.contains(_CONTEXT).sum()) < len(named) / 2


def detect(lines: Sequence[str], pattern: str = "", known: Iterable[Layout] = ()) -> Layout | None:
    """Return the layout, plain or behind carriers, that the first lines of a log have; None if they fit none.

    Where a `pattern` is given only that is tried, plain, behind carriers and behind anything. Layouts that are `known`
    from the logs beside it are tried first.
    """
    sample = pl.Series(lines, dtype=pl.String)
    begun = int(begins(sample).sum())
    for layout in known:
        way = Way(layout.carriers, layout.unwrapped(sample))
        if layout.carriers and way.lines.equals(sample):
            continue  # nobody carried these lines
        if _found(layout, way, int(begins(way.lines).sum()), of_classes=not pattern).explains(_NEARLY_ALL, begun):
            return layout
    tried: list[_Found] = []
    for found in _tries(sample, pattern):
        if found.explains(_MOST, begun):
            return found.layout
        tried.append(found)
    best = max(tried, key=lambda each: each.fits, default=None)
    return best.layout if best and best.explains(_LEAST, begun) else None


def _tries(sample: pl.Series, pattern: str) -> Iterator[_Found]:
    """Yield the best layout of each way to read the lines, the plainer way first."""
    among = list[Way]()
    for way in ways(sample):
        among.append(way)
        if not way.is_carried(way.lines.filter(~begins(way.lines))):
            yield from _best(way, _patterns(way, pattern), of_classes=not pattern)
    anywhere = [found for way in among for found in _behind_anything(way, pattern)]
    for found in anywhere:
        yield from _behind_prefix(found, of_classes=not pattern)
    if not pattern:
        for way in reversed(among):
            shown = patterns_of(way.lines.filter(begins(way.lines)).to_list())
            yield from _best(way, [each for each in shown if _LEVEL.search(each)], of_classes=True)
    yield from anywhere


def _behind_anything(way: Way, pattern: str) -> Iterator[_Found]:
    return _best(way, [f"{ANYTHING}{each}" for each in _patterns(way, pattern)], of_classes=not pattern)


def _behind_prefix(found: _Found, *, of_classes: bool) -> Iterator[_Found]:
    """Yield the layout that was found behind anything as one behind a prefix, if that is what stands there."""
    pattern = split_carriers(found.layout.pattern)[1].removeprefix(ANYTHING)
    if expression := prefix_before(compile_layout(pattern), found.way.lines):
        (carried,) = found.way.without([expression])
        yield from _best(carried, [pattern], of_classes=of_classes)


def _patterns(way: Way, pattern: str) -> Sequence[str]:
    """Return the patterns to be tried on lines that came by a way."""
    if way.carriers[-1:] in ((JSON,), (PRETTY,)):
        return () if _carry_events(way.lines) else (KAFKA_DEFAULT,)
    if pattern:
        return (pattern,)
    begun = way.lines.filter(begins(way.lines)).to_list()
    return [each.replace("%d", date) for date in dates_in(begun) for each in COMMON]


def _carry_events(written: pl.Series) -> bool:
    """Say whether objects that were written as events have events for messages: then they are what carried those."""
    messages = written.str.slice(len("[2026-01-01 00:00:00,000] "))
    return int(begins(messages.str.replace(r"^\w+", "")).sum()) > _FEW * len(written)


def _best(way: Way, patterns: Sequence[str], *, of_classes: bool) -> Iterator[_Found]:
    """Yield the layout that most lines fit; among equals the one with more fields, then the one that comes first.

    With `of_classes` lines fit only if their logger is named as classes are.
    """
    begun = begins(way.lines)
    heads = [line[:_HEAD] for line in way.lines.filter(begun)[:_LOOKED_AT]]
    layouts = [compile_layout(way.written(each)) for each in patterns]
    likely = [each for each in layouts if not heads or any(re.match(each.header, head) for head in heads)]
    found = [_found(each, way, int(begun.sum()), of_classes=of_classes) for each in likely]
    yield from sorted(found, key=lambda each: (-each.fits, -len(each.layout.fields)))[:1]


def _found(layout: Layout, way: Way, begun: int, *, of_classes: bool) -> _Found:
    return _Found(layout, way, fitting(layout, way.lines, of_classes=of_classes), begun)
