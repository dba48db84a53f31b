"""Nodes as processes of this host that listen on loopback: the runtime that every Linux has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from harness.base.processes import spawn
from harness.cluster.address import Address
from harness.cluster.loopback import Loopback
from harness.cluster.runtime.base import Spawn

_T = TypeVar("_T")


class OnLoopback:
    """A runtime (harness.cluster.runtime.base.Runtime) in which every node shares the host's network."""

    host = Loopback.host

    def __init__(self) -> None:
        self._addresses = Loopback()

    @property
    def is_split(self) -> bool:
        """Never: they share the host's network."""
        return False

    was_split = is_split

    def take(self, _node: int) -> Address:
        """Hold a free port. Raises HarnessError."""
        return self._addresses.take()

    def nobody(self) -> Address:
        """Hold a free port, at which no node will listen. Raises HarnessError."""
        return self._addresses.take()

    def another_host(self, address: Address) -> Address:
        """Hold the same port of another loopback address. Raises HarnessError."""
        return self._addresses.take_elsewhere(address)

    def spawner(self, _node: int) -> Spawn:
        """Start processes as they are."""
        return spawn

    def as_client(self, work: Callable[[], _T]) -> _T:
        """Do it: clients are where the harness is."""
        return work()

    def close(self) -> None:
        """Let go of every port."""
        self._addresses.close()
