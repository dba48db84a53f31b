"""System calls that fail, or take long: strace, which meddles with those of a process that runs."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

from harness.base.processes import bare_environment, mortal, spawn
from harness.base.waiting import wait_until
from harness.scenario.capabilities.base import capability

_SECONDS = 10
_CALLS = "fsync,fdatasync"
_MEDDLED = ("(INJECTED)", "(DELAYED)")
_FAILED = 5  # EIO
# Ends with the number of the error that an fsync fails by.
_FLUSHES = """
import os, sys, time
file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
while True:
    try:
        os.fsync(file)
    except OSError as error:
        sys.exit(error.errno)
    time.sleep(0.01)
"""


def inject_into(
    strace: str, pid: int, said: Path, environment: Mapping[str, str], what: str = "error=EIO"
) -> subprocess.Popen[bytes]:
    """Have calls of a process fail until it ends; return strace, which ends with it, or with the harness.

    `what` is strace's word for what happens to each. The calls are written to a file, and what strace has to say beside
    it (`output_of`).
    """
    command = [strace, "-f", "-qq", "-p", str(pid), "-e", f"trace={_CALLS}", "-e", f"inject={_CALLS}:{what}"]
    started = spawn([*command, "-o", str(said)], cwd=said.parent, output=output_of(said), env=environment)
    threading.Thread(target=started.wait, name="strace", daemon=True).start()  # takes its end, whenever it comes
    return started


def output_of(said: Path) -> Path:
    """Return where strace complains, beside the file of what failed."""
    return said.with_suffix(".out")


def injected(said: Path) -> str:
    """Return the first call that was meddled with, as strace tells it; empty for none yet."""
    lines = said.read_text(errors="replace").splitlines() if said.exists() else []
    return next((" ".join(line.split()) for line in lines if line.endswith(_MEDDLED)), "")


@capability(fix="Install strace (4.16 or newer), and allow ptrace: as root, or sysctl kernel.yama.ptrace_scope=0.")
def failing_calls() -> str:
    """System calls of a running node that fail (strace)."""
    strace = shutil.which("strace")
    if strace is None:
        return "there is no program strace"
    with tempfile.TemporaryDirectory() as folder:
        return _try_it(strace, Path(folder))


def _try_it(strace: str, folder: Path) -> str:
    """Have an fsync of a process fail that runs already, beside strace, as a node does."""
    said = folder / "said.txt"
    command = mortal([sys.executable, "-I", "-S", "-c", _FLUSHES, str(folder / "file")])
    with subprocess.Popen(command, env=bare_environment()) as process:
        tracer = None
        try:
            tracer = inject_into(strace, process.pid, said, bare_environment())
            wait_until(lambda: process.poll() is not None or tracer.poll() is not None, _SECONDS)
        except OSError:
            pass
        finally:
            code = process.poll()
            process.kill()
            if tracer is not None:
                wait_until(lambda: tracer.poll() is not None, _SECONDS)  # before its folder goes
    if code == _FAILED and injected(said):
        return ""
    complaint = output_of(said).read_text(errors="replace").strip() if output_of(said).exists() else ""
    return complaint.partition("\n")[0] or "no fsync of a process that runs was made to fail"
