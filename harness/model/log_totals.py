"""What the log diff read, file by file: totals.json."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FEW, _SHARE = 200, 0.1  # lines before the first event, and their share of all, that need no word: a start's output
_FEW_FOREIGN, _FOREIGN_SHARE = 10, 0.1  # lines of another layout among the events, and their share of these


@dataclass(frozen=True, slots=True)
class FileTotal:
    """What one file held; nothing is left out, so the parts add up to the whole.

    Lines before the first header are unparsed. `foreign_lines` begin no event, but look as if they did in another
    layout; they are in an event or unparsed all the same. `other_lines` are those among the events that another
    program wrote than the event before, as what carried them says: they are in none. `bytes` counts every line's
    newline, also one that the last line lacks. `foreign_warnings` are those foreign lines that name a level of WARN or
    worse. Times are seconds since the Unix epoch, 0 where the file has no events.
    Of logs known to no run `active` is how long they are in seconds, without `idle`, the pauses that do not count.
    """

    file: str
    pattern: str
    lines: int = 0
    bytes: int = 0
    events: int = 0
    event_lines: int = 0
    event_bytes: int = 0
    unparsed_lines: int = 0
    unparsed_bytes: int = 0
    first_at: float = 0.0
    last_at: float = 0.0
    foreign_lines: int = 0
    other_lines: int = 0
    active: float = 0.0
    idle: float = 0.0
    foreign_warnings: int = 0

    @property
    def begins_unread(self) -> bool:
        """Whether more stands before the first event than the output of a start."""
        return self.unparsed_lines > max(_FEW, self.lines * _SHARE)

    @property
    def is_partly_read(self) -> bool:
        """Whether so much counts nothing that a part is not read.

        More stands before the first event than the output of a start, or what looks like events of another layout, a
        warning or more of them than a few, counts as none.
        """
        many_foreign = self.foreign_lines > max(_FEW_FOREIGN, self.events * _FOREIGN_SHARE)
        return self.begins_unread or many_foreign or self.foreign_warnings > 0


@dataclass(frozen=True, slots=True)
class Totals:
    """What was read, file by file, and what could not be compared or read, in words: `left_out`.

    `unread` names the logs of that which nothing is known of, since they fit no layout or could not be opened.
    """

    schema: int
    files: tuple[FileTotal, ...]
    left_out: tuple[str, ...]
    unread: tuple[str, ...] = ()

    @property
    def not_whole(self) -> tuple[tuple[str, str], ...]:
        """The logs of which nothing is known, or only a part, each with the sentence that says why."""
        logs = (*self.unread, *(file.file for file in self.files if file.is_partly_read))
        said = {log: next((each for each in self.left_out if _names(each, log)), "") for log in logs}
        return tuple((log, why or f"{log} was not read.") for log, why in said.items())

    @property
    def lacking(self) -> str:
        """What lacks of the logs, as a clause; empty where all were read whole."""
        unread, partly = len(self.unread), sum(file.is_partly_read for file in self.files)
        if not unread:
            return f"{_were(partly)} read only in part" if partly else ""
        return f"{_were(unread)} not read{f', and {partly} only in part' if partly else ''}"


def _names(sentence: str, log: str) -> bool:
    """Whether a sentence is about a log, and not about one whose name begins alike."""
    return re.search(rf"(?:^|[ ,]){re.escape(log)}(?=[ :,]|$)", sentence) is not None


def _were(logs: int) -> str:
    return "1 log was" if logs == 1 else f"{logs} logs were"
