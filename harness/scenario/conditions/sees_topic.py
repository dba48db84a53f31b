"""Whether metadata that the voters wrote has reached a node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.cluster import probes
from harness.cluster.protocol import Unreachable
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class SeesTopic:
    """A topic is in the node's own metadata cache."""

    name: ClassVar[str] = "sees_topic"
    node: NodeRef
    topic: str

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} sees the topic “{self.topic}”"

    def sample(self, world: World) -> Sample:
        """Ask this node alone."""
        address = world.cluster.nodes[self.node.find(world)].config.listeners[0]
        try:
            seen = self.topic in probes.metadata(world.cluster.wire, address, [self.topic]).topics
        except Unreachable as error:
            return Sample(False, {"unreachable": str(error)})
        return Sample(seen, {"topic": self.topic, "seen": seen})


@condition
def sees_topic(node: NodeRef, topic: str) -> SeesTopic:
    """A topic is in a node's own metadata."""
    return SeesTopic(node, topic)
