"""Children that give way: they run where nobody else wants the processor, and are held while somebody needs quiet.

The scheduling class SCHED_IDLE (sched(7)) loses the processor as soon as any ordinary thread wakes up; where Linux
groups threads by session (autogroup), the child's own session has the least weight. Holding (SIGSTOP to a child's
process group) takes away the rest as well: caches, memory and the clock are shared.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

from harness.base.errors import HarnessError
from harness.base.waiting import wait_until

_Text = TypeVar("_Text", str, bytes)
_SESSION_SECONDS = 1.0
_CAP_SYS_NICE = 23


class Background:
    """The children of some work; `held` is for those beside whom it runs, and may be entered by several at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._children: list[subprocess.Popen[Any]] = []
        self._holders = 0
        self._held_since, self._held = 0.0, 0.0
        self._is_over = False
        self._is_equal = False

    @property
    def held_seconds(self) -> float:
        """How long the work was held until now."""
        with self._lock:
            return self._held + (time.monotonic() - self._held_since if self._holders else 0.0)

    @property
    def gives_way(self) -> bool:
        """Whether a child that is started now is to give way to others."""
        return not self._is_equal

    @contextmanager
    def working(self) -> Iterator[None]:
        """While the block lasts, what this thread starts belongs to this work."""
        token = _work.set(self)
        try:
            yield
        finally:
            _work.reset(token)

    @contextmanager
    def held(self) -> Iterator[None]:
        """While the block lasts, none of the children runs."""
        with self._lock:
            self._held_since = self._held_since if self._holders else time.monotonic()
            self._holders += 1
            self._signal(signal.SIGSTOP)
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if not self._holders:
                    self._held += time.monotonic() - self._held_since
                    self._signal(signal.SIGCONT)

    def lift(self) -> bool:
        """Make the work an equal of everybody else from here on; return whether the kernel allows it to this user."""
        with self._lock:
            self._children = [each for each in self._children if each.poll() is None]
            self._is_equal = all(_make_ordinary(each.pid) for each in self._children)
            return self._is_equal

    @staticmethod
    def may_be_lifted() -> bool:
        """Return whether this user may make such work an equal of others: out of SCHED_IDLE leads a privilege."""
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        effective = next((line.split()[1] for line in status.splitlines() if line.startswith("CapEff:")), "0")
        return bool(int(effective, 16) >> _CAP_SYS_NICE & 1)

    def end(self) -> None:
        """Kill every child, held or not; nothing more can be started."""
        with self._lock:
            self._is_over = True
            self._signal(signal.SIGKILL)

    def begin(self, start: Callable[[], subprocess.Popen[_Text]]) -> subprocess.Popen[_Text]:
        """Start a child; one that comes while the work is held is held at once. Raises HarnessError after the end."""
        with self._lock:
            if self._is_over:
                raise HarnessError("What ran beside the clusters was ended.")
            self._children = [each for each in self._children if each.returncode is None]
            self._children.append(child := start())
            if self._holders:
                self._signal(signal.SIGSTOP)
            return child

    def _signal(self, number: signal.Signals) -> None:
        for child in self._children:
            if child.poll() is None:  # else its id may be somebody else's
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, number)


def _make_ordinary(pid: int) -> bool:
    """Take a process's session, and each of its threads, to the usual; False where the kernel refuses the threads.

    Threads that are started meanwhile are seen by another look.
    """
    wait_until(lambda: _weighs_as_others(pid), _SESSION_SECONDS)
    while idle := [thread for thread in _threads_of(pid) if _class_of(thread) == os.SCHED_IDLE]:
        for thread in idle:
            try:
                os.sched_setscheduler(thread, os.SCHED_OTHER, os.sched_param(0))
            except ProcessLookupError:  # it has ended
                continue
            except OSError:  # out of SCHED_IDLE leads a privilege: CAP_SYS_NICE
                return False
    return True


def _weighs_as_others(pid: int) -> bool:
    """Give a session its usual weight; False where it has to be tried again: the kernel takes ten of these a second."""
    try:
        Path(f"/proc/{pid}/autogroup").write_text("0", encoding="ascii")
    except BlockingIOError:
        return False
    except OSError:  # a kernel that does not group, or the process has ended
        return True
    return True


def _threads_of(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()]
    return []


def _class_of(thread: int) -> int:
    try:
        return os.sched_getscheduler(thread)
    except OSError:
        return os.SCHED_OTHER


_work: ContextVar[Background | None] = ContextVar("background", default=None)


def background_of_caller() -> Background | None:
    """Return the work that what this thread starts belongs to, None for what is ordinary."""
    return _work.get()
