"""Saying that a node may die: what is installed on it is broken on purpose."""

from __future__ import annotations

from dataclasses import dataclass

from harness.scenario.monitors.node_alive import NodeAlive
from harness.scenario.refs import NodeRef
from harness.scenario.verbs import action
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class AllowDeath:
    """From here on the death of a node does not end the run."""

    node: NodeRef

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"expect that {self.node.description} may die"

    def perform(self, world: World) -> None:
        """Register the node with the monitor of deaths."""
        world.monitor(NodeAlive).allow(self.node.find(world))


@action
def allow_death(node: NodeRef) -> AllowDeath:
    """Let a node die from here on without ending the run: what is installed on it is broken on purpose."""
    return AllowDeath(node)
