"""Measures the host while nodes run on it: each reading is what has changed since the one before."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from harness.cluster import host_accounts as accounts
from harness.cluster.host_accounts import ThreadAccount
from harness.model.host import HostSpeed
from harness.scenario.slowness import HostInterval, Waiter

# Waits that are shorter are many and hold nothing back.
_WORTH_KEEPING_SECONDS = 0.005
_CALIBRATING_TIMES = 20

_Thread = tuple[int, int]  # ids of a process and of its thread


@dataclass(frozen=True, slots=True)
class _Totals:
    """What the host has counted since it was started."""

    at: float
    busy: float
    throttled: float
    io: float
    memory: float
    operations: Mapping[str, tuple[int, float]]

    @classmethod
    def now(cls, processors: Collection[int]) -> _Totals:
        return cls(
            time.monotonic(),
            accounts.busy_seconds(processors),
            accounts.throttled_seconds(),
            accounts.stalled_seconds("io"),
            accounts.stalled_seconds("memory"),
            accounts.disk_operations(),
        )

    def answer_since(self, before: _Totals) -> float:
        """Return how many seconds an operation on a disk took since then, of the kind that took longest."""
        grown = [
            (count - before.operations.get(kind, (0, 0.0))[0], seconds - before.operations.get(kind, (0, 0.0))[1])
            for kind, (count, seconds) in self.operations.items()
        ]
        return max((seconds / count for count, seconds in grown if count > 0), default=math.inf)


@cache
def host_speed() -> HostSpeed:
    """Return how fast this host was when this process asked first: what it does later is measured by that.

    The quickest of several times counts, so that a busy host is not taken for a slow one. Beside other work it is
    slower all the same: who will have some under way asks before.
    """
    quickest = min(accounts.work_seconds() for _ in range(_CALIBRATING_TIMES))
    return HostSpeed(quickest, len(os.sched_getaffinity(0)))


class HostMeter:
    """Takes readings for one run; `speed` is the host's before the first run, None where nobody measured it."""

    def __init__(self, speed: HostSpeed | None = None) -> None:
        self._calibrated = speed.work_seconds if speed else 0.0
        self._processors = os.sched_getaffinity(0)
        self._before = _Totals.now(self._processors)
        self._accounts: dict[_Thread, ThreadAccount] = {}
        self._ahead: dict[_Thread, float] = {}
        self._names: dict[_Thread, str] = {}
        self._used: dict[int, float] = {}
        self._written: dict[int, float] = {}

    def reading(self, processes: Sequence[tuple[int, int]]) -> HostInterval:
        """Return what has changed since the last reading; `processes` are ids of nodes with their processes' ids.

        What a process did before its first reading counts for that.
        """
        now, before = _Totals.now(self._processors), self._before
        self._before = now
        seconds = now.at - before.at
        waits = {who: most for node, pid in processes for who, most in self._waits(node, pid, seconds)}
        own = sum(self._growth(self._used, pid, accounts.processor_seconds(pid)) for _, pid in processes)
        return HostInterval(
            end=now.at,
            seconds=seconds,
            processors=len(self._processors),
            waits=waits,
            own=own,
            others=max(now.busy - before.busy - own, 0.0),
            throttled=now.throttled - before.throttled,
            io=now.io - before.io,
            memory=now.memory - before.memory,
            answer=now.answer_since(before),
            available=accounts.available_memory(),
            written=sum(self._growth(self._written, pid, accounts.written_bytes(pid)) for _, pid in processes),
            slowdown=max(accounts.work_seconds() / self._calibrated, 1.0) if self._calibrated else 1.0,
        )

    def _waits(self, node: int, pid: int, seconds: float) -> Iterable[tuple[Waiter, float]]:
        for thread, account in accounts.accounts_of(pid).items():
            grown = self._waited_since((pid, thread), account, seconds)
            self._accounts[pid, thread] = account
            if grown >= _WORTH_KEEPING_SECONDS:
                yield (node, self._name(pid, thread)), grown

    def _waited_since(self, thread: _Thread, account: ThreadAccount, seconds: float) -> float:
        """Return how long a thread has waited since the last reading; a wait that lasts is counted as it grows."""
        before = self._accounts.get(thread)
        if account == before and accounts.is_runnable(*thread):
            self._ahead[thread] = self._ahead.get(thread, 0.0) + seconds
            return seconds
        grown = account.waited - (before.waited if before else 0.0)
        if grown <= 0:
            return 0.0
        # No more than has passed: now and then a kernel counts a long sleep as a wait.
        return min(max(grown - self._ahead.pop(thread, 0.0), 0.0), seconds)

    def _name(self, pid: int, thread: int) -> str:
        if (pid, thread) not in self._names:
            self._names[pid, thread] = f"{accounts.thread_name(pid, thread)}, thread {thread}"
        return self._names[pid, thread]

    def _growth(self, known: dict[int, float], pid: int, now: float) -> float:
        before, known[pid] = known.get(pid, 0.0), now
        return max(now - before, 0.0)
