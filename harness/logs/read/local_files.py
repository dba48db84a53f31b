"""The logs below a folder of this machine, each by one name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from stat import S_ISREG
from typing import NoReturn

from harness.base.errors import HarnessError
from harness.logs.read.places import Among, logs_among


def log_files(place: Path) -> tuple[str, ...]:
    """Return a log, or the logs below a folder; see `files_of`."""
    return files_of(place).logs


def files_of(place: Path) -> Among:
    """Return a log, or what is below a folder (see `logs_among`), links that lead nowhere too.

    A place that is not there, that may not be looked into, or that holds no log that is not empty is a HarnessError.
    """
    if not place.exists():
        raise HarnessError(f"There is no {place}.", "Name a log, or a folder that holds logs.")
    sizes = {str(path): size for path in _below(place) if (size := _bytes(path)) is not None}
    found = logs_among(str(place), sizes)
    return replace(found, logs=_once(found.logs))


def _below(place: Path) -> Iterator[Path]:
    """Yield every file below a folder, also below links to folders, of which each is looked into once."""
    if not place.is_dir():
        yield place
        return
    seen = set[tuple[int, int] | None]()
    for folder, folders, files in os.walk(place, followlinks=True, onerror=_refuse):
        if (identity := identity_of(Path(folder))) in seen:
            folders.clear()
            continue
        seen.add(identity)
        yield from (Path(folder, name) for name in files)


def _refuse(error: OSError) -> NoReturn:
    raise HarnessError(f"The folder {error.filename} cannot be looked into: {error.strerror}.") from error


def _once(logs: Iterable[str]) -> tuple[str, ...]:
    """Return the logs without further names of the same file; its own goes before that of a link."""
    named: dict[tuple[int, int] | str, str] = {}
    for log in sorted(logs, key=lambda log: (Path(log).is_symlink(), log)):
        named.setdefault(identity_of(Path(log)) or log, log)
    return tuple(sorted(named.values()))


def identity_of(path: Path) -> tuple[int, int] | None:
    """Return what is the same for all names of a file or folder; None where nothing is known of it."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _bytes(path: Path) -> int | None:
    """Return the size of a file, None of a pipe or a socket; of what may not be looked at 1: reading says why."""
    try:
        found = path.stat()
    except OSError:
        return 1
    return found.st_size if S_ISREG(found.st_mode) else None
