"""JaCoCo's remote protocol: execution data in the very format of its files, each dump ended by a confirmation.

A block is a type byte and its content; numbers are big-endian as Java writes them. The other side is a JVM that runs
the jar under test, so that nothing it sends is believed to end.
"""

from __future__ import annotations

from typing import BinaryIO

_HEADER, _SESSION, _DATA, _CONFIRMED, _DUMP = 0x01, 0x10, 0x11, 0x20, 0x40
_MAGIC_AND_VERSION = b"\xc0\xc0\x10\x07"
_MOST_BYTES = 16 * 2**20  # the three classes of a typical patch give 1 KB
_MOST_DIGITS = 5  # of seven bits each: an int of Java's

GREETING = bytes([_HEADER]) + _MAGIC_AND_VERSION
# Dump, and do not reset: each dump then holds everything since the start of the JVM.
DUMP_COMMAND = bytes([_DUMP, 1, 0])


def read_dump(stream: BinaryIO) -> bytes | None:
    """Return the blocks of the next dump, fit to be appended to an execution data file; None where the stream ends.

    A dump that is cut short counts as the end. Raises ValueError for what is no dump of this format.
    """
    reader = _DumpReader(stream)
    try:
        while (kind := reader.take(1)[0]) != _CONFIRMED:
            _take_block(kind, reader)
    except EOFError:
        return None
    return bytes(reader.taken[:-1])


class _DumpReader:
    """Takes exact counts of bytes from a stream and keeps them."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.taken = bytearray()

    def take(self, count: int) -> bytes:
        if len(self.taken) + count > _MOST_BYTES:
            raise ValueError(f"a dump of more than {_MOST_BYTES} bytes")
        chunk = self._stream.read(count)
        if len(chunk) < count:
            raise EOFError
        self.taken += chunk
        return chunk


def _take_block(kind: int, reader: _DumpReader) -> None:
    if kind == _HEADER:
        if reader.take(4) != _MAGIC_AND_VERSION:
            raise ValueError("no execution data, or of another version")
    elif kind == _SESSION:
        _take_text(reader)
        reader.take(16)  # when the session began, and when it was dumped
    elif kind == _DATA:
        reader.take(8)  # the class's id
        _take_text(reader)
        reader.take((_take_number(reader) + 7) // 8)
    else:
        raise ValueError(f"an unknown block of type {kind:#x}")


def _take_text(reader: _DumpReader) -> None:
    reader.take(int.from_bytes(reader.take(2), "big"))


def _take_number(reader: _DumpReader) -> int:
    """Take a number of seven bits a byte, the lowest first; the top bit says that another byte follows."""
    number = 0
    for place in range(_MOST_DIGITS):
        byte = reader.take(1)[0]
        number |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return number
    raise ValueError(f"a number of more than {_MOST_DIGITS} bytes")
