"""Having the leader record where a voter listens (UpdateRaftVoter, KIP-853).

KIP-853 leaves this to the voter, but before 4.1 a voter announces itself only when no fetch is in flight at the moment
its update period ends, so that it may take minutes; the harness sends the same request itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from harness.cluster.address import Address
from harness.cluster.attempts import attempts
from harness.cluster.cluster import Cluster
from harness.cluster.formatting import kafka_uuid
from harness.cluster.node import Node
from harness.cluster.probes import Quorum
from harness.cluster.protocol import Unreachable
from harness.cluster.voter_changes import update_voter

_RETRY_SECONDS = 0.2


def register_endpoint(cluster: Cluster, node: int, within: float, port: int = 0) -> str:
    """Have the leader record where a voter listens now, and prove it; return "" or what stood in the way.

    With a `port` it is told that the voter listens there.
    """
    target, last = cluster.nodes[node], "no leader answered"
    announced = {name: _at_port(at, port) for name, at in target.config.announced.items()}
    for _ in attempts(cluster, within, _RETRY_SECONDS):
        quorum = cluster.quorum()
        if quorum.endpoints.get(node) == _at_port(cluster.endpoints[node], port):
            return ""
        if quorum.leader >= 0:
            last = _send(cluster, quorum, target, announced) or "the voter set did not change"
    return last


def _send(cluster: Cluster, quorum: Quorum, target: Node, announced: Mapping[str, Address]) -> str:
    leader, own = cluster.controllers[quorum.leader], kafka_uuid(cluster.id)
    try:
        answer = update_voter(cluster.wire, leader, own, quorum.epoch, (target.id, target.directory), announced)
    except Unreachable as error:
        return str(error)
    return "" if answer.is_done else str(answer)


def _at_port(address: Address, port: int) -> Address:
    """Return an address with another port; with 0 the same."""
    return replace(address, port=port) if port else address
