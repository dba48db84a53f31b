"""Where the replicas of every partition are, and what is being moved: what must be known before a broker may stop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from types import ModuleType
from typing import Any

from kio.schema.errors import ErrorCode
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import i8, i16, i32, i32Timedelta

from harness.cluster.address import Address
from harness.cluster.probes import metadata_request
from harness.cluster.protocol import Unreachable, Wire, ask, fitting

_TOPIC_RESOURCE = i8(2)
_MIN_ISR = "min.insync.replicas"
_CREATED = (ErrorCode.none, ErrorCode.topic_already_exists)


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition as a broker's metadata has it; `leader` is -1 without one, `min_isr` its topic's setting."""

    topic: str
    number: int
    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    min_isr: int

    @property
    def name(self) -> str:
        """`orders-0`."""
        return f"{self.topic}-{self.number}"


@dataclass(frozen=True, slots=True)
class PartitionView:
    """One partition of a topic as one broker has it; `leader` is -1 without one, `isr` in Kafka's own order."""

    leader: int
    epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


def view_of(wire: Wire, address: Address, topic: str, timeout: float = 1.0) -> PartitionView | None:
    """Return a topic's first partition as a broker has it, None where it knows no such topic. Raises Unreachable."""
    return views_of(wire, address, topic, timeout).get(0)


def replicas_of(wire: Wire, address: Address, topic: str, timeout: float = 1.0) -> dict[int, tuple[int, ...]]:
    """Return who has a replica of each partition of a topic, as a broker has it. Raises Unreachable."""
    return {number: view.replicas for number, view in views_of(wire, address, topic, timeout).items()}


def views_of(wire: Wire, address: Address, topic: str, timeout: float = 1.0) -> dict[int, PartitionView]:
    """Return every partition of a topic as a broker has it, by number. Raises Unreachable."""
    found = _partitions_of(wire, address, topic, timeout)
    return {
        int(each.partition_index): PartitionView(
            int(each.leader_id),
            int(each.leader_epoch),
            tuple(map(int, each.replica_nodes)),
            tuple(map(int, each.isr_nodes)),
        )
        for each in found
    }


def _partitions_of(wire: Wire, address: Address, topic: str, timeout: float) -> list[Any]:
    of = wire.schemas("metadata", address, timeout)
    wanted = (fitting(of.MetadataRequestTopic, topic_id=None, name=TopicName(topic)),)
    answer = ask(address, metadata_request(of, wanted), timeout=timeout)
    return [each for named in answer.topics for each in named.partitions]


def partitions(wire: Wire, address: Address, timeout: float = 3.0) -> tuple[Partition, ...]:
    """Return every partition of every topic, internal ones too. Raises Unreachable."""
    everything = metadata_request(wire.schemas("metadata", address, timeout), None)
    answer = ask(address, everything, timeout=timeout)
    named = answer.topics
    if odd := next((topic for topic in named if topic.error_code is not ErrorCode.none), None):
        raise Unreachable(f"{address} answers for {odd.name} with {odd.error_code.name}")
    least = _min_isr(wire, address, [str(topic.name) for topic in named], timeout)
    return tuple(
        Partition(
            str(topic.name),
            int(partition.partition_index),
            int(partition.leader_id),
            tuple(map(int, partition.replica_nodes)),
            tuple(sorted(map(int, partition.isr_nodes))),
            least[str(topic.name)],
        )
        for topic in sorted(named, key=lambda topic: str(topic.name))
        for partition in sorted(topic.partitions, key=lambda partition: int(partition.partition_index))
    )


def _min_isr(wire: Wire, address: Address, topics: Iterable[str], timeout: float) -> dict[str, int]:
    of = wire.schemas("describe_configs", address, timeout)
    wanted = tuple(
        of.DescribeConfigsResource(resource_type=_TOPIC_RESOURCE, resource_name=topic, configuration_keys=(_MIN_ISR,))
        for topic in topics
    )
    if not wanted:
        return {}
    answer = ask(address, fitting(of.DescribeConfigsRequest, resources=wanted), timeout=timeout)
    if any(result.error_code is not ErrorCode.none for result in answer.results):
        raise Unreachable(f"the broker at {address} does not report the settings of every topic")
    return {str(each.resource_name): int(entry.value) for each in answer.results for entry in each.configs}


def reassignments(wire: Wire, address: Address, timeout: float = 3.0) -> tuple[str, ...]:
    """Return the partitions that are being moved to other replicas. Raises Unreachable."""
    of = wire.schemas("list_partition_reassignments", address, timeout)
    patience = i32Timedelta.parse(timedelta(seconds=timeout))
    request = fitting(of.ListPartitionReassignmentsRequest, timeout=patience, topics=None)
    answer = ask(address, request, timeout=timeout)
    if answer.error_code is not ErrorCode.none:
        raise Unreachable(f"the broker at {address} does not list reassignments: {answer.error_code.name}")
    moving = [(str(topic.name), int(each.partition_index)) for topic in answer.topics for each in topic.partitions]
    return tuple(f"{topic}-{number}" for topic, number in sorted(moving))


def create_topics(
    wire: Wire,
    address: Address,
    topics: Mapping[str, Sequence[Sequence[int]]],
    config: Mapping[str, str],
    timeout: float = 5.0,
) -> str:
    """Create topics by name with the replicas of each partition; return "" or the first error's name.

    One that is there already is none. Raises Unreachable.
    """
    of = wire.schemas("create_topics", address, timeout)
    wanted = tuple(_creatable(of, name, assignments, config) for name, assignments in topics.items())
    patience = i32Timedelta.parse(timedelta(seconds=timeout))
    request = fitting(of.CreateTopicsRequest, topics=wanted, timeout=patience, validate_only=False)
    answer = ask(address, request, timeout=timeout)
    codes = (topic.error_code for topic in answer.topics)
    return next((str(code.name) for code in codes if code not in _CREATED), "")


def _creatable(of: ModuleType, name: str, assignments: Sequence[Sequence[int]], config: Mapping[str, str]) -> Any:
    return of.CreatableTopic(
        name=TopicName(name),
        num_partitions=i32(-1),
        replication_factor=i16(-1),
        assignments=tuple(
            of.CreatableReplicaAssignment(partition_index=i32(number), broker_ids=tuple(map(BrokerId, replicas)))
            for number, replicas in enumerate(assignments)
        ),
        configs=tuple(of.CreatableTopicConfig(name=key, value=value) for key, value in config.items()),
    )
