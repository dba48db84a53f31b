"""A network inside the harness: each host in a namespace of its own, a hub between them that routes, and cuts.

Nothing of it touches the host's network, whose addresses may be the same: RFC 5737 gives 192.0.2.0/24, 198.51.100.0/24
and 203.0.113.0/24 to documentation.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TypeVar

from harness.base.errors import HarnessError
from harness.cluster.descriptors import readable
from harness.cluster.runtime.namespaces import Place, inhabitants
from harness.cluster.runtime.rtnetlink import (
    Rtnetlink,
    Rule,
    RuleAction,
    add_rule,
    address,
    delete_rule,
    route,
    up,
    veth,
)
from harness.cluster.topology import ZOOKEEPER

_T = TypeVar("_T")

HARNESS, CLIENTS = "the harness", "the clients"
HUB = "192.0.2.1"
_HARNESS_HOST, _CLIENTS_HOST = "203.0.113.1", "198.51.100.1"
_FIRST_NODE = 10
_MOST_NODES = 240
_SETTINGS = {
    "net/ipv4/ip_forward": "1",
    "net/ipv4/conf/all/rp_filter": "0",  # a cut of one direction must not make the other look forged
    "net/ipv4/conf/default/rp_filter": "0",
    "net/ipv4/icmp_ratelimit": "0",  # each refused connection is told so
}
_EAR_PORT = 7
_CUT_PRIORITY = 100
_UNHEARD_SECONDS = 0.03
_HEARD_SECONDS = 5.0
AGAIN_SECONDS = 0.02
_LEAVE_SECONDS = 30.0  # clients that were abandoned end when their last answer is overdue

Pair = tuple[str, str]  # who sends, and to whom


def host_name(node: int) -> str:
    """Return what the host of a node, or of ZooKeeper, is called."""
    return f"node {node}" if node != ZOOKEEPER else "ZooKeeper"


class Network:
    """Hosts by name, each with its address; safe to be used from any thread. Raises HarnessError."""

    def __init__(self, nodes: Iterable[int]) -> None:
        self.hosts = {HARNESS: _HARNESS_HOST, CLIENTS: _CLIENTS_HOST}
        self.hosts |= {host_name(node): f"192.0.2.{_FIRST_NODE + node}" for node in nodes}
        self.places: dict[str, Place] = {}
        self.late: dict[Pair, float] = {}  # bad links: within how many seconds a datagram surely comes through
        self.was_cut = False
        self._cuts: dict[Pair, Rule] = {}
        self._ears: dict[str, socket.socket] = {}
        self._marks = count()
        self._routing: Rtnetlink | None = None
        self._hub: Place | None = None
        if len(self.hosts) > _MOST_NODES:
            raise HarnessError(f"A network of {len(self.hosts)} hosts does not fit into 192.0.2.0/24.")
        try:
            self._make()
        except OSError as error:
            self.close()
            raise HarnessError(f"The network of the run was not made: {error}.", "Run `harness doctor`.") from error
        except HarnessError:
            self.close()
            raise

    def _make(self) -> None:
        self._hub = Place("hub")
        self._hub.do(_set_up_hub)
        self._routing = self._hub.do(Rtnetlink)
        for number, (name, host) in enumerate(self.hosts.items()):
            self.join(name, f"h{number}", host)
        self._see_that_all_are_there([name for name in self.hosts if name != HARNESS])

    def join(self, name: str, device: str, host: str) -> Place:
        """Make a host, and connect it with the hub, where the link is called `device`. Raises OSError."""
        self.hosts[name] = host
        self.places[name] = place = Place(name, self.hub)
        self.routing.ask([veth(device, "eth0", place.file)])
        number = self.hub.do(lambda: socket.if_nametoindex(device))
        self.routing.ask([up(number), address(number, HUB), route(number, host)])
        place.do(lambda: _set_up_host(host))
        self._ears[name] = place.do(lambda: _ear(host))
        return place

    def join_late(self, name: str, device: str, host: str) -> Place:
        """Make one more host in a network that is in use; return when it is reached. Raises OSError, HarnessError."""
        place = self.join(name, device, host)
        self._see_that_all_are_there([name])
        return place

    def _see_that_all_are_there(self, names: Iterable[str]) -> None:
        ways = {way for name in names for way in ((HARNESS, name), (name, HARNESS))}
        if deaf := ways - self.heard(ways, _HEARD_SECONDS):
            raise HarnessError(f"The network of the run is incomplete: {_told(deaf)} did not come through.")

    @property
    def hub(self) -> Place:
        """The host in the middle."""
        assert self._hub is not None
        return self._hub

    @property
    def routing(self) -> Rtnetlink:
        """What decides where packets go."""
        assert self._routing is not None
        return self._routing

    def device(self, name: str) -> str:
        """Return the hub's link to a host."""
        return f"h{list(self.hosts).index(name)}"

    @property
    def cuts(self) -> Collection[Pair]:
        """Who cannot send to whom at present."""
        return set(self._cuts)

    def cut(self, pairs: Iterable[Pair], *, refuse: bool) -> float:
        """Cut every pair at once; return after how many seconds nothing came through, which is proved.

        What is refused is answered by ICMP, so that connections fail at once; otherwise nobody hears anything. A pair
        that was cut in the other way is from now on cut in this one. Raises HarnessError when something still comes
        through, or when nothing came through before: silence would prove nothing then.
        """
        action = RuleAction.PROHIBIT if refuse else RuleAction.BLACKHOLE
        wanted = {pair: self._rule(pair, action) for pair in pairs}
        new = {pair: rule for pair, rule in wanted.items() if self._cuts.get(pair) != rule}
        open_ones = new.keys() - self._cuts.keys()
        if deaf := open_ones - self.heard(open_ones, _HEARD_SECONDS):
            raise HarnessError(f"The network was not cut: {_told(deaf)} did not come through before.")
        began = time.monotonic()
        self._replace(new)
        took = time.monotonic() - began
        if heard := self.heard(new, self._unheard_seconds(new)):
            raise HarnessError(f"The network was not cut: {_told(heard)} still came through.")
        return took

    def _unheard_seconds(self, pairs: Collection[Pair]) -> float:
        """Return after how long silence proves a cut: a bad link may be silent for a while without one."""
        return max((_UNHEARD_SECONDS + self.late.get(pair, 0.0) for pair in pairs), default=0.0)

    def _replace(self, new: Mapping[Pair, Rule]) -> None:
        """Have these rules hold instead of the pairs' own ones: all of them, or none. Raises HarnessError."""
        old = [self._cuts[pair] for pair in new if pair in self._cuts]
        try:
            self.routing.ask([add_rule(rule) for rule in new.values()])
        except OSError as error:
            for rule in new.values():
                with suppress(OSError):  # this one was not added
                    self.routing.ask([delete_rule(rule)])
            raise HarnessError(f"The network was not cut: {error}.") from error
        self.was_cut = True
        self._cuts |= new
        self._delete(old)

    def _delete(self, rules: Iterable[Rule]) -> None:
        """Have these rules hold no more. Raises HarnessError."""
        try:
            self.routing.ask([delete_rule(rule) for rule in rules])
        except OSError as error:
            raise HarnessError(f"The network was not healed: {error}.") from error

    def heal(self, pairs: Iterable[Pair]) -> float:
        """Undo the cuts of these pairs; return after how many seconds all came through. Raises HarnessError."""
        mine = {pair: self._cuts.pop(pair) for pair in list(pairs) if pair in self._cuts}
        began = time.monotonic()
        self._delete(mine.values())
        if deaf := set(mine) - self.heard(mine, _HEARD_SECONDS):
            raise HarnessError(f"The network was not healed: {_told(deaf)} did not come through.")
        return time.monotonic() - began

    def _rule(self, pair: Pair, action: RuleAction) -> Rule:
        source, target = pair
        return Rule(self.hosts[source], self.hosts[target], action, _CUT_PRIORITY)

    def heard(self, pairs: Collection[Pair], within: float) -> set[Pair]:
        """Return for which pairs a datagram came through within so many seconds; at once when all did.

        What has not arrived is sent again and again: a link that was just made drops packets until the kernel has
        noticed that it is up, which can take a second (linkwatch).
        """
        waiting = {f"{next(self._marks)}".encode(): pair for pair in pairs}
        arrived: set[Pair] = set()
        listening = [self._ears[target] for target in {target for _, target in pairs}]
        deadline = time.monotonic() + within
        while len(arrived) < len(waiting) and (left := deadline - time.monotonic()) > 0:
            self._send({mark: pair for mark, pair in waiting.items() if pair not in arrived})
            for ear in readable(listening, min(left, AGAIN_SECONDS)):
                with suppress(OSError):
                    arrived |= {waiting[mark]} if (mark := ear.recv(64)) in waiting else set()
        return arrived

    def _send(self, marks: Mapping[bytes, Pair]) -> None:
        for mark, (source, target) in marks.items():
            with suppress(OSError):  # a refusal of an earlier one, told now
                self._ears[source].sendto(mark, (self.hosts[target], _EAR_PORT))

    def close(self) -> None:
        """End every namespace. Raises HarnessError when a process or a thread is left in one, after it was named."""
        inodes = {place.inode for place in self._all_places()}
        for ear in self._ears.values():
            ear.close()
        if self._routing is not None:
            self._routing.close()
        places = self._all_places()
        for place in places:
            place.leave()
        self.places, self._ears, self._hub, self._routing = {}, {}, None, None
        try:
            _wait_until_empty(inodes)
        finally:
            for place in places:  # until then its number is nobody else's
                place.close()

    def _all_places(self) -> list[Place]:
        return [*self.places.values(), *filter(None, [self._hub])]


def _wait_until_empty(inodes: set[int]) -> None:
    deadline = time.monotonic() + _LEAVE_SECONDS
    while left := inhabitants(inodes):
        if time.monotonic() > deadline:
            named = ", ".join(f"{name} ({pid})" for pid, name in sorted(left.items()))
            raise HarnessError(f"Processes or threads were left in the network of the run: {named}.")
        time.sleep(0.05)


def _told(pairs: Iterable[Pair]) -> str:
    return ", ".join(f"{source} to {target}" for source, target in sorted(pairs))


def _set_up_hub() -> None:
    for name, value in _SETTINGS.items():
        (Path("/proc/sys") / name).write_text(value)
    with Rtnetlink() as routing:
        routing.ask([up(socket.if_nametoindex("lo"))])


def _set_up_host(host: str) -> None:
    device = socket.if_nametoindex("eth0")
    with Rtnetlink() as routing:
        routing.ask([up(socket.if_nametoindex("lo")), address(device, host), up(device)])
        routing.ask([route(device, HUB), route(device, by=HUB)])


def _ear(host: str) -> socket.socket:
    ear = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    ear.setblocking(False)
    ear.bind((host, _EAR_PORT))
    return ear
