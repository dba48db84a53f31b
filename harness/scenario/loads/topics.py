"""Where a load's topics lie: which brokers hold their replicas, and how many partitions there are."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from harness.cluster.attempts import attempts
from harness.cluster.partitions import replicas_of
from harness.cluster.protocol import Unreachable
from harness.cluster.topology import Topology
from harness.scenario.world import ActionFailed, World

_OFFSETS_TOPIC = "__consumer_offsets"
_COPIES = 3
_KNOWN_SECONDS = 15.0
_POLL_SECONDS = 0.2


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


def keeping(in_sync: int = 1) -> dict[str, str]:
    """Return the settings of a topic on which rests what it may lose, and what it takes.

    They are the topic's own: those that `--config` has for every topic would change the question.
    """
    return {
        "min.insync.replicas": str(in_sync),
        "unclean.leader.election.enable": "false",
        "cleanup.policy": "delete",
        "retention.ms": "-1",
        "retention.bytes": "-1",
    }


def make_offsets_topic(world: World, replicas: Sequence[Sequence[int]]) -> None:
    """Make the topic of consumer groups, if it is not there. Raises ActionFailed.

    Reading back asks for a group's coordinator. Kafka would then make this topic, of 50 partitions, in those runs that
    last long enough: lines in some runs of a build and not in others.
    """
    world.create_topic(_OFFSETS_TOPIC, replicas, {**keeping(), "cleanup.policy": "compact"})


def partitions_of(world: World, topic: str) -> int:
    """Return how many partitions a topic has, once all brokers that answer say the same. Raises ActionFailed.

    Each learns of added partitions at a moment of its own, and a client that asks too early takes them for unknown.
    """
    last = "no broker knows it"
    for _ in attempts(world.cluster, _KNOWN_SECONDS, _POLL_SECONDS):
        counts = set()
        for broker in world.cluster.brokers.values():
            try:
                counts.add(len(replicas_of(world.cluster.wire, broker, topic)))
            except Unreachable as error:
                last = str(error)
        if len(counts) == 1 and 0 not in counts:
            return counts.pop()
        if len(counts) > 1:
            last = f"brokers differ: {sorted(counts)}"
    raise ActionFailed(f"how many partitions “{topic}” has is not known: {last}")


def spread(brokers: Sequence[int], partitions: int, copies: int) -> list[tuple[int, ...]]:
    """Return each partition's replicas, so many copies on brokers in turn; the first is preferred as leader."""
    turns = (number % len(brokers) for number in range(partitions))
    return [(*brokers[turn:], *brokers[:turn])[:copies] for turn in turns]
