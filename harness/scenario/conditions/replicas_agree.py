"""Replicas of a topic hold the same batches, by the CRCs on their disks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from harness.cluster import partitions
from harness.cluster.protocol import Unreachable
from harness.cluster.segments import Replica, disagreement, read_replica, shortcoming
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World

_Held = Mapping[str, Mapping[int, Replica]]  # by partition, then by node


@dataclass(frozen=True, slots=True)
class ReplicasAgree:
    """Every assigned replica is there, as far as any was at the first look, and what all hold is the same bytes."""

    name: ClassVar[str] = "replicas_agree"
    topic: str

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"all replicas of “{self.topic}” hold the same batches"

    def sample(self, world: World) -> Sample:
        """Read the segments of every node; one that is being cut at this moment is read again at the next look."""
        try:
            assigned = _assigned(world, self.topic)
            held = {name: _held(world, name) for name in assigned}
        except FileNotFoundError as error:
            return Sample(False, {"gone": str(error.filename)}, testable=False)
        except Unreachable as error:
            return Sample(False, {"unreachable": str(error)}, testable=False)
        goals = _goals(world, self.topic, held)
        ends = {name: {node: each.last_offset for node, each in of.items()} for name, of in held.items()}
        wrong = [
            f"{name}: {said}"
            for name, of in sorted(held.items())
            if (said := disagreement(of) or shortcoming(of, assigned[name], goals[name]))
        ]
        return Sample(bool(assigned) and not wrong, {"last_offsets": ends}, bool(assigned), "; ".join(wrong))


def _assigned(world: World, topic: str) -> dict[str, tuple[int, ...]]:
    """Return who is to have each partition. Raises Unreachable."""
    brokers = list(world.cluster.brokers.values())
    if not brokers:
        raise Unreachable("no broker runs")
    found = partitions.replicas_of(world.cluster.wire, brokers[0], topic)
    return {f"{topic}-{number}": nodes for number, nodes in found.items()}


def _held(world: World, name: str) -> dict[int, Replica]:
    folders = {node.id: node.data_dir / name for node in world.cluster.nodes.values()}
    return {node: read_replica(folder) for node, folder in folders.items() if folder.is_dir()}


def _goals(world: World, topic: str, held: _Held) -> dict[str, int]:
    """Return up to where each partition must be everywhere: where its longest replica was at the step's first look.

    Clients write on meanwhile, so that replicas are never seen to end alike. A tail that was cut off since is no goal.
    """
    furthest = {name: max((each.last_offset for each in of.values()), default=-1) for name, of in held.items()}
    began, first = world.reached.get(topic, (world.step_began, furthest))
    if began != world.step_began:
        first = furthest
    world.reached[topic] = world.step_began, first
    return {name: min(first.get(name, end), end) for name, end in furthest.items()}


@condition
def replicas_agree(topic: str) -> ReplicasAgree:
    """Each assigned replica is as far as any was at the first look, and all hold the same batches, byte for byte."""
    return ReplicasAgree(topic)
