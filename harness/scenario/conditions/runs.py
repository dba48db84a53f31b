"""A node that has a process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class Runs:
    """A node's process is there, and was not asked to end: it can be stopped."""

    name: ClassVar[str] = "runs"
    node: NodeRef

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} runs"

    def sample(self, world: World) -> Sample:
        """Look at its process."""
        node = world.cluster.nodes[self.node.find(world)]
        return Sample(node.is_running, {"state": str(node.state)})


@condition
def runs(node: NodeRef) -> Runs:
    """A node's process is there, whether it serves or not: who may be down is stopped only where it runs."""
    return Runs(node)
