"""Child processes that die with the harness."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_LAUNCHER = Path(__file__).with_name("launch.py")

# The kernel's death signal fires when the *thread* that forked ends, so one thread that lives as long as the
# harness starts every child.
_spawner = ThreadPoolExecutor(max_workers=1, thread_name_prefix="spawner")


def spawn(command: Sequence[str], *, cwd: Path, output: Path, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a command in its own session, its output appended to a file; it is killed when the harness ends."""
    return _spawner.submit(_start, list(command), cwd, output, dict(env)).result()


def _start(command: list[str], cwd: Path, output: Path, env: dict[str, str]) -> subprocess.Popen[bytes]:
    launcher = [sys.executable, "-I", "-S", str(_LAUNCHER), str(os.getpid())]
    with output.open("ab") as sink:
        return subprocess.Popen(
            [*launcher, *command],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
