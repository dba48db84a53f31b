"""The metadata logs of all nodes keep what Raft promises: docs/adr/0019-the-metadata-log-is-an-oracle.md."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import ClassVar

from harness.base.errors import HarnessError
from harness.base.files import write_text
from harness.cluster.cluster import Cluster
from harness.cluster.metadata_log.batches import VOTERS
from harness.cluster.metadata_log.broken import Broken
from harness.cluster.metadata_log.dump import cut_out
from harness.cluster.metadata_log.folder import LogFolder
from harness.cluster.metadata_log.looks import Watched, watch
from harness.cluster.metadata_log.node_log import NodeLog
from harness.cluster.metadata_log.oracle import Known, judge, meet, settle
from harness.cluster.node import Node, NodeState
from harness.cluster.watch import Look
from harness.kafka.release_lines import Mode
from harness.model.events import MetadataLogsRead, Noted
from harness.model.incidents import Incident, IncidentKind
from harness.scenario.monitors.base import Monitor, RunRecord
from harness.scenario.verbs import monitor

# Logs that nodes write to may be read in the middle of a change: only what is seen again and again is there.
_READINGS = 3
_APART_SECONDS = 0.25


@monitor
class MetadataLogs(Monitor):
    """Reads the logs from disk after every fault and rejoin, and at the end of the run when every node has ended."""

    name: ClassVar[str] = "metadata_logs"
    modes: ClassVar[tuple[Mode, ...]] = (Mode.KRAFT,)

    def __init__(self, record: RunRecord, cluster: Cluster) -> None:
        super().__init__(record, cluster)
        self._folders: dict[int, LogFolder] = {}
        self._watched = Watched()
        self._known = Known()
        self._said: set[str] = set()
        self._kept: list[tuple[Broken, Node]] = []
        self._voter_sets = 0
        self._lock = threading.Lock()

    def on_node(self, node: Node, line: int) -> None:  # noqa: ARG002
        """Note which folder the log of a node lies in: another one before it starts is a disk that was wiped.

        What a node writes anew itself, while it runs, excuses nothing that is lost.
        """
        with self._lock:
            life = {node.id: self._folder(node).life}
            self._known = meet(self._known, life) if node.state is NodeState.STARTING else settle(self._known, life)

    def on_look(self, look: Look, line: int) -> None:
        """Follow epochs and high watermarks as leaders say them."""
        self._watched, found = watch(self._watched, look.quorum)
        self._report(found, line)

    def after_fault(self) -> None:
        """Read what has grown; what is wrong must be so in several readings."""
        for _ in range(_READINGS):
            found = self._read()
            if not found:
                return
            time.sleep(_APART_SECONDS)
        self._report(found)

    def after(self) -> None:
        """Read everything once more, and decode what was found."""
        self._report(self._read(at_the_end=True))
        self._decode()

    def measures(self) -> Mapping[str, float]:
        """Return how many voter sets were written to the metadata log: each is a change that somebody asked for."""
        return {"voter_sets_written": self._voter_sets}

    def _folder(self, node: Node) -> LogFolder:
        return self._folders.setdefault(node.id, LogFolder(node.id, node.metadata_log))

    def _read(self, *, at_the_end: bool = False) -> tuple[Broken, ...]:
        """Read and compare all logs; return what is broken, and keep what is known where nothing is."""
        watched = self._watched  # from before the reading
        with self._lock:
            running = {node.id: self._folder(node).life for node in self.cluster.nodes.values() if node.is_alive}
            self._known = settle(self._known, running)
            logs = [self._log(node, at_the_end) for node in self.cluster.nodes.values()]
            known, found = judge(self._known, logs, watched)
            if not found:
                self._known = known
        self._voter_sets = max((sum(batch.control == VOTERS for batch in log.batches) for log in logs), default=0)
        high_watermark = watched.commit.high_watermark if watched.commit else -1
        self.record.write(_event(high_watermark, logs))
        return found

    def _log(self, node: Node, at_the_end: bool) -> NodeLog:
        in_order = at_the_end and node.state is NodeState.STOPPED
        return self._folder(node).read(anew=at_the_end, ended_in_order=in_order)

    def _report(self, found: Sequence[Broken], line: int = 0) -> None:
        """Report the first breach of each promise, and keep the batches around it."""
        for broken in found:
            if broken.name not in self._said:
                self._said.add(broken.name)
                said = self.record.write(Noted(f"{broken.name}: {broken.reason}"))
                self.record.report(Incident(IncidentKind.INVARIANT_BROKEN, broken.name, broken.reason), line or said)
                self._keep(broken)

    def _keep(self, broken: Broken) -> None:
        for node in (node for number, node in self.cluster.nodes.items() if number in broken.nodes):
            into = self.record.folder.metadata_logs / broken.name / str(node.id)
            if broken.offset >= 0 and node.metadata_log.is_dir() and cut_out(node.metadata_log, broken.offset, into):
                self._kept.append((broken, node))

    def _decode(self) -> None:
        """Have Kafka's own tool decode what was kept, when no node needs the processors any more."""
        if not self._kept:
            return
        folder = self.record.folder.metadata_logs
        try:
            text = self._kept[0][1].dump_metadata_log(sorted(folder.rglob("*.log")), folder)
        except HarnessError as error:
            self.record.write(Noted(f"metadata logs could not be decoded: {error.message}"))
            return
        decoded, lines = write_text(folder / "decoded.txt", text), text.splitlines()
        for broken in dict.fromkeys(broken for broken, _ in self._kept):
            begins = (at for at, line in enumerate(lines, 1) if f" {broken.name}/" in line)
            words = f"{broken.name}: the records around offset {broken.offset}, decoded by Kafka's DumpLogSegments"
            self.record.show(self.record.folder.evidence(decoded, next(begins, 1), words))


def _event(high_watermark: int, logs: Sequence[NodeLog]) -> MetadataLogsRead:
    there = [log for log in logs if log.life]
    return MetadataLogsRead(
        high_watermark, {log.node: log.start for log in there}, {log.node: log.end for log in there}
    )
