"""How long each stage took, in run.json."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from harness.model.declaration import Declaration
from harness.rundir.directory import RunDirectory


class Stopwatch:
    """Wall and CPU seconds since it was made: those of this process and of every child that it has waited for."""

    def __init__(self) -> None:
        self._began, self._cpu = time.monotonic(), _cpu_seconds()

    def add_to(self, declaration: Declaration, stage: str) -> Declaration:
        """Return the declaration with the seconds added to those that the stage took before."""
        wall = declaration.timings.get(stage, 0.0) + time.monotonic() - self._began
        cpu = declaration.cpu_seconds.get(stage, 0.0) + _cpu_seconds() - self._cpu
        return replace(
            declaration,
            timings={**declaration.timings, stage: round(wall, 2)},
            cpu_seconds={**declaration.cpu_seconds, stage: round(cpu, 2)},
        )


def _cpu_seconds() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


@contextmanager
def timed(directory: RunDirectory, stage: str) -> Iterator[None]:
    """Add the wall and CPU seconds of a stage to run.json when it ends."""
    watch = Stopwatch()
    yield
    directory.declaration.write(watch.add_to(directory.declaration.read(), stage))
