"""Replicas of a topic hold the same batches, by the CRCs on their disks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.cluster.segments import Replica, disagreement, read_replica
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class ReplicasAgree:
    """What all replicas of a partition hold is the same on every disk, byte for byte."""

    name: ClassVar[str] = "replicas_agree"
    topic: str

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"all replicas of “{self.topic}” hold the same batches"

    def sample(self, world: World) -> Sample:
        """Read the segments of every node; one that is being cut at this moment is read again at the next look."""
        found: dict[str, dict[int, Replica]] = {}
        try:
            for node in world.cluster.nodes.values():
                for folder in node.data_dir.glob(f"{self.topic}-*"):
                    if folder.name.removeprefix(f"{self.topic}-").isdigit():
                        found.setdefault(folder.name, {})[node.id] = read_replica(folder)
        except FileNotFoundError as error:
            return Sample(False, {"gone": str(error.filename)}, testable=False)
        ends = {
            name: {node: held.batches[-1].last_offset for node, held in of.items() if held.batches}
            for name, of in found.items()
        }
        wrong = [f"{name}: {said}" for name, of in sorted(found.items()) if (said := disagreement(of))]
        return Sample(bool(found) and not wrong, {"last_offsets": ends}, bool(found), "; ".join(wrong))


@condition
def replicas_agree(topic: str) -> ReplicasAgree:
    """All replicas of each partition hold the same batches, as far as all of them hold any."""
    return ReplicasAgree(topic)
