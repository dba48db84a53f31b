"""The released tests of any version of a line: from its lock, else pinned when they are first asked for."""

from __future__ import annotations

from pathlib import Path

from harness.base.errors import HarnessError
from harness.kafka.lock import locked_versions, read_lock, write_lock
from harness.kafka.release_lines import Pins
from harness.toolbox.downloads import Downloads
from harness.toolbox.lockfile import Artifact, Lock, Purpose

_FOLDER = "release-tests"


def tests_of_release(release: str, pins: Pins, downloads: Downloads) -> tuple[Path, ...]:
    """Return the jars of a release's tests and of what they need beyond the class path.

    A release that is not locked is pinned in the cache by what comes first, as `harness lock` does for good; `pins` are
    those of its line. Raises HarnessError when they are not to be had.
    """
    if release in locked_versions():
        return downloads.fetch_all(read_lock(release).of(Purpose.TESTS))
    return downloads.fetch_all(_pinned(release, pins, downloads))


def _pinned(release: str, pins: Pins, downloads: Downloads) -> tuple[Artifact, ...]:
    folder = downloads.cache / _FOLDER
    if release in locked_versions([folder]):
        return read_lock(release, [folder]).artifacts
    if downloads.offline:
        raise HarnessError("They are not in the cache and --offline forbids fetching them.")
    wanted = [(coordinate.format(version=release), Purpose.TESTS) for coordinate in pins.tests]
    lock = Lock(release, downloads.pin_all(wanted))
    write_lock(lock, folder)
    return lock.artifacts
