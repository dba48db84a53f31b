"""One look at the whole live cluster, over the protocol: a tool of Kafka's would cost a JVM for every look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.cluster import partitions, probes
from harness.cluster.cluster import Cluster
from harness.cluster.node import NodeState
from harness.cluster.protocol import Unreachable
from harness.cluster.watch import Look
from harness.rollout.health import Health
from harness.scenario.conditions.follows_leader import follows


def snapshot(cluster: Cluster, looks: Sequence[Look]) -> Health:
    """Ask the controllers for the quorum, every broker for its brokers, one of them for partitions.

    `looks` are the watcher's of the last moments: by them observers are judged.
    """
    topology = cluster.topology
    seen = Health(
        cluster.quorum(),
        frozenset(topology.voter_ids),
        frozenset(topology.broker_ids),
        frozenset(node.id for node in cluster.nodes.values() if node.state is NodeState.READY),
        following={node: follows(looks, node).ok for node in topology.observer_ids},
    )
    return _with_partitions(seen, cluster)


def _with_partitions(seen: Health, cluster: Cluster) -> Health:
    brokers = [address for broker, address in cluster.brokers.items() if broker in seen.running]
    try:
        named = [frozenset(probes.metadata(cluster.wire, address).brokers) for address in brokers]
        if not named:
            return replace(seen, unanswered="no broker is ready")
        return replace(
            seen,
            unfenced=frozenset.intersection(*named),
            partitions=partitions.partitions(cluster.wire, brokers[0]),
            reassigning=partitions.reassignments(cluster.wire, brokers[0]),
        )
    except Unreachable as error:
        return replace(seen, unanswered=f"a broker does not answer: {error}")
