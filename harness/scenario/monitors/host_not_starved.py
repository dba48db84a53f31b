"""The host must let nodes and harness run: docs/adr/0004-a-host-that-starves-a-node-spoils-the-run.md."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import ClassVar

from harness.cluster.cluster import Cluster
from harness.cluster.node import Node
from harness.model.events import HostStalled
from harness.model.incidents import Incident, IncidentKind
from harness.model.outcome_names import HOST_NOT_STARVED
from harness.scenario.monitors.base import Monitor, RunRecord
from harness.scenario.verbs import monitor

STALL_LIMIT_SECONDS = 1.0
_LOOK_EVERY_SECONDS = 0.2
# Linux cuts thread names at 15 characters: "kafka-3-raft-io-thread".
_RAFT_THREAD = "kafka-{node}-raft-io"


@monitor
class HostNotStarved(Monitor):
    """Looks in a thread of its own how long each node, and the harness itself, was kept from running."""

    name: ClassVar[str] = HOST_NOT_STARVED

    def __init__(self, record: RunRecord, cluster: Cluster) -> None:
        super().__init__(record, cluster)
        self._allowed: set[int] = set()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name=self.name, daemon=True)

    def allow(self, node: int) -> None:
        """Let a node be kept from running from here on: a fault stops it on purpose."""
        self._allowed.add(node)

    def disallow(self, node: int) -> None:
        """End what `allow` began; the node runs again."""
        self._allowed.discard(node)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Stop looking."""
        self._stopping.set()
        self._thread.join()

    def _watch(self) -> None:
        try:
            self._watch_until_stopped()
        except Exception as error:
            story = f"the watch of the host failed: {type(error).__name__}: {error}"
            self.record.report(Incident(IncidentKind.HARNESS_FAILED, "", story), 0)

    def _watch_until_stopped(self) -> None:
        waits, last = RunQueueWaits(), time.monotonic()
        while not self._stopping.wait(_LOOK_EVERY_SECONDS):
            now = time.monotonic()
            self._note(-1, now - last - _LOOK_EVERY_SECONDS)
            last = now
            for node in self.cluster.running:
                allowed = node.id in self._allowed  # as it was before the look, which may see the end of the stop
                waited = waits.since_last(node)
                if not allowed:
                    self._note(node.id, waited)

    def _note(self, node: int, seconds: float) -> None:
        if seconds <= STALL_LIMIT_SECONDS:
            return
        stall = HostStalled(node, round(seconds, 3))
        line = self.record.write(stall)
        self.record.report(Incident(IncidentKind.HOST_STALLED, self.name, stall.sentence), line)


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
        """Return seconds waited since the last reading of this process; 0 where it cannot be known."""
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
