"""Counting, for the journal, how many addresses of a node's configuration still lead to a controller."""

from __future__ import annotations

from dataclasses import dataclass

from harness.scenario.refs import NodeRef
from harness.scenario.verbs import action
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class CountRightAddresses:
    """Note at how many of its configured addresses a node would find a controller now."""

    node: NodeRef

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"count the right addresses that {self.node.description} is configured with"

    def perform(self, world: World) -> None:
        """Compare its configuration with where running controllers listen."""
        node, cluster = self.node.find(world), world.cluster
        configured = cluster.nodes[node].config.voters
        running = {each.id for each in cluster.voters if each.is_running}
        right = [voter for voter, at in configured.items() if voter in running and cluster.reached_at(voter) == at]
        whose = f", of node{'s' if len(right) > 1 else ''} {', '.join(map(str, right))}" if right else ""
        world.note(f"{len(right)} of the {len(configured)} configured addresses are right{whose}", node)


@action
def count_right_addresses(node: NodeRef) -> CountRightAddresses:
    """Note in the journal how many addresses of a node's configuration lead to a running controller."""
    return CountRightAddresses(node)
