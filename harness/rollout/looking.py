"""One look at the whole live cluster, over the protocol: a tool of Kafka's would cost a JVM for every look."""

from __future__ import annotations

import time
from dataclasses import replace

from harness.cluster import partitions, probes
from harness.cluster.cluster import Cluster
from harness.cluster.node import NodeState
from harness.cluster.protocol import Unreachable
from harness.engine.watch import Watcher
from harness.rollout.health import Health
from harness.scenario.bounds import FOLLOW_WINDOW_SECONDS
from harness.scenario.conditions import follows


def look(cluster: Cluster, watcher: Watcher) -> Health:
    """Ask the controllers for the quorum, every broker for its brokers, one of them for partitions."""
    topology = cluster.topology
    looks = watcher.recent(time.monotonic() - FOLLOW_WINDOW_SECONDS)
    seen = Health(
        cluster.quorum(),
        frozenset(topology.voter_ids),
        frozenset(topology.broker_ids),
        frozenset(node.id for node in cluster.nodes.values() if node.state is NodeState.READY),
        following={node: follows(looks, node).ok for node in topology.observer_ids},
    )
    return _with_partitions(seen, cluster)


def _with_partitions(seen: Health, cluster: Cluster) -> Health:
    ports = [port for broker, port in cluster.broker_ports.items() if broker in seen.running]
    try:
        named = [frozenset(probes.metadata(port).brokers) for port in ports]
        if not named:
            return replace(seen, unanswered="no broker is ready")
        return replace(
            seen,
            unfenced=frozenset.intersection(*named),
            partitions=partitions.partitions(ports[0]),
            reassigning=partitions.reassignments(ports[0]),
        )
    except Unreachable as error:
        return replace(seen, unanswered=f"a broker does not answer: {error}")
