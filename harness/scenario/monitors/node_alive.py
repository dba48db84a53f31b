"""No node may crash."""

from __future__ import annotations

import re
import signal
from collections import deque
from pathlib import Path
from typing import ClassVar

from harness.cluster.cluster import Cluster
from harness.cluster.node import Node, NodeState
from harness.model.events import Noted
from harness.model.incidents import Incident, IncidentKind
from harness.model.outcome_names import NODE_ALIVE
from harness.rundir.parts import NODE_LOG, NODE_OUTPUT
from harness.scenario.monitors.base import Monitor, RunRecord
from harness.scenario.verbs import monitor

_SAYS_WHY = re.compile(rb"\b(ERROR|FATAL)\b|(Exception|Error)\b")
_TAIL_LINES = 400
_LINE_BYTES, _EXCERPT_BYTES = 2000, 300


@monitor
class NodeAlive(Monitor):
    """A death is the build's doing, but for the one signal that only somebody else can have sent."""

    name: ClassVar[str] = NODE_ALIVE

    def __init__(self, record: RunRecord, cluster: Cluster) -> None:
        super().__init__(record, cluster)
        self._allowed: set[int] = set()

    def allow(self, node: int) -> None:
        """Let a node die from here on."""
        self._allowed.add(node)

    def on_node(self, node: Node, line: int) -> None:
        """Report a death with the node's last line about why."""
        if node.state is not NodeState.DIED:
            return
        last, shown = last_line(node.folder)
        self.record.show(*(self.record.folder.evidence(path, at) for path, at in shown))
        if node.exit_code == -signal.SIGKILL:
            story = f"node {node.id} was killed from outside (signal 9; out of memory?)"
            self.record.report(Incident(IncidentKind.HARNESS_FAILED, "", story), line)
        elif node.id in self._allowed:
            self.record.write(Noted(f"it died, as it may{last}", node.id))
        else:
            self.record.report(Incident(IncidentKind.NODE_DIED, self.name, f"node {node.id} crashed{last}"), line)


def last_line(folder: Path) -> tuple[str, list[tuple[Path, int]]]:
    """Return a dead node's last line about why, as `: …`, and (file, line number) of each log's end."""
    last, shown = "", []
    for path in (folder / NODE_LOG, folder / NODE_OUTPUT):
        if not path.exists():
            continue
        count, lines = _tail(path)
        shown.append((path, max(1, count)))
        says_why = [line for line in lines if _SAYS_WHY.search(line)]
        if says_why and not last:
            last = ": " + says_why[-1][:_EXCERPT_BYTES].decode("utf-8", "replace").strip()
    return last, shown


def _tail(path: Path) -> tuple[int, deque[bytes]]:
    """Return how many lines a file has, and the beginnings of its last ones; it may be larger than memory."""
    count, tail = 0, deque[bytes](maxlen=_TAIL_LINES)
    with path.open("rb") as stream:
        for line in stream:
            count += 1
            tail.append(line[:_LINE_BYTES])
    return count, tail
