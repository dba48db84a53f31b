"""Nodes in a network of the run's own: the runtime in which links can be cut, and in which nothing touches the host."""

from __future__ import annotations

import errno
import math
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

from harness.base.errors import HarnessError
from harness.base.processes import spawn_here
from harness.cluster.address import Address
from harness.cluster.runtime.base import Spawn
from harness.cluster.runtime.link_probes import Tries
from harness.cluster.runtime.links import Links, Quality
from harness.cluster.runtime.namespaces import may_unshare, refusal
from harness.cluster.runtime.network import CLIENTS, HARNESS, HUB, Network, host_name

_T = TypeVar("_T")
_FIRST_PORT = 9092
_TRIED_SECONDS, _TRIES = 0.01, 10
_MAY_NOT = (
    "Run as root, or allow users their namespaces (sysctl kernel.unprivileged_userns_clone=1; on Ubuntu also "
    "kernel.apparmor_restrict_unprivileged_userns=0); in a container, with --privileged."
)
_REMEDIES: Mapping[tuple[int, ...], str] = {
    (errno.ENOSPC,): "Raise the kernel's limits of namespaces (sysctl user.max_user_namespaces, "
    "user.max_net_namespaces and user.max_mnt_namespaces), or end what uses them up.",
    (errno.EOPNOTSUPP, errno.EAFNOSUPPORT): "Have the kernel load what networks are made of (modprobe veth af_packet), "
    "as the host's root; one without CONFIG_IP_MULTIPLE_TABLES cannot cut links.",
}


class InNamespaces:
    """A runtime (harness.cluster.runtime.base.Runtime) in which each node has a host of its own."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.links = Links(network)
        self._taken: Counter[str] = Counter()

    @property
    def host(self) -> str:
        """Where nodes reach the harness."""
        return self.network.hosts[HARNESS]

    @property
    def is_split(self) -> bool:
        """Whether links are cut."""
        return bool(self.network.cuts)

    @property
    def was_split(self) -> bool:
        """Whether links were ever cut."""
        return self.network.was_cut

    def take(self, node: int) -> Address:
        """Return the next port of the node's host."""
        return self._next(self.network.hosts[host_name(node)])

    def nobody(self) -> Address:
        """Return a port of the hub, where nothing listens."""
        return self._next(HUB)

    def _next(self, host: str) -> Address:
        self._taken[host] += 1
        return Address(host, _FIRST_PORT + self._taken[host] - 1)

    def another_host(self, address: Address) -> Address:
        """Raise HarnessError: a node is its host."""
        raise HarnessError(f"{address} cannot go to another host: in a network a node has one. Leave network=True out.")

    def spawner(self, node: int) -> Spawn:
        """Start processes from the thread that is on the node's host: they die with it."""
        place = self.network.places[host_name(node)]

        def spawn(
            command: Sequence[str], *, cwd: Path, output: Path, env: Mapping[str, str]
        ) -> subprocess.Popen[bytes]:
            return place.do(lambda: spawn_here(command, cwd=cwd, output=output, env=env))

        return spawn

    def as_client(self, work: Callable[[], _T]) -> _T:
        """Do something on the host of the clients; threads that it starts stay there."""
        return self.network.places[CLIENTS].do(work)

    def close(self) -> None:
        """End the network. Raises HarnessError when something was left in it."""
        try:
            self.links.close()
        finally:
            self.network.close()


def why_not() -> str:
    """Return why this process can make no such network, empty where it can: a small one is made, cut and made bad.

    One failure may be a moment's, of a host that is busy; what was possible once is so for this process.
    """
    if not may_unshare():
        told = f": {refused.strerror}" if (refused := refusal()) else ""
        return f"this process may not leave its namespaces (it has no CAP_SYS_ADMIN, and got no user namespace{told})"
    return str(error).rstrip(".") if (error := _failure()) else ""


def what_to_do() -> str:
    """Return how a host comes to let this process make such networks, by what its kernel says."""
    error: BaseException | None = _failure() if may_unshare() else refusal()
    while error is not None and not isinstance(error, OSError):
        error = error.__cause__
    return next((remedy for codes, remedy in _REMEDIES.items() if error and error.errno in codes), _MAY_NOT)


def _failure() -> HarnessError | OSError | None:
    failure: HarnessError | OSError | None = None
    for _ in range(2):
        try:
            _try_it()
        except (HarnessError, OSError) as error:
            failure = error
        else:
            return None
    return failure


@cache
def _try_it() -> None:
    runtime = InNamespaces(Network([0, 1]))
    try:
        pair = (host_name(0), host_name(1))
        runtime.network.cut([pair], refuse=False)
        runtime.network.heal([pair])
        runtime.links.degrade([pair], Quality(delay=_TRIED_SECONDS))
        measure = runtime.links.round_trips([pair], Tries(_TRIES))[pair]
        if not _TRIED_SECONDS <= measure.round_trip < math.inf:
            raise HarnessError(f"A link was not made bad: a round trip took {1000 * measure.round_trip:.1f} ms.")
    finally:
        runtime.close()
