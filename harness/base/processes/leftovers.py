"""Processes that outlived the run they were started for, known by a variable that children hand down."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import psutil

RUN_VARIABLE = "HARNESS_RUN"
_EXEC_SECONDS = 0.01
_LOOKS_AT_EXEC = 10


def marked(environment: dict[str, str], run: Path) -> dict[str, str]:
    """Return the environment of a child of this run; whatever the child starts has it too."""
    return {**environment, RUN_VARIABLE: str(run)}


def left_of(run: Path) -> dict[int, str]:
    """Return id and name of every process of a run that is still there."""
    found = {}
    for process in psutil.process_iter():
        try:
            if _environment(process).get(RUN_VARIABLE) == str(run) and process.status() != psutil.STATUS_ZOMBIE:
                found[process.pid] = process.name()
        except (psutil.Error, OSError):  # it ended meanwhile, or belongs to somebody else
            continue
    return found


def _environment(process: psutil.Process) -> dict[str, str]:
    """Return what a process was started with; one that is changing its program has nothing to show for a moment."""
    for _ in range(_LOOKS_AT_EXEC):
        if environment := process.environ():
            return environment
        if not process.exe():  # a thread of the kernel, or ended: it has no environment ever
            break
        time.sleep(_EXEC_SECONDS)
    return {}


def end_leftovers(run: Path) -> str:
    """Kill what a run left running; return it as a sentence, empty when there was nothing."""
    left = left_of(run)
    for pid in left:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    listed = ", ".join(f"{name} ({pid})" for pid, name in sorted(left.items()))
    return f"processes outlived the run and were killed: {listed}" if left else ""
