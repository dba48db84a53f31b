"""Locks (`builds/locks/<version>.lock`): the files of a Kafka version, pinned by SHA-256 and size."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from harness.base.errors import HarnessError
from harness.base.files import write_text
from harness.base.paths import data_root, is_checkout, user_data_root

_PART = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_COORDINATE = re.compile(rf"{_PART}:{_PART}:jar(:{_PART})?:{_PART}")
_VERSION = re.compile(r"\d+(\.\d+)+([.-][A-Za-z0-9_.-]+)?")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_REWRITE = "Write it again with `harness lock {version}`."


class Purpose(StrEnum):
    """What a locked file is for."""

    BYTECODE = "bytecode"  # ASM, which reads class files
    COMMANDS = "commands"  # Kafka's command line, which no node needs: bin/kafka-topics.sh and its like
    COMPARER = "comparer"  # japicmp, which tells whether two jars' APIs are compatible
    COMPILER = "compiler"  # ecj, which compiles where there is no JDK
    COVERAGE = "coverage"  # JaCoCo: the agent (classifier runtime) and its command line (classifier nodeps)
    RUNTIME = "runtime"  # a jar of Kafka's class path
    SOURCES = "sources"  # the released sources of the module under test
    TESTS = "tests"  # upstream's tests of the module, and everything that they need beyond RUNTIME


@dataclass(frozen=True, slots=True)
class LockedArtifact:
    """One pinned file: coordinate `group:artifact:jar[:classifier]:version`, hex digest, size in bytes."""

    coordinate: str
    sha256: str
    size: int
    purpose: Purpose

    @property
    def name(self) -> str:
        """File name, as in a Maven repository."""
        _, artifact, *rest = self.coordinate.split(":")
        classifier = f"-{rest[1]}" if len(rest) == 3 else ""
        return f"{artifact}-{rest[-1]}{classifier}.jar"

    @property
    def path(self) -> str:
        """Path below the root of a Maven repository or cache, with forward slashes."""
        group, artifact, *rest = self.coordinate.split(":")
        return "/".join((*group.split("."), artifact, rest[-1], self.name))


@dataclass(frozen=True, slots=True)
class Lock:
    """Everything a Kafka version needs; artifacts are in the file's order: by purpose, then coordinate."""

    version: str
    artifacts: tuple[LockedArtifact, ...]

    def of(self, purpose: Purpose) -> tuple[LockedArtifact, ...]:
        """Return the artifacts of one purpose."""
        return tuple(artifact for artifact in self.artifacts if artifact.purpose is purpose)

    def one(self, purpose: Purpose) -> LockedArtifact:
        """Return the artifact of a purpose that has exactly one. Raises HarnessError otherwise."""
        found = self.of(purpose)
        if len(found) != 1:
            raise HarnessError(
                f"The lock of {self.version} has {len(found)} artifacts for {purpose}, not one.",
                _REWRITE.format(version=self.version),
            )
        return found[0]


def shipped_locks() -> Path:
    """Return the folder of the locks that come with the harness."""
    return data_root() / "builds" / "locks"


def user_locks() -> Path:
    """Return the folder of this user's own locks, which need not exist."""
    return user_data_root() / "locks"


def lock_folder_for_writing() -> Path:
    """Return where a new lock goes: beside the shipped ones in a checkout, else to the user's own."""
    shipped = shipped_locks()
    return shipped if is_checkout() and os.access(shipped, os.W_OK) else user_locks()


def locked_versions(folders: Sequence[Path] = ()) -> list[str]:
    """Return the Kafka versions that `read_lock` finds in the same folders."""
    return sorted({path.stem for folder in folders or _searched() for path in folder.glob("*.lock")})


def checked_version(version: str) -> str:
    """Return `version` if it can be a Kafka version (and so a file name). Raises HarnessError otherwise."""
    if not _VERSION.fullmatch(version) or ".." in version:
        raise HarnessError(f"{version!r} is not a Kafka version.", "A version reads like 3.9.1.")
    return version


def read_lock(version: str, folders: Sequence[Path] = ()) -> Lock:
    """Return the lock of a Kafka version from the first of `folders` (the shipped ones, then the user's) that has it.

    Raises HarnessError when there is none (telling which exist) or the file is malformed.
    """
    for folder in folders or _searched():
        path = folder / f"{checked_version(version)}.lock"
        if path.is_file():
            return parse_lock(path.read_bytes(), str(path), version)
    known = ", ".join(locked_versions(folders)) or "no version"
    raise HarnessError(
        f"There is no lock for Kafka {version}; there are locks for: {known}.",
        f"`harness lock {version}` writes one.",
    )


def parse_lock(content: bytes, where: str, version: str) -> Lock:
    """Return the lock that a file's bytes hold; `where` names the file in errors, which are HarnessErrors."""
    hint = _REWRITE.format(version=version)
    try:
        return Lock(version, _ordered(_artifacts(tomllib.loads(content.decode("utf-8")), version)))
    except (ValueError, TypeError, AttributeError) as error:
        raise HarnessError(f"{where} is not a lock: {error}.", hint) from error


def format_lock(lock: Lock) -> str:
    """Return the lock as TOML; the order of its artifacts makes no difference."""
    head = f'# Written by `harness lock {lock.version}`: do not edit.\nversion = "{lock.version}"\n'
    return head + "".join(map(_table, _ordered(lock.artifacts)))


def write_lock(lock: Lock, folder: Path) -> Path:
    """Write `<version>.lock` below `folder`, atomically, and return its path."""
    return write_text(folder / f"{checked_version(lock.version)}.lock", format_lock(lock))


def checked_coordinate(coordinate: str) -> str:
    """Return the coordinate if it can only name a file below a cache. Raises ValueError."""
    if not _COORDINATE.fullmatch(coordinate) or ".." in coordinate:
        raise ValueError(f"{coordinate!r} is not a coordinate group:artifact:jar[:classifier]:version")
    return coordinate


def _searched() -> tuple[Path, ...]:
    return shipped_locks(), user_locks()


def _artifacts(document: dict[str, Any], version: str) -> list[LockedArtifact]:
    if document.keys() != {"version", "artifact"} or document["version"] != version:
        raise ValueError(f"it needs `version = {version!r}` and [[artifact]] tables, and nothing else")
    artifacts = [_artifact(table) for table in document["artifact"]]
    if len({artifact.coordinate for artifact in artifacts}) != len(artifacts):
        raise ValueError("a coordinate is listed twice")
    return artifacts


def _artifact(table: dict[str, Any]) -> LockedArtifact:
    if table.keys() != {"coordinate", "sha256", "size", "purpose"}:
        raise ValueError(f"an artifact has other keys than these: {', '.join(sorted(table))}")
    coordinate = checked_coordinate(str(table["coordinate"]))
    if not _SHA256.fullmatch(str(table["sha256"])):
        raise ValueError(f"the sha256 of {coordinate} is not 64 lower-case hex digits")
    if type(table["size"]) is not int or table["size"] <= 0:
        raise ValueError(f"the size of {coordinate} is not a positive number of bytes")
    return LockedArtifact(coordinate, table["sha256"], table["size"], Purpose(table["purpose"]))


def _ordered(artifacts: Sequence[LockedArtifact]) -> tuple[LockedArtifact, ...]:
    return tuple(sorted(artifacts, key=lambda artifact: (artifact.purpose, artifact.coordinate)))


def _table(artifact: LockedArtifact) -> str:
    return (
        f'\n[[artifact]]\ncoordinate = "{artifact.coordinate}"\nsha256 = "{artifact.sha256}"\n'
        f'size = {artifact.size}\npurpose = "{artifact.purpose}"\n'
    )
