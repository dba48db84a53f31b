"""Having a live broker log more, or less, of one class: by the protocol, so that every release line does it alike."""

from __future__ import annotations

from dataclasses import dataclass

from harness.cluster.log_levels import set_level
from harness.scenario.refs import NodeRef
from harness.scenario.verbs import action
from harness.scenario.world import ActionFailed, World

NETWORK_CLIENT = "org.apache.kafka.clients.NetworkClient"


@dataclass(frozen=True, slots=True)
class LogAt:
    """Set the level of one logger of a broker, until it ends (KIP-412)."""

    node: NodeRef
    logger: str
    level: str

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"have {self.node.description} log {self.logger} at {self.level}"

    def perform(self, world: World) -> None:
        """Ask the broker itself. Raises ActionFailed, Unreachable."""
        cluster, node = world.cluster, self.node.find(world)
        if node not in cluster.brokers:
            raise ActionFailed(f"node {node} is no broker that runs: only those change the levels of their loggers")
        answer = set_level(cluster.wire, cluster.brokers[node], node, self.logger, self.level)
        if not answer.is_done:
            raise ActionFailed(f"node {node} keeps the level of {self.logger}: {answer}")


@action
def log_at(node: NodeRef, logger: str, level: str) -> LogAt:
    """Have a broker log a class at `DEBUG` or another level until it ends (IncrementalAlterConfigs, KIP-412)."""
    return LogAt(node, logger, level)


@action
def log_connections(node: NodeRef) -> LogAt:
    """Have a broker log each connection, request and answer of its clients (NetworkClient at DEBUG) until it ends."""
    return LogAt(node, NETWORK_CLIENT, "DEBUG")
