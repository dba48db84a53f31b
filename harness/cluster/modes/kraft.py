"""KRaft: some of the nodes keep the metadata among themselves."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.cluster import probes
from harness.cluster.formatting import Identity, format_from_template
from harness.cluster.node import Node
from harness.cluster.probes import Quorum
from harness.cluster.protocol import Wire


class Kraft:
    """The quorum of a cluster's `voters`, by whose own account somebody leads; disks are copies of the template.

    With `static` only the configuration says who votes, and no disk does.
    """

    def __init__(
        self, voters: Callable[[], Sequence[Node]], wire: Wire, cluster: uuid.UUID, template: Path, *, static: bool
    ) -> None:
        self._voters = voters
        self._wire = wire
        self._cluster = cluster
        self._template = template
        self._static = static

    def format(self, node: Node) -> None:
        """Name the voters on a voter's disk."""
        voters = [Identity(each.id, each.directory, each.config.controller_listeners) for each in self._voters()]
        self._format(node, voters if node.is_voter and not self._static else [])

    def wipe(self, node: Node) -> None:
        """Name nobody: a controller learns from the log who votes."""
        self._format(node, [])

    def _format(self, node: Node, voters: Sequence[Identity]) -> None:
        format_from_template(self._template, node.data_dir, node.id, node.directory, self._cluster, voters)

    def before_start(self, node: Node) -> None:
        """A node may start whenever it likes, the first of all too."""

    def quorum(self) -> Quorum:
        """Ask the running voters who leads."""
        running = [node.config.controller for node in self._voters() if node.is_running]
        return probes.describe_quorum(self._wire, filter(None, running))

    def look(self) -> None:
        """There is nothing beside the nodes."""

    def close(self) -> None:
        """There is nothing beside the nodes."""
