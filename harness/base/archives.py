"""Jars and zips that somebody else made: read under limits, extracted only below the folder that is named.

What is built, proved or extracted is opened by `open_archive`. The other jars of a class path are libraries: they are
as large as their makers like, and are read entry by entry.
"""

from __future__ import annotations

import hashlib
import re
import stat
import struct
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from harness.base.errors import HarnessError, reason_of


@dataclass(frozen=True, slots=True)
class _Limits:
    """How many entries a zip may have, and what it may unpack to in all."""

    entries: int
    size: int


# Kafka's largest jar has 6000 entries and 25 MB of content; the largest shaded ones a hundred thousand and 1 GB.
_OF_ARCHIVES, _OF_LIBRARIES = _Limits(20_000, 200 * 2**20), _Limits(1_000_000, 4 * 2**30)
_MOST_OF_ENTRY = _OF_ARCHIVES.size  # into memory at once
_CODE = (".class", ".java")
# The record that ends a zip, with what it says of the list of entries, and of its own comment; and that of large ones.
_END_RECORD, _END_MARK, _MOST_COMMENT = struct.Struct("<4s4H2LH"), b"PK\x05\x06", 0xFFFF
_LOCATOR_64, _MARK_64 = 20, b"PK\x06\x07"
_NAME = re.compile(r"\.(?:tar(?:\.\w+)?|tgz|tbz2?|txz|tzst|zip)$", re.IGNORECASE)


def is_archive(path: str) -> bool:
    """Whether a file is named as archives of several files are."""
    return _NAME.search(PurePosixPath(path).name) is not None


def archive_around(path: str) -> str:
    """Return the archive that a path such as `logs.tar.gz/kafka/server.log` leads into, or else the path itself."""
    return next((str(each) for each in reversed(PurePosixPath(path).parents) if is_archive(str(each))), path)


def open_archive(path: Path) -> zipfile.ZipFile:
    """Open a zip whose list of entries is sane, and which has no code twice that is not the same.

    Raises HarnessError when it is none, or none to be touched.
    """
    return _sane(path, _OF_ARCHIVES, "No Kafka jar looks like this: find out who made it.")


def open_library(path: Path) -> zipfile.ZipFile:
    """Open a jar of a class path, none of whose entries is extracted. Raises HarnessError as `open_archive`."""
    return _sane(path, _OF_LIBRARIES, "Take it out of the Kafka that is named, or find out who made it.")


def contents(path: Path, wanted: Callable[[str], bool]) -> Iterator[bytes]:
    """Yield what a library has under wanted names, one entry at a time, twins too. Raises HarnessError."""
    with open_library(path) as archive:
        for entry in archive.infolist():
            if wanted(entry.filename):
                yield read_entry(archive, entry)


def twins_in(archive: zipfile.ZipFile) -> Mapping[str, tuple[bytes, ...]]:
    """Return the content of each entry that is there more than once, by name. Raises HarnessError for a damaged one."""
    return {name: tuple(read_entry(archive, each) for each in of_name) for name, of_name in _twins(archive)}


def is_class(name: str) -> bool:
    """Whether an entry is named as class files are."""
    return name.endswith(".class")


def entry_names(path: Path) -> list[str]:
    """Return the names of a zip's entries, whatever their size: none is read. Raises HarnessError when it is none."""
    with _opened(path) as archive:
        return archive.namelist()


def first_problem(entries: Sequence[zipfile.ZipInfo], limits: _Limits = _OF_ARCHIVES) -> str:
    """Return why a list of entries is not to be extracted, or an empty string."""
    if len(entries) > limits.entries:
        return f"it has {len(entries)} entries (at most {limits.entries} are read)"
    size = sum(entry.file_size for entry in entries)
    if size > limits.size:
        return f"it unpacks to {size} bytes (at most {limits.size} are read)"
    return next(filter(None, map(_entry_problem, entries)), "")


def entry_of(path: Path, name: str) -> bytes:
    """Return one entry of a zip whatever else is in it; nothing where there is none. Raises HarnessError."""
    with _opened(path) as archive:
        return read_entry(archive, name) if name in archive.namelist() else b""


def read_entry(archive: zipfile.ZipFile, entry: str | zipfile.ZipInfo) -> bytes:
    """Return the content of one entry; of several with one name the last, as Python's reader has it.

    Raises HarnessError for one that is too large for memory, and when the archive is damaged there.
    """
    found = _info(archive, entry) if isinstance(entry, str) else entry
    _check_size(archive, found)
    try:
        with archive.open(found) as stream:
            return stream.read(found.file_size + 1)  # unpacks no more than the list says; at its end is the checksum
    except Exception as error:  # zlib.error and its like have no common base
        raise _damaged(archive, found.filename, error) from error


def extract(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path) -> None:
    """Write one entry's content to `target` as an ordinary file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(read_entry(archive, entry))


def _sane(path: Path, limits: _Limits, hint: str) -> zipfile.ZipFile:
    archive = _opened(path)
    try:
        problem = first_problem(archive.infolist(), limits) or _ambiguous(archive)
        if limits is _OF_ARCHIVES and not problem:
            problem = _other_lists(path, archive)
    except HarnessError:
        archive.close()
        raise
    if problem:
        archive.close()
        raise HarnessError(f"{path} is refused: {problem}.", hint)
    return archive


def _other_lists(path: Path, archive: zipfile.ZipFile) -> str:
    """Return how another reader might find another list of entries, or an empty string.

    A list ends right before the record that names it, which ends the file: Python's reader takes a record that is
    followed by something, and Java's looks for one before it.
    """
    size = path.stat().st_size
    with path.open("rb") as stream:
        stream.seek(max(size - _END_RECORD.size - _MOST_COMMENT, 0))
        tail = stream.read()
    at = tail.rfind(_END_MARK)
    if not 0 <= at <= len(tail) - _END_RECORD.size:
        return "its list of entries has no end"
    *_, listed, begins, comment = _END_RECORD.unpack_from(tail, at)
    end = size - len(tail) + at
    if end + _END_RECORD.size + comment != size:
        return "its list of entries is followed by something else"
    is_64 = tail[max(at - _LOCATOR_64, 0) :].startswith(_MARK_64)
    if not is_64 and (begins + listed != end or archive.start_dir != begins):
        return "its list of entries is not where it says"
    return ""


def _ambiguous(archive: zipfile.ZipFile) -> str:
    """Return which code is there twice and not the same, or an empty string.

    Two readers may take either: what was looked at need not be what runs.
    """
    for name, of_name in _twins(archive):
        if name.endswith(_CODE) and len({hashlib.sha256(read_entry(archive, each)).digest() for each in of_name}) > 1:
            return f"it has the entry {name!r} twice, and not the same"
    return ""


def _twins(archive: zipfile.ZipFile) -> Iterator[tuple[str, Sequence[zipfile.ZipInfo]]]:
    by_name: dict[str, list[zipfile.ZipInfo]] = defaultdict(list)
    for entry in archive.infolist():
        by_name[entry.filename].append(entry)
    return ((name, of_name) for name, of_name in by_name.items() if len(of_name) > 1 and not name.endswith("/"))


def _opened(path: Path) -> zipfile.ZipFile:
    if path.exists() and not path.is_file():  # a pipe would have nobody write into it
        raise HarnessError(f"{path} is not a jar: it is no regular file.", "Put a jar into its place.")
    try:
        return zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as error:  # of a name that is no UTF-8, too
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


def _info(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    try:
        return archive.getinfo(name)
    except KeyError as error:
        raise _damaged(archive, name, error) from error


def _check_size(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
    if entry.file_size > _MOST_OF_ENTRY:
        size = f"{entry.file_size} bytes (at most {_MOST_OF_ENTRY} are read)"
        raise HarnessError(f"{archive.filename} is refused: {entry.filename!r} unpacks to {size}.")


def _damaged(archive: zipfile.ZipFile, name: str, error: Exception) -> HarnessError:
    return HarnessError(
        f"{archive.filename} is damaged at {name}: {error}.", "Copy or download it again; compare its digest."
    )
