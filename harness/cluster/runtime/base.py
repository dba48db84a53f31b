"""What a runtime is: it starts nodes, says where each may listen, and where the harness and its clients are."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import psutil

from harness.base.errors import HarnessError
from harness.base.waiting import wait_until
from harness.cluster.address import Address

_T = TypeVar("_T")
_ENDS_WITHIN_SECONDS, _LOOK_EVERY_SECONDS = 30.0, 0.01


class NodeProcess(Protocol):
    """What a node needs of subprocess.Popen; `pid` is this host's."""

    @property
    def pid(self) -> int:
        """Its number on this host."""

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""

    def terminate(self) -> None:
        """Send SIGTERM."""

    def send_signal(self, sig: int, /) -> None:
        """Send a signal; nothing to one that has ended."""


def end_at_once(process: NodeProcess, called: str, within: float = _ENDS_WITHIN_SECONDS) -> None:
    """Send SIGKILL, and wait for the end. Raises HarnessError for a process that the kernel does not let end."""
    process.send_signal(signal.SIGKILL)
    if not wait_until(lambda: process.poll() is not None, within, _LOOK_EVERY_SECONDS):
        raise HarnessError(
            f"{called} (process {process.pid}, {_state_of(process.pid)}) did not end within {within:g} s of SIGKILL.",
            "It hangs in the kernel, on a disk that does not answer perhaps (`dmesg` tells): end what it waits for.",
        )


def _state_of(pid: int) -> str:
    try:
        return f"state {psutil.Process(pid).status()}"
    except psutil.Error:
        return "in no state that can be read"


class Spawn(Protocol):
    """Starts a command in its own session, its output appended to a file; it dies with the harness.

    One in a container does so when the harness ends in good order, or else with its next command.
    """

    def __call__(self, command: Sequence[str], *, cwd: Path, output: Path, env: Mapping[str, str]) -> NodeProcess:
        """Start it."""


class Runtime(Protocol):
    """Where the nodes of one cluster run; all that it made is gone after `close`."""

    @property
    def host(self) -> str:
        """Where nodes reach the harness."""

    @property
    def is_split(self) -> bool:
        """Whether some of those that it runs cannot send to others at present."""

    @property
    def was_split(self) -> bool:
        """Whether that was ever so."""

    def take(self, node: int) -> Address:
        """Return a new address at which a node may listen, and nobody else ever will. Raises HarnessError."""

    def nobody(self) -> Address:
        """Return an address at which connections are refused for as long as the cluster lives. Raises HarnessError."""

    def another_host(self, address: Address) -> Address:
        """Return the same port at another host of the node that has this address. Raises HarnessError."""

    def spawner(self, node: int) -> Spawn:
        """Return how processes of a node are started."""

    def as_client(self, work: Callable[[], _T]) -> _T:
        """Do something where clients are; what it starts stays there."""

    def close(self) -> None:
        """Let go of all that was made; nodes have ended before."""
