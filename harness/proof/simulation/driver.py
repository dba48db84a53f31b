"""JVMs that run simulations: started side by side, watched, ended with the harness, and read."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.processes import bare_environment, kill, spawn
from harness.kafka.release_lines import NodeLogging
from harness.proof.simulation.feed import Feed, Try, parse_feed, settled
from harness.toolbox.java import JavaRuntime

_STALL_SECONDS = 300  # the longest simulation seen on a busy core took 16 s; one that reaches no end takes a minute
_MOST_WRITTEN = 64 * 2**20
_POLL_SECONDS = 0.2
_FLAGS = ("-Xmx1g", "-Xmn600m", "-XX:+UseSerialGC", "-XX:-UsePerfData")
_DRIVER, _LOG, _OUTPUT = "Simulations", "simulation.log", "output.log"
_LAYOUT = "[%d] %p %m (%c)%n"


@dataclass(frozen=True, slots=True)
class SimulationJvm:
    """What simulations run on: a Java, a class path with one raft jar, and how the line's logging is configured."""

    java: JavaRuntime
    class_path: tuple[Path, ...]
    logging: NodeLogging

    def command(self, arguments: Sequence[str], folder: Path) -> list[str]:
        """Return the command line; all that it writes goes to `folder`."""
        path = os.pathsep.join(map(str, self.class_path))
        logging = self.logging.flag(folder / self.logging.file)
        properties = (f"-Djava.io.tmpdir={folder}", f"-Dharness.log={folder / _LOG}", logging)
        return [str(self.java.java), *_FLAGS, *properties, "-cp", path, _DRIVER, *arguments]


@dataclass(slots=True)
class _Fork:
    process: subprocess.Popen[bytes]
    folder: Path
    moved: float
    size: int = 0
    problem: str = ""

    @property
    def feed(self) -> Path:
        return self.folder / "feed"

    @property
    def output(self) -> Path:
        return self.folder / _OUTPUT

    def is_over(self) -> bool:
        """Return whether the JVM has ended; one that hangs, or floods what it writes, is killed."""
        if self.process.poll() is not None:
            self.problem = f"the JVM ended with exit {self.process.returncode}"
            return True
        size = self.feed.stat().st_size if self.feed.is_file() else 0
        if size != self.size:
            self.size, self.moved = size, time.monotonic()
        if max(size, self.output.stat().st_size) > _MOST_WRITTEN:
            self.problem = f"it wrote more than {_MOST_WRITTEN >> 20} MB and was ended"
        elif time.monotonic() - self.moved > _STALL_SECONDS:
            self.problem = f"it did not end within {_STALL_SECONDS} s and was killed"
        if self.problem:
            kill(self.process)
        return bool(self.problem)

    def tries(self) -> tuple[Try, ...]:
        """Return what the feed says; of what never ended, what ended the JVM."""
        found = parse_feed(self.feed.read_text("utf-8", "replace")) if self.feed.is_file() else Feed((), False)
        return settled(found, self.problem)


def run_seeds(
    jvms: Sequence[SimulationJvm], classes: Sequence[str], seconds: float, scratch: Path
) -> tuple[tuple[Try, ...], ...]:
    """Run seeds 0, 1, 2, … of all properties of `classes` for so long, side by side on each JVM."""
    arguments = [str(seconds), "seeds", ",".join(classes)]
    running = [_start(jvm, arguments, scratch / str(n), jvm.logging.silent) for n, jvm in enumerate(jvms)]
    return tuple(fork.tries() for fork in _until_over(running))


def replay_seed(
    jvms: Sequence[SimulationJvm], name: str, seed: int, scratch: Path
) -> tuple[tuple[Try | None, Path], ...]:
    """Run one property with one seed, on each JVM at the same time, with its log on.

    Returns how it ended on each, None where it never began, and the log.
    """
    arguments = [str(_STALL_SECONDS), "these", f"{name}:{seed}"]
    running = [_start(jvm, arguments, scratch / str(n), _at_debug(jvm.logging)) for n, jvm in enumerate(jvms)]
    return tuple((next(iter(fork.tries()), None), fork.folder / _LOG) for fork in _until_over(running))


def _at_debug(logging: NodeLogging) -> str:
    return logging.text.replace("{pattern}", _LAYOUT)


def _until_over(running: list[_Fork]) -> list[_Fork]:
    """Wait for every JVM; none outlives the call."""
    try:
        waiting = running
        while waiting := [fork for fork in waiting if not fork.is_over()]:
            time.sleep(_POLL_SECONDS)
    finally:
        for fork in running:
            kill(fork.process)
    return running


def _start(jvm: SimulationJvm, arguments: Sequence[str], folder: Path, logging: str) -> _Fork:
    folder.mkdir(parents=True)
    (folder / jvm.logging.file).write_text(logging, encoding="utf-8")
    command = jvm.command([str(folder / "feed"), *arguments], folder)
    (folder / _OUTPUT).touch()
    process = spawn(command, cwd=folder, output=folder / _OUTPUT, env=bare_environment())
    return _Fork(process, folder, time.monotonic())
