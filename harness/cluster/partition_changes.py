"""What is asked of the controller about partitions: elections, other replicas, a topic's settings; with its answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from enum import IntEnum
from typing import Any

from kio.schema.errors import ErrorCode
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import i8, i32, i32Timedelta

from harness.cluster.address import Address
from harness.cluster.protocol import Wire, ask, fitting
from harness.cluster.voter_changes import Answer

_TIMEOUT_SECONDS = 10.0
_TOPIC_RESOURCE = i8(2)
_SET = i8(0)


class Election(IntEnum):
    """Which leader is asked for (org.apache.kafka.common.ElectionType): the preferred, or any that is alive."""

    PREFERRED = 0
    UNCLEAN = 1


def elect(wire: Wire, address: Address, topic: str, election: Election) -> Answer:
    """Have a leader of a topic's first partition elected (ElectLeaders, KIP-460). Raises Unreachable."""
    of = wire.schemas("elect_leaders", address)
    request = of.ElectLeadersRequest(
        election_type=i8(election),
        topic_partitions=(of.TopicPartitions(topic=TopicName(topic), partitions=(i32(0),)),),
        timeout=_patience(),
    )
    answer = ask(address, request, timeout=_TIMEOUT_SECONDS)
    results = [each for named in answer.replica_election_results for each in named.partition_result]
    return _answer(answer, results)


def reassign(wire: Wire, address: Address, topic: str, replicas: Sequence[int]) -> Answer:
    """Have a topic's first partition moved to these replicas (KIP-455). Raises Unreachable."""
    of = wire.schemas("alter_partition_reassignments", address)
    partition = of.ReassignablePartition(partition_index=i32(0), replicas=tuple(map(BrokerId, replicas)))
    wanted = of.ReassignableTopic(name=TopicName(topic), partitions=(partition,))
    request = fitting(of.AlterPartitionReassignmentsRequest, timeout=_patience(), topics=(wanted,))
    answer = ask(address, request, timeout=_TIMEOUT_SECONDS)
    return _answer(answer, [each for named in answer.responses for each in named.partitions])


def add_partitions(wire: Wire, address: Address, topic: str, count: int) -> Answer:
    """Have so many partitions of a topic in all, placed by the controller (KIP-195). Raises Unreachable."""
    of = wire.schemas("create_partitions", address)
    wanted = of.CreatePartitionsTopic(name=TopicName(topic), count=i32(count), assignments=None)
    request = of.CreatePartitionsRequest(topics=(wanted,), timeout=_patience(), validate_only=False)
    return _answer(None, ask(address, request, timeout=_TIMEOUT_SECONDS).results)


def set_topic(wire: Wire, address: Address, topic: str, key: str, value: str) -> Answer:
    """Set one of a topic's settings (KIP-339). Raises Unreachable."""
    of = wire.schemas("incremental_alter_configs", address)
    change = of.AlterableConfig(name=key, config_operation=_SET, value=value)
    resource = of.AlterConfigsResource(resource_type=_TOPIC_RESOURCE, resource_name=topic, configs=(change,))
    request = of.IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False)
    return _answer(None, ask(address, request, timeout=_TIMEOUT_SECONDS).responses)


def _patience() -> Any:
    return i32Timedelta.parse(timedelta(seconds=_TIMEOUT_SECONDS))


def _answer(whole: Any, parts: Sequence[Any]) -> Answer:
    """Return the first error: of the whole request, or of a part of it."""
    said = [each for each in (whole, *parts) if each is not None]
    wrong = next((each for each in said if each.error_code is not ErrorCode.none), said[-1])
    return Answer(wrong.error_code.name, getattr(wrong, "error_message", None) or "")
