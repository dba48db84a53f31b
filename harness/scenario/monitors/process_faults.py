"""Faults that are of a process and end with it: the journal gets their end when the node's process has ended."""

from __future__ import annotations

from typing import ClassVar

from harness.cluster.cluster import Cluster
from harness.cluster.node import Node
from harness.model.events import ENDED, FaultChanged
from harness.scenario.monitors.base import Monitor, RunRecord
from harness.scenario.verbs import monitor


@monitor
class ProcessFaults(Monitor):
    """A fault of a process lasts until that process has ended."""

    name: ClassVar[str] = "process_faults"

    def __init__(self, record: RunRecord, cluster: Cluster) -> None:
        super().__init__(record, cluster)
        self._lasting: dict[int, list[FaultChanged]] = {}

    def lasts(self, over: FaultChanged) -> None:
        """Keep what is to be written when the process of that node has ended."""
        self._lasting.setdefault(over.node, []).append(over)

    def lasts_no_more(self, fault: str, node: int) -> None:
        """Forget a fault of that node whose end came before the process ended."""
        self._lasting[node] = [each for each in self._lasting.get(node, []) if each.fault != fault]

    def on_node(self, node: Node, line: int) -> None:  # noqa: ARG002
        """Write down what has ended with a process."""
        for over in self._lasting.pop(node.id, []) if node.state in ENDED else ():
            self.record.write(over)
