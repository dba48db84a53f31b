"""What the harness asks of ZooKeeper and how it reads the answers, on bytes and on a server that a test plays."""

import socket
import struct
import threading
from contextlib import ExitStack, closing, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cluster.address import Address
from harness.cluster.modes.zookeeper_wire import (
    ZooKeeperTree,
    connect_request,
    parse_children,
    parse_data,
    parse_reply,
    path_request,
)
from harness.cluster.protocol import Unreachable

NO_NODE = -101


def buffer(content: bytes) -> bytes:
    return struct.pack(">i", len(content)) + content


def reply(xid: int, body: bytes = b"", code: int = 0) -> bytes:
    return struct.pack(">iqi", xid, 7, code) + body


def framed(payload: bytes) -> bytes:
    return buffer(payload)


class Server:
    """A server that keeps a tree of one file, takes connections one after another, and may drop each at once."""

    def __init__(self, answers):
        self._answers, self.sessions, self.asked = answers, 0, []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = Address("127.0.0.1", self._listener.getsockname()[1])
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.sessions += 1
            with connection, connection.makefile("rb") as stream:
                self._read(stream)
                connection.sendall(framed(bytes(37)))
                for answer in self._answers(self.sessions):
                    request = self._read(stream)
                    if request is None or answer is None:
                        break
                    xid, kind, size = struct.unpack_from(">iii", request)
                    self.asked.append((kind, request[12 : 12 + size].decode()))
                    connection.sendall(framed(answer(xid)))

    @staticmethod
    def _read(stream):
        head = stream.read(4)
        return stream.read(struct.unpack(">i", head)[0]) if len(head) == 4 else None


@pytest.fixture
def asking():
    """Return a function that makes a server of some answers and what asks it; both are closed at the end."""
    with ExitStack() as held:

        def make(answers):
            server = Server(answers)
            held.callback(server.close)
            return server, held.enter_context(closing(ZooKeeperTree(server.address)))

        yield make


def test_a_file_is_read_and_one_that_is_not_there_is_none(asking):
    server, tree = asking(lambda _: [lambda xid: reply(xid, buffer(b"5")), lambda xid: reply(xid, code=NO_NODE)])
    assert (tree.get("/controller_epoch"), tree.get("/controller")) == (b"5", None)
    assert server.asked == [(4, "/controller_epoch"), (4, "/controller")]
    assert server.sessions == 1


def test_a_session_that_was_lost_is_opened_anew_for_the_same_question(asking):
    server, tree = asking(lambda session: [lambda xid: reply(xid, buffer(b"5")), None] if session == 1 else [None])
    assert tree.get("/a") == b"5"
    with pytest.raises(Unreachable):  # the second session is dropped at its first question
        tree.get("/a")
    assert server.sessions == 2


def test_nobody_there_is_unreachable_and_another_error_too(asking):
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = Address("127.0.0.1", free.getsockname()[1])
    with pytest.raises(Unreachable, match="ZooKeeper at 127"):
        ZooKeeperTree(nobody).get("/a")
    with pytest.raises(Unreachable, match="error -2"):
        asking(lambda _: [lambda xid: reply(xid, code=-2)])[1].get("/a")


def test_what_was_deleted_was_there_or_not(asking):
    server, tree = asking(lambda _: [reply, lambda xid: reply(xid, code=NO_NODE)])
    assert (tree.delete("/controller"), tree.delete("/controller")) == (True, False)
    assert server.asked[0] == (2, "/controller")


def test_a_new_session_names_its_time_out_and_no_password():
    request = connect_request(10_000)
    assert struct.unpack(">iqiqi16s?", request) == (0, 0, 10_000, 0, 16, bytes(16), False)


@given(st.text(max_size=30), st.binary(max_size=8), st.integers(1, 2**31 - 1))
def test_a_request_names_its_path_whatever_letters_it_has(path, rest, xid):
    request = path_request(xid, 4, path, rest)
    size = len(path.encode())
    assert struct.unpack_from(">iii", request) == (xid, 4, size)
    assert request[12:] == path.encode() + rest


@given(st.lists(st.text(max_size=12), max_size=8))
def test_children_are_read_in_the_order_of_their_names(names):
    body = struct.pack(">i", len(names)) + b"".join(buffer(name.encode()) for name in names)
    assert parse_children(body) == tuple(sorted(names))


@given(st.binary(max_size=60))
def test_whatever_answers_ends_in_an_answer_or_a_value_error(frame):
    for parse in (lambda: parse_reply(frame, 1), lambda: parse_data(frame), lambda: parse_children(frame)):
        with suppress(ValueError):
            parse()
