"""The host must let nodes and harness run: docs/adr/0004-a-host-that-starves-a-node-spoils-the-run.md, and 0017.

A single wait of over a second spoils the run. Many short waits, slow disks and a full memory stretch bounds, and excuse
what goes wrong; only where next to nothing gets done do they spoil the run as well.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from harness.base.room import LEAST_DISK_BYTES, free_bytes
from harness.cluster.cluster import Cluster
from harness.cluster.host_accounts import RaftThreads, is_runnable
from harness.cluster.node import Node, NodeState
from harness.model.events import ENDED, NO_NODE, HostShort, HostStalled, Noted
from harness.model.incidents import Incident, IncidentKind
from harness.model.outcome_names import HOST_NOT_STARVED
from harness.rundir.directory import RunDirectory
from harness.scenario.full_disk import full_disk
from harness.scenario.host_meter import HostMeter
from harness.scenario.monitors.base import Monitor, RunRecord
from harness.scenario.slowness import HostInterval, Slowness, blame_of_others, slowness_of
from harness.scenario.verbs import monitor

STALL_LIMIT_SECONDS = 1.0
_LOOK_EVERY_SECONDS = 0.2
_MEASURE_EVERY_SECONDS = 1.0
_HOPELESS_SECONDS = 10.0
_INTERVALS = 1200


@monitor
class HostNotStarved(Monitor):
    """Looks in a thread of its own how long each node, and the harness itself, was kept from running, and by what."""

    name: ClassVar[str] = HOST_NOT_STARVED

    def __init__(self, record: RunRecord, cluster: Cluster) -> None:
        super().__init__(record, cluster)
        self._allowed: set[int] = set()
        self._said: set[int] = set()
        self._reported: set[IncidentKind] = set()
        self._intervals: deque[HostInterval] = deque(maxlen=_INTERVALS)
        self._meter = HostMeter(RunDirectory(record.folder.root).host.read_if_exists())
        self._measured = time.monotonic()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name=self.name, daemon=True)

    def allow(self, node: int) -> None:
        """Let a node be kept from running from here on: a fault stops it on purpose."""
        self._allowed.add(node)

    def disallow(self, node: int) -> None:
        """End what `allow` began; the node runs again."""
        self._allowed.discard(node)

    @property
    def held(self) -> frozenset[int]:
        """The nodes that are kept from running on purpose."""
        return frozenset(self._allowed)

    def on_node(self, node: Node, line: int) -> None:  # noqa: ARG002
        """The process that is started next runs, whatever was done to one that has ended."""
        if node.state in ENDED:
            self.disallow(node.id)

    def slowness(self, since: float) -> Slowness:
        """Return how much the host held the nodes back since a monotonic time."""
        return slowness_of([each for each in list(self._intervals) if each.end - each.seconds / 2 > since])

    def measures(self) -> Mapping[str, float]:
        """Return for how much of the run the host held nodes back, and of how many nodes single waits are hidden."""
        unseen = {"nodes_with_unseen_waits": len(self._said)} if self._said else {}
        return {"host_held_back_percent": round(100 * self.slowness(0.0).share), **unseen}

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
        waits, clocks, asleep = RunQueueWaits(), Clocks(), time.monotonic()
        while not self._stopping.wait(_LOOK_EVERY_SECONDS):
            now = time.monotonic()
            self._note(-1, now - asleep - _LOOK_EVERY_SECONDS)
            if jumped := clocks.since_last():
                self._report_stall(HostStalled(NO_NODE, round(jumped, 3)))
            self._look_at_nodes(waits)
            if now - self._measured >= _MEASURE_EVERY_SECONDS:
                self._measured = now
                self._measure()
            asleep = time.monotonic()

    def _look_at_nodes(self, waits: RunQueueWaits) -> None:
        """Ask of each node as it was before the look, which may see the end of a stop or of a start."""
        for node in self.cluster.running:
            allowed, is_ready = node.id in self._allowed, node.state is NodeState.READY
            waited = waits.since_last(node)
            if not allowed:
                self._note(node.id, waited)
            if is_ready:
                self._note_blindness(node, waits)

    def _note(self, node: int, seconds: float) -> None:
        """Take a single wait; the part of it that the run's own nodes caused is not the host's doing."""
        seconds *= self._blame()
        if seconds <= STALL_LIMIT_SECONDS:
            return
        self._report_stall(HostStalled(node, round(seconds, 3)))

    def _report_stall(self, stall: HostStalled) -> None:
        line = self.record.write(stall)
        self.record.report(Incident(IncidentKind.HOST_STALLED, self.name, stall.sentence), line)

    def _blame(self) -> float:
        newest = self._intervals[-1] if self._intervals else None
        return blame_of_others(newest.own / newest.seconds, newest.others / newest.seconds) if newest else 1.0

    def _note_blindness(self, node: Node, waits: RunQueueWaits) -> None:
        """Say once of a node that is up that its single waits cannot be seen."""
        if node.id not in self._said and (why := waits.unseen(node)):
            self._said.add(node.id)
            self.record.write(Noted(f"its single waits for a processor cannot be seen: {why}", node.id))

    def _measure(self) -> None:
        self._intervals.append(
            self._meter.reading([(node.id, pid) for node in self.cluster.running if (pid := node.pid)])
        )
        recently = self.slowness(time.monotonic() - _HOPELESS_SECONDS)
        if recently.is_hopeless:
            self._report(Incident(IncidentKind.HOST_STALLED, self.name, recently.reason))
        if (free := free_bytes(self.record.folder.path)) < LEAST_DISK_BYTES:
            folder = self.record.folder
            reason = f"disk: only {free / 2**20:.0f} MiB are free on that of {folder.path}"
            self._report(full_disk(folder.nodes, reason))

    def _report(self, incident: Incident) -> None:
        """Report the first incident of a kind: a journal on a full disk must not be flooded."""
        if incident.kind in self._reported:
            return
        self._reported.add(incident.kind)
        self.record.report(incident, self.record.write(HostShort(incident.reason)))


def slowness_seen(monitors: Iterable[Monitor], since: float) -> Slowness:
    """Return how much the host has held a run's nodes back since a monotonic time; nothing where no monitor looks."""
    return next((each.slowness(since) for each in monitors if isinstance(each, HostNotStarved)), Slowness())


class Clocks:
    """How far the machine's clock has jumped: somebody set it, or the machine was suspended.

    Kafka's time-outs go by it (System.currentTimeMillis in org.apache.kafka.common.utils.Timer), so that all of them
    expire at once. The clock that counts on through a suspension may show what the other does not.
    """

    def __init__(self) -> None:
        self._before = self._ahead()

    def since_last(self) -> float:
        """Return by how many seconds a clock has jumped since the last look, 0 where that is nothing to speak of."""
        now = self._ahead()
        jumped = max(abs(one - other) for one, other in zip(now, self._before, strict=True))
        self._before = now
        return jumped if jumped > STALL_LIMIT_SECONDS else 0.0

    @staticmethod
    def _ahead() -> tuple[float, float]:
        steady = time.monotonic()
        return time.time() - steady, time.clock_gettime(time.CLOCK_BOOTTIME) - steady


class RunQueueWaits:
    """How long a node was kept from running: waiting for a processor, or stopped (SIGSTOP).

    The kernel's own account of the raft thread (schedstat) grows by a whole wait at the moment it ends, so a jump
    of over a second between two readings is one long wait, not many short ones. It cannot be longer than since the
    thread was last seen asleep: now and then a kernel counts sleep as a wait.
    """

    def __init__(self) -> None:
        self._threads = RaftThreads()
        self._waited: dict[int, int] = {}
        self._asleep: dict[int, float] = {}
        self._stopped_at: dict[int, float] = {}
        self._unseen: dict[int, str] = {}

    def unseen(self, node: Node) -> str:
        """Return why no wait of a node's present process could ever be seen; empty where one could.

        A thread that was seen and is gone has ended, as at a crash: that hides nothing.
        """
        return "" if node.pid in self._waited else self._unseen.get(node.pid, "")

    def since_last(self, node: Node) -> float:
        """Return seconds waited since the last reading of this process; 0 where it cannot be known."""
        pid = node.pid
        if not pid:
            return 0.0
        try:
            return max(self._stopped_for(pid), self._waited_for_processor(pid, node.id))
        except (OSError, IndexError) as error:  # the process ended, or the kernel keeps no such account
            self._unseen[pid] = f"the kernel keeps no account of them ({error})"
            return 0.0

    def _waited_for_processor(self, pid: int, node: int) -> float:
        task = self._threads.task(pid, node)
        if task is None:
            self._unseen[pid] = f"it has no thread kafka-{node}-raft-io"
            return 0.0
        waited = int((task / "schedstat").read_text().split()[1])
        before, now = self._waited.get(pid, waited), time.monotonic()
        self._waited[pid] = waited
        asleep = self._asleep.setdefault(pid, now)
        if not is_runnable(pid, int(task.name)):
            self._asleep[pid] = now
        return min((waited - before) / 1e9, now - asleep)

    def _stopped_for(self, pid: int) -> float:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        if state not in ("T", "t"):
            self._stopped_at.pop(pid, None)
            return 0.0
        now = time.monotonic()
        return now - self._stopped_at.setdefault(pid, now)
