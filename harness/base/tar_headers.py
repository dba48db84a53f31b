"""Headers of a tar archive that somebody else made: what one says of the next is read only where it is short."""

from __future__ import annotations

import tarfile
from typing import Self

_MOST_BYTES = 1 << 20  # a long name has some hundred
_OF_THE_NEXT = (
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
)


class BoundedHeader(tarfile.TarInfo):
    """A header for `tarfile.open(tarinfo=…)`: one about another that claims more bytes is a ValueError.

    The library would hold them all in memory, however few they take in a compressed archive.
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Return the header that 512 bytes are."""
        header = super().frombuf(buf, encoding, errors)
        if header.type in _OF_THE_NEXT and header.size > _MOST_BYTES:
            raise ValueError(f"a header in it claims {header.size} bytes")
        return header
