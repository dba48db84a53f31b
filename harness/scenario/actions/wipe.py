"""Emptying a node's disk."""

from __future__ import annotations

from dataclasses import dataclass

from harness.scenario.refs import NodeRef
from harness.scenario.up_or_down import down
from harness.scenario.verbs import action
from harness.scenario.world import ActionFailed, World

_IDENTITIES = {"same": "its own directory id", "new": "a new directory id"}


@dataclass(frozen=True, slots=True)
class Wipe:
    """Empty the disk of a node that is down, and format it."""

    node: NodeRef
    identity: str

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"wipe the disk of {self.node.description} and format it with {_IDENTITIES[self.identity]}"

    def perform(self, world: World) -> None:
        """Format anew. Raises ActionFailed."""
        node = down(self.node, world, "runs: its disk is wiped while it is down")
        if node.data_dir.is_mount():
            raise ActionFailed(f"node {node.id} has a small disk, which is not wiped: write wipe before small_disk")
        world.cluster.wipe(node.id, new_identity=self.identity == "new")


@action
def wipe(node: NodeRef, *, identity: str = "same") -> Wipe:
    """Empty the disk of a node that is down and format it, with its own directory id (`same`) or with a `new` one."""
    if identity not in _IDENTITIES:
        raise ValueError(f'identity="{identity}" is unknown; write "same" or "new"')
    return Wipe(node, identity)
