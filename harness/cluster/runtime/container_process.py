"""What runs in a container, as the process of this host that it is: signals and its end go by its own pid."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress

from harness.base.errors import HarnessError
from harness.cluster.descriptors import readable

_SIGNALLED = 128  # an engine reports the end by signal N as 128 + N


class ContainerProcess:
    """The first process of a container (harness.cluster.runtime.base.NodeProcess).

    `exit_status` asks the engine how it has ended; it is called once, after the end.
    """

    def __init__(self, pid: int, exit_status: Callable[[], int]) -> None:
        try:
            self._descriptor = os.pidfd_open(pid)
        except ProcessLookupError as error:
            raise HarnessError(
                f"The container's process {pid} is not on this host, or ended at once (exit {exit_status()}).",
                "Nodes in containers need an engine on this very host.",
            ) from error
        self.pid = pid
        self._exit_status = exit_status
        self._code: int | None = None
        self._asking = threading.Lock()

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        with self._asking:
            if self._code is None and readable([self._descriptor], 0):
                self._code = _as_of_a_child(self._exit_status())
                os.close(self._descriptor)
            return self._code

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def send_signal(self, number: int) -> None:
        """Send a signal; nothing to one that has ended."""
        with self._asking:
            if self._code is None:
                with suppress(ProcessLookupError):  # it has ended since somebody last asked
                    signal.pidfd_send_signal(self._descriptor, number)


def _as_of_a_child(status: int) -> int:
    return _SIGNALLED - status if status > _SIGNALLED else status
