"""Runs in processes of their own: what ends such a process, a crash in a native library included, spoils one run.

docs/adr/0045-each-run-has-a-process-of-its-own.md has the reasons.
"""

from __future__ import annotations

import atexit
import os
import pickle
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext, suppress
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import IO

from harness.base.errors import HarnessError
from harness.base.processes import spawn_beside
from harness.base.processes.leftovers import end_leftovers
from harness.engine.cancel import Cancellation, RunCancelled
from harness.engine.outcome import decide
from harness.engine.planned_run import PlannedRun
from harness.engine.quiet import Quiet
from harness.engine.recorder import Recorder
from harness.engine.run_end import result_of, write_end
from harness.engine.run_messages import KILLED, Begin, Cancel, Ended, InPhase, IsQuiet, Met, NeedsQuiet
from harness.engine.sealing import inputs_of
from harness.model.events import OutcomeDecided
from harness.model.incidents import Incident, IncidentKind
from harness.model.outcome_names import HARNESS_ALIVE
from harness.model.runs import RunResult
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import Journal
from harness.rundir.parts import CRASH

_END_SECONDS, _LOOK_SECONDS = 5.0, 0.3
_FATAL = "Fatal Python error: "
_OF_THE_BUILD = (
    IncidentKind.NODE_DIED,
    IncidentKind.NODE_FAULTED,
    IncidentKind.INVARIANT_BROKEN,
    IncidentKind.EXPECTATION_UNMET,
)


class RunServer:
    """A process that forks one for each run: it has loaded what runs need, and one thread, so that it may fork."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None

    def begin(self, last_words: IO[bytes]) -> Connection[object, object]:
        """Fork a process, and return the connection to it; of an end of its own it writes into `last_words`."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start()
            assert self._requests is not None
            ours, theirs = Pipe()
            with theirs, suppress(BrokenPipeError):  # which shows as an end without a word
                socket.send_fds(self._requests, [b"\0"], [theirs.fileno(), last_words.fileno()])
            return ours

    def why_ended(self) -> str:
        """Return by what exit code it ended by itself, in a clause; empty while it is there."""
        with self._lock:
            code = self._process.poll() if self._process else None
        return "" if code is None else f"it ended with exit code {code}"

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

    Raises what run_cell raises, and HarnessError where no process can be had.
    """
    began = time.monotonic()
    with tempfile.TemporaryFile() as last_words:
        with _Link(_server.begin(last_words)) as link:
            link.send(Begin(cell, run_dir.absolute(), inputs_of(cell), tempfile.gettempdir()))
            with cancellation.ending(link.cancel):
                ended = link.follow(report, quiet)
        if ended.error is not None:
            raise ended.error
        if ended.result is not None:
            return ended.result
        if cancellation.is_set:
            raise RunCancelled
        last_words.seek(0)
        said = last_words.read().decode(errors="replace")
        if not said and (why := _server.why_ended()):
            raise HarnessError(f"The process that starts one for each run is gone: {why}.", "Go on by --resume.")
        return _crashed(cell, run_dir.absolute(), said, link.met, time.monotonic() - began)


class _Link:
    """The connection to a run's process; several threads may send. `met` are incidents that it has told of."""

    def __init__(self, connection: Connection[object, object]) -> None:
        self.met: list[Incident] = []
        self._connection = connection
        self._lock = threading.Lock()
        self._was_heard = self._is_cancelled = False

    def __enter__(self) -> _Link:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._connection.close()

    def send(self, message: object) -> None:
        """Send something; a process that has ended takes nothing."""
        with self._lock, suppress(OSError):
            self._connection.send(message)

    def cancel(self) -> None:
        """Have the run end now. One that has not begun ends when it finds nobody to talk to."""
        self._is_cancelled = True
        self.send(Cancel())

    def follow(self, report: Callable[[str], None], quiet: Quiet) -> Ended:
        """Do what the run asks for, until it has ended; an empty Ended where its process did, without a word."""
        with ExitStack() as held:
            while message := self._next():
                match message:
                    case InPhase(name):
                        report(name)
                    case Met(incident):
                        self.met.append(incident)
                    case NeedsQuiet(is_on=True):
                        held.enter_context(quiet())
                        self.send(IsQuiet())
                    case NeedsQuiet():
                        held.close()
                    case Ended():
                        return message
        return Ended()

    def _next(self) -> object:
        """Return the next message; None where there will be none."""
        try:
            content = self._connection.recv_bytes() if self._waited() else b""
        except (EOFError, ConnectionResetError):
            return None
        return pickle.loads(content) if content else None  # noqa: S301 - of a process that this one has started

    def _waited(self) -> bool:
        """Wait for the next message; False where the run is to end and has not begun."""
        while not self._connection.poll(_LOOK_SECONDS):
            if self._is_cancelled and not self._was_heard:
                return False
        self._was_heard = True
        return True


def _crashed(cell: PlannedRun, run_dir: Path, last_words: str, met: Sequence[Incident], seconds: float) -> RunResult:
    """Write the result of a run whose process ended in the middle of it.

    Its nodes have ended with it; where they are containers, they go as a killed harness's do. What the run had shown of
    the build by then does not let it count as one that may be asked again.
    """
    folder = RunDirectory(run_dir).run(cell.key)
    folder.path.mkdir(parents=True, exist_ok=True)
    end_leftovers(folder.nodes)
    before = next((each.reason for each in met if each.kind in _OF_THE_BUILD), "")
    story = f"{_end_of_process(last_words)}; before that: {before}" if before else _end_of_process(last_words)
    with Journal(folder.journal) as journal:
        recorder = Recorder(cell, journal, folder)
        for broken in (each for each in met if each.kind is IncidentKind.INVARIANT_BROKEN):
            recorder.report(broken)
        recorder.report(Incident(IncidentKind.HARNESS_FAILED, "" if before else HARNESS_ALIVE, story))
        decision = decide(recorder.facts())
        journal.write(OutcomeDecided(decision.outcome, decision.expectation, decision.reason))
    if last_words:
        folder.crash.write_text(last_words, encoding="utf-8")
        recorder.show(folder.evidence(folder.crash))
    result = result_of(cell, decision, recorder.evidence, seconds)
    write_end(folder, cell, (), result)  # what nodes logged until then is there, and is compared with nothing
    return result


def _end_of_process(last_words: str) -> str:
    """Return in a clause how a process ended that was to carry a run out."""
    lines = [line.strip() for line in last_words.splitlines() if line.strip()]
    fatal = next((line.removeprefix(_FATAL) for line in lines if line.startswith(_FATAL)), "")
    if not lines or lines[0].startswith(KILLED):
        how = f"was {lines[0] if lines else 'killed'}, by a user or by a host that was short of memory"
    else:
        how = f"crashed ({fatal or lines[-1]}; {CRASH} says where)"
    return f"the process in which the harness ran this scenario {how}"
