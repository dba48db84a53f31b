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
from harness.cluster.topology import Topology


class Kraft:
    """The quorum of a cluster's `controllers`, by whose own account somebody leads; disks are copies of the template.

    Where voters are static only the configuration says who votes, and no disk does.
    """

    def __init__(
        self,
        controllers: Callable[[], Sequence[Node]],
        topology: Topology,
        wire: Wire,
        cluster: uuid.UUID,
        template: Path,
    ) -> None:
        self._controllers = controllers
        self._first_voters = () if topology.static_voters else topology.voter_ids
        self._wire = wire
        self._cluster = cluster
        self._template = template

    def format(self, node: Node) -> None:
        """Name the voters on the disk of a voter; a controller that is to be one later learns them from the log."""
        voters = (each for each in self._controllers() if each.id in self._first_voters)
        named = [Identity(each.id, each.directory, each.config.announced) for each in voters]
        self._format(node, named if node.id in self._first_voters else [])

    def wipe(self, node: Node) -> None:
        """Name nobody: a controller learns from the log who votes."""
        self._format(node, [])

    def _format(self, node: Node, voters: Sequence[Identity]) -> None:
        format_from_template(self._template, node.data_dir, node.id, node.directory, self._cluster, voters)

    def before_start(self, node: Node) -> None:
        """A node may start whenever it likes, the first of all too."""

    def quorum(self) -> Quorum:
        """Ask the running controllers who leads."""
        running = [node.config.controller for node in self._controllers() if node.is_running]
        return probes.describe_quorum(self._wire, filter(None, running))

    def look(self) -> None:
        """There is nothing beside the nodes."""

    def close(self) -> None:
        """There is nothing beside the nodes."""
