"""The runs under way, as a user sees them: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from harness.base.progress import duration
from harness.base.text import visible
from harness.model.runs import Outcome, RunKey, RunResult

# Before any run has ended, one is taken to last so long: those of `standard` take 63 s in the mean, of `bootstrap` 45.
_TYPICAL_RUN_SECONDS = 60.0
_COLOURS = {
    Outcome.PASSED: "green",
    Outcome.FAILED: "yellow",
    Outcome.INCONCLUSIVE: "magenta",
    Outcome.BROKEN: "red",
    Outcome.UNSUPPORTED: "dim",
}


def estimate(remaining: Sequence[RunKey], running: dict[RunKey, float], done: Sequence[RunResult], jobs: int) -> float:
    """Return seconds left; a run is taken to last as long as its scenario's mean so far. Pure.

    `running` maps runs under way to the seconds they have taken.
    """
    left = sum(_expected(key, done) for key in remaining)
    left += sum(max(2.0, _expected(key, done) - spent) for key, spent in running.items())
    longest = max((_expected(key, done) - spent for key, spent in running.items()), default=0.0)
    return max(left / jobs, longest)


def _expected(key: RunKey, done: Sequence[RunResult]) -> float:
    alike = [result.seconds for result in done if result.scenario == key.scenario]
    everything = alike or [result.seconds for result in done]
    return sum(everything) / len(everything) if everything else _TYPICAL_RUN_SECONDS


class RunBoard:
    """The runs under way with their phases, and how long is left."""

    def __init__(self, console: Console, keys: Sequence[RunKey], jobs: int) -> None:
        self._console = console
        self._jobs = jobs
        self._lock = threading.Lock()
        self._waiting = list(keys)
        self._began: dict[RunKey, float] = {}
        self._phase: dict[RunKey, str] = {}
        self._done: list[RunResult] = []
        self._total = len(keys)
        self._bar = Progress(
            TextColumn("  runs"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), console=console
        )
        self._task = self._bar.add_task("", total=self._total)
        self._live = Live(console=console, get_renderable=self._render, refresh_per_second=4, transient=True)

    def __enter__(self) -> RunBoard:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def begin(self, key: RunKey) -> None:
        """Note that a run has begun; without a terminal, say so."""
        with self._lock:
            self._waiting.remove(key)
            self._began[key] = time.monotonic()
            self._phase[key] = "starting"
            line = f"  {_title(key)} begins; about {duration(self._left())} left"
        if not self._console.is_terminal:
            self._console.print(Text(line, style="dim"))

    def phase(self, key: RunKey, name: str) -> None:
        """Note the phase that a run has entered."""
        with self._lock:
            self._phase[key] = name
        if self._total == 1 and not self._console.is_terminal:  # of runs side by side nobody could follow the phases
            self._console.print(Text(f"    {visible(name)}", style="dim"))

    def end(self, result: RunResult) -> None:
        """Print a run's outcome, in order of completion.

        Printed after the lock is released: the live display holds its own lock while it asks for ours.
        """
        with self._lock:
            del self._began[result.key], self._phase[result.key]
            self._done.append(result)
            line = self._describe(result)
        self._console.print(line)

    def _describe(self, result: RunResult) -> Text:
        line = Text(f"  [{len(self._done)}/{self._total}] {_title(result.key)}: ")
        named = f"({result.expectation})" if result.outcome is Outcome.FAILED else ""
        line.append(f"{result.outcome}{named}", style=_COLOURS[result.outcome])
        line.append(f" in {duration(result.seconds)}")
        if not result.outcome.is_decided:
            line.append(f" — {visible(result.reason)}")
        if len(self._done) < self._total:
            line.append(f"; about {duration(self._left())} left", style="dim")
        return line

    def _left(self) -> float:
        now = time.monotonic()
        running = {key: now - began for key, began in self._began.items()}
        return estimate(self._waiting, running, self._done, self._jobs)

    def _render(self) -> Group:
        with self._lock:
            table = Table.grid(padding=(0, 2))
            now = time.monotonic()
            for key, began in sorted(self._began.items()):
                table.add_row("  ▸", _title(key), Text(self._phase[key], style="cyan"), duration(now - began))
            left = f"about {duration(self._left())} left"
            self._bar.update(self._task, completed=len(self._done), description=left)
        return Group(table, self._bar)


def _title(key: RunKey) -> str:
    repeat = f" #{key.repeat}" if key.repeat > 1 else ""
    return f"{key.scenario} on {key.arm}{repeat}"
