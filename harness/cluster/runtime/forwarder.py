"""Carries the packets of bad links: `forwarder.py DEVICE SOCKET`, in a host between the others that has one device.

The socket (`wire_of`) is an open file that is handed down: a program of an ordinary user's may not open one, since what
its parent may do in a user namespace is lost at execve (capabilities(7)).

Each line on standard input is the whole list of bad links, as JSON: source and target (IPv4), and what `Quality` has.
Each is answered by a line. It ends with its input. A program of its own, so that the harness's work delays no packet.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import json
import os
import random
import select
import socket
import sys
import time
from collections.abc import Mapping

_IP = 0x0800
_OUTGOING = 4
LONGEST_QUEUE_SECONDS = 1.0
_PACKET_BYTES = 65536
_FORCED_BUFFER = 33  # SO_RCVBUFFORCE (asm-generic/socket.h): beyond what the host lets a socket ask for
_BUFFER_BYTES = 16 * 2**20
_INPUT = 0


def make_room(taking: socket.socket) -> None:
    """Let a socket keep a burst while its program has no turn, as far as this host lets it."""
    with contextlib.suppress(OSError):  # older kernels let only root
        taking.setsockopt(socket.SOL_SOCKET, _FORCED_BUFFER, _BUFFER_BYTES)


def wire_of(device: str) -> socket.socket:
    """Return a socket that gets every packet of a device. Raises OSError for who does not own the network."""
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_IP))
    make_room(wire)
    wire.bind((device, _IP))
    return wire


class Link:
    """One direction between two hosts: how long each packet takes, and which are lost."""

    def __init__(self, delay: float, loss: float, bits_per_second: float, seed: str) -> None:
        self.quality = (delay, loss, bits_per_second, seed)
        self._delay, self._loss, self._rate = delay, loss, bits_per_second / 8
        self._chance = random.Random(seed)  # noqa: S311 - to be had again from the seed
        self._free_at = 0.0

    def departure(self, now: float, size: int) -> float | None:
        """Return when a packet of so many bytes arrives, None where it is lost or the queue is full."""
        if self._chance.random() < self._loss:
            return None
        if self._rate:
            begins = max(now, self._free_at)
            if begins - now > LONGEST_QUEUE_SECONDS:
                return None
            self._free_at = now = begins + size / self._rate
        return now + self._delay


def links_of(line: bytes, known: Mapping[bytes, Link]) -> dict[bytes, Link]:
    """Return the links that a line of input describes, by the eight bytes of both addresses.

    One that is known and stays as it is goes on with its queue, and with what it loses next.
    """
    found = {}
    for each in json.loads(line):
        source, target = each["source"], each["target"]
        seed = f"{each['seed']} from {source} to {target}"  # of two links one does not lose what the other loses
        link = Link(each["delay"], each["loss"], each["bits_per_second"], seed)
        pair = socket.inet_aton(source) + socket.inet_aton(target)
        before = known.get(pair)
        found[pair] = before if before is not None and before.quality == link.quality else link
    return found


class Forwarder:
    """Takes packets from a device, and puts them back onto it when it is time."""

    def __init__(self, device: str, wire: socket.socket) -> None:
        self._device = device
        self._wire = wire
        self._links: dict[bytes, Link] = {}
        self._waiting: list[tuple[float, int, bytes, bytes]] = []
        self._numbers = itertools.count()
        self._said = b""

    def work(self) -> None:
        """Carry packets until the input ends."""
        wire = self._wire.fileno()
        while True:
            ready = select.select([wire, _INPUT], [], [], self._send_what_is_due())[0]
            if _INPUT in ready and not self._listen():
                return
            if wire in ready:
                self._take()

    def _send_what_is_due(self) -> float | None:
        """Send packets whose time has come; return how long the next one has to wait."""
        now = time.monotonic()
        while self._waiting and self._waiting[0][0] <= now:
            _, _, packet, sender = heapq.heappop(self._waiting)
            self._wire.sendto(packet, (self._device, _IP, 0, 0, sender))
        return max(0.0, self._waiting[0][0] - now) if self._waiting else None

    def _listen(self) -> bool:
        heard = os.read(_INPUT, _PACKET_BYTES)
        *lines, self._said = (self._said + heard).split(b"\n")
        for line in lines:
            self._links = links_of(line, self._links)
            print("done", flush=True)
        return bool(heard)

    def _take(self) -> None:
        packet, (_, _, kind, _, sender) = self._wire.recvfrom(_PACKET_BYTES)
        link = self._links.get(packet[12:20])
        at = link.departure(time.monotonic(), len(packet)) if link and kind != _OUTGOING else None
        if at is not None:
            heapq.heappush(self._waiting, (at, next(self._numbers), packet, sender))


if __name__ == "__main__":
    # Of the program that started this one its number may be over 1023, which select(2) does not take.
    Forwarder(sys.argv[1], socket.socket(fileno=os.dup(int(sys.argv[2])))).work()
