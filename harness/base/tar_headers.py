"""Headers of a tar archive that somebody else made: what one says of the next is read only where it is short."""

from __future__ import annotations

import tarfile
from typing import Self

_MOST_BYTES = 1 << 20  # a long name has some hundred
_MOST_BYTES_IN_ALL = 32 << 20
_OF_THE_NEXT = (
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
)


def bounded_header() -> type[tarfile.TarInfo]:
    """Return the headers of one archive, for `tarfile.open(tarinfo=…)`.

    A ValueError is a header about another that claims many bytes, alone or together with those before it: the library
    would hold them all in memory, however few they take in a compressed archive. So is a file with holes, whose list
    has no end that is known beforehand.
    """

    class Header(tarfile.TarInfo):
        claimed = 0

        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
            header = super().frombuf(buf, encoding, errors)
            if header.type == tarfile.GNUTYPE_SPARSE:
                raise ValueError("a file in it has holes")
            if header.type in _OF_THE_NEXT:
                cls.claimed += header.size
                if header.size > _MOST_BYTES or cls.claimed > _MOST_BYTES_IN_ALL:
                    raise ValueError(f"a header in it claims {header.size} bytes, and all of them {cls.claimed}")
            return header

    return Header
