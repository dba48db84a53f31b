"""The evidence index: every file that the verdict rests on, with its digest."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness.base.files import sha256_of
from harness.model.runs import RunKey
from harness.model.verdict import FileDigest
from harness.rundir.directory import RunDirectory


def take_inventory(directory: RunDirectory, runs: Iterable[RunKey]) -> tuple[FileDigest, ...]:
    """Return the digests of a run directory's evidence, by stage; `runs` are those that count."""
    files = directory.evidence(directory.run(key) for key in runs)
    return tuple(_digest(directory.path, path) for path in files)


def _digest(run_dir: Path, path: Path) -> FileDigest:
    return FileDigest(path.relative_to(run_dir).as_posix(), path.stat().st_size, sha256_of(path))
