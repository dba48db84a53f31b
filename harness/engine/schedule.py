"""Run many cells, a few side by side, and stop all of them at once when cancelled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from harness.cluster.descriptors import allow_many
from harness.engine.apart import run_apart
from harness.engine.cancel import Cancellation
from harness.engine.planned_run import PlannedRun
from harness.engine.quiet import Quiet
from harness.model.runs import RunKey, RunResult

_WAKE_SECONDS = 0.3


class RunListener(Protocol):
    """Takes the progress of runs; called from several threads."""

    def begin(self, key: RunKey) -> None:
        """Call when a run begins."""

    def phase(self, key: RunKey, name: str) -> None:
        """Call when a run enters a phase."""

    def end(self, result: RunResult) -> None:
        """Call when a run has its result."""


def run_cells(
    cells: Sequence[PlannedRun],
    run_dir: Path,
    jobs: int,
    listener: RunListener,
    quiet: Quiet = nullcontext,
    on_left: Callable[[], object] = lambda: None,
) -> list[RunResult]:
    """Run the cells, `jobs` clusters at a time, each in a process of its own; results come in the order of the cells.

    `quiet` holds whatever else the harness does meanwhile; `on_left` is called for each place that no cell waits for.

    On Ctrl-C every node is ended before KeyboardInterrupt goes on.
    """
    allow_many()  # one for each connection, log and process of a cluster; a run has as many
    cancellation, ended = Cancellation(), count(1)

    def run(cell: PlannedRun) -> RunResult:
        listener.begin(cell.key)
        result = run_apart(cell, run_dir, lambda phase: listener.phase(cell.key, phase), cancellation, quiet)
        listener.end(result)
        if len(cells) - next(ended) < jobs:
            on_left()
        return result

    with ThreadPoolExecutor(jobs, thread_name_prefix="run") as pool:
        futures: list[Future[RunResult]] = [pool.submit(run, cell) for cell in cells]
        finish(futures, cancellation)
    return [future.result() for future in futures]


def finish(futures: Sequence[Future[Any]], cancellation: Cancellation) -> None:
    """Wait for all; when one fails, or on Ctrl-C, end the others and raise it."""
    try:
        _await(futures)
    except BaseException:
        for future in futures:
            future.cancel()
        cancellation.cancel()
        raise


def _await(futures: Sequence[Future[Any]]) -> None:
    """Wait for all, and raise what the first to fail raises.

    The wait wakes up now and then: a signal that the kernel gives to another thread would not end it.
    """
    waiting = set(futures)
    while waiting:
        done, waiting = wait(waiting, timeout=_WAKE_SECONDS, return_when=FIRST_COMPLETED)
        for future in done:
            future.result()
