"""A node that ended by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.cluster.node import NodeState
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class HasEnded:
    """A node's process has ended, and nobody had asked it to."""

    name: ClassVar[str] = "has_ended"
    node: NodeRef

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} has ended by itself"

    def sample(self, world: World) -> Sample:
        """Look at the process."""
        node = world.cluster.nodes[self.node.find(world)]
        return Sample(node.state is NodeState.DIED, {"state": str(node.state), "exit": node.exit_code})


@condition
def has_ended(node: NodeRef) -> HasEnded:
    """A node has ended by itself, as one that halts rather than go on (`allow_death` goes before)."""
    return HasEnded(node)
