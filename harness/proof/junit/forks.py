"""Forks: JVMs that run JUnit's console launcher side by side, watched, and ended with the harness."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.processes import bare_environment, kill, spawn
from harness.base.processes.background import Background, background_of_caller
from harness.base.text import cut, visible
from harness.kafka.release_lines import NodeLogging
from harness.proof.junit.fork_plan import JUPITER, PROPERTIES, included
from harness.toolbox.java import JavaRuntime

SEED = 391  # of every property: any fixed number does; this one's tries are neither the shortest nor the longest
_STALL_SECONDS = 300  # the longest property takes 45 s on a quiet core: a test that takes this long hangs
_MOST_OUTPUT = 64 * 2**20
_POLL_SECONDS = 0.1
_DUMP_SECONDS = 2.0
_LAUNCHER = "org.junit.platform.console.ConsoleLauncher"
_FLAGS = ("-Xmx1g", "-Xmn600m", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-XX:+EnableDynamicAgentLoading")
# The optimising compiler (C2) takes half of the CPU seconds of tests that end before its code pays.
_QUICK = "-XX:TieredStopAtLevel=1"
_SERVICES = "META-INF/services"
_PROPERTY_HOOK, _EXTENSION = "net.jqwik.api.lifecycle.LifecycleHook", "org.junit.jupiter.api.extension.Extension"
RUN_HOOKS = {_PROPERTY_HOOK: "Hooks$Seed"}
COUNT_HOOKS = {_PROPERTY_HOOK: "Hooks$CountProperties", _EXTENSION: "Hooks$CountTests"}
_FEED = re.compile(rb"^(.*) :: (STARTED|SUCCESSFUL|FAILED|ABORTED|SKIPPED|DISABLED)\r?$", re.MULTILINE)

OnProgress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Jvm:
    """What every fork runs on: the class path (services come before it) and which hooks take part."""

    java: JavaRuntime
    class_path: tuple[Path, ...]
    hooks: dict[str, str]
    logging: NodeLogging

    def command(self, arguments: Sequence[str], folder: Path) -> list[str]:
        """Return the command line; `folder` is the fork's own, all that it writes goes there."""
        path = os.pathsep.join(map(str, (folder / "services", *self.class_path)))
        properties = (f"-Djava.io.tmpdir={folder}", f"-Dharness.seed={SEED}")
        flags = (*_FLAGS, *_compiler(arguments), *properties, self.logging.flag(folder / self.logging.file))
        return [str(self.java.java), *flags, "-cp", path, _LAUNCHER, *_execute(folder), *arguments]


@dataclass(frozen=True, slots=True)
class EndedFork:
    """A fork that ended: its exit code, its reports, and in a sentence what was wrong with it, empty if nothing was."""

    exit_code: int
    reports: tuple[Path, ...]
    output: Path
    problem: str = ""
    dump: str = ""


@dataclass(slots=True)
class _Fork:
    """A fork under way, as part of a Background perhaps; `feed` is how much of its output was looked at."""

    process: subprocess.Popen[bytes]
    folder: Path
    background: Background | None = None
    moved: float = field(default_factory=time.monotonic)
    feed: int = 0
    done: int = 0
    running: str = ""

    @property
    def output(self) -> Path:
        return self.folder / "output.log"

    def listen(self) -> None:
        """Read what the launcher has written since: which test began, how many ended."""
        with self.output.open("rb") as stream:
            stream.seek(self.feed)
            text = stream.read(_MOST_OUTPUT)
        whole = text.rfind(b"\n") + 1
        self.feed += whole
        for found in _FEED.finditer(text[:whole]):
            name = found.group(1).decode("utf-8", "replace")
            self.moved = time.monotonic()
            self.running = name if found.group(2) == b"STARTED" else ""
            self.done += found.group(2) != b"STARTED"

    def trouble(self) -> str:
        """Return why the fork has to be ended, or nothing."""
        if self.output.stat().st_size > _MOST_OUTPUT:
            return f"the test JVM wrote more than {_MOST_OUTPUT >> 20} MB and was ended{self._while()}"
        if self.background and self.background.gives_way:  # it may be held for any time, which says nothing of a test
            self.moved = time.monotonic()
        if time.monotonic() - self.moved > _STALL_SECONDS:
            return f"no test ended within {_STALL_SECONDS} s, and the test JVM was ended{self._while()}"
        return ""

    def after(self) -> str:
        """Return what was wrong with a fork that ended by itself; 1 only says that tests failed."""
        code = self.process.returncode
        return "" if code in (0, 1) and not self.running else f"the test JVM ended with exit {code}{self._while()}"

    def _while(self) -> str:
        return f" while {cut(visible(self.running), 200)} ran" if self.running else ""


def run_launchers(
    jvm: Jvm, arguments: Sequence[Sequence[str]], scratch: Path, forks: int, on_progress: OnProgress
) -> tuple[EndedFork, ...]:
    """Run the launcher in a JVM of its own for each list of arguments, `forks` at a time; the results keep the order.

    `on_progress` is called with the number of tests that have ended so far. No fork outlives the call.
    """
    ended: dict[int, EndedFork] = {}
    waiting = list(enumerate(arguments))
    running: dict[int, _Fork] = {}
    before = 0
    try:
        while waiting or running:
            while waiting and len(running) < forks:
                number, arguments_of_one = waiting.pop(0)
                running[number] = _start(jvm, arguments_of_one, scratch / str(number))
            time.sleep(_POLL_SECONDS)
            for number, fork in list(running.items()):
                if (result := _look(fork)) is not None:
                    before += running.pop(number).done
                    ended[number] = result
            on_progress(before + sum(fork.done for fork in running.values()))
    finally:
        for fork in running.values():
            kill(fork.process)
    return tuple(ended[number] for number in sorted(ended))


def _compiler(arguments: Sequence[str]) -> tuple[str, ...]:
    """Return what chooses the compiler: properties alone run for long enough to need the optimising one."""
    runs_properties = included(PROPERTIES) in arguments and included(JUPITER) not in arguments
    return () if runs_properties else (_QUICK,)


def _execute(folder: Path) -> list[str]:
    settings = {
        "junit.jupiter.extensions.autodetection.enabled": "true",
        # Else one class that cannot be loaded would end the run before any test; it is missed by name instead.
        "junit.platform.discovery.listener.default": "logging",
        "jqwik.database": str(folder / "jqwik-database"),
    }
    options = ["execute", "--disable-banner", "--disable-ansi-colors", "--details=testfeed"]
    return [
        *options,
        f"--reports-dir={folder / 'reports'}",
        *(f"--config={key}={value}" for key, value in settings.items()),
    ]


def _start(jvm: Jvm, arguments: Sequence[str], folder: Path) -> _Fork:
    services = folder / "services" / _SERVICES
    services.mkdir(parents=True)
    for service, implementation in jvm.hooks.items():
        (services / service).write_text(f"{implementation}\n", encoding="utf-8")
    (folder / jvm.logging.file).write_text(jvm.logging.silent, encoding="utf-8")
    (folder / "output.log").touch()
    command = jvm.command(arguments, folder)
    process = spawn(command, cwd=folder, output=folder / "output.log", env=bare_environment())
    return _Fork(process, folder, background_of_caller())


def _look(fork: _Fork) -> EndedFork | None:
    """Return the result of a fork that has ended or must end now."""
    over = fork.process.poll() is not None  # polled first, so that all it wrote is read
    fork.listen()
    if over:
        return _ended(fork, fork.after())
    if problem := fork.trouble():
        dump = _thread_dump(fork)
        kill(fork.process)
        return _ended(fork, problem, dump)
    return None


def _ended(fork: _Fork, problem: str, dump: str = "") -> EndedFork:
    reports = tuple(sorted((fork.folder / "reports").glob("TEST-*.xml")))
    return EndedFork(fork.process.returncode, reports, fork.output, problem, dump)


def _thread_dump(fork: _Fork) -> str:
    """Ask a hanging JVM what its main thread does; empty when it does not answer."""
    size = fork.output.stat().st_size
    with suppress(ProcessLookupError):
        fork.process.send_signal(signal.SIGQUIT)
    with suppress(subprocess.TimeoutExpired):
        fork.process.wait(_DUMP_SECONDS)
    with fork.output.open("rb") as stream:
        stream.seek(size)
        text = stream.read(2**20).decode("utf-8", "replace")
    return text[max(text.find('"main"'), 0) :].partition("\n\n")[0]
