"""What the kernel counts of processes and of the host: waits for a processor, time used, pressure, quotas, kills.

Every function returns what it can read and nothing where the kernel keeps no such account; processes may end meanwhile.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

PROC, CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_WORK = bytes(2**18)
_NO_DISKS = ("loop", "ram", "zram")
# The places of a count of operations and of the milliseconds that they took in a line of diskstats, after its name.
_OPERATIONS = (("read", 0, 3), ("write", 4, 7), ("flush", 15, 16))


@dataclass(frozen=True, slots=True)
class ThreadAccount:
    """How many seconds a thread has waited for a processor, how often it got one, and nanoseconds that it ran.

    A wait is added when it has ended.
    """

    waited: float
    times: int
    ran: int


def accounts_of(pid: int, proc: Path = PROC) -> dict[int, ThreadAccount]:
    """Return the account of each thread of a process, by thread id (schedstat)."""
    found: dict[int, ThreadAccount] = {}
    with suppress(OSError), os.scandir(proc / str(pid) / "task") as tasks:
        for task in tasks:
            with suppress(OSError, ValueError):
                ran, waited, times = map(int, _read(f"{task.path}/schedstat").split())
                found[int(task.name)] = ThreadAccount(waited / 1e9, times, ran)
    return found


def _read(path: str) -> bytes:
    """Read the start of a file of /proc, in a fifth of pathlib's time: there are hundreds of threads, each second."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 256)
    finally:
        os.close(descriptor)


def is_runnable(pid: int, thread: int, proc: Path = PROC) -> bool:
    """Return whether a thread runs, or would if it had a processor."""
    with suppress(OSError):
        return _read(f"{proc}/{pid}/task/{thread}/stat").rpartition(b")")[2].split(None, 1)[:1] == [b"R"]
    return False


def thread_name(pid: int, thread: int, proc: Path = PROC) -> str:
    """Return a thread's name, which Linux cuts at 15 characters; a number for one that has ended."""
    try:
        return (proc / str(pid) / "task" / str(thread) / "comm").read_text().strip()
    except OSError:
        return f"thread {thread}"


class RaftThreads:
    """Finds the raft I/O thread of each node's process, and what it has used; once found it is remembered."""

    # Linux cuts thread names at 15 characters: "kafka-3-raft-io-thread".
    _NAME = "kafka-{node}-raft-io-thread"

    def __init__(self) -> None:
        self._tasks: dict[int, Path] = {}

    def task(self, pid: int, node: int, proc: Path = PROC) -> Path | None:
        """Return the thread's folder below /proc, None where there is none of its name. Raises OSError."""
        if pid not in self._tasks:
            for task in (proc / str(pid) / "task").iterdir():
                if (task / "comm").read_text().strip() == self._NAME.format(node=node)[:15]:
                    self._tasks[pid] = task
        return self._tasks.get(pid)

    def seconds(self, pid: int, node: int, proc: Path = PROC) -> float | None:
        """Return the CPU seconds that the thread has used; None where that cannot be known."""
        with suppress(OSError, IndexError, ValueError):
            task = self.task(pid, node, proc)
            return int((task / "schedstat").read_text().split()[0]) / 1e9 if task else None
        return None


def threads_of(pid: int, proc: Path = PROC) -> int:
    """Return how many threads a process has."""
    with suppress(OSError, IndexError, ValueError):
        return int((proc / str(pid) / "stat").read_text().rpartition(")")[2].split()[17])
    return 0


def descriptors_of(pid: int, proc: Path = PROC) -> int:
    """Return how many files and sockets a process has open."""
    with suppress(OSError):
        return sum(1 for _ in (proc / str(pid) / "fd").iterdir())
    return 0


def processor_seconds(pid: int, proc: Path = PROC) -> float:
    """Return the CPU seconds that a process has used, its ended threads included."""
    with suppress(OSError, IndexError, ValueError):
        fields = (proc / str(pid) / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS
    return 0.0


def written_bytes(pid: int, proc: Path = PROC) -> int:
    """Return how many bytes a process has caused to be written to disks."""
    with suppress(OSError):
        return _numbers((proc / str(pid) / "io").read_text().replace(":", "")).get("write_bytes", 0)
    return 0


def busy_seconds(processors: Collection[int], proc: Path = PROC) -> float:
    """Return the CPU seconds that everybody has used on these processors, other guests of the machine included."""
    busy = 0
    with suppress(OSError):
        for line in (proc / "stat").read_text().splitlines():
            name, *fields = line.split()
            if name.removeprefix("cpu").isdigit() and int(name[3:]) in processors:
                user, nice, system, _idle, _iowait, interrupts, soft, stolen = map(int, fields[:8])
                busy += user + nice + system + interrupts + soft + stolen
    return busy / _TICKS


def stalled_seconds(resource: str, proc: Path = PROC) -> float:
    """Return the seconds in which everybody waited for `io` or `memory` at once (PSI, `full`)."""
    with suppress(OSError, ValueError):
        for line in (proc / "pressure" / resource).read_text().splitlines():
            if line.startswith("full "):
                return int(line.rpartition("total=")[2]) / 1e6
    return 0.0


def disk_operations(proc: Path = PROC) -> dict[str, tuple[int, float]]:
    """Return how many operations of a kind (`read`, `write`, `flush`) all disks have done, and the seconds they took.

    Kernels before 5.5 do not count flushes (Documentation/admin-guide/iostats.rst).
    """
    found: dict[str, tuple[int, float]] = {}
    with suppress(OSError, ValueError):
        for _, _, name, *numbers in map(str.split, (proc / "diskstats").read_text().splitlines()):
            for kind, place, time_place in () if name.startswith(_NO_DISKS) else _OPERATIONS:
                if time_place < len(numbers):
                    count, seconds = found.get(kind, (0, 0.0))
                    found[kind] = count + int(numbers[place]), seconds + int(numbers[time_place]) / 1000
    return found


def throttled_seconds(proc: Path = PROC, cgroups: Path = CGROUPS) -> float:
    """Return the seconds for which a quota has held this process's cgroup back (cgroup 2, or 1)."""
    counts = _cgroup_counts("cpu", "cpu.stat", proc, cgroups)
    return counts.get("throttled_usec", 0) / 1e6 or counts.get("throttled_time", 0) / 1e9


def quota_processors(proc: Path = PROC, cgroups: Path = CGROUPS) -> float:
    """Return how many processors a quota leaves this process's cgroup (cgroup 2, or 1); infinity without one."""
    for folder in _cgroup_folders("cpu", proc, cgroups):
        with suppress(OSError, ValueError, ZeroDivisionError):
            quota, period = (folder / "cpu.max").read_text().split()
            return int(quota) / int(period)
        with suppress(OSError, ValueError, ZeroDivisionError):
            quota, period = ((folder / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
            return int(quota) / int(period) if int(quota) > 0 else math.inf
    return math.inf


def out_of_memory_kills(proc: Path = PROC, cgroups: Path = CGROUPS) -> int:
    """Return how many processes the kernel's OOM killer has ended, by this cgroup's account and the whole host's."""
    kills = sum(
        _cgroup_counts("memory", name, proc, cgroups).get("oom_kill", 0)
        for name in ("memory.events", "memory.oom_control")
    )
    with suppress(OSError, ValueError):
        kills += _numbers((proc / "vmstat").read_text()).get("oom_kill", 0)
    return kills


def available_memory(cgroups: Path = CGROUPS) -> float:
    """Return the bytes that this process may still take: the host's, or what its container (cgroup 2) leaves it."""
    host = float(psutil.virtual_memory().available)
    try:
        limit = float((cgroups / "memory.max").read_text())  # `max` where there is none
        used = float((cgroups / "memory.current").read_text())
        stat = _numbers((cgroups / "memory.stat").read_text())
    except (OSError, ValueError):
        return host
    given_back = stat.get("inactive_file", 0) + stat.get("active_file", 0)
    return min(host, limit - used + given_back)


def resident_bytes(pid: int, proc: Path = PROC) -> int:
    """Return how much memory a process holds."""
    with suppress(OSError, IndexError, ValueError):
        return int((proc / str(pid) / "statm").read_text().split()[1]) * _PAGE
    return 0


def work_seconds(clock: Callable[[], float] = time.thread_time) -> float:
    """Return the CPU seconds that a fixed piece of work takes now: how fast the processor is."""
    began = clock()
    hashlib.sha256(_WORK).digest()
    return clock() - began


def _cgroup_counts(controller: str, name: str, proc: Path, cgroups: Path) -> dict[str, int]:
    """Return what a file of this process's cgroup counts; in a container its own root stands for it."""
    for folder in _cgroup_folders(controller, proc, cgroups):
        with suppress(OSError, ValueError):
            return _numbers((folder / name).read_text())
    return {}


def _cgroup_folders(controller: str, proc: Path, cgroups: Path) -> Iterator[Path]:
    with suppress(OSError):
        for line in (proc / "self" / "cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controller in controllers.split(","):
                yield from (cgroups / controllers / path.lstrip("/"), cgroups / controller / path.lstrip("/"))
            elif not controllers:
                yield cgroups / path.lstrip("/")
    yield from (cgroups, cgroups / controller)


def _numbers(text: str) -> dict[str, int]:
    pairs: list[Sequence[str]] = [line.split() for line in text.splitlines()]
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2}
