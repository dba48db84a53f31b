"""Questions put to live nodes over the protocol, each returning a small frozen answer.

The quorum is asked of the voters' controller ports, never through the observer: DescribeQuorum sent through a
lost observer hangs, and `CurrentObservers` keeps a dead one for five minutes.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kio.schema.api_versions.v3.request import ApiVersionsRequest
from kio.schema.describe_configs.v4.request import DescribeConfigsRequest, DescribeConfigsResource
from kio.schema.describe_quorum.v2.request import DescribeQuorumRequest, PartitionData, TopicData
from kio.schema.errors import ErrorCode
from kio.schema.metadata.v12.request import MetadataRequest, MetadataRequestTopic
from kio.schema.types import TopicName
from kio.schema.update_raft_voter.v0.request import KRaftVersionFeature, Listener, UpdateRaftVoterRequest
from kio.static.primitive import i8, i16, i32, u16

from harness.cluster.address import Address
from harness.cluster.config import CONTROLLER_LISTENER
from harness.cluster.protocol import Unreachable, ask

CAUGHT_UP_LAG = 1
_BROKER_RESOURCE = i8(4)
_METADATA_TOPIC = TopicName("__cluster_metadata")


@dataclass(frozen=True, slots=True)
class Quorum:
    """The metadata quorum as its leader tells it; `leader` is -1 when no voter says that it leads.

    `voters` and `observers` map node ids to log end offsets; `endpoints` maps voters to the controller address
    that the voter set names. `leaders` are all (epoch, node) pairs that claimed to lead at this moment.
    """

    leader: int = -1
    epoch: int = -1
    high_watermark: int = -1
    voters: Mapping[int, int] = field(default_factory=dict)
    observers: Mapping[int, int] = field(default_factory=dict)
    endpoints: Mapping[int, Address] = field(default_factory=dict)
    leaders: tuple[tuple[int, int], ...] = ()

    def lag(self, voter: int) -> int:
        """How many records a voter is behind the leader, by the leader's own account; its whole log if unknown."""
        return self.voters.get(self.leader, -1) - self.voters.get(voter, -1)

    def has_caught_up(self, voter: int) -> bool:
        """Whether a voter is within one no-op of the leader, which hears of a record's arrival with the next fetch."""
        return self.leader >= 0 and self.leader in self.voters and self.lag(voter) <= CAUGHT_UP_LAG


def describe_quorum(controllers: Mapping[int, Address], timeout: float = 0.5) -> Quorum:
    """Ask every controller (by node id) who leads; the answer with the highest epoch counts."""
    claims = [claim for address in controllers.values() if (claim := _ask_leader(address, timeout))]
    if not claims:
        return Quorum()
    newest = max(claims, key=lambda quorum: quorum.epoch)
    leaders = tuple(sorted((claim.epoch, claim.leader) for claim in claims))
    return Quorum(
        newest.leader,
        newest.epoch,
        newest.high_watermark,
        newest.voters,
        newest.observers,
        newest.endpoints,
        leaders,
    )


def _ask_leader(address: Address, timeout: float) -> Quorum | None:
    """Return what this node says as leader, or None when it is not one or does not answer."""
    partition = PartitionData(partition_index=i32(0))
    request = DescribeQuorumRequest(topics=(TopicData(topic_name=_METADATA_TOPIC, partitions=(partition,)),))
    try:
        answer = ask(address, request, timeout=timeout)
    except Unreachable:
        return None
    if answer.error_code is not ErrorCode.none or not answer.topics or not answer.topics[0].partitions:
        return None
    told = answer.topics[0].partitions[0]
    if told.error_code is not ErrorCode.none:
        return None
    return Quorum(
        leader=int(told.leader_id),
        epoch=int(told.leader_epoch),
        high_watermark=int(told.high_watermark),
        voters=_offsets(told.current_voters),
        observers=_offsets(told.observers),
        endpoints={int(node.node_id): _endpoint(node.listeners[0]) for node in answer.nodes if node.listeners},
    )


def _endpoint(listener: Any) -> Address:
    return Address(str(listener.host), int(listener.port))


def _offsets(replicas: Iterable[Any]) -> dict[int, int]:
    return {int(replica.replica_id): int(replica.log_end_offset) for replica in replicas}


def answers(address: Address, timeout: float = 0.5) -> bool:
    """Tell whether a Kafka listener answers there (an open port alone is not readiness)."""
    request = ApiVersionsRequest(client_software_name="kafka-patch-harness", client_software_version="1")
    try:
        ask(address, request, timeout=timeout)
    except Unreachable:
        return False
    return True


@dataclass(frozen=True, slots=True)
class ClusterMetadata:
    """One broker's own metadata cache: unfenced brokers by id with their address, and topics it knows."""

    brokers: Mapping[int, Address]
    topics: Mapping[str, tuple[int, ...]]  # topic -> leader of each partition, -1 without one


def metadata(address: Address, topics: Iterable[str] = (), timeout: float = 0.5) -> ClusterMetadata:
    """Ask one broker for its own view. Raises Unreachable."""
    wanted = tuple(MetadataRequestTopic(topic_id=None, name=TopicName(name)) for name in topics)
    request = MetadataRequest(topics=wanted, allow_auto_topic_creation=False, include_topic_authorized_operations=False)
    answer = ask(address, request, timeout=timeout)
    return ClusterMetadata(
        {int(broker.node_id): Address(str(broker.host), int(broker.port)) for broker in answer.brokers},
        {
            str(topic.name): tuple(int(partition.leader_id) for partition in topic.partitions)
            for topic in answer.topics
            if topic.error_code is ErrorCode.none
        },
    )


def broker_config(address: Address, node: int, timeout: float = 5.0) -> dict[str, str]:
    """Return a broker's effective configuration, defaults included. Raises Unreachable."""
    resource = DescribeConfigsResource(resource_type=_BROKER_RESOURCE, resource_name=str(node), configuration_keys=None)
    answer = ask(address, DescribeConfigsRequest(resources=(resource,)), timeout=timeout)
    result = answer.results[0]
    if result.error_code is not ErrorCode.none:
        raise Unreachable(f"node {node} does not tell its configuration: {result.error_code.name}")
    values = {str(entry.name): str(entry.value) for entry in result.configs}
    if values.get("node.id") != str(node):  # an empty or foreign answer must not pass for "the key is absent"
        raise Unreachable(f"node {node} told a configuration without its node.id")
    return values


def update_voter(
    leader: Address, cluster: str, epoch: int, node: int, directory: uuid.UUID, controller: Address
) -> str:
    """Tell the leader a voter's new endpoint (UpdateRaftVoter, KIP-853); return "" or the error's name.

    Raises Unreachable.
    """
    request = UpdateRaftVoterRequest(
        cluster_id=cluster,
        current_leader_epoch=i32(epoch),
        voter_id=i32(node),
        voter_directory_id=directory,
        listeners=(Listener(name=CONTROLLER_LISTENER, host=controller.host, port=u16(controller.port)),),
        k_raft_version_feature=KRaftVersionFeature(min_supported_version=i16(0), max_supported_version=i16(1)),
    )
    return _error_name(ask(leader, request, timeout=5.0).error_code)


def _error_name(code: ErrorCode) -> str:
    return "" if code is ErrorCode.none else str(code.name)
