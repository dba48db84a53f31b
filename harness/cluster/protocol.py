"""One request and its answer over Kafka's wire protocol, with kio's schemas; no client library in between."""

from __future__ import annotations

import itertools
import socket
import struct
from collections.abc import Iterable, Mapping
from io import BytesIO
from types import ModuleType
from typing import Any

from kio.index import load_entity_module, load_response_from_request
from kio.schema.api_versions.v3.request import ApiVersionsRequest
from kio.schema.errors import ErrorCode
from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.serial.errors import SerialError
from kio.static.constants import EntityType
from kio.static.primitive import i32

from harness.base.errors import HarnessError
from harness.cluster.address import Address
from harness.cluster.descriptors import have_given_out

CLIENT_ID = "kafka-patch-harness"
_MAX_ANSWER_BYTES = 16 * 1024 * 1024
_API_KEYS = {name: key for key, name in api_key_map.items()}
_correlation = itertools.count(1)

Versions = tuple[int, int]  # the lowest and the highest
_NONE: Versions = (0, -1)


_CORRELATION = slice(8, 12)  # of a request: behind its size, its key and its version


class Unreachable(Exception):  # noqa: N818 - a state of the node, not a fault of the harness
    """The node did not answer: refused, closed, too slow, or no Kafka."""


def ask(address: Address, request: Any, *, timeout: float = 1.0) -> Any:
    """Send one request to a listener and return the parsed response.

    `timeout` in seconds bounds each socket operation. Raises Unreachable, and HarnessError where it is the harness that
    cannot ask.
    """
    try:
        with socket.create_connection((address.host, address.port), timeout=timeout) as connection:
            sent = encoded(request)
            connection.sendall(sent)
            return _decode(request, _read_frame(connection), sent[_CORRELATION])
    except (OSError, EOFError, ValueError, struct.error, SerialError) as error:
        raise unanswered(address, error) from error


def unanswered(address: Address, error: Exception) -> Exception:
    """Return what to raise where nothing came back: for want of a descriptor nobody was even asked."""
    if have_given_out(error):
        return HarnessError(
            f"The node at {address} was not asked: no file descriptor was left ({error}).",
            "Run fewer clusters at a time (--jobs), or raise the hard limit of open files (ulimit -Hn).",
        )
    return Unreachable(f"{address}: {error}")


def understood(address: Address, *, timeout: float = 1.0) -> Mapping[int, Versions]:
    """Return the versions of each request, by its API key, that a node understands. Raises Unreachable."""
    # Version 3 of the question itself is understood by every Kafka with KRaft.
    question = ApiVersionsRequest(client_software_name=CLIENT_ID, client_software_version="1")
    answer = ask(address, question, timeout=timeout)
    if answer.error_code is not ErrorCode.none:
        raise Unreachable(f"{address} answers ApiVersions with {answer.error_code.name}")
    return {int(each.api_key): (int(each.min_version), int(each.max_version)) for each in answer.api_keys}


def newest_request(name: str, stated: Mapping[str, Versions], node: Mapping[int, Versions]) -> ModuleType:
    """Return kio's module of a request (`describe_quorum`) in the newest version that both sides know.

    `stated` are the versions that the node's release line allows us, `node` those that the node understands. Raises
    HarnessError when no version is common to them.
    """
    ours, theirs = stated.get(name, _NONE), node.get(_API_KEYS[name], _NONE)
    known = [version for version in _common(name, ours, theirs) if version >= ours[0]]
    if not known:
        raise HarnessError(
            f"The harness may send {name} in versions {_span(ours)}, and the node understands {_span(theirs)}.",
            "State other versions in the release line's file, under [requests]; docs/release-lines.md explains it.",
        )
    return load_entity_module(name, max(known), EntityType.request)


def every_request(name: str, stated: Mapping[str, Versions], node: Mapping[int, Versions]) -> Mapping[int, ModuleType]:
    """Return kio's modules of a request in each version that the node understands, the newest first.

    None is newer than `newest_request` is. What is older than `stated` tells the harness too little, and clients of
    earlier releases all that they know.
    """
    known = _common(name, stated.get(name, _NONE), node.get(_API_KEYS[name], _NONE))
    return {version: load_entity_module(name, version, EntityType.request) for version in reversed(known)}


def _common(name: str, ours: Versions, theirs: Versions) -> list[int]:
    """Return the versions up to our newest that the node understands and kio has, the oldest first."""
    return [version for version in range(theirs[0], min(ours[1], theirs[1]) + 1) if version in schema_name_map[name]]


class Wire:
    """Which versions of requests the nodes of one cluster are sent; every node is asked once what it understands.

    `stated` are those that release lines allow, for nodes that are not met yet.
    """

    def __init__(self, stated: Mapping[str, Versions]) -> None:
        self._stated = stated
        self._stated_at: dict[Address, Mapping[str, Versions]] = {}
        self._understood: dict[Address, Mapping[int, Versions]] = {}

    def schemas(self, name: str, address: Address, timeout: float = 1.0) -> ModuleType:
        """Return kio's module of a request for the node that listens there.

        Raises Unreachable, and HarnessError when no version is common.
        """
        return newest_request(name, *self._both(address, timeout))

    def versions(self, name: str, address: Address) -> Mapping[int, ModuleType]:
        """Return kio's modules of a request in each version that the node there understands, the newest first.

        Raises as `schemas` does: a node that does not understand the newest is not asked in older ones alone.
        """
        both = self._both(address, 1.0)
        newest_request(name, *both)
        return every_request(name, *both)

    def _both(self, address: Address, timeout: float) -> tuple[Mapping[str, Versions], Mapping[int, Versions]]:
        """Return what may be sent to a node, and what it understands."""
        if address not in self._understood:
            self._understood[address] = understood(address, timeout=timeout)
        return self._stated_at.get(address, self._stated), self._understood[address]

    def meet(self, addresses: Iterable[Address], stated: Mapping[str, Versions]) -> None:
        """Ask anew what is understood there: a node begins to listen, perhaps on a Kafka of another line."""
        for address in addresses:
            self._understood.pop(address, None)
            self._stated_at[address] = stated


def fitting(kind: Any, **values: Any) -> Any:
    """Return a request, or a part of one, with those of the values for which its version has a field."""
    return kind(**{name: value for name, value in values.items() if name in kind.__dataclass_fields__})


def _span(versions: Versions) -> str:
    return f"{versions[0]} to {versions[1]}" if versions != _NONE else "none"


def encoded(request: Any) -> bytes:
    """Return a request as it is sent. Raises ValueError or SerialError for one that its version cannot say."""
    header_schema = request.__header_schema__
    header = header_schema(
        request_api_key=request.__api_key__,
        request_api_version=request.__version__,
        correlation_id=i32(next(_correlation) % 2**31),
        client_id=CLIENT_ID,
    )
    buffer = BytesIO()
    entity_writer(header_schema)(buffer, header)
    entity_writer(type(request))(buffer, request)
    payload = buffer.getvalue()
    return struct.pack(">i", len(payload)) + payload


def _decode(request: Any, frame: bytes, correlation: bytes) -> Any:
    if frame[:4] != correlation:  # as Kafka's clients do
        raise ValueError("an answer to another request")
    schema = load_response_from_request(type(request))
    header = entity_reader(schema.__header_schema__)(frame, 0)
    body, _ = entity_reader(schema)(frame, header[1])
    return body


def _read_frame(connection: socket.socket) -> bytes:
    (size,) = struct.unpack(">i", _read_exactly(connection, 4))
    if not 0 < size <= _MAX_ANSWER_BYTES:
        raise ValueError(f"an answer of {size} bytes")
    return _read_exactly(connection, size)


def _read_exactly(connection: socket.socket, count: int) -> bytes:
    chunks = bytearray()
    while len(chunks) < count:
        chunk = connection.recv(count - len(chunks))
        if not chunk:
            raise EOFError("connection closed in the middle of an answer")
        chunks += chunk
    return bytes(chunks)
