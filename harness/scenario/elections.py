"""How Kafka chooses the leader of a partition, and by which of its log lines the ways to one are told apart; pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from enum import StrEnum

from harness.cluster.partitions import PartitionView

NOBODY = -1
_AT = re.compile(rb"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\]")


class Way(StrEnum):
    """Why a partition got another leader."""

    SHUTDOWN = "the broker took its leave"
    FAILURE = "the broker was lost"


# ReplicationControlManager, of KRaft's active controller, names partitions only at DEBUG; PartitionStateMachine, of the
# controller in ZooKeeper mode, names each. Both write "Broker failure callback" for either way, which tells nothing.
_KRAFT = {
    Way.SHUTDOWN: re.compile(rb"enterControlledShutdown\[\d+\]: changing \d+ partition"),
    Way.FAILURE: re.compile(rb"handleBrokerFenced: changing \d+ partition"),
}
_ZOOKEEPER = {
    Way.SHUTDOWN: rb"Changed partition %s from OnlinePartition to OnlinePartition ",
    Way.FAILURE: rb"Changed partition %s from OfflinePartition to OnlinePartition ",
}


def first_in_sync(assignment: Iterable[int], alive: Collection[int], isr: Collection[int]) -> int:
    """Return who must lead: the first of the assignment that is alive and in sync; NOBODY where there is none."""
    return next((replica for replica in assignment if replica in alive and replica in isr), NOBODY)


def first_of_isr(alive: Collection[int], isr: Iterable[int]) -> int:
    """Return who would lead if the ISR's own order counted; NOBODY where none of it is alive."""
    return next((replica for replica in isr if replica in alive), NOBODY)


def order_tells(view: PartitionView, alive: Collection[int]) -> bool:
    """Whether the next leader shows by which order it was chosen, when the present one goes."""
    left = {replica for replica in alive if replica != view.leader}
    return first_in_sync(view.replicas, left, view.isr) != first_of_isr(left, view.isr)


def way_of(lines: Iterable[bytes], since: float, partition: str) -> Way | None:
    """Return how a partition (`orders-0`) got its next leader, by controllers' log lines; None while none says.

    `since` is in seconds since the Unix epoch; of lines from then on the earliest counts. Nodes log in UTC.
    """
    found: list[tuple[float, Way]] = []
    for line in lines:
        way = _said(line, partition.encode())
        if way and (at := time_of(line)) >= int(since * 1000) / 1000:
            found.append((at, way))
    return min(found)[1] if found else None


def _said(line: bytes, partition: bytes) -> Way | None:
    for way, words in _KRAFT.items():
        if words.search(line):
            return way
    return next((way for way, words in _ZOOKEEPER.items() if words % partition in line), None)


def time_of(line: bytes) -> float:
    """Return when a line was logged, in seconds since the Unix epoch; 0 for what is no beginning of a line."""
    at = _AT.match(line)
    if at is None:
        return 0.0
    try:
        return datetime.strptime(at[1].decode(), "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=UTC).timestamp()
    except ValueError:  # a month of 13
        return 0.0
