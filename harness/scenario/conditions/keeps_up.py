"""A follower that holds all that its leader does, whether it is in sync or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.cluster.segments import read_replica
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World

_NOTHING = -1


@dataclass(frozen=True, slots=True)
class KeepsUp:
    """What two brokers have on disk of a partition ends at the same offset."""

    name: ClassVar[str] = "keeps_up"
    topic: str
    node: NodeRef
    leader: NodeRef

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} holds “{self.topic}” as far as {self.leader.description} does"

    def sample(self, world: World) -> Sample:
        """Read both disks; a segment that is being cut at this moment is read again at the next look."""
        try:
            ends = [_end(world, self.topic, each.find(world)) for each in (self.node, self.leader)]
        except FileNotFoundError as error:
            return Sample(False, {"gone": str(error.filename)}, testable=False)
        follower, leader = ends
        return Sample(follower == leader, {"follower": follower, "leader": leader}, problem=f"{follower} of {leader}")


def _end(world: World, topic: str, node: int) -> int:
    """Return the last offset that a broker has on disk. Raises FileNotFoundError."""
    batches = read_replica(world.cluster.nodes[node].data_dir / f"{topic}-0").batches
    return batches[-1].last_offset if batches else _NOTHING


@condition
def keeps_up(topic: str, node: NodeRef, leader: NodeRef) -> KeepsUp:
    """A broker holds a topic's partition as far as another one does, by their disks: it goes on fetching."""
    return KeepsUp(topic, node, leader)
