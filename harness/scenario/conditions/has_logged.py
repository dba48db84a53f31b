"""What a node says of itself: by its log statements one sees which way it took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class HasLogged:
    """The node has logged a line with this text since it was started last."""

    name: ClassVar[str] = "has_logged"
    node: NodeRef
    text: str

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} has logged “{self.text}”"

    def sample(self, world: World) -> Sample:
        """Read the log of the node's present life. Raises ActionFailed where the reference means nobody."""
        node = self.node.find(world)
        return Sample(world.cluster.nodes[node].has_logged(self.text), {"node": node})


@condition
def has_logged(node: NodeRef, text: str) -> HasLogged:
    """A node has logged a line with this text since it was started last."""
    return HasLogged(node, text)
