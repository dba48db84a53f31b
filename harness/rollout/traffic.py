"""All clients of a rehearsal together: their topics, their pauses, their accounts."""

from __future__ import annotations

import time

from harness.cluster import partitions
from harness.cluster.cluster import Cluster
from harness.cluster.node import wait_until
from harness.cluster.protocol import Unreachable
from harness.rollout.accounts import Account
from harness.rollout.clients import Client
from harness.rollout.group import Group
from harness.rollout.producers import Compacted, Records
from harness.rollout.transactional import Transactional
from harness.scenario.load import spread

COPIES = 3
_TOPIC_SECONDS = 20.0


class Traffic:
    """Producers with acks=all and acks=1, to a compacted topic and in transactions, and a consumer group."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._started = False
        # As many partitions as brokers: each leads one of every topic, so that every step moves leaders.
        count = len(cluster.topology.broker_ids)
        ports = [port for node in cluster.nodes.values() if (port := node.config.broker_port) is not None]
        self._producers: list[Client] = [
            Records("orders", "all", count, ports),
            Records("clicks", "1", count, ports),
            Compacted(count, ports),
            Transactional(count, ports),
        ]
        self._group = Group("orders", count, ports)

    @property
    def words(self) -> list[str]:
        """Each client as a clause."""
        return [f"{client.name}: {client.words}" for client in self._clients]

    @property
    def _clients(self) -> list[Client]:
        return [*self._producers, self._group]

    def create_topics(self) -> str:
        """Create them; return "" or what stood in the way."""
        brokers = self._cluster.topology.broker_ids
        for client in self._producers:
            assignments = spread(brokers, client.partitions, COPIES)
            if problem := self._create(client, assignments):
                return f"the topic {client.topic} could not be created: {problem}"
        return ""

    def _create(self, client: Client, assignments: list[tuple[int, ...]]) -> str:
        last = ""

        def created() -> bool:
            nonlocal last
            try:
                port = next(iter(self._cluster.broker_ports.values()))
                last = partitions.create_topic(port, client.topic, assignments, client.topic_config)
            except (Unreachable, StopIteration) as error:
                last = str(error)
            return last in ("", "topic_already_exists")

        return "" if wait_until(created, _TOPIC_SECONDS) else last

    def start(self) -> None:
        """Begin."""
        self._started = True
        for client in self._clients:
            client.start()

    def begin_to_count(self) -> None:
        """Forget the pauses so far: those of the first connection say nothing of a roll."""
        for client in self._clients:
            client.pauses.begin()

    def unserved_since(self, moment: float) -> list[str]:
        """Return the clients that were not answered, on every partition, after a monotonic moment."""
        return [client.name for client in self._clients if not client.pauses.all_answered_since(moment)]

    def pauses_after(self, moment: float) -> dict[str, float]:
        """Return each client's longest pause at or after a moment, in seconds; short ones are 0."""
        return {client.name: round(client.pauses.longest_after(moment), 2) for client in self._clients}

    def settle(self) -> tuple[Account, ...]:
        """Stop everything, the group last, and return the accounts."""
        self.stop()
        return tuple(client.settled() for client in self._clients)

    def stop(self) -> None:
        """Stop producing, then let the group read to the end."""
        for client in self._clients:
            client.stop()

    def abandon(self) -> None:
        """End without waiting and without accounts."""
        for client in self._clients if self._started else ():
            client.abandon()

    def serving(self, within: float) -> str:
        """Wait until every client is answered; return "" or who is not."""
        began = time.monotonic()
        if wait_until(lambda: not self.unserved_since(began), within):
            return ""
        return f"not answered within {within:g} s: {', '.join(self.unserved_since(began))}"
