"""What a mode answers for in one cluster."""

from __future__ import annotations

from typing import Protocol

from harness.cluster.node import Node
from harness.cluster.probes import Quorum


class ClusterMode(Protocol):
    """Where a cluster keeps its metadata: who coordinates its brokers, and what a node needs before it may start."""

    def format(self, node: Node) -> None:
        """Give a node the disk that it first starts with."""

    def wipe(self, node: Node) -> None:
        """Give a node an empty disk, as it would get in the place of one that was lost."""

    def before_start(self, node: Node) -> None:
        """Return when nothing stands in the way of a node's start. Raises Unreachable, HarnessError."""

    def quorum(self) -> Quorum:
        """Ask who leads now: the leader of the metadata quorum, or the controller."""

    def look(self) -> None:
        """See that what coordinates the brokers, and is none of the nodes, still runs. Raises HarnessError."""

    def close(self) -> None:
        """End whatever is none of the nodes."""
