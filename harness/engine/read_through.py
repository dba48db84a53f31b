"""Through which brokers to read back: one that lost its controller goes on telling of leaders that lead no more."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress

from harness.base.waiting import wait_until
from harness.cluster.cluster import Cluster
from harness.cluster.partitions import views_of
from harness.cluster.protocol import Unreachable

UNSETTLED = "brokers differ about who leads what clients wrote to, and none knows all of the newest leaders"
_AGREE_SECONDS = 5.0
_POLL_SECONDS = 0.5


def up_to_date(told: Mapping[int, Mapping[tuple[str, int], int]]) -> list[int]:
    """Return the brokers that know the newest leader epoch of every partition that any of them knows. Pure.

    Each told the leader epochs by topic and number.
    """
    newest: dict[tuple[str, int], int] = {}
    for epochs in told.values():
        newest |= {each: epoch for each, epoch in epochs.items() if epoch >= newest.get(each, epoch)}
    return [broker for broker, epochs in told.items() if epochs == newest]


def brokers_up_to_date(cluster: Cluster, topics: Collection[str]) -> list[int]:
    """Ask running brokers about these topics until one is up to date; return those that are, none after a while.

    One that does not answer is not.
    """
    found: list[int] = []

    def some_are() -> bool:
        found[:] = up_to_date(_leader_epochs(cluster, topics))
        return bool(found) or cluster.is_closed

    wait_until(some_are, _AGREE_SECONDS, _POLL_SECONDS)
    return found


def _leader_epochs(cluster: Cluster, topics: Collection[str]) -> dict[int, dict[tuple[str, int], int]]:
    told = {}
    for broker, address in cluster.brokers.items():
        with suppress(Unreachable):
            told[broker] = {
                (topic, number): view.epoch
                for topic in topics
                for number, view in views_of(cluster.wire, address, topic).items()
            }
    return told
