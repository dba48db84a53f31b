"""What who reads a diff should know of the logs, file by file, in sentences; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from harness.logs.compare import clocks
from harness.logs.read.pipeline import FileCounts
from harness.model.log_totals import FileTotal

_HOUR = 3600


def cautions(files: Mapping[str, FileCounts]) -> list[str]:
    """Return the sentences about lines of other layouts, about clocks and about long pauses."""
    totals = [file.total for file in files.values()]
    set_back = clocks.set_back_sentences((name, file.counts) for name, file in files.items())
    return [*_foreign(totals), *set_back, *_idle(totals)]


def _foreign(totals: Iterable[FileTotal]) -> Iterator[str]:
    for each in totals:
        if each.foreign_lines:
            is_one = each.foreign_lines == 1
            looks, counts = ("line looks like an event", "counts") if is_one else ("lines look like events", "count")
            yield (
                f"{each.file}: {each.foreign_lines} {looks} of another layout than {each.pattern!r}, and {counts} "
                "as part of the event before."
            )


def _idle(totals: Iterable[FileTotal]) -> Iterator[str]:
    for each in totals:
        if each.idle:
            yield f"{each.file}: its times jump ahead by {each.idle / _HOUR:,.1f} h; its length is reckoned without."
