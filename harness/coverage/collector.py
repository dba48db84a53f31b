"""Receives execution data from the agents of one run's nodes: when a JVM ends by itself, and before it is killed.

Every agent connects to the run's collector when its JVM starts. It sends what it has when the JVM shuts down in
order, and whenever it is asked; after SIGKILL nothing can be sent, so the harness asks right before.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from harness.cluster.address import Address
from harness.coverage.jacoco_protocol import DUMP_COMMAND, GREETING, read_dump

_DUMP_SECONDS = 1.0  # an idle node answers within a millisecond; one that is stopped (SIGSTOP) never does
_CLOSE_SECONDS = 2.0
_MOST_BYTES = 64 * 2**20


class Collector:
    """Appends whole dumps to one file, whichever node they come from; use as a context manager."""

    def __init__(self, file: Path, host: str) -> None:
        self._file = file
        self._writing = threading.Lock()
        self._agents: list[_Agent] = []
        self._server = socket.create_server((host, 0))
        self.address = Address(host, int(self._server.getsockname()[1]))
        self._accepting = threading.Thread(target=self._accept, name="coverage", daemon=True)
        self._accepting.start()

    def __enter__(self) -> Collector:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def dump(self) -> None:
        """Have every connected agent send what it has; returns when all have, or after a second."""
        deadline = time.monotonic() + _DUMP_SECONDS
        waiting = [(agent, agent.ask()) for agent in list(self._agents)]
        for agent, number in waiting:
            agent.wait(number, deadline)

    def close(self) -> None:
        """Take what ended nodes have sent, then let go of everything."""
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)  # wakes up the accepting thread
        self._accepting.join()
        self._server.close()
        for agent in self._agents:
            agent.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            self._agents.append(_Agent(connection, self._keep))

    def _keep(self, dump: bytes) -> None:
        with self._writing, self._file.open("ab") as file:
            if file.tell() + len(dump) > _MOST_BYTES:
                raise ValueError(f"more than {_MOST_BYTES} bytes of execution data")
            file.write(dump)


class _Agent:
    """The agent in one JVM; a thread reads what it sends until the JVM ends."""

    def __init__(self, connection: socket.socket, keep: Callable[[bytes], None]) -> None:
        self._connection = connection
        self._keep = keep
        self._dumps = 0
        self._ended = False
        self._news = threading.Condition()
        self._reading = threading.Thread(target=self._read, name="coverage agent", daemon=True)
        with suppress(OSError):
            connection.sendall(GREETING)
        self._reading.start()

    def ask(self) -> int:
        """Ask for a dump; return its number, for `wait`."""
        with self._news:
            number = self._dumps + 1
        with suppress(OSError):  # the JVM has ended, which the reader notices
            self._connection.sendall(DUMP_COMMAND)
        return number

    def wait(self, number: int, deadline: float) -> None:
        """Wait until so many dumps have come, the JVM has ended, or the deadline (monotonic) has passed."""
        with self._news:
            self._news.wait_for(lambda: self._ended or self._dumps >= number, deadline - time.monotonic())

    def close(self) -> None:
        """Read to the end of what a dead JVM has sent, and close."""
        self._reading.join(_CLOSE_SECONDS)
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._reading.join()
        self._connection.close()

    def _read(self) -> None:
        try:
            with self._connection.makefile("rb") as stream:
                while (dump := read_dump(stream)) is not None:
                    self._keep(dump)
                    self._note(dumps=1)
        except (OSError, ValueError):  # it ended in between, or it is not JaCoCo that speaks
            pass
        finally:
            self._note(ended=True)

    def _note(self, *, dumps: int = 0, ended: bool = False) -> None:
        with self._news:
            self._dumps += dumps
            self._ended = self._ended or ended
            self._news.notify_all()
