"""What libfaketime leaves in shared memory: it removes its names when the process that made them ends as it began.

That was the launcher, which became the node by exec. A node that has started needs the names no more.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

import psutil

SHARED = Path("/dev/shm")  # noqa: S108 - where the C library keeps what processes share
_PREFIXES = ("faketime_shm_", "sem.faketime_sem_")
_NAME = re.compile(rf"(?:{'|'.join(map(re.escape, _PREFIXES))})(\d+)")


def forget_shared(pid: int) -> None:
    """Remove what was made for a process that has started, or has ended."""
    for prefix in _PREFIXES:
        (SHARED / f"{prefix}{pid}").unlink(missing_ok=True)


def sweep_shared() -> None:
    """Remove what was made for processes of this user's that are gone, as a harness that was killed leaves it."""
    for path in SHARED.glob("*faketime_*"):
        named = _NAME.fullmatch(path.name)
        with suppress(OSError):  # somebody else was faster
            if named and not psutil.pid_exists(int(named[1])) and path.lstat().st_uid == os.geteuid():
                path.unlink()
