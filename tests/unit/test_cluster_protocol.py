"""Versions of requests: the newest that the release line allows and the node understands."""

import socketserver
import struct
import threading
from datetime import timedelta
from io import BytesIO

import pytest
from kio.schema.api_versions.v3.response import ApiVersion, ApiVersionsResponse
from kio.schema.errors import ErrorCode
from kio.serial import entity_writer
from kio.static.primitive import i16, i32Timedelta

from harness.base.errors import HarnessError
from harness.cluster.address import Address
from harness.cluster.protocol import Unreachable, Wire, every_request, fitting, newest_request, understood
from harness.kafka.release_lines import line_of

QUORUM, METADATA = 55, 3


def named(name, stated, node):
    return newest_request(name, stated, node).__name__


@pytest.mark.parametrize(
    ("stated", "node", "version"),
    [
        ((0, 2), (0, 2), "v2"),
        ((0, 2), (0, 1), "v1"),
        ((0, 1), (0, 2), "v1"),
        ((1, 1), (0, 9), "v1"),
        ((0, 99), (0, 99), "v2"),
    ],
    ids=["both", "an older node", "a careful line", "one alone", "newer than the harness has schemas for"],
)
def test_the_newest_version_that_both_sides_know_is_sent(stated, node, version):
    assert named("describe_quorum", {"describe_quorum": stated}, {QUORUM: node}) == (
        f"kio.schema.describe_quorum.{version}.request"
    )


@pytest.mark.parametrize(
    ("node", "versions"), [((0, 2), [2, 1, 0]), ((1, 9), [2, 1]), ((0, 1), [1, 0]), ((3, 9), []), (None, [])]
)
def test_each_version_that_a_node_understands_can_be_asked_in_up_to_the_newest_that_is_stated(node, versions):
    """The lowest that is stated is what the harness needs to be told all that it asks."""
    found = every_request("describe_quorum", {"describe_quorum": (2, 2)}, {QUORUM: node} if node else {})
    assert list(found) == versions
    assert [each.__name__.split(".")[-2] for each in found.values()] == [f"v{version}" for version in versions]


@pytest.mark.parametrize("node", [{QUORUM: (0, 1)}, {}, {METADATA: (2, 2)}])
def test_a_node_that_shares_no_version_is_reported_in_a_sentence(node):
    with pytest.raises(
        HarnessError, match=r"send describe_quorum in versions 2 to 2, and the node understands (0 to 1|none)"
    ):
        newest_request("describe_quorum", {"describe_quorum": (2, 2)}, node)


def test_every_request_that_a_shipped_line_states_has_a_schema():
    stated = line_of("3.9.1").requests
    everything = dict.fromkeys(range(200), (0, 99))
    assert {name: int(named(name, stated, everything).split(".")[-2].removeprefix("v")) for name in stated} == {
        name: highest for name, (_, highest) in stated.items()
    }


class Node(socketserver.StreamRequestHandler):
    """Answers ApiVersions as a node that understands two requests."""

    def handle(self) -> None:
        (size,) = struct.unpack(">i", self.rfile.read(4))
        correlation = self.rfile.read(size)[4:8]
        keys = tuple(ApiVersion(api_key=i16(k), min_version=i16(1), max_version=i16(v)) for k, v in ((3, 12), (55, 2)))
        patience = i32Timedelta.parse(timedelta())
        body = ApiVersionsResponse(error_code=ErrorCode.none, api_keys=keys, throttle_time=patience)
        buffer = BytesIO()
        entity_writer(ApiVersionsResponse)(buffer, body)
        answer = correlation + buffer.getvalue()
        self.wfile.write(struct.pack(">i", len(answer)) + answer)


def test_a_node_says_itself_which_versions_it_understands():
    with socketserver.TCPServer(("127.0.0.1", 0), Node) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        found = understood(Address("127.0.0.1", server.server_address[1]))
        thread.join()
    assert found == {METADATA: (1, 12), QUORUM: (1, 2)}


def test_a_node_is_asked_once_what_it_understands_and_anew_when_it_has_started():
    with socketserver.TCPServer(("127.0.0.1", 0), Node) as server:
        address = Address("127.0.0.1", server.server_address[1])
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        wire = Wire({"describe_quorum": (0, 2)})
        schemas = wire.schemas("describe_quorum", address)
        thread.join()
    assert schemas.__name__ == "kio.schema.describe_quorum.v2.request"
    assert wire.schemas("describe_quorum", address) is schemas
    wire.meet([address], {"describe_quorum": (0, 2)})
    with pytest.raises(Unreachable):
        wire.schemas("describe_quorum", address)


def test_a_node_of_another_line_is_sent_what_its_own_line_allows():
    with socketserver.TCPServer(("127.0.0.1", 0), Node) as server:
        address = Address("127.0.0.1", server.server_address[1])
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        wire = Wire({"describe_quorum": (0, 2)})
        wire.meet([address], {"describe_quorum": (0, 1)})
        schemas = wire.schemas("describe_quorum", address)
        thread.join()
    assert schemas.__name__ == "kio.schema.describe_quorum.v1.request"
    assert list(wire.versions("describe_quorum", address)) == [1]


def test_a_request_has_those_values_that_its_version_knows():
    older, newer = (newest_request("metadata", {"metadata": (n, n)}, {METADATA: (0, 12)}) for n in (1, 12))
    values = {"topics": None, "allow_auto_topic_creation": False}
    assert not hasattr(fitting(older.MetadataRequest, **values), "allow_auto_topic_creation")
    assert not fitting(
        newer.MetadataRequest, **values, include_topic_authorized_operations=False
    ).allow_auto_topic_creation


class Other(Node):
    """Answers as if somebody else had asked."""

    def handle(self) -> None:
        (size,) = struct.unpack(">i", self.rfile.read(4))
        self.rfile.read(size)
        self.wfile.write(struct.pack(">i", 8) + b"\xff" * 8)


def test_an_answer_to_another_request_is_none():
    with socketserver.TCPServer(("127.0.0.1", 0), Other) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        with pytest.raises(Unreachable, match="an answer to another request"):
            understood(Address("127.0.0.1", server.server_address[1]))
        thread.join()
