"""Child processes: they die with the harness, and see nothing of the user's environment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from harness.base.processes.background import background_of_caller

_LAUNCHER = Path(__file__).with_name("launch.py")
_WHOEVER = "0"
_LOOK_SECONDS = 0.3
_ORDINARY, _IDLE = "ordinary", "idle"

_Text = TypeVar("_Text", str, bytes)

# The kernel's death signal fires when the *thread* that forked ends, so one thread that lives as long as the
# harness starts every child.
_spawner = ThreadPoolExecutor(max_workers=1, thread_name_prefix="spawner")


def bare_environment() -> dict[str, str]:
    """Return what children get as environment: no secrets of the user's, no KAFKA_OPTS or JAVA_TOOL_OPTIONS."""
    return {"PATH": os.defpath, "LANG": "C.UTF-8", "TZ": "UTC"}


def mortal(command: Sequence[str]) -> list[str]:
    """Return a command, named by its path, that dies with whoever starts it."""
    return [sys.executable, "-I", "-S", str(_LAUNCHER), _WHOEVER, _ORDINARY, *command]


def spawn(
    command: Sequence[str], *, cwd: Path, output: Path, env: Mapping[str, str], stdin: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """Start a command in its own session, its output appended to a file; it is killed when the harness ends.

    What a Background starts gives way to everybody else. With PIPE for `stdin` the command sees whether its
    other end is still held.
    """
    return _begun(lambda bound: _spawned(bound, cwd, output, env, stdin), command)


def spawn_beside(command: Sequence[str], *, env: Mapping[str, str], passing: int) -> subprocess.Popen[bytes]:
    """Start a part of the harness itself, in its own session and with an open descriptor.

    It has the terminal's output, and is killed when the harness ends.
    """
    return _spawner.submit(
        lambda: subprocess.Popen(
            bound_to_harness(command),
            env=dict(env),
            stdin=subprocess.DEVNULL,
            pass_fds=(passing,),
            start_new_session=True,
        )
    ).result()


def be_ready_to_spawn() -> None:
    """Have the thread that starts children: it is born where it is first needed, and stays in those namespaces."""
    _spawner.submit(int).result()


def kill(process: subprocess.Popen[Any]) -> None:
    """End a process that leads its group, with all of that group, and wait until it has ended."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str],
    timeout: float,
    is_over: Callable[[], bool] = lambda: False,
) -> subprocess.CompletedProcess[str]:
    """Run a command, named by its path, to its end; it is killed when the harness ends before.

    A program that cannot be started ends with 127 and a sentence on stderr. Raises TimeoutExpired after `timeout`
    seconds, or when nobody waits for the answer any more, which is looked at now and then; the command and what it
    started in its session are killed then, and on any other way out of here.
    """
    process = _begun(lambda bound: _start_piped(bound, cwd, env), command)
    with process:
        try:
            out, err = _answer(process, time.monotonic() + timeout, is_over)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(list(command), process.returncode, out, err)


def _answer(process: subprocess.Popen[str], deadline: float, is_over: Callable[[], bool]) -> tuple[str, str]:
    while True:
        left = deadline - time.monotonic()
        try:
            return process.communicate(timeout=min(left, _LOOK_SECONDS))
        except subprocess.TimeoutExpired:
            if left <= _LOOK_SECONDS or is_over():
                raise


def spawn_here(command: Sequence[str], *, cwd: Path, output: Path, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Do as `spawn` does, from this very thread: the child is in its namespaces, and is killed when the thread ends."""
    return _spawned(bound_to_harness(command), cwd, output, env)


def bound_to_harness(command: Sequence[str], scheduling: str = _ORDINARY) -> list[str]:
    """Return a command, named by its path, that dies with the thread of this process that starts it."""
    return [sys.executable, "-I", "-S", str(_LAUNCHER), str(os.getpid()), scheduling, *command]


def _begun(start: Callable[[list[str]], subprocess.Popen[_Text]], command: Sequence[str]) -> subprocess.Popen[_Text]:
    """Have the spawner start a command, which belongs to the Background of this thread where there is one."""
    background = background_of_caller()
    if background is None:
        return _spawner.submit(start, bound_to_harness(command)).result()
    scheduling = _IDLE if background.gives_way else _ORDINARY
    return background.begin(lambda: _spawner.submit(start, bound_to_harness(command, scheduling)).result())


def _spawned(
    bound: list[str], cwd: Path, output: Path, env: Mapping[str, str], stdin: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    with output.open("ab") as sink:
        return subprocess.Popen(
            bound,
            cwd=cwd,
            env=dict(env),
            stdin=stdin,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _start_piped(bound: list[str], cwd: Path | None, env: Mapping[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        bound,
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
