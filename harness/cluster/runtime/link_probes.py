"""Probes of links: datagrams that are sent back, and bursts whose rate tells how much a link lets through."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from harness.cluster.descriptors import readable
from harness.cluster.runtime.forwarder import make_room
from harness.cluster.runtime.namespaces import Place
from harness.cluster.runtime.network import Pair

Ends = tuple[socket.socket, socket.socket]  # where a link begins, and where it ends
_HEADERS = 28  # of IP and UDP


@dataclass(frozen=True, slots=True)
class LinkMeasure:
    """What a probe saw of a link, both ways together: seconds of a round trip, and the share that never came back.

    Infinite seconds where nothing came back.
    """

    round_trip: float
    lost: float


@dataclass(frozen=True, slots=True)
class Tries:
    """How many datagrams are sent, how many seconds apart, and how long after the last one they may come back."""

    count: int
    apart: float = 0.0
    patience: float = 2.0


@dataclass(frozen=True, slots=True)
class Burst:
    """How many datagrams are sent at once, how many bytes each is as a packet, and how many seconds they may take."""

    count: int
    size: int
    patience: float


def socket_of(place: Place, host: str) -> socket.socket:
    """Return a socket of a host, which never waits."""

    def make() -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.bind((host, 0))
        make_room(made)
        made.settimeout(0.0)
        return made

    return place.do(make)


def round_trips(links: Mapping[Pair, Ends], tries: Tries) -> dict[Pair, LinkMeasure]:
    """Send datagrams on every link at once, return each that arrives, and time those that come back."""
    sent: dict[Pair, list[float]] = {pair: [] for pair in links}
    took: dict[Pair, list[float]] = {pair: [] for pair in links}
    nears, fars = {near: pair for pair, (near, _) in links.items()}, {far for _, far in links.values()}
    last, next_at = time.monotonic() + tries.count * tries.apart, time.monotonic()
    for number in range(tries.count):
        for pair, (near, far) in links.items():
            sent[pair].append(time.monotonic())
            near.sendto(number.to_bytes(4, "big"), far.getsockname())
        next_at += tries.apart
        _pass_on(nears, fars, sent, took, until=next_at)
    while sum(map(len, took.values())) < tries.count * len(links) and time.monotonic() < last + tries.patience:
        _pass_on(nears, fars, sent, took, until=last + tries.patience, once=True)
    return {
        pair: LinkMeasure(median(times) if times else float("inf"), 1 - len(times) / tries.count)
        for pair, times in took.items()
    }


def _pass_on(
    nears: Mapping[socket.socket, Pair],
    fars: set[socket.socket],
    sent: Mapping[Pair, list[float]],
    took: Mapping[Pair, list[float]],
    *,
    until: float,
    once: bool = False,
) -> None:
    """Send back what arrived at the far ends, and note what came back, until then or until something was there."""
    while ready := readable([*nears, *fars], max(0.0, until - time.monotonic())):
        for each in ready:
            packet, sender = each.recvfrom(64)
            if each in fars:
                each.sendto(packet, sender)
            else:
                pair = nears[each]
                took[pair].append(time.monotonic() - sent[pair][int.from_bytes(packet, "big")])
        if once:
            return


def rates(links: Mapping[Pair, Ends], burst: Burst) -> dict[Pair, float]:
    """Send a burst on every link at once; return how many bits a second came through, 0 for none.

    Seconds are counted from the sending on, so that a reader that had no turn makes a link look slower, never faster.
    """
    began, until = {}, time.monotonic() + burst.patience
    for pair, (near, far) in links.items():
        began[pair] = time.monotonic()
        for _ in range(burst.count):
            near.sendto(bytes(burst.size - _HEADERS), far.getsockname())
    fars = {far: pair for pair, (_, far) in links.items()}
    arrived, last = dict.fromkeys(links, 0), dict(began)
    while any(count < burst.count for count in arrived.values()) and (left := until - time.monotonic()) > 0:
        for far in readable(fars, left):
            far.recv(2048)
            arrived[fars[far]] += 1
            last[fars[far]] = time.monotonic()
    return {
        pair: 8 * burst.size * count / max(last[pair] - began[pair], 1e-6) if count else 0.0
        for pair, count in arrived.items()
    }
