"""What the log diff read, file by file: totals.json."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileTotal:
    """What one file held; nothing is left out, so the parts add up to the whole.

    Lines before the first header are unparsed. `foreign_lines` begin no event, but look as if they did in another
    layout; they are in an event or unparsed all the same. `bytes` counts every line's newline, also one that the last
    line lacks. Times are seconds since the Unix epoch, 0 where the file has no events. Of logs known to no run `active`
    is how long they are in seconds, without `idle`, the pauses that do not count.
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
    active: float = 0.0
    idle: float = 0.0


@dataclass(frozen=True, slots=True)
class Totals:
    """What was read, file by file, and what could not be compared or read, in words."""

    schema: int
    files: tuple[FileTotal, ...]
    left_out: tuple[str, ...]
