"""Whether every replica of a topic is in sync again: no partition of it is under-replicated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.cluster.partitions import PartitionView, views_of
from harness.cluster.protocol import Unreachable
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class IsrIsWhole:
    """Each partition of a topic has a leader and all its assigned replicas in sync, as every running broker says."""

    name: ClassVar[str] = "isr_is_whole"
    topic: str

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"every replica of “{self.topic}” is in sync"

    def sample(self, world: World) -> Sample:
        """Ask every running broker."""
        brokers, wire = world.cluster.brokers, world.cluster.wire
        try:
            told = {broker: views_of(wire, address, self.topic) for broker, address in brokers.items()}
        except Unreachable as error:
            return Sample(False, {"unreachable": str(error)}, testable=False)
        lacking = {
            f"{self.topic}-{number} by node {broker}": sorted(set(view.replicas) - set(view.isr))
            for broker, views in told.items()
            for number, view in views.items()
            if not _is_whole(view)
        }
        known = {number for views in told.values() for number in views} or {0}
        unknown = {broker: more for broker, views in told.items() if (more := sorted(known - views.keys()))}
        said = [f"{partition} lacks {nodes or 'a leader'}" for partition, nodes in lacking.items()]
        said += [f"node {broker} does not know partitions {numbers}" for broker, numbers in unknown.items()]
        detail = {"brokers": sorted(told), "not_in_sync": lacking, "unknown_to": unknown}
        return Sample(bool(told) and not said, detail, bool(told), "; ".join(said))


def _is_whole(view: PartitionView) -> bool:
    return view.leader in view.isr and set(view.isr) == set(view.replicas)


@condition
def isr_is_whole(topic: str) -> IsrIsWhole:
    """Every assigned replica of each partition of a topic is in sync and one of them leads, as all brokers say."""
    return IsrIsWhole(topic)
