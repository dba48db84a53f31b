"""What GitHub Actions shows beside a log: annotations, as workflow commands, and the summary of a step; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from harness.base.text import cut, visible

MOST_BYTES = 1 << 20  # of a step's summary; one that is larger is not shown at all
_TEXT = 1000
_MORE = "\n\n**More is cut here: a step's summary holds 1 MiB.**\n"
# As GitHub's own toolkit writes them (packages/core/src/command.ts).
_IN_TEXT: Mapping[int, str] = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_VALUE: Mapping[int, str] = {**_IN_TEXT, **str.maketrans({":": "%3A", ",": "%2C"})}


class Level(StrEnum):
    """How an annotation is shown."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class Annotation:
    """A sentence at a place: `file` as it is found from here, `line` from 1; empty and 0 where it is about none."""

    level: Level
    title: str
    message: str
    file: str = ""
    line: int = 0


def workflow_command(annotation: Annotation) -> str:
    """Return an annotation as a line that GitHub takes for one, whatever stands in it."""
    place = {"file": annotation.file, "line": str(annotation.line or "")}
    values = {**place, "title": annotation.title}
    named = ",".join(f"{name}={_safe(value).translate(_IN_VALUE)}" for name, value in values.items() if value)
    return f"::{annotation.level} {named}::{_safe(annotation.message).translate(_IN_TEXT)}"


def fitting(summary: str, room: int) -> str:
    """Return a summary, or its first whole lines within `room` bytes and that it was cut."""
    content = summary.encode("utf-8", "replace")
    if len(content) <= room:
        return summary
    kept = content[: max(0, room - len(_MORE.encode()))].rpartition(b"\n")[0]
    return f"{kept.decode('utf-8', 'ignore')}{_MORE}" if kept else ""


def _safe(text: str) -> str:
    return visible(cut(text, _TEXT))
