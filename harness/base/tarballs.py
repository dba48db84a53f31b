"""Tar archives that somebody else made: read to their end under limits, only what is wanted is written."""

from __future__ import annotations

import lzma
import posixpath
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from harness.base.errors import HarnessError
from harness.base.tar_headers import bounded_header

# Kafka's largest release has 300 entries and 150 MB of content; a vendor's platform some times that.
_MOST_ENTRIES = 20_000
_MOST_BYTES = 2 * 2**30
_CHUNK = 2**20
# Headers about the next header, one after the other, are read by recursion.
_BROKEN = (tarfile.TarError, OSError, EOFError, ValueError, LookupError, RecursionError, zlib.error, lzma.LZMAError)

Wanted = Callable[[PurePosixPath], bool]


def unpack(archive: Path, into: Path, wanted: Wanted) -> tuple[PurePosixPath, ...]:
    """Write the wanted files of a tar archive (compressed or not) below `into`, and return their names in it.

    A wanted link to a wanted file of the archive becomes a copy of that file. Raises HarnessError for a file that is no
    whole archive, and for one with an entry that points outside, with a wanted entry that is any other link, is no
    file or is there twice, or with more in it than any Kafka has.
    """
    try:
        with tarfile.open(archive, tarinfo=bounded_header()) as tar:
            found = _unpacked(archive, tar, into, wanted)
            _read_on(tar)
            return found
    except _BROKEN as error:
        if isinstance(error, OSError) and error.errno is not None:  # of the host, and no fault of the archive's
            raise HarnessError(
                f"{archive} cannot be unpacked into {into}: {error.strerror}.",
                "Let this user read it, and make room there, or name another folder by XDG_CACHE_HOME.",
            ) from error
        # Of what is none at all the library lists what every method of compression had to say.
        why = "it begins as none does" if "\n" in str(error) else error
        hint = "Download it again; compare its digest."
        if zipfile.is_zipfile(archive):
            hint = "It is a zip: unpack it, and name the folder. A raft jar is named by --jar."
        raise HarnessError(f"{archive} is not a whole tar archive: {why}.", hint) from error


def _unpacked(archive: Path, stream: tarfile.TarFile, into: Path, wanted: Wanted) -> tuple[PurePosixPath, ...]:
    found: dict[PurePosixPath, int] = {}  # the size of each file
    links: dict[PurePosixPath, PurePosixPath] = {}
    size = 0
    for number, entry in enumerate(stream, 1):
        path, size = PurePosixPath(entry.name), size + entry.size
        _refuse(archive, _too_many(number) or _too_large(size) or _outside(path))
        if entry.isdir() or not wanted(path):
            continue
        _refuse(archive, _odd(entry, again=path in found or path in links))
        if entry.isreg():
            _write(stream, entry, into / path)
            found[path] = entry.size
        else:
            links[path] = _target(entry)
    _copy_linked(archive, into, found, links, size)
    return (*found, *links)


def _copy_linked(
    archive: Path,
    into: Path,
    found: Mapping[PurePosixPath, int],
    links: Mapping[PurePosixPath, PurePosixPath],
    size: int,
) -> None:
    """Write a copy of the file that each link names: a link itself could lead anywhere once it is on the disk."""
    for path, target in links.items():
        if target not in found:
            raise HarnessError(
                f"{archive} is refused: the entry {str(path)!r} is a link to {str(target)!r}, which is no jar in it.",
                "Unpack it yourself, and name the folder.",
            )
        size += found[target]
        _refuse(archive, _too_large(size))
        (into / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(into / target, into / path)


def _refuse(archive: Path, problem: str) -> None:
    if problem:
        raise HarnessError(f"{archive} is refused: {problem}.", "No Kafka looks like this: find out who made it.")


def _read_on(tar: tarfile.TarFile) -> None:
    """Read what is left behind the last entry: only at its end is a compressed file known to be whole."""
    assert tar.fileobj is not None
    left = _MOST_BYTES
    while left > 0 and (read := len(tar.fileobj.read(_CHUNK))):
        left -= read


def _too_many(entries: int) -> str:
    return f"it has more than {_MOST_ENTRIES} entries" if entries > _MOST_ENTRIES else ""


def _too_large(size: int) -> str:
    return f"it unpacks to more than {_MOST_BYTES} bytes" if size > _MOST_BYTES else ""


def _outside(path: PurePosixPath) -> str:
    return f"the entry {str(path)!r} points outside" if path.is_absolute() or ".." in path.parts else ""


def _odd(entry: tarfile.TarInfo, *, again: bool) -> str:
    if again:  # two readers may take either
        return f"it has the entry {entry.name!r} twice"
    return "" if entry.isreg() or entry.issym() or entry.islnk() else f"the entry {entry.name!r} is no plain file"


def _target(entry: tarfile.TarInfo) -> PurePosixPath:
    """Return the name of the entry that a link names: a symbolic one from its own folder, a hard one from the top."""
    folder = posixpath.dirname(entry.name) if entry.issym() else ""
    return PurePosixPath(posixpath.normpath(posixpath.join(folder, entry.linkname)))


def _write(stream: tarfile.TarFile, entry: tarfile.TarInfo, target: Path) -> None:
    content = stream.extractfile(entry)
    assert content is not None  # it is a plain file
    target.parent.mkdir(parents=True, exist_ok=True)
    with content, target.open("wb") as file:
        shutil.copyfileobj(content, file)
