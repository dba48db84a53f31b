"""Given jars: checked before a cluster is started on one."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

from harness.base.archives import is_class, open_archive, read_entry
from harness.base.errors import HarnessError
from harness.kafka.class_path import RAFT_CLIENT
from harness.kafka.distribution import jar_version
from harness.kafka.lock import locked_versions
from harness.kafka.release_lines import same_line
from harness.kafka.versions import release_of

_MOST_BYTES = 50 * 2**20  # the released jar has 0.3 MB
_MOST_CLASSES = 3000  # and some hundred classes; who calls whom is held in memory for each of them


def check_raft_jar(path: Path, version: str, place: Path | None = None) -> None:
    """Raise HarnessError unless `path` is a whole raft jar of this Kafka version, or of its release line.

    Where the jar is to run in a Kafka that somebody has, that lies at `place`.
    """
    if path.is_dir():
        raise HarnessError(f"{path} is a folder.", "Name a kafka-raft jar; a whole Kafka is named by --dist.")
    if not path.is_file():
        raise HarnessError(
            f"{path} does not exist." if not path.exists() else f"{path} is no file.", "Name a kafka-raft jar."
        )
    if path.stat().st_size > _MOST_BYTES:
        raise HarnessError(
            f"{path} has {path.stat().st_size} bytes, far more than a raft jar.", "Name a kafka-raft jar alone."
        )
    with open_archive(path) as archive:
        _check_content(archive, path)
    _check_version(path, version, place)


def other_release(jar: Path, version: str) -> str:
    """Return the release that a jar names where it is another than that of the nodes' `version`; else empty."""
    named = release_of(jar_version(jar))
    return "" if named == release_of(version) else named


def version_note(jar: Path, version: str) -> str:
    """Return in words by which version a jar calls itself where that is not the nodes' own; else empty."""
    return other_version("the jar", jar_version(jar), version)


def other_version(what: str, named: str, version: str) -> str:
    """Return in words that something names another version than that of the nodes; empty where it does not."""
    if release_of(named) != release_of(version):
        return f"{what} is of Kafka {named}, the nodes run {version}: another release of the same line"
    return f"{what} calls itself {named}, which is a build of Kafka {release_of(version)}" if named != version else ""


def _check_content(archive: ZipFile, path: Path) -> None:
    names = set(archive.namelist())
    if RAFT_CLIENT not in names:
        raise HarnessError(f"{path} is not a raft jar: it has no {RAFT_CLIENT}.", "Name a kafka-raft-<version>.jar.")
    if (count := sum(map(is_class, names))) > _MOST_CLASSES:
        raise HarnessError(f"{path} has {count} classes, far more than a raft jar.", "Name a kafka-raft jar alone.")
    for name in sorted(names):
        read_entry(archive, name)  # every byte is read, so that damage shows here and not in a node


def _check_version(path: Path, version: str, place: Path | None) -> None:
    found = jar_version(path)
    if not found or not same_line(found, version):
        claim = f"is of Kafka {found}" if found else "names its Kafka version neither inside nor in its file name"
        release = release_of(found)
        its_own = f"name its release by --kafka {release}" if release in locked_versions() else "name its Kafka"
        instead = "name a Kafka of that line in place of this one" if place else its_own
        raise HarnessError(
            f"{path} {claim}, but the nodes run Kafka {version}.",
            f"A raft jar runs with its own release line only: {instead}, or another jar.",
        )
