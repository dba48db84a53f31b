"""When what of a verification went on: content of time.json, which `--profile-time` asks for; no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.base.json_schema import Positive, Seconds, Text

SCHEMA = 1


class TimeKind(StrEnum):
    """What went on."""

    STAGE = "stage"
    PART = "part"  # of a stage
    RUN = "run"  # a cluster that is judged
    COVERAGE = "coverage"  # a cluster with the coverage agent, which judges nothing
    BESIDE = "beside"  # what gives way to clusters


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """What went on from `start`, in seconds since the command began, for so many wall `seconds`.

    `cpu_seconds` are those that it took of all processors, None where nobody counted; for `held_seconds` it was stopped
    so that others had quiet.
    """

    kind: TimeKind
    name: Text
    start: Seconds
    seconds: Seconds
    cpu_seconds: float | None = None
    held_seconds: Seconds = 0.0

    @property
    def end(self) -> float:
        """When it was over, in seconds since the command began."""
        return self.start + self.seconds


@dataclass(frozen=True, slots=True)
class TimeBook:
    """What went on in one command, which began at `began` (UTC, ISO 8601) on so many `processors`.

    `process` is the one that still writes it, empty when the command has ended.
    """

    schema: int
    began: Text
    processors: Positive
    spans: tuple[TimeSpan, ...]
    process: str = ""
