"""Questions put to live nodes over the protocol, each returning a small frozen answer.

The quorum is read from the voters' controller ports, never through the observer: DescribeQuorum sent through a
lost observer hangs, and `CurrentObservers` keeps a dead one for five minutes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from kio.schema.api_versions.v3.request import ApiVersionsRequest
from kio.schema.api_versions.v4.request import ApiVersionsRequest as FullApiVersionsRequest
from kio.schema.errors import ErrorCode
from kio.schema.types import TopicName
from kio.static.primitive import i8, i32

from harness.cluster.address import Address
from harness.cluster.config import CONTROLLER_LISTENER, METADATA_TOPIC
from harness.cluster.protocol import CLIENT_ID, Unreachable, Wire, ask, fitting, understood

CAUGHT_UP_LAG = 1
# The default of controller.quorum.fetch.timeout.ms: by it Strimzi's KafkaQuorumCheck tells a controller that lags.
KEEPS_UP_SECONDS = 2
_API_VERSIONS = 18
_WITH_LEVEL_0 = 4  # the version of ApiVersions that no longer leaves out features that begin at level 0 (KIP-1022)
_BROKER_RESOURCE = i8(4)


@dataclass(frozen=True, slots=True)
class Quorum:
    """The metadata quorum as its leader reports it; `leader` is -1 when no voter says that it leads.

    `voters` and `observers` map node ids to log end offsets; `endpoints` maps voters to the controller address
    that the voter set names. `leaders` are all (epoch, node) pairs that claimed to lead at this moment; `fetched` says
    of each of them when each of its voters last fetched from it, in seconds since 1970 by its own clock, -1 for never.
    `caught_up` says when each voter was last known to have all of the leader's log (KIP-836), by the same clock.
    """

    leader: int = -1
    epoch: int = -1
    high_watermark: int = -1
    voters: Mapping[int, int] = field(default_factory=dict)
    observers: Mapping[int, int] = field(default_factory=dict)
    endpoints: Mapping[int, Address] = field(default_factory=dict)
    leaders: tuple[tuple[int, int], ...] = ()
    fetched: Mapping[int, Mapping[int, float]] = field(default_factory=dict)
    caught_up: Mapping[int, float] = field(default_factory=dict)

    def lag(self, voter: int) -> int:
        """How many records a voter is behind the leader, by the leader's own account; its whole log if unknown."""
        return self.voters.get(self.leader, -1) - self.voters.get(voter, -1)

    def has_caught_up(self, voter: int) -> bool:
        """Whether a voter is within one no-op of the leader, which hears of a record's arrival with the next fetch."""
        return self.leader >= 0 and self.leader in self.voters and 0 <= self.lag(voter) <= CAUGHT_UP_LAG

    def keeps_up(self, voter: int) -> bool:
        """Whether a voter has caught up, or had all of the log a moment ago: where much is written, no look sees more.

        The leader's own time is that of its answer.
        """
        then, now = self.caught_up.get(voter, -1), self.caught_up.get(self.leader, -1)
        return self.has_caught_up(voter) or (then >= 0 and 0 <= now - then <= KEEPS_UP_SECONDS)


def describe_quorum(wire: Wire, controllers: Iterable[Address], timeout: float = 0.5) -> Quorum:
    """Ask every controller who leads; the answer with the highest epoch counts."""
    claims = [claim for address in controllers if (claim := _ask_leader(wire, address, timeout))]
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
        {leader: times for claim in claims for leader, times in claim.fetched.items()},
    )


def _ask_leader(wire: Wire, address: Address, timeout: float) -> Quorum | None:
    """Return what this node says as leader, or None when it is not one or does not answer."""
    try:
        claim = own_account(wire, address, timeout)
    except Unreachable:
        return None
    return claim if claim.leader >= 0 else None


class AnswersOddlyError(Unreachable):
    """It answers DescribeQuorum, and with an error that does not say that it leads nobody."""


def own_account(wire: Wire, address: Address, timeout: float = 0.5) -> Quorum:
    """Return what a node says as leader; an empty account where it answers that it is none.

    Raises Unreachable, and AnswersOddlyError for any other error.
    """
    answer = ask(address, describe_quorum_request(wire, address, timeout), timeout=timeout)
    partitions = [each for topic in answer.topics for each in topic.partitions]
    codes = {answer.error_code, *(each.error_code for each in partitions)} - {ErrorCode.none}
    if odd := sorted(code.name for code in codes - {ErrorCode.not_leader_or_follower}):
        raise AnswersOddlyError(f"{address} answers DescribeQuorum with {odd[0]}")
    return account_of(answer)


def account_of(answer: Any) -> Quorum:
    """Return the account of the quorum that a response to DescribeQuorum gives; an empty one where it gives none."""
    if answer.error_code is not ErrorCode.none or not answer.topics or not answer.topics[0].partitions:
        return Quorum()
    found = answer.topics[0].partitions[0]
    if found.error_code is not ErrorCode.none:
        return Quorum()
    return Quorum(
        leader=int(found.leader_id),
        epoch=int(found.leader_epoch),
        high_watermark=int(found.high_watermark),
        voters=_offsets(found.current_voters),
        observers=_offsets(found.observers),
        endpoints={
            int(node.node_id): _endpoint(node.listeners) for node in getattr(answer, "nodes", ()) if node.listeners
        },
        fetched={int(found.leader_id): _times(found.current_voters, "last_fetch_timestamp")},
        caught_up=_times(found.current_voters, "last_caught_up_timestamp"),
    )


def describe_quorum_request(wire: Wire, address: Address, timeout: float) -> Any:
    """Return DescribeQuorum for the metadata partition, as the node understands it. Raises Unreachable."""
    return describe_quorum_in(wire.schemas("describe_quorum", address, timeout))


def describe_quorum_in(of: ModuleType) -> Any:
    """Return DescribeQuorum for the metadata partition in the version of kio's module of it."""
    partition = fitting(of.PartitionData, partition_index=i32(0))
    topic = fitting(of.TopicData, topic_name=TopicName(METADATA_TOPIC), partitions=(partition,))
    return of.DescribeQuorumRequest(topics=(topic,))


def _endpoint(listeners: Sequence[Any]) -> Address:
    """Return where the harness asks a voter; another cluster's may name its listener as it likes."""
    chosen = next((each for each in listeners if each.name == CONTROLLER_LISTENER), listeners[0])
    return Address(str(chosen.host), int(chosen.port))


def _offsets(replicas: Iterable[Any]) -> dict[int, int]:
    """Return log end offsets by node; of a node with several directory ids that of the one which fetched last.

    A disk that was lost stays among the observers for five minutes, beside the one that took its place.
    """
    in_turn = sorted(replicas, key=lambda replica: int(getattr(replica, "last_fetch_timestamp", -1)))
    return {int(replica.replica_id): int(replica.log_end_offset) for replica in in_turn}


def _times(replicas: Iterable[Any], which: str) -> dict[int, float]:
    """Return the timestamp that each replica has, in seconds; -1 for never, or in versions that do not say."""
    times = {int(replica.replica_id): int(getattr(replica, which, -1)) for replica in replicas}
    return {node: time / 1000 if time >= 0 else -1.0 for node, time in times.items()}


def answers(address: Address, timeout: float = 0.5) -> bool:
    """Return whether a Kafka listener answers there (an open port alone is not readiness)."""
    request = ApiVersionsRequest(client_software_name=CLIENT_ID, client_software_version="1")
    try:
        answer = ask(address, request, timeout=timeout)
    except Unreachable:
        return False
    return answer.error_code is ErrorCode.none


def api_versions(address: Address, timeout: float = 5.0) -> Any:
    """Return a node's answer to ApiVersions, in the newest version that has all features. Raises Unreachable."""
    newest = understood(address, timeout=timeout)[_API_VERSIONS][1]
    question = FullApiVersionsRequest if newest >= _WITH_LEVEL_0 else ApiVersionsRequest
    return ask(address, question(client_software_name=CLIENT_ID, client_software_version="1"), timeout=timeout)


def finalised_features(address: Address) -> dict[str, int]:
    """Return the levels at which features are finalised, as a node knows them (KIP-584). Raises Unreachable."""
    return {str(each.name): int(each.max_version_level) for each in api_versions(address).finalized_features}


@dataclass(frozen=True, slots=True)
class ClusterMetadata:
    """One broker's own metadata cache: unfenced brokers by id with their address, and topics it knows."""

    brokers: Mapping[int, Address]
    topics: Mapping[str, tuple[int, ...]]  # topic -> leader of each partition, -1 without one


def metadata(wire: Wire, address: Address, topics: Iterable[str] = (), timeout: float = 0.5) -> ClusterMetadata:
    """Ask one broker for its own view. Raises Unreachable."""
    of = wire.schemas("metadata", address, timeout)
    wanted = tuple(fitting(of.MetadataRequestTopic, topic_id=None, name=TopicName(name)) for name in topics)
    answer = ask(address, metadata_request(of, wanted), timeout=timeout)
    return ClusterMetadata(
        {int(broker.node_id): Address(str(broker.host), int(broker.port)) for broker in answer.brokers},
        {
            str(topic.name): tuple(int(partition.leader_id) for partition in topic.partitions)
            for topic in answer.topics
            if topic.error_code is ErrorCode.none
        },
    )


def metadata_request(of: ModuleType, topics: Sequence[Any] | None) -> Any:
    """Return a request for these topics' metadata, or for that of all, that changes nothing."""
    return fitting(
        of.MetadataRequest,
        topics=topics,
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=False,
        include_cluster_authorized_operations=False,
    )


def broker_config(wire: Wire, address: Address, node: int, timeout: float = 5.0) -> dict[str, str]:
    """Return a broker's effective configuration, defaults included. Raises Unreachable."""
    of = wire.schemas("describe_configs", address, timeout)
    resource = of.DescribeConfigsResource(
        resource_type=_BROKER_RESOURCE, resource_name=str(node), configuration_keys=None
    )
    answer = ask(address, fitting(of.DescribeConfigsRequest, resources=(resource,)), timeout=timeout)
    result = answer.results[0]
    if result.error_code is not ErrorCode.none:
        raise Unreachable(f"node {node} does not report its configuration: {result.error_code.name}")
    values = {str(entry.name): str(entry.value) for entry in result.configs}
    # An empty or foreign answer must not pass for "the key is absent"; in ZooKeeper mode a node has broker.id alone.
    if str(node) not in (values.get("node.id"), values.get("broker.id")):
        raise Unreachable(f"node {node} reported a configuration without its id")
    return values
