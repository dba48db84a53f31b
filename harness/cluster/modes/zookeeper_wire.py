"""The few questions that the harness puts to ZooKeeper, over its own protocol (zookeeper.jute); no client library."""

from __future__ import annotations

import itertools
import socket
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass

from harness.cluster.address import Address
from harness.cluster.protocol import Unreachable

_SESSION_MS = 10_000
_TIMEOUT_SECONDS = 2.0
_MOST_BYTES = 4 * 1024 * 1024
_DELETE, _GET_DATA, _GET_CHILDREN, _CLOSE = 2, 4, 8, -11  # org.apache.zookeeper.ZooDefs.OpCode
_OK, _NO_NODE = 0, -101  # org.apache.zookeeper.KeeperException.Code
_ANY_VERSION = -1


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: KeeperException's code, 0 for none, and what follows it."""

    code: int
    body: bytes


def connect_request(session_ms: int) -> bytes:
    """Return ConnectRequest for a new session. Pure."""
    return struct.pack(">iqiqi16s?", 0, 0, session_ms, 0, 16, bytes(16), False)


def path_request(xid: int, kind: int, path: str, rest: bytes) -> bytes:
    """Return a request about a node of the tree. Pure."""
    name = path.encode()
    return struct.pack(">iii", xid, kind, len(name)) + name + rest


def parse_reply(frame: bytes, xid: int) -> Reply:
    """Parse an answer. Raises ValueError for one to another question. Pure."""
    if len(frame) < struct.calcsize(">iqi"):
        raise ValueError(f"an answer of {len(frame)} bytes")
    answered, _, code = struct.unpack_from(">iqi", frame)
    if answered != xid:
        raise ValueError(f"an answer to request {answered}, not {xid}")
    return Reply(code, frame[16:])


def parse_data(body: bytes) -> bytes:
    """Return the content of a node of the tree. Raises ValueError. Pure."""
    return _buffer(body, 0)[0]


def parse_children(body: bytes) -> tuple[str, ...]:
    """Return the names of a node's children. Raises ValueError. Pure."""
    count, at, names = _int(body, 0), 4, []
    for _ in range(max(count, 0)):
        name, at = _buffer(body, at)
        names.append(name.decode())
    return tuple(sorted(names))


def _int(body: bytes, at: int) -> int:
    if at < 0 or at + 4 > len(body):
        raise ValueError("an answer that ends too early")
    return int(struct.unpack_from(">i", body, at)[0])


def _buffer(body: bytes, at: int) -> tuple[bytes, int]:
    size = max(_int(body, at), 0)  # -1 is no buffer at all
    begin, end = at + 4, at + 4 + size
    if end > len(body):
        raise ValueError("an answer that ends too early")
    return body[begin:end], end


class ZooKeeperTree:
    """The tree of one ZooKeeper server, asked over a session that is opened anew when it was lost; thread-safe."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._connection: socket.socket | None = None
        self._xids = itertools.count(1)

    def get(self, path: str) -> bytes | None:
        """Return the content of a node of the tree, None where there is none. Raises Unreachable."""
        reply = self._ask(path, _GET_DATA, b"\0")
        return parse_data(reply.body) if reply else None

    def children(self, path: str) -> tuple[str, ...]:
        """Return the names of a node's children, none where there is no such node. Raises Unreachable."""
        reply = self._ask(path, _GET_CHILDREN, b"\0")
        return parse_children(reply.body) if reply else ()

    def delete(self, path: str) -> bool:
        """Delete a node of the tree; return whether it was there. Raises Unreachable."""
        return self._ask(path, _DELETE, struct.pack(">i", _ANY_VERSION)) is not None

    def close(self) -> None:
        """End the session, so that the server needs not wait for it."""
        with self._lock:
            if self._connection is not None:
                with suppress(OSError):  # the server has gone first
                    _send(self._connection, struct.pack(">ii", next(self._xids), _CLOSE))
                self._drop()

    def _ask(self, path: str, kind: int, rest: bytes) -> Reply | None:
        """Return the answer, None where there is no such node. Raises Unreachable."""
        with self._lock:
            reply = self._answer(path, kind, rest)
        if reply.code == _NO_NODE:
            return None
        if reply.code != _OK:
            raise Unreachable(f"ZooKeeper at {self._address} answers error {reply.code} about {path}")
        return reply

    def _answer(self, path: str, kind: int, rest: bytes) -> Reply:
        known = self._connection is not None
        try:
            return self._ask_once(path, kind, rest)
        except (OSError, EOFError, ValueError, struct.error) as error:
            self._drop()
            if not known:
                raise Unreachable(f"ZooKeeper at {self._address}: {error}") from error
        try:  # a session that nobody used meanwhile has expired
            return self._ask_once(path, kind, rest)
        except (OSError, EOFError, ValueError, struct.error) as error:
            self._drop()
            raise Unreachable(f"ZooKeeper at {self._address}: {error}") from error

    def _ask_once(self, path: str, kind: int, rest: bytes) -> Reply:
        if self._connection is None:
            self._connection = self._connect()
        xid = next(self._xids)
        _send(self._connection, path_request(xid, kind, path, rest))
        return parse_reply(_receive(self._connection), xid)

    def _connect(self) -> socket.socket:
        address = (self._address.host, self._address.port)
        connection = socket.create_connection(address, timeout=_TIMEOUT_SECONDS)
        try:
            _send(connection, connect_request(_SESSION_MS))
            _receive(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _send(connection: socket.socket, payload: bytes) -> None:
    connection.sendall(struct.pack(">i", len(payload)) + payload)


def _receive(connection: socket.socket) -> bytes:
    (size,) = struct.unpack(">i", _exactly(connection, 4))
    if not 0 < size <= _MOST_BYTES:
        raise ValueError(f"an answer of {size} bytes")
    return _exactly(connection, size)


def _exactly(connection: socket.socket, count: int) -> bytes:
    chunks = bytearray()
    while len(chunks) < count:
        chunk = connection.recv(count - len(chunks))
        if not chunk:
            raise EOFError("connection closed in the middle of an answer")
        chunks += chunk
    return bytes(chunks)
