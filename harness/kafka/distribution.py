"""The jars that a node runs with: those of a lock, or those of a Kafka that somebody has, unpacked or as an archive."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

from harness.base.archives import open_archive, read_entry
from harness.base.errors import HarnessError
from harness.base.files import move_folder, sha256_of
from harness.base.locks import scratch
from harness.base.manifests import MANIFEST
from harness.base.tarballs import unpack
from harness.kafka.class_path import (
    RAFT_JAR,
    check_all_are_jars,
    check_known_by_name,
    check_nothing_hides,
    check_nothing_is_led_to,
    holds_classes,
    is_jar,
)
from harness.kafka.lock import read_lock
from harness.kafka.versions import is_version
from harness.model.arms import Kafka
from harness.toolbox.downloads import Downloads
from harness.toolbox.lockfile import Lock, Purpose
from harness.toolbox.toolbox import Toolbox

VERSION_ENTRY = "kafka/kafka-version.properties"
_ONE_VERSION = "Name a Kafka with a single version in libs/."
_MOST_NAMED = 5
_DIGITS = 20
_DIGESTS = "SHA256SUMS"  # of the jars that were unpacked from an archive
_DEEPEST = 5  # confluent-7.9.1/share/java/kafka/x.jar
_SHARED = PurePosixPath("share/java/kafka")  # where Confluent's packages have what others have in libs/
_WHAT_TO_NAME = f"Name the folder that holds bin/, config/ and libs/, or {_SHARED}/."


@dataclass(frozen=True, slots=True)
class Distribution:
    """A Kafka to run: all jars of its class path, in order, with `raft_jar`, its own raft module, among them.

    One that `is_locked` has the jars that a node needs, and no others.
    """

    version: str
    jars: tuple[Path, ...]
    raft_jar: Path
    description: str
    is_locked: bool = False

    @property
    def others(self) -> tuple[Path, ...]:
        """Every jar but the raft module."""
        return tuple(jar for jar in self.jars if jar != self.raft_jar)

    def with_raft_jar(self, jar: Path, whose: str) -> Distribution:
        """Return the same Kafka with another raft jar in the place of its own; `whose` it is, for people."""
        jars = tuple(jar if each == self.raft_jar else each for each in self.jars)
        return replace(self, jars=jars, raft_jar=jar, description=f"{self.description}, with the raft jar of {whose}")


def distribution_of(place: Path | None, version: str, toolbox: Toolbox) -> Distribution:
    """Return the Kafka that nodes run from: that at a place, or the locked release, fetched if need be."""
    if place is None:
        return locked_distribution(read_lock(version), toolbox.downloads)
    return distribution_at(place, toolbox.cache)


def distribution_at(place: Path, cache: Path) -> Distribution:
    """Return the Kafka in a folder, or in an archive (.tgz), whose jars are unpacked into the cache once.

    Raises HarnessError when it is none.
    """
    if not place.is_file():
        return unpacked_distribution(place)
    return _of_archive(_unpacked(place, cache / "distributions"), place)


def forget_unpacked(kafka: Distribution, place: Path) -> None:
    """Remove what was unpacked from an archive that turned out to be no whole Kafka."""
    if place.is_file():
        shutil.rmtree(kafka.raft_jar.parent.parent, ignore_errors=True)


def _of_archive(folder: Path, archive: Path) -> Distribution:
    """Return the Kafka that was unpacked from an archive. Raises HarnessError, about the archive, when it is none."""
    try:
        found = unpacked_distribution(folder)
        check_nothing_is_led_to(found.jars, of_an_archive=True)
    except HarnessError as error:
        raise HarnessError(error.message.replace(str(folder), str(archive)), error.hint) from error
    return replace(found, description=f"Kafka {found.version} of {archive}")


def as_declared(kafka: Distribution, place: Path | None) -> Kafka:
    """Return a Kafka as run.json declares it: by the digest of each jar."""
    digests = {jar.name: sha256_of(jar) for jar in kafka.jars}
    if len(digests) != len(kafka.jars):
        raise HarnessError(f"{kafka.description} has two jars of one name.", _ONE_VERSION)
    return Kafka(kafka.version, str(place or ""), kafka.raft_jar.name, digests)


def changed_jar(declared: Kafka, found: Kafka) -> str:
    """Return the first jar that is not what was declared, or that is there in one of them alone; else nothing."""
    names = (*declared.jars, *(name for name in found.jars if name not in declared.jars))
    return next((name for name in names if declared.jars.get(name) != found.jars.get(name)), "")


def _unpacked(archive: Path, cache: Path) -> Path:
    """Return the folder with the jars of an archive, known by its digest; jars that were changed are unpacked anew."""
    place = cache / sha256_of(archive)[:_DIGITS]
    if not _is_as_unpacked(place):
        shutil.rmtree(place, ignore_errors=True)
        with scratch(cache) as folder:
            unpacked = unpack(archive, folder / "kafka", lambda path: _top_of(path) is not None)
            tops = {path.parent for path in unpacked if is_jar(path.name) and path.parent == _top_of(path)}
            if len(tops) != 1:
                raise HarnessError(
                    f"{archive} is not an archive of one Kafka: it has {len(tops)} folders libs/ with jars.",
                    "Name a release's kafka_<Scala>-<version>.tgz, or the folder that it was unpacked into.",
                )
            (top,) = tops
            made = folder / "made"
            made.mkdir()
            (folder / "kafka" / top).rename(made / "libs")
            _of_archive(made, archive)  # what is none is not kept
            (made / _DIGESTS).write_bytes(_digests(made))
            move_folder(made, place)
    return place


def _is_as_unpacked(place: Path) -> bool:
    noted = place / _DIGESTS
    return noted.is_file() and noted.read_bytes() == _digests(place)


def _digests(place: Path) -> bytes:
    """Return the digests of unpacked jars, a line each, as `sha256sum` writes them; names may be of any encoding."""
    jars = sorted(path for path in (place / "libs").glob("*") if path.is_file())
    return b"".join(f"{sha256_of(jar)}  libs/".encode() + os.fsencode(jar.name) + b"\n" for jar in jars)


def _top_of(path: PurePosixPath) -> PurePosixPath | None:
    """Return the libs/ that a file of an archive lies in, however deep, or Confluent's folder of a jar; else None."""
    if path.parent.parts[-3:] == _SHARED.parts:
        return path.parent if is_jar(path.name) and len(path.parts) <= _DEEPEST else None
    *folders, _ = path.parts
    at = folders.index("libs") + 1 if "libs" in folders else 0
    is_seen = 0 < at < _DEEPEST and not path.parts[at].startswith(".")
    return PurePosixPath(*folders[:at]) if is_seen else None


def locked_distribution(lock: Lock, downloads: Downloads) -> Distribution:
    """Fetch a lock's class path. Raises HarnessError when a file cannot be had or the lock has no raft module."""
    jars = downloads.fetch_all(lock.of(Purpose.RUNTIME))
    raft = _only_raft_jar(jars, f"The lock of {lock.version}")
    return Distribution(lock.version, jars, raft, f"Apache Kafka {lock.version}, the locked release", is_locked=True)


def unpacked_distribution(folder: Path) -> Distribution:
    """Return the Kafka that was unpacked into `folder`.

    Raises HarnessError when it is none, or when nodes would run classes that are in none of its jars, or in two.
    """
    libraries = folder_of_jars(folder.expanduser().absolute())
    if not folder.expanduser().exists():
        raise HarnessError(f"{folder} does not exist.", _WHAT_TO_NAME)
    try:
        entries = sorted(libraries.iterdir())
        if libraries.name == "libs":  # Confluent's script takes the jars alone
            check_all_are_jars(libraries, entries)
    except OSError as error:
        raise HarnessError(
            f"{folder} is not an unpacked Kafka: {libraries} cannot be read ({error.strerror}).",
            _WHAT_TO_NAME,
        ) from error
    jars = tuple(path for path in entries if is_jar(path.name) and holds_classes(path))
    raft = _only_raft_jar(jars, str(folder))
    check_known_by_name(jars)
    check_nothing_hides(raft, jars)
    check_nothing_is_led_to(jars)
    return Distribution(jar_version(raft), jars, raft, f"Kafka {jar_version(raft)} unpacked in {folder}")


def folder_of_jars(folder: Path) -> Path:
    """Return where a Kafka's jars lie: its libs/, Confluent's folder, or the folder itself that has a raft jar."""
    if (folder / "libs").is_dir():
        return folder / "libs"
    if any(folder.glob("kafka-raft-*.jar")):
        return folder
    return folder / _SHARED if (folder / _SHARED).is_dir() else folder / "libs"


def jar_version(jar: Path) -> str:
    """Return the Kafka version that a jar says it is of, with whatever its maker added to it (`3.9.1-p1`).

    That of its properties counts, then that of its manifest, then that of its file name; empty when none names one.
    """
    return next(filter(is_version, (version_inside(jar), jar.stem.removeprefix("kafka-raft-"))), "")


def version_inside(jar: Path) -> str:
    """Return the version that stands in a jar, in its properties or else in its manifest; empty where none does."""
    with open_archive(jar) as archive:
        named = (
            version_in_properties(_text_of(archive, VERSION_ENTRY)),
            version_in_manifest(_text_of(archive, MANIFEST)),
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
    raft = [jar for jar in jars if RAFT_JAR.fullmatch(jar.name)]
    if not raft:
        raise HarnessError(
            f"{where} lacks kafka-raft-<version>.jar among its jars.",
            "Unpack the release again into an empty folder. Kafkas before 2.8 have no KRaft, and cannot be named.",
        )
    if len(raft) > 1:
        raise HarnessError(
            f"{where} has {len(raft)} raft jars: {', '.join(jar.name for jar in raft[:_MOST_NAMED])}.",
            "Leave the one that is to run in libs/: nodes would run whichever comes first.",
        )
    return raft[0]
