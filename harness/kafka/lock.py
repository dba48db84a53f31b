"""Locks of Kafka versions (`builds/locks/<version>.lock`): where they are kept, the shipped ones and the user's."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import write_text
from harness.base.paths import is_checkout, user_data_root
from harness.model.arms import Build
from harness.toolbox.downloads import Pin
from harness.toolbox.lockfile import Lock, format_lock, parse_lock, shipped_locks

# As makers of builds write them (harness.kafka.versions), and `3.9`; nothing that could leave a folder.
_VERSION = re.compile(r"\d+(\.\d+)+([A-Za-z._+-][\w.+-]*)?", re.ASCII)


def user_locks() -> Path:
    """Return the folder of this user's own locks, which need not exist."""
    return user_data_root() / "locks"


def lock_folder_for_writing() -> Path:
    """Return where a new lock goes: beside the shipped ones in a checkout, else to the user's own."""
    shipped = shipped_locks()
    return shipped if is_checkout() and os.access(shipped, os.W_OK) else user_locks()


def locked_versions(folders: Sequence[Path] = ()) -> list[str]:
    """Return the Kafka versions that `read_lock` finds in the same folders."""
    names = {path.stem for folder in folders or _searched() for path in folder.glob("*.lock")}
    return sorted(filter(_VERSION.fullmatch, names))


def locked_as(build: Build) -> str:
    """Return the version under which the Kafka of a build is locked: a vendor's own, else the release it is made of.

    That release need not be locked.
    """
    return build.kafka.version if build.kafka.version in locked_versions() else build.kafka_version


def checked_version(version: str) -> str:
    """Return `version` if it can be a Kafka version (and so a file name). Raises HarnessError otherwise."""
    if not _VERSION.fullmatch(version) or ".." in version:
        raise HarnessError(f"{version!r} is not a Kafka version.", "A version reads like 3.9.1.")
    return version


def read_lock(version: str, folders: Sequence[Path] = ()) -> Lock:
    """Return the lock of a Kafka version from the first of `folders` (the shipped ones, then the user's) that has it.

    Raises HarnessError when there is none (naming those that exist) or the file is malformed.
    """
    for folder in folders or _searched():
        path = folder / f"{checked_version(version)}.lock"
        if path.is_file():
            return parse_lock(path.read_bytes(), str(path), version)
    known = ", ".join(locked_versions(folders)) or "no version"
    meant = [each for each in locked_versions(folders) if each.startswith(f"{version}.")]
    hint = f"`harness lock {version}` writes one for a release; hold your own build against one by --base-kafka."
    if meant:
        hint = f"Did you mean {meant[-1]}?"
    raise HarnessError(f"There is no lock for Kafka {version}; there are locks for: {known}.", hint)


def known_pins() -> Mapping[str, Pin]:
    """Return what all locks pin, by the path of each file below the cache; a lock that cannot be read pins nothing."""
    found: dict[str, Pin] = {}
    for path in (path for folder in _searched() for path in sorted(folder.glob("*.lock"))):
        with suppress(HarnessError, OSError):
            for artifact in parse_lock(path.read_bytes(), str(path), path.stem).artifacts:
                found.setdefault(artifact.path, Pin(artifact.sha256, str(path)))
    return found


def write_lock(lock: Lock, folder: Path) -> Path:
    """Write `<version>.lock` below `folder`, atomically, and return its path."""
    return write_text(folder / f"{checked_version(lock.version)}.lock", format_lock(lock))


def _searched() -> tuple[Path, ...]:
    return shipped_locks(), user_locks()
