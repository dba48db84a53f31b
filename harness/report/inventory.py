"""The evidence index: every file that the verdict rests on, with its digest."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# In the order in which the stages write them.
_BEFORE = (
    "run.json",
    "setup.json",
    "builds/*/build.json",
    "builds/*/build.log",
    "builds/*/*.jar",
    "proof/*/*.json",
    "proof/*/junit/*.xml",
)
_OF_A_RUN = ("result.json", "journal.jsonl", "nodes/*/server.log*")
_AFTER = ("logs/findings.json",)


@dataclass(frozen=True, slots=True)
class FileDigest:
    """A file below the run directory: its path there, size in bytes and SHA-256 as hex."""

    path: str
    bytes: int
    sha256: str


def take_inventory(run_dir: Path, runs: Sequence[str]) -> tuple[FileDigest, ...]:
    """Return the digests of a run directory's evidence, by stage; `runs` are the folders of the runs that count."""
    of_runs = (f"{run}/{pattern}" for run in runs for pattern in _OF_A_RUN)
    patterns = (*_BEFORE, *of_runs, *_AFTER)
    return tuple(_digest(run_dir, path) for pattern in patterns for path in _files(run_dir, pattern))


def _files(run_dir: Path, pattern: str) -> list[Path]:
    return sorted(path for path in run_dir.glob(pattern) if path.is_file() and not path.is_symlink())


def _digest(run_dir: Path, path: Path) -> FileDigest:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return FileDigest(path.relative_to(run_dir).as_posix(), path.stat().st_size, digest)
