"""Reading and writing what all stages share: request.json, run.json, setup.json, and the time each stage took."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import PARTIAL, read_record, write_text
from harness.base.json import to_json
from harness.model.declaration import SCHEMA, Declaration
from harness.model.request import Request
from harness.model.setup import Setup

_BEGIN = "Begin with `harness verify`, or with `harness build --out DIR`."


def write_request(run_dir: Path, request: Request) -> None:
    """Write request.json: by it a run directory whose build was cut short is gone on with."""
    write_text(run_dir / "request.json", to_json(request))


def read_request(run_dir: Path) -> Request:
    """Read request.json. Raises HarnessError."""
    path = run_dir / "request.json"
    if not path.is_file():
        raise HarnessError(f"{run_dir} is no run directory: it has no request.json.", _BEGIN)
    return read_record(Request, path)


def write_asked(run_dir: Path, asked: Declaration) -> None:
    """Write run.json."""
    write_text(run_dir / "run.json", to_json(asked))


def read_asked(run_dir: Path) -> Declaration:
    """Read run.json. Raises HarnessError when there is none, or one that this harness does not understand."""
    path = run_dir / "run.json"
    if not path.is_file():
        raise HarnessError(f"{run_dir} is no run directory: it has no run.json.", _nothing_declared(run_dir))
    asked = read_record(Declaration, path)
    if asked.schema != SCHEMA:
        raise HarnessError(
            f"{path} has schema {asked.schema}, and this harness reads schema {SCHEMA}.",
            "Use the harness that made it, or verify again.",
        )
    return asked


def _nothing_declared(run_dir: Path) -> str:
    if (run_dir / "request.json").is_file():
        return f"Its build was cut short. Go on with: harness verify --resume {run_dir}"
    return _BEGIN


def write_setup(run_dir: Path, setup: Setup) -> None:
    """Write setup.json."""
    write_text(run_dir / "setup.json", to_json(setup))


def read_setup(run_dir: Path) -> Setup:
    """Read setup.json. Raises HarnessError."""
    path = run_dir / "setup.json"
    if not path.is_file():
        raise HarnessError(f"{run_dir} has no setup.json.", _BEGIN)
    return read_record(Setup, path)


class Stopwatch:
    """Wall and CPU seconds since it was made: those of this process and of every child that it has waited for."""

    def __init__(self) -> None:
        self._began, self._cpu = time.monotonic(), _cpu_seconds()

    def told(self, asked: Declaration, stage: str) -> Declaration:
        """Return what was declared with the seconds added to those that the stage took before."""
        wall = asked.timings.get(stage, 0.0) + time.monotonic() - self._began
        cpu = asked.cpu_seconds.get(stage, 0.0) + _cpu_seconds() - self._cpu
        return replace(
            asked,
            timings={**asked.timings, stage: round(wall, 2)},
            cpu_seconds={**asked.cpu_seconds, stage: round(cpu, 2)},
        )


def _cpu_seconds() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


@contextmanager
def timed(run_dir: Path, stage: str) -> Iterator[None]:
    """Add the wall and CPU seconds of a stage to run.json when it ends."""
    watch = Stopwatch()
    yield
    write_asked(run_dir, watch.told(read_asked(run_dir), stage))


def tidy(run_dir: Path) -> None:
    """Remove what a killed stage left half-written; only for who owns the run directory."""
    for path in list(run_dir.rglob(f"{PARTIAL}*")):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    for folder in run_dir.glob("logs/spark-*"):
        shutil.rmtree(folder, ignore_errors=True)
    if not (run_dir / "run.json").is_file():  # builds count once they are declared
        shutil.rmtree(run_dir / "builds", ignore_errors=True)
