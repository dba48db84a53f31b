"""What a node that hung was doing when it was killed."""

from __future__ import annotations

from typing import ClassVar

from harness.cluster.cluster import Cluster
from harness.cluster.node import Node, NodeState
from harness.model.events import ThreadsDumped
from harness.scenario.monitors.base import Monitor, RunRecord
from harness.scenario.verbs import monitor


@monitor
class ThreadDumps(Monitor):
    """Keeps the threads of nodes that did not come up, or did not stop, as files of the run."""

    name: ClassVar[str] = "thread_dumps"

    def __init__(self, record: RunRecord, cluster: Cluster) -> None:
        super().__init__(record, cluster)
        self._kept: dict[int, int] = {}

    def stop(self) -> None:
        """Ask nodes that hang for their threads before they are killed."""
        for node in self.cluster.nodes.values():
            if node.hangs and not self.cluster.is_closed:
                node.dump_threads()

    def on_node(self, node: Node, line: int) -> None:  # noqa: ARG002
        """Name the files of a node that was killed."""
        if node.state is not NodeState.KILLED:
            return
        for path in node.thread_dumps[self._kept.get(node.id, 0) :]:
            shown = self.record.folder.evidence(path, 1, f"node {node.id} hung; its threads before it was killed")
            self.record.write(ThreadsDumped(node.id, shown.path))
            self.record.show(shown)
        self._kept[node.id] = len(node.thread_dumps)
