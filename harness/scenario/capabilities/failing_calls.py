"""System calls that fail: strace, which injects errors into a process that runs."""

from __future__ import annotations

import shutil
import subprocess

from harness.base.processes import bare_environment
from harness.scenario.capabilities.base import capability

_SECONDS = 10


@capability(fix="Install strace (4.16 or newer), and allow ptrace: as root, or sysctl kernel.yama.ptrace_scope=0.")
def failing_calls() -> str:
    """System calls of a running node that fail (strace)."""
    strace = shutil.which("strace")
    if strace is None:
        return "there is no program strace"
    command = [strace, "-qq", "-e", "inject=sync:error=EIO", "-o", "/dev/null", "/bin/true"]
    try:
        done = subprocess.run(
            command, env=bare_environment(), capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (done.stderr.strip() or f"it ended with {done.returncode}") if done.returncode else ""
