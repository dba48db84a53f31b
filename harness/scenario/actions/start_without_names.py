"""Starting a node where the names of controllers do not resolve."""

from __future__ import annotations

from dataclasses import dataclass

from harness.scenario.refs import NodeRef
from harness.scenario.up_or_down import down
from harness.scenario.verbs import action
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class StartWithoutNames:
    """Start a node for which no controller's name resolves, configured with the addresses of all voters."""

    node: NodeRef

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"start {self.node.description} where no controller's name resolves, configured with their addresses"

    def perform(self, world: World) -> None:
        """Start it; readiness is for a guard to establish. Raises ActionFailed where it runs."""
        world.cluster.start_without_names(down(self.node, world).id)


@action
def start_without_names(node: NodeRef) -> StartWithoutNames:
    """Start a node for which the names of controllers do not resolve, configured with the voters' addresses."""
    return StartWithoutNames(node)
