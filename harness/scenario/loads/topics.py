"""Where a load's topics lie: which brokers hold their replicas."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from harness.cluster.topology import Topology
from harness.scenario.world import World

OFFSETS_TOPIC = "__consumer_offsets"
_COPIES = 3


class Placement(StrEnum):
    """How many partitions, and on which brokers."""

    ONE_ON_VOTERS = "one partition, on every voter"  # an observer may be lost
    ONE_PER_BROKER = "one partition for each broker"  # each leads one, so that whichever stops moves a leader

    def replicas(self, world: World) -> list[tuple[int, ...]]:
        """Return each partition's replicas; the first is preferred as leader."""
        return self.on(world.cluster.topology)

    def on(self, topology: Topology) -> list[tuple[int, ...]]:
        """Return each partition's replicas in a topology. Pure."""
        if self is Placement.ONE_ON_VOTERS:
            brokers = topology.voter_ids if topology.combined else topology.broker_ids
            return spread(brokers, 1, len(brokers))
        return spread(topology.broker_ids, len(topology.broker_ids), _COPIES)


def spread(brokers: Sequence[int], partitions: int, copies: int) -> list[tuple[int, ...]]:
    """Return each partition's replicas, so many copies on brokers in turn; the first is preferred as leader."""
    turns = (number % len(brokers) for number in range(partitions))
    return [(*brokers[turn:], *brokers[:turn])[:copies] for turn in turns]
