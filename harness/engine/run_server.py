"""The process that forks one for each run (harness.engine.apart): `python -m harness.engine.run_server SOCKET`."""

from __future__ import annotations

import ctypes
import faulthandler
import itertools
import os
import signal
import socket
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

from harness.base.errors import HarnessError
from harness.base.files import sha256_of
from harness.cluster.runtime.namespace_runtime import why_not
from harness.cluster.runtime.namespaces import enter_user_namespace
from harness.engine.cancel import Cancellation, RunCancelled
from harness.engine.executor import run_cell
from harness.engine.run_messages import KILLED, Begin, Cancel, Ended, InPhase, IsQuiet, Met, NeedsQuiet
from harness.engine.sealing import differences, inputs_of
from harness.scenario.registry import load_all

_MOST_DESCRIPTORS = 2
_LOOK_SECONDS = 0.2
# For a run whose nodes have ended: together less than the harness gives itself (harness.cli.app).
_LEFT_SECONDS = 3.0
_PR_SET_PDEATHSIG = 1
_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def serve(requests: socket.socket) -> None:
    """Fork a process for each request, which brings its connection, until there is nobody to send any."""
    _be_ready()
    requests.settimeout(_LOOK_SECONDS)
    running: dict[int, tuple[int, int]] = {}  # connection and last words, by process
    while True:
        _note_ends(running)
        try:
            _, descriptors, *_ = socket.recv_fds(requests, 1, _MOST_DESCRIPTORS)
        except TimeoutError:
            continue
        if not descriptors:
            return
        connection, last_words = descriptors
        try:
            if (process := os.fork()) == 0:
                _close(itertools.chain(*running.values()))
                _be_a_run(requests, connection, last_words)
            running[process] = (connection, last_words)
        except OSError as error:
            os.write(last_words, f"no process can be started: {error.strerror}\n".encode())
            _close(descriptors)


def _note_ends(running: dict[int, tuple[int, int]]) -> None:
    """Write of each process that a signal has ended by which, where it has no last words of its own.

    Only then is its connection closed here, too: who sees that can read why.
    """
    while running and (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
        process, status = ended
        connection, last_words = running.pop(process)
        if os.WIFSIGNALED(status) and os.fstat(last_words).st_size == 0:
            os.write(last_words, f"{KILLED}signal {os.WTERMSIG(status)}\n".encode())
        _close((connection, last_words))


def _close(descriptors: Iterable[int]) -> None:
    for each in descriptors:
        os.close(each)


def _be_ready() -> None:
    """Have what every run needs: the scenarios of the harness, and the answer whether networks can be made here."""
    for ending in _ENDING_SIGNALS:  # the harness says when to end; ignored altogether they would be by nodes too
        signal.signal(ending, lambda *_: None)
    enter_user_namespace()
    load_all()
    why_not()


def _be_a_run(requests: socket.socket, connection: int, last_words: int) -> NoReturn:
    """Carry a run out, and end this process."""
    code = 1
    try:
        requests.close()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        faulthandler.enable(last_words)
        with Connection(connection) as parent:
            _RunHere(parent, last_words).carry_out()
        code = 0
    except BaseException:
        os.write(last_words, traceback.format_exc().encode(errors="replace"))
    finally:
        os._exit(code)


def _digest(path: Path) -> str:
    return sha256_of(path) if path.is_file() else ""


class _RunHere:
    """A run in this process, and what it and the harness say to each other."""

    def __init__(self, parent: Connection[object, object], last_words: int) -> None:
        self._parent = parent
        self._last_words = last_words
        self._lock = threading.Lock()
        self._cancellation = Cancellation()
        self._is_quiet = threading.Event()

    def carry_out(self) -> None:
        """Run what the harness sends, and send it what comes of it."""
        try:
            begin = self._begin()
            threading.Thread(target=self._listen, name="harness", daemon=True).start()
            result = run_cell(
                begin.cell,
                begin.run_dir,
                lambda name: self._send(InPhase(name)),
                self._cancellation,
                self._quiet,
                lambda incident: self._send(Met(incident)),
            )
        except BaseException as error:
            self._send(Ended(error=_portable(error)))
        else:
            self._send(Ended(result))

    def _begin(self) -> Begin:
        begin = self._parent.recv()
        assert isinstance(begin, Begin)
        tempfile.tempdir = begin.temporary
        changed = (f"{path} is another" for path, digest in begin.cell.own_files.items() if _digest(path) != digest)
        if why := differences(inputs_of(begin.cell), begin.inputs) or next(changed, ""):
            raise HarnessError(
                f"{begin.cell.scenario.file} or a file beside it was changed while its scenarios were run: {why}.",
                "Run the command again.",
            )
        return begin

    def _listen(self) -> None:
        while True:
            try:
                message = self._parent.recv()
            except (EOFError, OSError) as error:  # the harness has ended: so do the nodes of this process, with it
                os.write(self._last_words, f"the harness does not answer any more ({error!r})\n".encode())
                os.kill(os.getpid(), signal.SIGKILL)
            match message:
                case Cancel():
                    self._end()
                case IsQuiet():
                    self._is_quiet.set()

    def _end(self) -> None:
        """End the run, and then this process, whatever a client's library still waits for."""
        with suppress(Exception):  # which the run meets, too
            self._cancellation.cancel()
        deadline = threading.Timer(_LEFT_SECONDS, os.kill, (os.getpid(), signal.SIGKILL))
        deadline.daemon = True
        deadline.start()

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
