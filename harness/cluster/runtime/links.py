"""Bad links: packets between two hosts go round by one that delays them, loses some, lets only so many through."""

from __future__ import annotations

import fcntl
import json
import math
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, suppress
from ctypes import addressof, create_string_buffer
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from harness.base.errors import HarnessError
from harness.base.processes import bare_environment, bound_to_harness
from harness.cluster.descriptors import readable
from harness.cluster.runtime.forwarder import LONGEST_QUEUE_SECONDS, wire_of
from harness.cluster.runtime.link_probes import Burst, Ends, LinkMeasure, Tries, rates, round_trips, socket_of
from harness.cluster.runtime.network import AGAIN_SECONDS, Network, Pair
from harness.cluster.runtime.rtnetlink import Rule, RuleAction, add_rule, delete_rule, route

_PROGRAM = Path(__file__).with_name("forwarder.py")
_HOST, _NAME, _DEVICE = "203.0.113.254", "the bad link", "bad"
_OWN_DEVICE = "eth0"  # what every host calls its one link
_TABLE, _PRIORITY = 100, 200
_ANSWER_SECONDS = 5.0
_WONDER = 1e-6  # how likely a datagram is never seen although it was sent that often
_T = TypeVar("_T")
# linux/ethtool.h: what a device must not leave to its other end, since packets are read in between.
_ETHTOOL, _CHECKSUMS, _SEGMENTS, _MORE_SEGMENTS = 0x8946, 0x17, 0x1F, 0x24


@dataclass(frozen=True, slots=True)
class Quality:
    """What a link is like in one direction: `delay` in seconds, `loss` as a share, 0 bits a second for no bound.

    Which packets are lost follows from the `seed`, from the link and the direction, and from their order.
    """

    delay: float = 0.0
    loss: float = 0.0
    bits_per_second: float = 0.0
    seed: int = 0

    @property
    def seen_within(self) -> float:
        """Within how many seconds one of the datagrams that are sent again and again comes through, but by a wonder."""
        tries = math.log(_WONDER) / math.log(self.loss) if self.loss else 1
        return self.delay + bool(self.bits_per_second) * LONGEST_QUEUE_SECONDS + tries * AGAIN_SECONDS


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
        self._network.late |= dict.fromkeys(wanted, quality.seen_within)
        try:
            self._describe()
            self._network.routing.ask([add_rule(self._detour(pair)) for pair in new])
        except OSError as error:
            raise HarnessError(f"The link was not made bad: {error}.") from error

    def mend(self, pairs: Iterable[Pair]) -> None:
        """Make links good again."""
        mine = [pair for pair in pairs if self._bad.pop(pair, None)]
        try:
            self._network.routing.ask([delete_rule(self._detour(pair)) for pair in mine])
        except OSError as error:
            raise HarnessError(f"The link was not made good: {error}.") from error
        for pair in mine:
            self._network.late.pop(pair, None)
        if mine:
            self._describe()

    def round_trips(self, pairs: Iterable[Pair], tries: Tries) -> dict[Pair, LinkMeasure]:
        """Send datagrams on all of these links at once, and have each sent back."""
        return self._probing(pairs, lambda ends: round_trips(ends, tries))

    def rates(self, pairs: Iterable[Pair], burst: Burst) -> dict[Pair, float]:
        """Send a burst on all of these links at once; return with how many bits a second each came through."""
        return self._probing(pairs, lambda ends: rates(ends, burst))

    def _probing(self, pairs: Iterable[Pair], work: Callable[[Mapping[Pair, Ends]], dict[Pair, _T]]) -> dict[Pair, _T]:
        with ExitStack() as opened:

            def end(name: str) -> socket.socket:
                return opened.enter_context(socket_of(self._network.places[name], self._network.hosts[name]))

            return work({(source, target): (end(source), end(target)) for source, target in pairs})

    def close(self) -> None:
        """End the host between. Raises HarnessError where it had ended before: its links carried nothing then."""
        if self._forwarder is None:
            return
        ended = self._forwarder.poll()
        self._forwarder.kill()
        self._forwarder.communicate()
        if ended is not None:
            raise HarnessError(
                f"The program that carries the packets of bad links ended too early (exit code {ended})."
            )

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
        ready = readable([forwarder.stdout], _ANSWER_SECONDS)
        if not ready or not os.read(forwarder.stdout.fileno(), 64):
            raise HarnessError("The program that carries the packets of bad links does not answer.")

    def _running(self) -> subprocess.Popen[bytes]:
        if self._forwarder is None:
            place = self._network.join_late(_NAME, _DEVICE, _HOST)
            self._network.hub.do(_leave_nothing_to_the_other_end)
            number = self._network.hub.do(lambda: socket.if_nametoindex(_DEVICE))
            self._network.routing.ask([route(number, by=_HOST, table=_TABLE)])
            try:
                self._forwarder = place.do(_start)
            except OSError as error:
                raise HarnessError(
                    f"The program that carries the packets of bad links did not start: {error}."
                ) from error
        return self._forwarder


def _start() -> subprocess.Popen[bytes]:
    with wire_of(_OWN_DEVICE) as wire:
        command = bound_to_harness([sys.executable, "-I", "-S", str(_PROGRAM), _OWN_DEVICE, str(wire.fileno())])
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=bare_environment(),
            pass_fds=[wire.fileno()],
            start_new_session=True,
        )


def _leave_nothing_to_the_other_end() -> None:
    """Have the kernel finish packets before it sends them: a checksum that is to be added later never would be."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for setting in (_CHECKSUMS, _SEGMENTS, _MORE_SEGMENTS):
            value = create_string_buffer(struct.pack("=II", setting, 0))
            fcntl.ioctl(asking, _ETHTOOL, struct.pack("16sP", _DEVICE.encode(), addressof(value)))
