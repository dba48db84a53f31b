"""How long each stage took, in run.json; and with `--profile-time` when all of it went on, in time.json.

Judging and reporting are in time.json alone: a verdict tells run.json by its digest.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import psutil

from harness.model.declaration import Declaration
from harness.model.events import OutcomeDecided, RunStarted
from harness.model.time_book import SCHEMA, TimeBook, TimeKind, TimeSpan
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import read_undamaged
from harness.rundir.parts import RunFolder

_CPU = "node_cpu_seconds"
_lock = threading.Lock()  # of time.json: tests that run beside the clusters write it too


class Stopwatch:
    """Wall and CPU seconds since it was made: those of this process, its children and all that they waited for."""

    def __init__(self) -> None:
        self._began, self._cpu, self.at = time.monotonic(), _cpu_seconds(), time.time()

    @property
    def seconds(self) -> float:
        """Wall seconds."""
        return time.monotonic() - self._began

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds."""
        return _cpu_seconds() - self._cpu

    def add_to(self, declaration: Declaration, stage: str) -> Declaration:
        """Return the declaration with the seconds added to those that the stage took before."""
        wall = declaration.timings.get(stage, 0.0) + self.seconds
        cpu = declaration.cpu_seconds.get(stage, 0.0) + self.cpu_seconds
        return replace(
            declaration,
            timings={**declaration.timings, stage: round(wall, 2)},
            cpu_seconds={**declaration.cpu_seconds, stage: round(cpu, 2)},
        )


def _cpu_seconds() -> float:
    own = psutil.Process()
    return sum(map(_used, [own, *own.children()]))


def _used(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:  # it has ended: its parent has waited for it, or does in a moment
        return 0.0
    return float(times.user + times.system + times.children_user + times.children_system)


@contextmanager
def timed(directory: RunDirectory, stage: str) -> Iterator[None]:
    """Add the wall and CPU seconds of a stage to run.json when it ends."""
    watch = Stopwatch()
    yield
    directory.declaration.write(watch.add_to(directory.declaration.read(), stage))
    note(directory, watch, TimeKind.STAGE, stage, watch.cpu_seconds)


@contextmanager
def noted(directory: RunDirectory, name: str, kind: TimeKind = TimeKind.PART) -> Iterator[None]:
    """Note when something went on, where that is asked for."""
    watch = Stopwatch()
    yield
    note(directory, watch, kind, name, watch.cpu_seconds)


def note(
    directory: RunDirectory,
    watch: Stopwatch,
    kind: TimeKind,
    name: str,
    cpu_seconds: float | None = None,
    held_seconds: float = 0.0,
) -> None:
    """Note in time.json what has gone on since `watch` was made, where this process writes one."""
    with _lock:
        book = directory.times.read_if_exists()
        if book is None or book.process != _this_process():
            return
        start = max(0.0, watch.at - datetime.fromisoformat(book.began).timestamp())
        cpu = None if cpu_seconds is None else round(cpu_seconds, 2)
        span = TimeSpan(kind, name, round(start, 2), round(watch.seconds, 2), cpu, round(held_seconds, 2))
        directory.times.write(replace(book, spans=(*book.spans, span)))


def begin_times(directory: RunDirectory) -> None:
    """Begin time.json anew: with the start of this process, which is the harness's own start."""
    began = psutil.Process().create_time()
    start = TimeSpan(TimeKind.STAGE, "start", 0.0, round(max(0.0, time.time() - began), 2), round(_cpu_seconds(), 2))
    at = datetime.fromtimestamp(began, UTC).isoformat(timespec="milliseconds")
    directory.times.write(TimeBook(SCHEMA, at, len(os.sched_getaffinity(0)), (start,), _this_process()))


def end_times(directory: RunDirectory) -> None:
    """End time.json with the runs that this command made, as their journals tell of them."""
    with _lock:
        book = directory.times.read()
        runs = [*_runs(directory, book, TimeKind.RUN), *_runs(directory.coverage_runs, book, TimeKind.COVERAGE)]
        directory.times.write(replace(book, spans=(*book.spans, *runs), process=""))


def _runs(directory: RunDirectory, book: TimeBook, kind: TimeKind) -> Iterator[TimeSpan]:
    began = datetime.fromisoformat(book.began).timestamp()
    for run in directory.runs():
        result, ends = run.result.read_if_exists(), _ends(run)
        if result and not result.origin and ends and ends[0] >= began:
            start, end = ends
            cpu = result.measures.get(_CPU)
            name = f"{result.scenario} on {result.arm}{f', repeat {result.repeat}' * (result.repeat > 1)}"
            yield TimeSpan(kind, name, round(start - began, 2), round(max(0.0, end - start), 2), cpu)


def _ends(run: RunFolder) -> tuple[float, float] | None:
    """Return when a run began and was decided; None where its journal does not say so."""
    entries = list(read_undamaged(run.journal))
    begun = [entry.at for entry in entries if isinstance(entry.event, RunStarted)]
    ended = [entry.at for entry in entries if isinstance(entry.event, OutcomeDecided)]
    if not (begun and ended):
        return None
    return datetime.fromisoformat(begun[0]).timestamp(), datetime.fromisoformat(ended[-1]).timestamp()


def _this_process() -> str:
    return f"{os.getpid()} {psutil.Process().create_time()}"
