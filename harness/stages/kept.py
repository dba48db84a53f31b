"""Where this user keeps what a later verification of the very same may take over, and what all of it is marked with."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from harness.model.reuse import Origin
from harness.rundir.kept_results import KeptResults


def kept_in(cache: Path) -> KeptResults:
    """Return what is kept in a cache."""
    return KeptResults(cache / "results")


def origin_now(run_dir: Path, inputs: str) -> Origin:
    """Return what says of something that it was made just now in a run directory, by the digest of its inputs."""
    return Origin(str(run_dir.absolute()), datetime.now(UTC).isoformat(timespec="seconds"), inputs)
