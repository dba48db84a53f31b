"""Jars and zips that somebody else made: read under limits, extracted only below the folder that is named."""

from __future__ import annotations

import re
import stat
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from harness.base.errors import HarnessError, reason_of

# Kafka's largest jar has 6000 entries and 25 MB of content.
_MOST_ENTRIES = 20_000
_MOST_BYTES = 200 * 2**20
_NAME = re.compile(r"\.(?:tar(?:\.\w+)?|tgz|tbz2?|txz|tzst|zip)$", re.IGNORECASE)


def is_archive(path: str) -> bool:
    """Whether a file is named as archives of several files are."""
    return _NAME.search(PurePosixPath(path).name) is not None


def archive_around(path: str) -> str:
    """Return the archive that a path such as `logs.tar.gz/kafka/server.log` leads into, or else the path itself."""
    return next((str(each) for each in reversed(PurePosixPath(path).parents) if is_archive(str(each))), path)


def open_archive(path: Path) -> zipfile.ZipFile:
    """Open a zip whose list of entries is sane. Raises HarnessError when it is none, or none to be touched."""
    archive = _opened(path)
    problem = first_problem(archive.infolist())
    if problem:
        archive.close()
        raise HarnessError(f"{path} is refused: {problem}.", "No Kafka jar looks like this: find out who made it.")
    return archive


def entry_names(path: Path) -> list[str]:
    """Return the names of a zip's entries, whatever their size: none is read. Raises HarnessError when it is none."""
    with _opened(path) as archive:
        return archive.namelist()


def first_problem(entries: Sequence[zipfile.ZipInfo]) -> str:
    """Return why a list of entries is not to be extracted, or an empty string."""
    if len(entries) > _MOST_ENTRIES:
        return f"it has {len(entries)} entries (at most {_MOST_ENTRIES} are read)"
    size = sum(entry.file_size for entry in entries)
    if size > _MOST_BYTES:
        return f"it unpacks to {size} bytes (at most {_MOST_BYTES} are read)"
    twins = [name for name, count in Counter(entry.filename for entry in entries).items() if count > 1]
    if twins:  # two readers may take either: what was looked at need not be what runs
        return f"it has the entry {twins[0]!r} twice"
    return next(filter(None, map(_entry_problem, entries)), "")


def read_entry(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return the content of one entry. Raises HarnessError when the archive is damaged there."""
    try:
        return archive.read(name)
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError, ValueError) as error:
        raise _damaged(archive, name, error) from error
    except Exception as error:  # zlib.error and its like have no common base
        raise _damaged(archive, name, error) from error


def extract(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path) -> None:
    """Write one entry's content to `target` as an ordinary file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(read_entry(archive, entry.filename))


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile, NotImplementedError) as error:
        raise HarnessError(
            f"{path} is not a jar: {reason_of(error)}.", "Check the path, and that the file is whole."
        ) from error


def _entry_problem(entry: zipfile.ZipInfo) -> str:
    path = PurePosixPath(entry.filename)
    if path.is_absolute() or ".." in path.parts or "\\" in entry.filename:
        return f"the entry {entry.filename!r} points outside"
    mode = entry.external_attr >> 16
    if stat.S_ISLNK(mode):
        return f"the entry {entry.filename!r} is a symbolic link"
    return ""


def _damaged(archive: zipfile.ZipFile, name: str, error: Exception) -> HarnessError:
    return HarnessError(
        f"{archive.filename} is damaged at {name}: {error}.", "Copy or download it again; compare its digest."
    )
