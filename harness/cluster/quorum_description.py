"""DescribeQuorum as one node answers it: who votes, who observes, where they are, and how far they are behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from kio.schema.errors import ErrorCode

from harness.cluster.address import Address
from harness.cluster.probes import account_of, describe_quorum_in
from harness.cluster.protocol import Wire, ask
from harness.cluster.voter_changes import Answer, answer_of

_TIMEOUT_SECONDS = 5.0
NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Description:
    """What was answered; everything else is empty where that is an error.

    `offsets` are log end offsets of voters and observers by node. `behind` is for how many seconds a replica has not
    caught up with the leader, by the leader's own clock: 0 for the leader, NEVER for one that never has. What a version
    does not say is empty: `behind` below version 1, `endpoints` below 2.
    """

    answer: Answer
    leader: int = -1
    high_watermark: int = -1
    voters: frozenset[int] = frozenset()
    observers: frozenset[int] = frozenset()
    offsets: Mapping[int, int] = field(default_factory=dict)
    behind: Mapping[int, float] = field(default_factory=dict)
    endpoints: Mapping[int, Address] = field(default_factory=dict)


def describe(wire: Wire, address: Address) -> Description:
    """Return what one node, controller or broker, answers to DescribeQuorum.

    An error of the partition counts as the answer's. Raises Unreachable.
    """
    return describe_in(wire.schemas("describe_quorum", address), address)


def describe_in(of: ModuleType, address: Address) -> Description:
    """Return what a node answers in the version of kio's module of the request. Raises Unreachable."""
    return description_of(ask(address, describe_quorum_in(of), timeout=_TIMEOUT_SECONDS))


def description_of(response: Any) -> Description:
    """Return what a response says; pure."""
    topics = response.topics
    if response.error_code is not ErrorCode.none or not topics or not topics[0].partitions:
        return Description(answer_of(response))
    partition = topics[0].partitions[0]
    answer, quorum = answer_of(partition), account_of(response)
    if not answer.is_done:
        return Description(answer)
    return Description(
        answer,
        quorum.leader,
        quorum.high_watermark,
        frozenset(quorum.voters),
        frozenset(quorum.observers),
        {**quorum.observers, **quorum.voters},
        _behind(quorum.leader, (*partition.observers, *partition.current_voters)),
        quorum.endpoints,
    )


def _behind(leader: int, replicas: tuple[Any, ...]) -> Mapping[int, float]:
    """Return it by node; of one with several directory ids that of the disk which fetched last."""
    in_turn = sorted(replicas, key=lambda replica: int(getattr(replica, "last_fetch_timestamp", -1)))
    times = {int(replica.replica_id): int(getattr(replica, "last_caught_up_timestamp", -1)) for replica in in_turn}
    now = times.get(leader, -1)
    return {node: (now - time) / 1000 if time >= 0 else NEVER for node, time in times.items()} if now >= 0 else {}
