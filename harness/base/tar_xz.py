"""One compressed tar archive: written so that the same input gives the same bytes, read as if its maker were hostile.

The reader takes plain files only, one header and one piece at a time: neither a name nor a size that an archive claims
has it hold more than a piece in memory.
"""

from __future__ import annotations

import lzma
import re
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

_BLOCK = 512
_PIECE = 1 << 20
_PRESET = 6
_MOST_MEMORY = 256 << 20  # bytes that a dictionary may take when it is unpacked; ours takes 8 MiB
_MOST_NAME = 64 << 10  # bytes of a header that gives a long name
_MOST_PADDING = 2 * tarfile.RECORDSIZE
_LONG_NAME = re.compile(rb"\d+ path=([^\n\0]*)\n")
_PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE)
_NOTHING = bytes(_BLOCK)

BROKEN = (lzma.LZMAError, tarfile.TarError, EOFError, ValueError)  # what reading raises of what is damaged


@dataclass(frozen=True, slots=True)
class Member:
    """A file to be written, or the header of one that is read."""

    name: str
    size: int


def write_archive(path: Path, members: Iterable[tuple[Member, BinaryIO | bytes]]) -> None:
    """Write an archive of plain files, in their order; owners, modes and times are the same for all.

    Raises OSError, also for a file that is shorter than it is said to be.
    """
    with (
        lzma.open(path, "wb", preset=_PRESET) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for member, content in members:
            header = tarfile.TarInfo(member.name)  # its defaults: root's, 0644, the first of January 1970
            header.size = member.size
            tar.addfile(header, BytesIO(content) if isinstance(content, bytes) else content)


class ArchiveReader:
    """Reads an archive from its begin to its end. Every method raises one of BROKEN where it is damaged."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._xz = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_MEMORY)
        self._left = 0  # bytes of the present member
        self._padding = 0

    def next(self) -> Member | None:
        """Return the next file, once the one before was read; None at the end of a whole archive."""
        assert not self._left
        self._exactly(self._padding)
        block = self._exactly(_BLOCK)
        if block == _NOTHING:
            self._finish()
            return None
        header, name = self._header(block), ""
        if header.type == tarfile.XHDTYPE:
            name = self._long_name(header.size)
            header = self._header(self._exactly(_BLOCK))
        if header.type not in _PLAIN or header.size < 0:
            raise ValueError(f"{name or header.name!r} is no plain file")
        self._left, self._padding = header.size, -header.size % _BLOCK
        return Member(name or header.name, header.size)

    def pieces(self) -> Iterator[bytes]:
        """Yield the content of the present file."""
        while self._left:
            piece = self._exactly(min(self._left, _PIECE))
            self._left -= len(piece)
            yield piece

    def _header(self, block: bytes) -> tarfile.TarInfo:
        return tarfile.TarInfo.frombuf(block, "utf-8", "strict")

    def _long_name(self, size: int) -> str:
        if not 0 < size <= _MOST_NAME:
            raise ValueError("a name in it is too long")
        found = _LONG_NAME.fullmatch(self._exactly(size))
        self._exactly(-size % _BLOCK)
        if not found:
            raise ValueError("a header in it says more than a name")
        return found[1].decode()

    def _finish(self) -> None:
        """See that nothing but padding comes, to the end of the file."""
        rest = self._some(_MOST_PADDING)
        if len(rest) == _MOST_PADDING or rest.strip(b"\0") or self._xz.unused_data or self._file.read(1):
            raise ValueError("something stands behind its end")

    def _exactly(self, size: int) -> bytes:
        content = self._some(size)
        if len(content) < size:
            raise EOFError("it ends too early")
        return content

    def _some(self, size: int) -> bytes:
        """Return `size` bytes, or fewer at the end of the compressed stream."""
        pieces, wanted = [], size
        while wanted and not self._xz.eof:
            more = self._file.read(64 << 10) if self._xz.needs_input else b""
            if self._xz.needs_input and not more:
                raise EOFError("it ends too early")
            pieces.append(self._xz.decompress(more, wanted))
            wanted -= len(pieces[-1])
        return b"".join(pieces)
