"""Nodes on loopback: addresses below the ephemeral range, held from the moment they are chosen until the run ends.

A held port is bound but not listening, so a connection to it is refused: an address that a node has left stays
dead and cannot be answered by another cluster. With SO_REUSEADDR on both sides Linux lets the node bind and
listen on the very port that is held (neither socket is listening at that moment), so there is no gap between
"chosen" and "taken by the node".
"""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator

from harness.base.errors import HarnessError
from harness.cluster.address import Address

_HOST = "127.0.0.1"
_OTHER_HOSTS = tuple(f"127.0.0.{last}" for last in range(2, 10))
# Linux hands out client ports from 32768; below it no outgoing connection can take a port that we chose.
_LOWEST, _HIGHEST = 15000, 32767
_TRIES = 2000


class Loopback:
    """Addresses held by this run; `close` lets go of all of them."""

    host = _HOST

    def __init__(self) -> None:
        self._held: list[socket.socket] = []

    def take(self) -> Address:
        """Choose a port that nobody has bound, and hold it.

        Raises HarnessError when none is free after many tries.
        """
        for port in _candidates():
            held = _hold(_HOST, port)
            if held is not None:
                self._held.append(held)
                return Address(_HOST, port)
        raise HarnessError(
            f"No free port on {_HOST} between {_LOWEST} and {_HIGHEST} after {_TRIES} tries.",
            "End what listens there, or run fewer clusters at once with --jobs 1.",
        )

    def take_elsewhere(self, address: Address) -> Address:
        """Hold the same port of the next loopback address that has it free (127.0.0.0/8 is all loopback on Linux).

        Raises HarnessError.
        """
        for host in _OTHER_HOSTS:
            held = _hold(host, address.port) if host != address.host else None
            if held is not None:
                self._held.append(held)
                return Address(host, address.port)
        raise HarnessError(f"No other loopback address has port {address.port} free.", "Run the scenario again.")

    def close(self) -> None:
        """Let go of every port."""
        while self._held:  # another thread may still be taking one
            self._held.pop().close()


def _candidates() -> Iterator[int]:
    chooser = random.SystemRandom()
    return (chooser.randint(_LOWEST, _HIGHEST) for _ in range(_TRIES))


def _hold(host: str, port: int) -> socket.socket | None:
    """Bind the port exclusively, then mark it reusable so that the node can bind it as well."""
    held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        held.bind((host, port))
    except OSError:
        held.close()
        return None
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return held
