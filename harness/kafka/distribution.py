"""The jars that a node runs with: those of a lock, or those of a Kafka that somebody unpacked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

from harness.base.archives import entry_names, open_archive, read_entry
from harness.base.errors import HarnessError
from harness.kafka.lock import read_lock
from harness.kafka.versions import is_version
from harness.toolbox.downloads import Downloads
from harness.toolbox.lockfile import Lock, Purpose

VERSION_ENTRY = "kafka/kafka-version.properties"
_MANIFEST = "META-INF/MANIFEST.MF"
RAFT_CLIENT = "org/apache/kafka/raft/KafkaRaftClient.class"
_RAFT_JAR = re.compile(r"kafka-raft-\d[^/]*\.jar")
_HIDES_RAFT = re.compile(rf"(META-INF/versions/\d+/)?{re.escape(RAFT_CLIENT)}")
_NOT_CLASSES = ("-sources.jar", "-javadoc.jar", "-test.jar", "-tests.jar", "-test-sources.jar")


@dataclass(frozen=True, slots=True)
class Distribution:
    """A Kafka to run: all jars of its class path, in order, with `raft_jar`, its own raft module, among them."""

    version: str
    jars: tuple[Path, ...]
    raft_jar: Path
    description: str

    @property
    def others(self) -> tuple[Path, ...]:
        """Every jar but the raft module."""
        return tuple(jar for jar in self.jars if jar != self.raft_jar)


def distribution_of(unpacked: Path | None, version: str, downloads: Downloads) -> Distribution:
    """Return the Kafka that nodes run from: the unpacked one, or the locked release, fetched if need be."""
    return unpacked_distribution(unpacked) if unpacked else locked_distribution(read_lock(version), downloads)


def locked_distribution(lock: Lock, downloads: Downloads) -> Distribution:
    """Fetch a lock's class path. Raises HarnessError when a file cannot be had or the lock has no raft module."""
    jars = downloads.fetch_all(lock.of(Purpose.RUNTIME))
    raft = _only_raft_jar(jars, f"The lock of {lock.version}")
    return Distribution(lock.version, jars, raft, f"Apache Kafka {lock.version}, the locked release")


def unpacked_distribution(folder: Path) -> Distribution:
    """Return the Kafka that was unpacked into `folder`.

    Raises HarnessError when it is none, or when a second jar holds the raft module's classes.
    """
    libraries = folder.expanduser().absolute() / "libs"
    try:
        found = sorted(path for path in libraries.iterdir() if path.suffix == ".jar")
    except OSError as error:
        raise HarnessError(
            f"{folder} is not an unpacked Kafka: {libraries} cannot be read ({error.strerror}).",
            "Name the folder that holds bin/, config/ and libs/.",
        ) from error
    jars = tuple(path for path in found if not path.name.endswith(_NOT_CLASSES))
    raft = _only_raft_jar(jars, str(folder))
    _check_nothing_hides(raft, jars)
    return Distribution(jar_version(raft), jars, raft, f"Kafka {jar_version(raft)} unpacked in {folder}")


def jar_version(jar: Path) -> str:
    """Return the Kafka version that a jar says it is of, with whatever its maker added to it (`3.9.1-p1`).

    That of its properties counts, then that of its manifest, then that of its file name; empty when none names one.
    """
    with open_archive(jar) as archive:
        named = (
            version_in_properties(_text_of(archive, VERSION_ENTRY)),
            version_in_manifest(_text_of(archive, _MANIFEST)),
            jar.stem.removeprefix("kafka-raft-"),
        )
    return next(filter(is_version, named), "")


def version_in_properties(text: str) -> str:
    """Return the version in the text of `kafka-version.properties`; empty when there is none."""
    found = re.search(r"^version=(\S+)\s*$", text, re.MULTILINE)
    return found.group(1) if found else ""


def version_in_manifest(text: str) -> str:
    """Return the version in the text of a manifest; empty when there is none."""
    found = re.search(r"^(?:Implementation-|Bundle-)?Version:[ \t]*(\S+)[ \t]*\r?$", text, re.MULTILINE | re.IGNORECASE)
    return found.group(1) if found else ""


def _text_of(archive: ZipFile, entry: str) -> str:
    return read_entry(archive, entry).decode("utf-8", "replace") if entry in archive.namelist() else ""


def _only_raft_jar(jars: tuple[Path, ...], where: str) -> Path:
    raft = [jar for jar in jars if _RAFT_JAR.fullmatch(jar.name)]
    if len(raft) != 1:
        raise HarnessError(
            f"{where} has {len(raft)} jars named kafka-raft-<version>.jar, not one.",
            "KRaft came with Kafka 2.8: name a Kafka that has it, with a single version in libs/.",
        )
    return raft[0]


def _check_nothing_hides(raft: Path, jars: tuple[Path, ...]) -> None:
    """See that the nodes' raft classes can come from one jar only: else the jar under test might never run."""
    for jar in jars:
        if jar != raft and any(map(_HIDES_RAFT.fullmatch, entry_names(jar))):
            raise HarnessError(
                f"{jar} holds {RAFT_CLIENT}, as {raft.name} does: nodes would run it instead of the jar under test.",
                "Take it out of libs/, or name a Kafka without it.",
            )
