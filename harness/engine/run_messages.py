"""What the harness and the process of a run (harness.engine.apart) say to each other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.engine.planned_run import PlannedRun
from harness.model.incidents import Incident
from harness.model.runs import RunResult
from harness.model.seal import RunInputs

KILLED = "killed by "  # begins the last words of a process that a signal has ended, and that had none of its own


@dataclass(frozen=True, slots=True)
class Begin:
    """To a process: the run to carry out below a folder; `inputs` are what the harness has declared it with.

    `temporary` is where temporary files go: the harness sweeps it.
    """

    cell: PlannedRun
    run_dir: Path
    inputs: RunInputs
    temporary: str


@dataclass(frozen=True, slots=True)
class InPhase:
    """From a run: its plan has entered a phase."""

    name: str


@dataclass(frozen=True, slots=True)
class Met:
    """From a run: it has met with an incident, which is known even if its process crashes later."""

    incident: Incident


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
