"""Lock files: pinned files by coordinate, SHA-256 and size; read strictly, written the same way every time."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from harness.base.errors import HarnessError
from harness.base.paths import data_root

_PART = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_COORDINATE = re.compile(rf"{_PART}:{_PART}:jar(:{_PART})?:{_PART}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_REWRITE = "Write it again with `harness lock {name}`."


class Purpose(StrEnum):
    """What a locked file is for."""

    BYTECODE = "bytecode"  # ASM, which reads class files
    COMMANDS = "commands"  # Kafka's command line, which no node needs: bin/kafka-topics.sh and its like
    COMPARER = "comparer"  # japicmp, which checks whether two jars' APIs are compatible
    COMPILER = "compiler"  # ecj, which compiles where there is no JDK
    COVERAGE_AGENT = "coverage-agent"  # JaCoCo in a node, which notes the lines that run
    COVERAGE_READER = "coverage-reader"  # JaCoCo's command line, which reads what the agent noted
    OLD_TOPICS = "old-topics"  # the kafka-topics of a Kafka from before topic ids, which writes to ZooKeeper itself
    RUNTIME = "runtime"  # a jar of Kafka's class path
    SOURCES = "sources"  # the released sources of the module under test
    TESTS = "tests"  # upstream's tests of the module, and everything that they need beyond RUNTIME


@dataclass(frozen=True, slots=True)
class Artifact:
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
    """What is pinned together; artifacts are in the file's order: by purpose, then coordinate.

    `version` is that of the Kafka that needs them; empty for the harness's own tools.
    """

    version: str
    artifacts: tuple[Artifact, ...]

    @property
    def name(self) -> str:
        """What `harness lock` calls it, and the stem of its file."""
        return self.version or "tools"

    def of(self, purpose: Purpose) -> tuple[Artifact, ...]:
        """Return the artifacts of one purpose."""
        return tuple(artifact for artifact in self.artifacts if artifact.purpose is purpose)

    def one(self, purpose: Purpose) -> Artifact:
        """Return the artifact of a purpose that has exactly one. Raises HarnessError otherwise."""
        found = self.of(purpose)
        if len(found) != 1:
            raise HarnessError(
                f"The lock of {self.name} has {len(found)} artifacts for {purpose}, not one.",
                _REWRITE.format(name=self.name),
            )
        return found[0]


def shipped_locks() -> Path:
    """Return the folder of the locks that come with the harness."""
    return data_root() / "builds" / "locks"


def parse_lock(content: bytes, where: str, version: str = "") -> Lock:
    """Return the lock that a file's bytes hold; `where` names the file in errors, which are HarnessErrors."""
    try:
        return Lock(version, _ordered(_artifacts(tomllib.loads(content.decode("utf-8")), version)))
    except (ValueError, TypeError, AttributeError) as error:
        raise HarnessError(f"{where} is not a lock: {error}.", _REWRITE.format(name=Lock(version, ()).name)) from error


def format_lock(lock: Lock) -> str:
    """Return the lock as TOML; the order of its artifacts makes no difference."""
    version = f'version = "{lock.version}"\n' if lock.version else ""
    return f"# Written by `harness lock {lock.name}`: do not edit.\n{version}" + "".join(
        map(_table, _ordered(lock.artifacts))
    )


def checked_coordinate(coordinate: str) -> str:
    """Return the coordinate if it can only name a file below a cache. Raises ValueError."""
    if not _COORDINATE.fullmatch(coordinate) or ".." in coordinate:
        raise ValueError(f"{coordinate!r} is not a coordinate group:artifact:jar[:classifier]:version")
    return coordinate


def _artifacts(document: dict[str, Any], version: str) -> list[Artifact]:
    if document.keys() != {"artifact", *(["version"] if version else [])} or document.get("version", "") != version:
        head = f"`version = {version!r}` and " if version else ""
        raise ValueError(f"it needs {head}[[artifact]] tables, and nothing else")
    artifacts = [_artifact(table) for table in document["artifact"]]
    counted = Counter((each.purpose, each.coordinate.rpartition(":")[0]) for each in artifacts)
    if twice := sorted(name for (_, name), count in counted.items() if count > 1):
        raise ValueError(f"it pins {', '.join(twice)} twice")
    return artifacts


def _artifact(table: dict[str, Any]) -> Artifact:
    if table.keys() != {"coordinate", "sha256", "size", "purpose"}:
        raise ValueError(f"an artifact has other keys than these: {', '.join(sorted(table))}")
    coordinate = checked_coordinate(str(table["coordinate"]))
    if not _SHA256.fullmatch(str(table["sha256"])):
        raise ValueError(f"the sha256 of {coordinate} is not 64 lower-case hex digits")
    if type(table["size"]) is not int or table["size"] <= 0:
        raise ValueError(f"the size of {coordinate} is not a positive number of bytes")
    return Artifact(coordinate, table["sha256"], table["size"], Purpose(table["purpose"]))


def _ordered(artifacts: Sequence[Artifact]) -> tuple[Artifact, ...]:
    return tuple(sorted(artifacts, key=lambda artifact: (artifact.purpose, artifact.coordinate)))


def _table(artifact: Artifact) -> str:
    return (
        f'\n[[artifact]]\ncoordinate = "{artifact.coordinate}"\nsha256 = "{artifact.sha256}"\n'
        f'size = {artifact.size}\npurpose = "{artifact.purpose}"\n'
    )
