"""Eyes on a running cluster: the quorum several times a second, node deaths, and a host that starves a node."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.cluster.cluster import Cluster
from harness.cluster.node import Node
from harness.cluster.probes import Quorum

LOOK_EVERY_SECONDS = 0.2
STALL_LIMIT_SECONDS = 1.0
_KEEP = 200
# Linux cuts thread names at 15 characters: "kafka-3-raft-io-thread".
_RAFT_THREAD = "kafka-{node}-raft-io"


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the cluster at a monotonic time."""

    at: float
    quorum: Quorum
    own_log_bytes: dict[int, int]


@dataclass(frozen=True, slots=True)
class Stall:
    """The host gave a node's raft thread (or, node -1, the harness itself) no processor for so long."""

    node: int
    seconds: float


class Watcher:
    """Looks at the cluster in a thread of its own until stopped."""

    def __init__(
        self,
        cluster: Cluster,
        on_look: Callable[[Look], None],
        on_stall: Callable[[Stall], None],
        on_fault: Callable[[str], None],
    ) -> None:
        self._cluster = cluster
        self._on_look = on_look
        self._on_stall = on_stall
        self._on_fault = on_fault
        self._looks: deque[Look] = deque(maxlen=_KEEP)
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._guarded, args=[watch], name=watch.__name__, daemon=True)
            for watch in (self._watch_cluster, self._watch_host)
        ]

    def start(self) -> None:
        """Begin to look."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop looking; returns when no look is under way."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def recent(self, since: float) -> list[Look]:
        """Return the looks taken after a monotonic time, oldest first."""
        return [look for look in list(self._looks) if look.at > since]

    def _guarded(self, watch: Callable[[], None]) -> None:
        """Report a fault of the watch itself: closed eyes must not look like an observer that is lost."""
        try:
            watch()
        except Exception as error:
            self._on_fault(f"the watch of the cluster failed: {type(error).__name__}: {error}")

    def _watch_cluster(self) -> None:
        while not self._stop.wait(LOOK_EVERY_SECONDS):
            self._cluster.look()
            began = time.monotonic()
            quorum = self._cluster.quorum()
            sizes = {node.id: node.own_log_bytes() for node in self._cluster.running if not node.is_voter}
            look = Look(began, quorum, sizes)
            self._looks.append(look)
            self._on_look(look)

    def _watch_host(self) -> None:
        waits = RunQueueWaits()
        last = time.monotonic()
        while not self._stop.wait(LOOK_EVERY_SECONDS):
            now = time.monotonic()
            if now - last - LOOK_EVERY_SECONDS > STALL_LIMIT_SECONDS:
                self._on_stall(Stall(-1, now - last - LOOK_EVERY_SECONDS))
            last = now
            for node in self._cluster.running:
                waited = waits.since_last(node)
                if waited > STALL_LIMIT_SECONDS:
                    self._on_stall(Stall(node.id, waited))


class RunQueueWaits:
    """How long a node was kept from running: waiting for a processor, or stopped (SIGSTOP).

    The kernel's own account of the raft thread (schedstat) grows by a whole wait at the moment it ends, so a jump
    of over a second between two readings is one long wait, not many short ones. A suspended machine shows as the
    harness's own stall.
    """

    def __init__(self) -> None:
        self._task: dict[int, Path] = {}
        self._waited: dict[int, int] = {}
        self._stopped_at: dict[int, float] = {}

    def since_last(self, node: Node) -> float:
        """Return seconds waited since the last reading of this process; 0 where it cannot be told."""
        pid = node.pid
        if not pid:
            return 0.0
        try:
            return max(self._waited_for_processor(pid, node.id), self._stopped_for(pid))
        except (OSError, IndexError):  # the process ended, or the kernel keeps no such account
            return 0.0

    def _waited_for_processor(self, pid: int, node: int) -> float:
        task = self._task.get(pid) or self._find(pid, node)
        waited = int((task / "schedstat").read_text().split()[1]) if task else 0
        before = self._waited.get(pid, waited)
        self._waited[pid] = waited
        return (waited - before) / 1e9

    def _stopped_for(self, pid: int) -> float:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        if state not in ("T", "t"):
            self._stopped_at.pop(pid, None)
            return 0.0
        now = time.monotonic()
        return now - self._stopped_at.setdefault(pid, now)

    def _find(self, pid: int, node: int) -> Path | None:
        for task in Path(f"/proc/{pid}/task").iterdir():
            if (task / "comm").read_text().strip() == _RAFT_THREAD.format(node=node)[:15]:
                self._task[pid] = task
                return task
        return None
