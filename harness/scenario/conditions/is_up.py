"""Every started node answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from harness.cluster import probes
from harness.cluster.node import NodeState
from harness.cluster.protocol import Unreachable
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class NodesReady:
    """Every started node answers on its listeners, and each of them knows every started broker as unfenced.

    One that has died is started, and answers nobody.
    """

    name: ClassVar[str] = "nodes_ready"
    description: str = "every started node answers and knows every started broker"

    def sample(self, world: World) -> Sample:
        """Look at process states, then at every listener, then at each broker's own metadata."""
        running = world.cluster.running
        died = [node.id for node in world.cluster.nodes.values() if node.state is NodeState.DIED]
        waiting = [node.id for node in running if node.state is not NodeState.READY]
        if waiting or died or not running:
            return Sample(False, {"not_ready": waiting} | ({"died": died} if died else {}))
        if silent := [node.id for node in running if not all(map(probes.answers, node.config.listeners))]:
            return Sample(False, {"silent": silent}, problem=f"nodes {silent} do not answer on every listener")
        brokers = world.cluster.brokers
        unknown: dict[str, Any] = {}
        for broker, address in brokers.items():
            try:
                missing = sorted(set(brokers) - set(probes.metadata(world.cluster.wire, address).brokers))
            except Unreachable as error:
                return Sample(False, {"unreachable": str(error)})
            if missing:
                unknown[str(broker)] = missing
        return Sample(not unknown, {"brokers_missing_at": unknown})


@condition
def is_up() -> NodesReady:
    """Every started node answers and knows every started broker."""
    return NodesReady()
