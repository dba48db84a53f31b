"""Whose a container is: so that what a killed harness left is removed, and what another one uses is not."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import astuple, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Owner:
    """A process, distinguished from every other that ever was: pids are reused.

    `started` is in clock ticks since the boot, as in /proc/<pid>/stat. `namespace` is that of process numbers: in
    another one the same number is another process.
    """

    machine: str
    namespace: str
    boot: str
    pid: int
    started: int

    def __str__(self) -> str:
        return " ".join(map(str, astuple(self)))


def this_process() -> Owner:
    """Return the owner of what this process starts."""
    pid = os.getpid()
    namespace = str(Path("/proc/self/ns/pid").readlink())
    return Owner(_machine(), namespace, _text("/proc/sys/kernel/random/boot_id"), pid, started_at(pid) or 0)


def parse_owner(text: str) -> Owner | None:
    """Return the owner that a label names; None for what no harness wrote."""
    parts = text.split(" ")
    if len(parts) != 5 or not (parts[3].isdecimal() and parts[4].isdecimal()):
        return None
    machine, namespace, boot, pid, started = parts
    return Owner(machine, namespace, boot, int(pid), int(started))


def started_at(pid: int) -> int | None:
    """Return when a process of this namespace started, in ticks since the boot; None when there is none."""
    # The second field is the program's name in brackets, which may hold anything, brackets too.
    fields = _text(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return int(fields[19]) if len(fields) > 19 and fields[0] not in "ZX" else None


def is_gone(owner: Owner, me: Owner, started: Callable[[int], int | None] = started_at) -> bool:
    """Whether the owner has surely ended; False where it cannot be seen from here."""
    if (owner.machine, owner.namespace) != (me.machine, me.namespace):
        return False
    return owner.boot != me.boot or started(owner.pid) != owner.started


def _machine() -> str:
    return _text("/etc/machine-id") or os.uname().nodename


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
