"""Reading and writing what all stages share: run.json, setup.json, and the time each stage took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from harness.arms import Setup
from harness.errors import HarnessError
from harness.judge import Asked
from harness.records import from_json, to_json
from harness.report.verdict import read_asked
from harness.store import write_text

__all__ = ["read_asked", "read_setup", "timed", "write_asked", "write_setup"]


def write_asked(run_dir: Path, asked: Asked) -> None:
    """Write run.json."""
    write_text(run_dir / "run.json", to_json(asked))


def write_setup(run_dir: Path, setup: Setup) -> None:
    """Write setup.json."""
    write_text(run_dir / "setup.json", to_json(setup))


def read_setup(run_dir: Path) -> Setup:
    """Read setup.json. Raises HarnessError."""
    path = run_dir / "setup.json"
    if not path.is_file():
        raise HarnessError(f"{run_dir} has no setup.json.", "Begin with `harness build --out DIR` or `harness verify`.")
    return from_json(Setup, path.read_bytes())


@contextmanager
def timed(run_dir: Path, stage: str) -> Iterator[None]:
    """Add the wall seconds of a stage to run.json when it ends."""
    began = time.monotonic()
    yield
    asked = read_asked(run_dir)
    took = round(asked.timings.get(stage, 0.0) + time.monotonic() - began, 2)
    write_asked(run_dir, replace(asked, timings={**asked.timings, stage: took}))
