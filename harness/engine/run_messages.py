"""What the harness and the process of a run (harness.engine.apart) say to each other."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.runs import RunResult


@dataclass(frozen=True, slots=True)
class InPhase:
    """From a run: its plan has entered a phase."""

    name: str


@dataclass(frozen=True, slots=True)
class NeedsQuiet:
    """From a run: its plan needs quiet from here on, or no more."""

    is_on: bool


@dataclass(frozen=True, slots=True)
class Ended:
    """From a run: its result, or what was raised instead."""

    result: RunResult | None = None
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class IsQuiet:
    """To a run: it is quiet."""


@dataclass(frozen=True, slots=True)
class Cancel:
    """To a run: it is to end now."""
