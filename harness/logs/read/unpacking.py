"""Logs that Spark cannot open as they are: archives, frames of zstd, lz4 or xz, UTF-16. They are unpacked here."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from harness.base.archives import is_archive
from harness.base.files import PARTIAL
from harness.base.tar_headers import bounded_header
from harness.logs.read.odd_names import written_name

MOST = 16 << 30  # bytes of all that is unpacked: what would hold more, such as a bomb, is left out
MOST_MEMBERS = 20_000  # of one archive
_NESTED = 3  # a log in an archive, packed, as UTF-16
_AT_ONCE = 4 << 20
_LOOKED_AT = 512  # bytes by which a file is known
_BY_SPARK = (".gz", ".bz2")
UNPACKING_ERRORS = (
    *(OSError, EOFError, ValueError, RuntimeError),
    *(pa.ArrowException, lzma.LZMAError, zlib.error, tarfile.TarError, zipfile.BadZipFile),
)

_FRAMES: Mapping[bytes, Callable[[Any], Any]] = {
    b"\x28\xb5\x2f\xfd": lambda file: pa.CompressedInputStream(file, "zstd"),
    b"\x04\x22\x4d\x18": lambda file: pa.CompressedInputStream(file, "lz4"),
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
}
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_ZIP = b"PK\x03\x04"


@dataclass(frozen=True, slots=True)
class Unpacked:
    """Where the unpacked copies of logs are, by the log's path as written down, and why others could not be unpacked.

    A log of an archive has the archive's path before its own: `before.tar.gz/kafka/server.log`; `members` are the logs
    of each archive.
    """

    copies: Mapping[str, str]
    refused: Mapping[str, str]
    members: Mapping[str, tuple[str, ...]]


@dataclass(slots=True)
class _Scratch:
    """Where copies are written, and how many bytes there may still be."""

    folder: Path
    room: int
    copies: dict[str, str] = field(default_factory=dict)
    written: int = 0

    def write(self, name: str, content: Any) -> None:
        """Write the copy of a log; of two members of one name the later counts, as where an archive was added to.

        More bytes than there is room for are an OSError.
        """
        copy = self.folder / f"{self.written}.log"
        self.written += 1
        decoder = codecs.getincrementaldecoder("utf-16")("replace") if _is_utf16(_head(content)) else None
        with copy.open("wb") as target:
            while some := content.read(_AT_ONCE):
                target.write(decoder.decode(some).encode("utf-8", "replace") if decoder else some)
                if target.tell() > min(self.room, shutil.disk_usage(self.folder).free // 2):
                    raise OSError(f"it holds more than {self.room} bytes")
        self.room -= copy.stat().st_size
        self.copies[name] = str(copy.resolve())


@contextmanager
def unpacked(places: Iterable[str], folder: Path, most: int = MOST) -> Iterator[Unpacked]:
    """Unpack those files of this machine that Spark cannot open into `folder` for the time being."""
    refused: dict[str, str] = {}
    members: dict[str, tuple[str, ...]] = {}
    with TemporaryDirectory(dir=folder, prefix=PARTIAL) as name:
        scratch = _Scratch(Path(name), most)
        for place in filter(is_packed, places):
            named, before = written_name(place), dict(scratch.copies)
            try:
                _unpack_file(place, scratch)
            except UNPACKING_ERRORS as error:
                scratch.copies = before
                refused[named] = f"it could not be unpacked ({error})"
                continue
            if named in scratch.copies:
                continue
            members[named] = tuple(sorted(scratch.copies.keys() - before.keys()))
            if not members[named]:
                refused[named] = "it holds no files"
        yield Unpacked(scratch.copies, refused, members)


def is_packed(place: str) -> bool:
    """Whether Spark cannot open a file of this machine as it is, by its first bytes."""
    try:
        with Path(place).open("rb") as file:
            head = _head(file)
            if place.endswith(_BY_SPARK) and _codec(head):
                return _is_tar(_head(_peekable(_opened(head, file))))
            return bool(_codec(head)) or _is_tar(head) or _is_utf16(head) or head.startswith(_ZIP)
    except UNPACKING_ERRORS:
        return is_archive(place)


@contextmanager
def opened(place: str) -> Iterator[io.BufferedReader]:
    """Open a file of this machine; one that is packed in a frame is unpacked as it is read."""
    with Path(place).open("rb") as file:
        head = _head(file)
        yield _peekable(_opened(head, file)) if _codec(head) else file


def _unpack_file(place: str, scratch: _Scratch) -> None:
    with Path(place).open("rb") as file:
        if not _head(file).startswith(_ZIP):
            _unpack(written_name(place), file, scratch)
            return
        with zipfile.ZipFile(file) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            _check_members(len(entries))
            for entry in entries:
                with archive.open(entry) as content:
                    _unpack(_member(written_name(place), entry.filename), _peekable(content), scratch)


def _unpack(name: str, content: Any, scratch: _Scratch, depth: int = _NESTED) -> None:
    """Write what a file holds: itself, the log that is packed in it, or the logs of an archive."""
    head = _head(content)
    if _codec(head) and depth:
        _unpack(name, _peekable(_opened(head, content)), scratch, depth - 1)
    elif _is_tar(head) and depth:
        with tarfile.open(fileobj=content, mode="r|", tarinfo=bounded_header()) as archive:
            for number, entry in enumerate(archive, 1):
                _check_members(number)
                if entry.isreg() and (member := archive.extractfile(entry)):
                    _unpack(_member(name, entry.name), member, scratch, depth - 1)
    else:
        scratch.write(name, content)


def _peekable(content: Any) -> io.BufferedReader:
    return io.BufferedReader(content)


def _check_members(number: int) -> None:
    if number > MOST_MEMBERS:
        raise OSError(f"it has more than {MOST_MEMBERS} members")


def _member(archive: str, name: str) -> str:
    """Return the path of a log in an archive; it names a place and is never written to."""
    parts = [part for part in PurePosixPath(name).parts if part not in ("/", "..")]
    return written_name("/".join((archive, *parts)))


def _head(content: Any) -> bytes:
    return bytes(content.peek(_LOOKED_AT)[:_LOOKED_AT])


def _codec(head: bytes) -> bytes:
    """Return the first bytes by which frames are known; empty for what is not packed."""
    return next((magic for magic in _FRAMES if head.startswith(magic)), b"")


def _opened(head: bytes, content: Any) -> Any:
    return _FRAMES[_codec(head)](content)


def _is_tar(head: bytes) -> bool:
    return head[257:262] == b"ustar"


def _is_utf16(head: bytes) -> bool:
    return head.startswith(_UTF16) and not head.startswith(codecs.BOM_UTF32_LE)
