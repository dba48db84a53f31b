"""Bytes that are no requests, for a listener of Kafka's: what it makes of them."""

from __future__ import annotations

import socket
import struct

from harness.cluster.address import Address
from harness.cluster.protocol import unanswered

_VOTE, _NO_API = 52, 9999
_TOO_MUCH = 2**31 - 1
_SECONDS = 3.0


def _frame(payload: bytes) -> bytes:
    return struct.pack(">i", len(payload)) + payload


def _header(api: int, version: int) -> bytes:
    """Return a request's header: API key, version, correlation id, client id, no tagged fields (KIP-482)."""
    return struct.pack(">hhih", api, version, 1, 0) + b"\0"


GARBAGE = {
    "the request of another protocol": b"GET / HTTP/1.1\r\n\r\n",
    "a frame longer than any may be": struct.pack(">i", _TOO_MUCH) + b"\0" * 64,
    "a frame of less than nothing": struct.pack(">i", -1),
    "an empty frame": _frame(b""),
    "a request that there is not": _frame(_header(_NO_API, 0)),
    "a Vote of a version that there is not": _frame(_header(_VOTE, 99)),
    "a Vote cut off in the middle": _frame(_header(_VOTE, 1) + b"\x17K"),
    "a Vote of bytes without a meaning": _frame(_header(_VOTE, 1) + bytes(range(1, 200))),
}


def reply(address: Address, sent: bytes) -> str:
    """Send bytes and say what the listener does: `closed` (the connection), `answered`, or `left open` for 3 s.

    Raises Unreachable where nobody listens, HarnessError where the harness cannot ask.
    """
    try:
        connection = socket.create_connection((address.host, address.port), timeout=_SECONDS)
    except OSError as error:
        raise unanswered(address, error) from error
    with connection:
        try:
            connection.sendall(sent)
            return "answered" if connection.recv(1) else "closed"
        except TimeoutError:
            return "left open"
        except OSError:  # a reset is how a connection is closed that still holds unread bytes
            return "closed"
