"""Numbers of varying length, as Kafka writes them (org.apache.kafka.common.utils.ByteUtils); pure."""

from __future__ import annotations

_MOST_BYTES = 10  # of a varlong


def unsigned(data: bytes, at: int) -> tuple[int, int]:
    """Return an unsigned varint and the position behind it.

    Raises IndexError where the bytes end before, and for one that is longer than any number: endless ones would be.
    """
    value = 0
    for place in range(_MOST_BYTES):
        byte = data[at + place]
        value |= (byte & 0x7F) << 7 * place
        if not byte & 0x80 and value < 2**64:
            return value, at + place + 1
    raise IndexError(f"a number has more than {_MOST_BYTES} bytes")


def zigzag(data: bytes, at: int) -> tuple[int, int]:
    """Return a signed varint and the position behind it. Raises IndexError as `unsigned` does."""
    value, end = unsigned(data, at)
    return (value >> 1) ^ -(value & 1), end
