"""Links, addresses, routes and rules of a network namespace, asked of the kernel itself (rtnetlink(7)).

The message builders are pure; `Rtnetlink` sends them from the namespace in which it was made. No program is needed:
docs/adr/0028-networks-of-namespaces-and-no-program.md says why.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import count
from types import TracebackType

# linux/rtnetlink.h, linux/if_link.h, linux/veth.h, linux/fib_rules.h
_NEW_LINK, _NEW_ADDRESS, _NEW_ROUTE, _NEW_RULE, _DELETE_RULE = 16, 20, 24, 32, 33
_REQUEST, _ACK, _EXCLUSIVE, _CREATE = 0x1, 0x4, 0x200, 0x400
_ERROR = 2
_LINK_NAME, _LINK_INFO, _LINK_NAMESPACE = 3, 18, 28
_INFO_KIND, _INFO_DATA, _VETH_PEER = 1, 2, 1
_ADDRESS, _LOCAL = 1, 2
_DESTINATION, _OUT, _GATEWAY, _ROUTE_TABLE = 1, 4, 5, 15
_RULE_TO, _RULE_FROM, _RULE_IN, _RULE_PRIORITY, _RULE_TABLE = 1, 2, 3, 6, 15
_IFF_UP = 1
_MAIN_TABLE, _STATIC, _UNICAST, _ON_LINK = 254, 4, 1, 4
_EVERYWHERE, _ON_THE_LINK = 0, 253
_HEADER = struct.Struct("=IHHII")
_ANSWER_BYTES = 65536
_ANSWER_SECONDS = 5.0


class RuleAction(IntEnum):
    """What becomes of a packet that a rule matches."""

    TO_TABLE = 1  # it is routed by a table of its own
    BLACKHOLE = 6  # it is dropped, and nobody hears of it
    PROHIBIT = 8  # its sender is told by ICMP that it is forbidden


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule by which packets from one host to another are routed; `arriving` names a device, empty for any."""

    source: str
    target: str
    action: RuleAction
    priority: int
    arriving: str = ""
    table: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """A request without its sequence number."""

    kind: int
    flags: int
    body: bytes

    def numbered(self, number: int) -> bytes:
        """Return the bytes that are sent."""
        flags = self.flags | _REQUEST | _ACK
        return _HEADER.pack(_HEADER.size + len(self.body), self.kind, flags, number, 0) + self.body


def veth(name: str, peer: str, namespace: int) -> Message:
    """Make a pair of devices, the peer in the namespace of an open file."""
    other = _link() + _attribute(_LINK_NAME, _text(peer)) + _attribute(_LINK_NAMESPACE, struct.pack("=I", namespace))
    info = _attribute(_INFO_KIND, b"veth") + _attribute(_INFO_DATA, _attribute(_VETH_PEER, other))
    body = _link() + _attribute(_LINK_NAME, _text(name)) + _attribute(_LINK_INFO, info)
    return Message(_NEW_LINK, _CREATE | _EXCLUSIVE, body)


def up(device: int) -> Message:
    """Take a device into use."""
    return Message(_NEW_LINK, 0, _link(device, _IFF_UP))


def address(device: int, host: str) -> Message:
    """Give a device an address of which it is the only one on its net."""
    body = struct.pack("=BBBBI", socket.AF_INET, 32, 0, 0, device)
    body += _attribute(_LOCAL, _host(host)) + _attribute(_ADDRESS, _host(host))
    return Message(_NEW_ADDRESS, _CREATE | _EXCLUSIVE, body)


def route(device: int, target: str = "", *, by: str = "", table: int = _MAIN_TABLE) -> Message:
    """Send what goes to a host (to all, where it is empty) through a device, `by` a host at its other end."""
    scope, flags = (_EVERYWHERE, _ON_LINK) if by else (_ON_THE_LINK, 0)
    length = 32 if target else 0
    body = struct.pack("=BBBBBBBBI", socket.AF_INET, length, 0, 0, 0, _STATIC, scope, _UNICAST, flags)
    body += _attribute(_ROUTE_TABLE, struct.pack("=I", table)) + _attribute(_OUT, struct.pack("=I", device))
    body += _attribute(_DESTINATION, _host(target)) if target else b""
    body += _attribute(_GATEWAY, _host(by)) if by else b""
    return Message(_NEW_ROUTE, _CREATE | _EXCLUSIVE, body)


def add_rule(rule: Rule) -> Message:
    """Have a rule hold from now on."""
    return Message(_NEW_RULE, _CREATE | _EXCLUSIVE, _rule(rule))


def delete_rule(rule: Rule) -> Message:
    """Have a rule hold no more."""
    return Message(_DELETE_RULE, 0, _rule(rule))


def _rule(rule: Rule) -> bytes:
    body = struct.pack("=BBBBBBBBI", socket.AF_INET, 32, 32, 0, 0, 0, 0, rule.action, 0)
    body += _attribute(_RULE_TO, _host(rule.target)) + _attribute(_RULE_FROM, _host(rule.source))
    body += _attribute(_RULE_PRIORITY, struct.pack("=I", rule.priority))
    body += _attribute(_RULE_IN, _text(rule.arriving)) if rule.arriving else b""
    return body + (_attribute(_RULE_TABLE, struct.pack("=I", rule.table)) if rule.table else b"")


def _link(device: int = 0, flags: int = 0) -> bytes:
    return struct.pack("=BxHiII", socket.AF_UNSPEC, 0, device, flags, flags)


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def _host(host: str) -> bytes:
    return socket.inet_aton(host)


def _text(text: str) -> bytes:
    return text.encode() + b"\0"


def refusals(answer: bytes) -> list[tuple[int, int]]:
    """Return (sequence number, errno) of each acknowledgement in what the kernel sent; 0 for what was done."""
    found = []
    while len(answer) >= _HEADER.size:
        length, kind, _, number, _ = _HEADER.unpack_from(answer)
        if length < _HEADER.size or length > len(answer):
            break
        if kind == _ERROR:
            (code,) = struct.unpack_from("=i", answer, _HEADER.size)
            found.append((number, -code))
        answer = answer[length + -length % 4 :]
    return found


class Rtnetlink:
    """A socket to the kernel's routing, of the network namespace of the thread that makes it; for any thread's use."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._lock = threading.Lock()  # a thread would take another one's answers
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE)
        self._socket.settimeout(_ANSWER_SECONDS)
        self._socket.bind((0, 0))

    def __enter__(self) -> Rtnetlink:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the socket."""
        self._socket.close()

    def ask(self, messages: Sequence[Message]) -> None:
        """Have the kernel do all of it, in this order and at once.

        Raises OSError for the first that it refuses, TimeoutError (one too) where it does not answer.
        """
        if messages:
            with self._lock:
                self._ask(messages)

    def _ask(self, messages: Sequence[Message]) -> None:
        numbers = [next(self._numbers) for _ in messages]
        self._socket.send(b"".join(each.numbered(number) for number, each in zip(numbers, messages, strict=True)))
        waiting, failed = set(numbers), 0
        while waiting:
            for number, code in refusals(self._socket.recv(_ANSWER_BYTES)):
                waiting.discard(number)
                failed = failed or code
        if failed:
            raise OSError(failed, f"the kernel refused a network device, route or rule: {os.strerror(failed)}")
