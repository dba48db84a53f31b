"""Runs in processes of their own: what ends such a process, a crash in a native library included, spoils one run.

docs/adr/0045-each-run-has-a-process-of-its-own.md has the reasons.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, nullcontext, suppress
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import IO

from harness.base.processes import spawn_beside
from harness.base.processes.leftovers import end_leftovers
from harness.engine.cancel import Cancellation, RunCancelled
from harness.engine.outcome import decide
from harness.engine.planned_run import PlannedRun
from harness.engine.quiet import Quiet
from harness.engine.recorder import Recorder
from harness.engine.run_messages import Cancel, Ended, InPhase, IsQuiet, NeedsQuiet
from harness.engine.sealing import seal_of
from harness.model.events import OutcomeDecided
from harness.model.incidents import Incident, IncidentKind
from harness.model.outcome_names import HARNESS_ALIVE
from harness.model.runs import RunResult
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import Journal
from harness.rundir.parts import RunFolder

_END_SECONDS = 5.0
_FATAL = "Fatal Python error: "


class RunServer:
    """A process that forks one for each run: it has loaded what runs need, and has one thread, so that it may fork."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None

    def begin(self, last_words: IO[bytes]) -> Connection[object, object]:
        """Fork a process, and return the connection to it; where it crashes it writes where into `last_words`."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start()
            assert self._requests is not None
            ours, theirs = Pipe()
            with theirs:
                socket.send_fds(self._requests, [b"\0"], [theirs.fileno(), last_words.fileno()])
            return ours

    def _start(self) -> None:
        self.close()
        self._requests, theirs = socket.socketpair()
        path = os.pathsep.join(each or str(Path.cwd()) for each in sys.path)
        command = [sys.executable, "-P", "-m", "harness.engine.run_server", str(theirs.fileno())]
        with theirs:
            self._process = spawn_beside(command, env={**os.environ, "PYTHONPATH": path}, passing=theirs.fileno())

    def close(self) -> None:
        """End the process: it does when nobody can ask for a run any more."""
        if self._requests is not None:
            self._requests.close()
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_SECONDS)
        self._requests = self._process = None


_server = RunServer()
atexit.register(_server.close)


def run_apart(
    cell: PlannedRun,
    run_dir: Path,
    report: Callable[[str], None],
    cancellation: Cancellation,
    quiet: Quiet = nullcontext,
) -> RunResult:
    """Do as `harness.engine.executor.run_cell` does, in another process; where that crashes the run is BROKEN.

    Raises what run_cell raises.
    """
    began = time.monotonic()
    with tempfile.TemporaryFile() as last_words:
        with _server.begin(last_words) as connection:
            link = _Link(connection)
            link.send((cell, run_dir.absolute()))
            with cancellation.ending(lambda: link.send(Cancel())):
                ended = link.follow(report, quiet)
        if ended.error is not None:
            raise ended.error
        if ended.result is not None:
            return ended.result
        if cancellation.is_set:
            raise RunCancelled
        last_words.seek(0)
        return _crashed(cell, run_dir.absolute(), last_words.read().decode(errors="replace"), time.monotonic() - began)


class _Link:
    """The connection to a run's process; several threads may send."""

    def __init__(self, connection: Connection[object, object]) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    def send(self, message: object) -> None:
        """Send something; a process that has ended takes nothing."""
        with self._lock, suppress(BrokenPipeError, ConnectionResetError):
            self._connection.send(message)

    def follow(self, report: Callable[[str], None], quiet: Quiet) -> Ended:
        """Do what the run asks for, until it has ended; an empty Ended where its process did, without a word."""
        with ExitStack() as held:
            while True:
                try:
                    message = self._connection.recv()
                except (EOFError, ConnectionResetError):
                    return Ended()
                match message:
                    case InPhase(name):
                        report(name)
                    case NeedsQuiet(is_on=True):
                        held.enter_context(quiet())
                        self.send(IsQuiet())
                    case NeedsQuiet():
                        held.close()
                    case Ended():
                        return message


def _crashed(cell: PlannedRun, run_dir: Path, last_words: str, seconds: float) -> RunResult:
    """Write the result of a run whose process ended in the middle of it. Its nodes have ended with it."""
    folder, key = RunDirectory(run_dir).run(cell.key), cell.key
    folder.path.mkdir(parents=True, exist_ok=True)
    end_leftovers(folder.nodes)
    with Journal(folder.journal) as journal:
        recorder = Recorder(cell, journal, folder)
        recorder.report(Incident(IncidentKind.HARNESS_FAILED, HARNESS_ALIVE, _story(folder, last_words)))
        decision = decide(recorder.facts())
        journal.write(OutcomeDecided(decision.outcome, decision.expectation, decision.reason))
    if last_words:
        folder.crash.write_text(last_words, encoding="utf-8")
        recorder.show(folder.evidence(folder.crash))
    result = RunResult(
        key.scenario,
        key.arm,
        cell.role,
        key.repeat,
        decision.outcome,
        decision.expectation,
        decision.reason,
        tuple(recorder.evidence),
        round(seconds, 2),
    )
    folder.logs.write(())  # what nodes logged until then is there, and is compared with nothing
    folder.seal.write(seal_of(cell, folder))
    folder.result.write(result)
    return result


def _story(folder: RunFolder, last_words: str) -> str:
    """Return what happened to the process, in a clause."""
    fatal = next((line for line in last_words.splitlines() if line.startswith(_FATAL)), "")
    what = (
        f"crashed ({fatal.removeprefix(_FATAL)}; {folder.crash.name} says where)"
        if fatal
        else "was killed, by a user or by a host that was short of memory"
    )
    return f"the process in which the harness ran this scenario {what}: it says nothing of the build"
