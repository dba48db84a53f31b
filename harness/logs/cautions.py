"""What who reads a diff should know of the logs, file by file, in sentences; pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from harness.base.text import listed
from harness.logs.compare import clocks
from harness.logs.read.pipeline import FileCounts
from harness.model.log_totals import FileTotal

_HOUR = 3600
_CHARACTERS = 120
_NAMED = 3
_MANY_OTHERS = 0.1  # of all lines
_TROUBLE = re.compile(r"error|exception|fatal|warning|fail|cannot|could not", re.IGNORECASE)


def cautions(files: Mapping[str, FileCounts]) -> list[str]:
    """Return the sentences about lines that were not understood, about clocks and about long pauses."""
    totals = [file.total for file in files.values()]
    set_back = clocks.set_back_sentences((name, file.counts) for name, file in files.items())
    said = (_before(files.values()), _warned(files.values()), _foreign(files.values()), _others(totals))
    return [*chain(*said), *set_back, *_idle(totals)]


def _before(files: Iterable[FileCounts]) -> Iterator[str]:
    for each in files:
        total = each.total
        if total.begins_unread:
            first = next((line for line in each.unparsed if line.strip()), "")
            yield (
                f"{total.file}: its first {total.unparsed_lines} lines, from {_shown(first)} on, are no events and "
                f"count as nothing; if they are, give their --layout instead of {total.pattern!r}."
            )


def _warned(files: Iterable[FileCounts]) -> Iterator[str]:
    """Yield what a JVM said before the first event that sounds like trouble: nothing else in a diff would tell it."""
    said: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for each in files:
        if not each.total.begins_unread:
            for line in filter(_TROUBLE.search, each.unparsed):
                said[re.sub(r"\d+", "0", line)].append((each.total.file, line))
    for found in said.values():
        names = list(dict.fromkeys(name for name, _ in found))
        yield f"{listed(names, _NAMED)}: before the first event, and counted as none: {_shown(found[0][1])}."


def _foreign(files: Iterable[FileCounts]) -> Iterator[str]:
    for each in files:
        total = each.total
        if total.foreign_lines:
            is_one = total.foreign_lines == 1
            looks, counts = ("line looks like an event", "counts") if is_one else ("lines look like events", "count")
            yield (
                f"{total.file}: {total.foreign_lines} {looks} of another layout than {total.pattern!r}, and {counts} "
                f"as none: {_shown(each.foreign)}. If most are such, give their --layout."
            )


def _others(totals: Iterable[FileTotal]) -> Iterator[str]:
    for each in totals:
        if each.other_lines > _MANY_OTHERS * each.lines:
            yield (
                f"{each.file}: {each.other_lines} of its {each.lines} lines are of other programs or processes than "
                "the events that they stand among, and count as nothing."
            )


def _shown(line: str) -> str:
    return repr(line[:_CHARACTERS])


def _idle(totals: Iterable[FileTotal]) -> Iterator[str]:
    for each in totals:
        if each.idle:
            yield f"{each.file}: its times jump ahead by {each.idle / _HOUR:,.1f} h; its length is reckoned without."
