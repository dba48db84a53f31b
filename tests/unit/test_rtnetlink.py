"""What the kernel is asked: messages of rtnetlink, byte by byte, and what its answers mean."""

import errno
import socket
import struct
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cluster.runtime import rtnetlink
from harness.cluster.runtime.rtnetlink import (
    Message,
    Rule,
    RuleAction,
    add_rule,
    address,
    delete_rule,
    refusals,
    route,
    up,
    veth,
)

CUT = Rule("192.0.2.10", "192.0.2.11", RuleAction.BLACKHOLE, 100)


def attributes(body: bytes) -> dict[int, bytes]:
    found = {}
    while body:
        length, kind = struct.unpack_from("=HH", body)
        found[kind] = body[4:length]
        body = body[length + -length % 4 :]
    return found


def test_a_rule_names_both_hosts_what_becomes_of_the_packet_and_its_priority():
    body = add_rule(CUT).body
    assert struct.unpack_from("=BBBBBBBBI", body) == (2, 32, 32, 0, 0, 0, 0, 6, 0)
    of = attributes(body[12:])
    assert of == {1: bytes([192, 0, 2, 11]), 2: bytes([192, 0, 2, 10]), 6: struct.pack("=I", 100)}


def test_a_rule_is_deleted_by_what_it_was_added_with():
    assert delete_rule(CUT).body == add_rule(CUT).body
    assert delete_rule(CUT).kind == add_rule(CUT).kind + 1


def test_a_rule_may_be_for_what_arrives_at_one_device_and_send_it_to_a_table_of_its_own():
    of = attributes(add_rule(Rule("192.0.2.1", "192.0.2.2", RuleAction.TO_TABLE, 200, "h1", 100)).body[12:])
    assert of[3] == b"h1\0"
    assert of[15] == struct.pack("=I", 100)


def test_a_pair_of_devices_has_its_other_end_in_the_namespace_of_a_file():
    of = attributes(veth("h1", "eth0", 17).body[16:])
    info = attributes(of[18])
    peer = attributes(attributes(info[2])[1][16:])
    assert of[3] == b"h1\0"
    assert info[1] == b"veth"
    assert peer == {3: b"eth0\0", 28: struct.pack("=I", 17)}


def test_a_route_by_another_host_reaches_everywhere_and_one_to_a_neighbour_only_its_link():
    everywhere, neighbour = route(3, by="192.0.2.1").body, route(3, "192.0.2.1").body
    assert (everywhere[1], everywhere[6], neighbour[1], neighbour[6]) == (0, 0, 32, 253)
    assert attributes(everywhere[12:])[5] == bytes([192, 0, 2, 1])
    assert 5 not in attributes(neighbour[12:])


@given(st.integers(1, 2**32 - 1), st.sampled_from([up(7), address(7, "192.0.2.9"), add_rule(CUT), veth("a", "b", 3)]))
def test_a_message_says_how_long_it_is_and_asks_for_an_answer(number, message):
    sent = message.numbered(number)
    length, kind, flags, sequence, _ = struct.unpack_from("=IHHII", sent)
    assert (length, kind, sequence) == (len(sent), message.kind, number)
    assert len(sent) % 4 == 0
    assert flags & 0x5 == 0x5


def answer(number: int, code: int) -> bytes:
    return struct.pack("=IHHIIi", 36, 2, 0, number, 0, -code) + bytes(16)


def test_acknowledgements_are_read_by_their_numbers():
    assert refusals(answer(1, 0) + answer(2, errno.EEXIST)) == [(1, 0), (2, errno.EEXIST)]


@given(st.binary(max_size=200))
def test_whatever_the_kernel_sends_is_read_to_its_end(sent):
    assert all(isinstance(number, int) for number, _ in refusals(sent))


def test_messages_are_records():
    assert Message(1, 2, b"x") == Message(1, 2, b"x")


def test_a_kernel_that_does_not_answer_is_waited_for_only_so_long(monkeypatch):
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with near, far:
        silent = SimpleNamespace(send=near.send, recv=near.recv, settimeout=near.settimeout, bind=lambda _: None)
        monkeypatch.setattr(rtnetlink.socket, "socket", lambda *_: silent)
        monkeypatch.setattr(rtnetlink, "_ANSWER_SECONDS", 0.01)
        with pytest.raises(TimeoutError):
            rtnetlink.Rtnetlink().ask([add_rule(CUT)])
