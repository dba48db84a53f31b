"""The process that forks one for each run (harness.engine.apart): `python -m harness.engine.run_server SOCKET`."""

from __future__ import annotations

import faulthandler
import os
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

from harness.base.errors import HarnessError
from harness.cluster.runtime.namespaces import enter_user_namespace
from harness.engine.cancel import Cancellation, RunCancelled
from harness.engine.executor import run_cell
from harness.engine.planned_run import PlannedRun
from harness.engine.run_messages import Cancel, Ended, InPhase, IsQuiet, NeedsQuiet
from harness.scenario.verbs import verbs

_MOST_DESCRIPTORS = 2


def serve(requests: socket.socket) -> None:
    """Fork a process for each request, which brings its connection, until there is nobody to send any."""
    verbs()  # loaded once, here
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them: the kernel is not to keep what they return
    while True:
        _, descriptors, *_ = socket.recv_fds(requests, 1, _MOST_DESCRIPTORS)
        if not descriptors:
            return
        if os.fork() == 0:
            _be_a_run(requests, *descriptors)
        for each in descriptors:
            os.close(each)


def _be_a_run(requests: socket.socket, connection: int, last_words: int) -> NoReturn:
    """Carry a run out, and end this process."""
    code = 1
    try:
        requests.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        faulthandler.enable(last_words)
        enter_user_namespace()
        with Connection(connection) as parent:
            _RunHere(parent).carry_out()
        code = 0
    finally:
        os._exit(code)


class _RunHere:
    """A run in this process, and what it and the harness say to each other."""

    def __init__(self, parent: Connection[object, object]) -> None:
        self._parent = parent
        self._lock = threading.Lock()
        self._cancellation = Cancellation()
        self._is_quiet = threading.Event()

    def carry_out(self) -> None:
        """Run what the harness sends, and send it what comes of it."""
        try:
            cell, run_dir = self._asked()
            threading.Thread(target=self._listen, name="harness", daemon=True).start()
            result = run_cell(cell, run_dir, lambda name: self._send(InPhase(name)), self._cancellation, self._quiet)
        except BaseException as error:
            self._send(Ended(error=_portable(error)))
        else:
            self._send(Ended(result))

    def _asked(self) -> tuple[PlannedRun, Path]:
        match self._parent.recv():
            case PlannedRun() as cell, Path() as run_dir:
                return cell, run_dir
            case other:
                raise TypeError(f"{other!r} is no run")

    def _listen(self) -> None:
        while True:
            try:
                message = self._parent.recv()
            except (EOFError, OSError):
                os.kill(os.getpid(), signal.SIGKILL)  # the harness has ended: so do the nodes of this process, with it
            match message:
                case Cancel():
                    with suppress(Exception):  # which the run meets, too
                        self._cancellation.cancel()
                case IsQuiet():
                    self._is_quiet.set()

    def _send(self, message: object) -> None:
        with self._lock:
            self._parent.send(message)

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        self._is_quiet.clear()
        self._send(NeedsQuiet(is_on=True))
        self._is_quiet.wait()
        try:
            yield
        finally:
            self._send(NeedsQuiet(is_on=False))


def _portable(error: BaseException) -> BaseException:
    """Return an error as it arrives in another process; where it came from, which would be lost, is noted on it."""
    if not isinstance(error, HarnessError | OSError | RunCancelled):
        error = RuntimeError(f"{type(error).__name__}: {error}").with_traceback(error.__traceback__)
    error.add_note("".join(traceback.format_tb(error.__traceback__)))
    return error


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
