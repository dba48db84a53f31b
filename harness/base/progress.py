"""What a user sees while the harness works: stages, details, downloads; bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.text import Text

from harness.base.ending import end_if_asked
from harness.base.text import visible

_REPORT_EVERY_SECONDS = 10.0
_SOON_SECONDS = 3.0  # downloads that come within this time are told once, when they have come


def duration(seconds: float) -> str:
    """Return `48 s` or `2 min 05 s`."""
    whole = max(0, round(seconds))
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02d} s"


class Reporter:
    """Prints stages, details and progress; safe to call from several threads.

    `console` is for results, `progress` for all else; of a `quiet` reporter nobody sees that. A `verbose` one is asked
    for everything that a result rests on.
    """

    def __init__(self, console: Console, *, quiet: bool = False, verbose: bool = False) -> None:
        self.console = console
        self.progress = Console(quiet=True) if quiet else console
        self.verbose = verbose

    def stage(self, text: str) -> None:
        """Say what begins now; nothing begins after the end was asked for."""
        end_if_asked()
        self.progress.print(Text(f"• {text}", style="bold"))

    def report(self, text: str) -> None:
        """Say a detail of the stage; KeyboardInterrupt instead when the end was asked for."""
        end_if_asked()
        self.progress.print(Text(f"  {visible(text)}", style="dim"))

    @contextmanager
    def downloads(self) -> Iterator[DownloadBar]:
        """Show downloads as they come in; nothing is shown when all is in the cache."""
        with DownloadBar(self.progress) as bar:
            yield bar

    @contextmanager
    def counted(self, what: str) -> Iterator[Callable[[int, int], None]]:
        """Give a function to call with how many of how many are done; without a terminal it says so now and then."""
        columns = (TextColumn("  {task.description}"), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, console=self.progress, transient=True, disable=not self.progress.is_terminal) as bar:
            task, reported = bar.add_task(what), time.monotonic()

            def advance(done: int, total: int) -> None:
                nonlocal reported
                bar.update(task, completed=done, total=total)
                if not self.progress.is_terminal and time.monotonic() - reported > _REPORT_EVERY_SECONDS:
                    reported = time.monotonic()
                    self.report(f"{done} of {total} {what}")

            yield advance


class Aside(Reporter):
    """Reports what runs beside a stage: whole lines only, since the bar at the end of the terminal is the stage's."""

    @contextmanager
    def counted(self, what: str) -> Iterator[Callable[[int, int], None]]:  # noqa: ARG002
        """Give a function to call with how many of how many are done; nothing is shown of it."""
        yield lambda _done, _total: None


class DownloadBar:
    """Bytes of all files under way in one bar; on a plain stream one line when the last file has come."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._lock = threading.Lock()
        self._files: dict[str, tuple[int, int]] = {}
        self._bar = Progress(
            TextColumn("  downloading {task.description}"),
            BarColumn(),
            DownloadColumn(),
            console=console,
            transient=True,
        )
        self._task: TaskID | None = None
        self._began, self._said = time.monotonic(), False

    def __enter__(self) -> DownloadBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal and self._task is not None:
            self._bar.stop()
        if self._files:
            size = sum(total for _, total in self._files.values()) / 1e6
            files = "file" if len(self._files) == 1 else "files"
            shown = f"{size:.0f} MB" if size >= 1 else f"{size * 1000:.0f} kB"
            self._console.print(Text(f"  {len(self._files)} {files} downloaded, {shown}", style="dim"))

    def advance(self, name: str, done: int, total: int) -> None:
        """Note that `done` of `total` bytes of a file have come."""
        with self._lock:
            if self._task is None:
                if self._console.is_terminal:
                    self._bar.start()
                self._task, self._began = self._bar.add_task(""), time.monotonic()
            self._files[name] = (done, total)
            came, size = (sum(column) for column in zip(*self._files.values(), strict=True))
            self._bar.update(self._task, description=name, completed=came, total=size)
            self._say_once_that_it_lasts()

    def _say_once_that_it_lasts(self) -> None:
        if not (self._said or self._console.is_terminal or time.monotonic() - self._began < _SOON_SECONDS):
            self._console.print(Text("  downloading jars …", style="dim"))
            self._said = True
