"""KRaft: some of the nodes keep the metadata among themselves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.cluster import probes
from harness.cluster.formatting import Identity, format_from_template
from harness.cluster.node import Node
from harness.cluster.probes import Quorum

if TYPE_CHECKING:
    from harness.cluster.cluster import Cluster


class Kraft:
    """The quorum of a cluster's voters, by whose own account somebody leads; disks are copies of the template."""

    def __init__(self, cluster: Cluster, template: Path) -> None:
        self._cluster = cluster
        self._template = template

    def format(self, node: Node) -> None:
        """Name the voters on a voter's disk, but where only the configuration says who votes."""
        cluster = self._cluster
        voters = [Identity(each.id, each.directory, each.config.controller_listeners) for each in cluster.voters]
        self._format(node, voters if node.is_voter and not cluster.topology.static_voters else [])

    def wipe(self, node: Node) -> None:
        """Name nobody: a controller learns from the log who votes."""
        self._format(node, [])

    def _format(self, node: Node, voters: list[Identity]) -> None:
        format_from_template(self._template, node.data_dir, node.id, node.directory, self._cluster.id, voters)

    def before_start(self, node: Node) -> None:
        """A node may start whenever it likes, the first of all too."""

    def quorum(self) -> Quorum:
        """Ask the running voters who leads."""
        known = self._cluster.controllers
        return probes.describe_quorum(
            self._cluster.wire, [known[node.id] for node in self._cluster.voters if node.is_running]
        )

    def look(self) -> None:
        """There is nothing beside the nodes."""

    def close(self) -> None:
        """There is nothing beside the nodes."""
