"""Bad links: packets between two hosts go round by one that delays them, loses some, lets only so many through."""

from __future__ import annotations

import fcntl
import json
import os
import select
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from ctypes import addressof, create_string_buffer
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from harness.base.errors import HarnessError
from harness.base.processes import bare_environment, bound_to_harness
from harness.cluster.runtime.namespaces import Place
from harness.cluster.runtime.network import Network, Pair
from harness.cluster.runtime.rtnetlink import Rule, RuleAction, add_rule, delete_rule, route

_PROGRAM = Path(__file__).with_name("forwarder.py")
_HOST, _NAME, _DEVICE = "203.0.113.254", "the bad link", "bad"
_TABLE, _PRIORITY = 100, 200
_ANSWER_SECONDS = 5.0
# linux/ethtool.h: what a device must not leave to its other end, since packets are read in between.
_ETHTOOL, _CHECKSUMS, _SEGMENTS, _MORE_SEGMENTS = 0x8946, 0x17, 0x1F, 0x24


@dataclass(frozen=True, slots=True)
class Quality:
    """What a link is like in one direction: `delay` in seconds, `loss` as a share, 0 bits a second for no bound.

    Which packets are lost follows from the `seed`, and from their order.
    """

    delay: float = 0.0
    loss: float = 0.0
    bits_per_second: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class LinkMeasure:
    """What a probe saw of a link, both ways together: seconds of a round trip, and the share that never came back."""

    round_trip: float
    lost: float


class Links:
    """The bad links of a network; the host between is made when the first is needed. Methods raise HarnessError."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._bad: dict[Pair, Quality] = {}
        self._forwarder: subprocess.Popen[bytes] | None = None

    @property
    def bad(self) -> Mapping[Pair, Quality]:
        """Each direction that is bad at present."""
        return dict(self._bad)

    def degrade(self, pairs: Iterable[Pair], quality: Quality) -> None:
        """Make links bad, each direction by itself."""
        wanted = dict.fromkeys(pairs, quality)
        new = [pair for pair in wanted if pair not in self._bad]
        self._bad |= wanted
        try:
            self._describe()
            self._network.routing.ask([add_rule(self._detour(pair)) for pair in new])
        except OSError as error:
            raise HarnessError(f"The link was not made bad: {error}.") from error

    def mend(self, pairs: Iterable[Pair]) -> None:
        """Make links good again."""
        mine = [pair for pair in pairs if self._bad.pop(pair, None)]
        self._network.routing.ask([delete_rule(self._detour(pair)) for pair in mine])
        if mine:
            self._describe()

    def measure(self, pair: Pair, count: int) -> LinkMeasure:
        """Send datagrams to a host and have each sent back."""
        source, target = pair
        hosts, places = self._network.hosts, self._network.places
        with _socket_of(places[source], hosts[source]) as near, _socket_of(places[target], hosts[target]) as far:
            return _round_trips(near, far, count)

    def close(self) -> None:
        """End the host between."""
        if self._forwarder is not None:
            self._forwarder.kill()
            self._forwarder.communicate()

    def _detour(self, pair: Pair) -> Rule:
        source, target = (self._network.hosts[name] for name in pair)
        return Rule(source, target, RuleAction.TO_TABLE, _PRIORITY, self._network.device(pair[0]), _TABLE)

    def _describe(self) -> None:
        """Tell the forwarder what all bad links are like, and wait until it knows."""
        hosts = self._network.hosts
        said = [{"source": hosts[a], "target": hosts[b], **asdict(quality)} for (a, b), quality in self._bad.items()]
        forwarder = self._running()
        assert forwarder.stdin is not None
        assert forwarder.stdout is not None
        with suppress(BrokenPipeError):  # how it ended is told below
            forwarder.stdin.write(json.dumps(said).encode() + b"\n")
            forwarder.stdin.flush()
        ready = select.select([forwarder.stdout], [], [], _ANSWER_SECONDS)[0]
        if not ready or not os.read(forwarder.stdout.fileno(), 64):
            raise HarnessError("The program that carries the packets of bad links does not answer.")

    def _running(self) -> subprocess.Popen[bytes]:
        if self._forwarder is None:
            place = self._network.join_late(_NAME, _DEVICE, _HOST)
            self._network.hub.do(_leave_nothing_to_the_other_end)
            number = self._network.hub.do(lambda: socket.if_nametoindex(_DEVICE))
            self._network.routing.ask([route(number, by=_HOST, table=_TABLE)])
            self._forwarder = place.do(_start)
        return self._forwarder


def _start() -> subprocess.Popen[bytes]:
    command = bound_to_harness([sys.executable, "-I", "-S", str(_PROGRAM), "eth0"])
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, env=bare_environment(), start_new_session=True)


def _leave_nothing_to_the_other_end() -> None:
    """Have the kernel finish packets before it sends them: a checksum that is to be added later never would be."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for setting in (_CHECKSUMS, _SEGMENTS, _MORE_SEGMENTS):
            value = create_string_buffer(struct.pack("=II", setting, 0))
            fcntl.ioctl(asking, _ETHTOOL, struct.pack("16sP", _DEVICE.encode(), addressof(value)))


def _socket_of(place: Place, host: str) -> socket.socket:
    def make() -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.bind((host, 0))
        made.settimeout(0.0)
        return made

    return place.do(make)


def _round_trips(near: socket.socket, far: socket.socket, count: int) -> LinkMeasure:
    """Send so many datagrams at once, return each that arrives, and time those that come back; two seconds at most."""
    sent = {number.to_bytes(4, "big"): 0.0 for number in range(count)}
    took: list[float] = []
    for number in sent:
        sent[number] = time.monotonic()
        near.sendto(number, far.getsockname())
    deadline = time.monotonic() + 2.0
    while len(took) < count and (left := deadline - time.monotonic()) > 0:
        ready = select.select([near, far], [], [], left)[0]
        if far in ready:
            packet, sender = far.recvfrom(64)
            far.sendto(packet, sender)
        if near in ready:
            took.append(time.monotonic() - sent[near.recv(64)])
    return LinkMeasure(median(took) if took else float("inf"), 1 - len(took) / count)
