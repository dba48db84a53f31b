"""The newest number of each of a few keys, in a topic that is compacted while the run goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka import KafkaError, Message, Producer

from harness.cluster.address import Address
from harness.model.clients import ClientReport
from harness.scenario.client import Client
from harness.scenario.loads.first_answers import begin_to_write
from harness.scenario.loads.readback import StoredRecord, client_settings, number_of, read_back
from harness.scenario.loads.topics import Placement, keeping
from harness.scenario.verbs import load
from harness.scenario.world import World

_KEYS = 40
_CONFIG: Mapping[str, str] = {
    **keeping(in_sync=2),
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.01",
    "segment.ms": "5000",
}


@dataclass(frozen=True, slots=True)
class Compacted:
    """Write the newest values of a few keys to a compacted topic."""

    topic: str

    @property
    def description(self) -> str:
        """The load as a clause."""
        return f"write the newest values of {_KEYS} keys to “{self.topic}”, compacted"

    def start(self, world: World) -> Client:
        """Create the topic and begin. Raises ActionFailed."""
        replicas = Placement.ONE_PER_BROKER.replicas(world)
        world.create_topic(self.topic, replicas, _CONFIG)
        client = CompactedClient(self.topic, len(replicas), world.cluster.client_brokers)
        return begin_to_write(client, world, len(replicas))


class CompactedClient(Client):
    """Knows the newest number of each key that was acknowledged."""

    def __init__(self, topic: str, partitions: int, brokers: Sequence[Address]) -> None:
        super().__init__(topic, "last values by key, compacted", brokers, range(partitions))
        self.topic = topic
        self._partitions = partitions
        self._newest: dict[str, int] = {}
        self._count = 0

    def work(self) -> None:
        """Write until stopped."""
        producer = Producer(client_settings(self.brokers) | {"acks": "all", "enable.idempotence": True})
        with self.awaiting_answers(producer):
            self._produce(producer)

    def _produce(self, producer: Producer) -> None:
        number = 0
        while not self.stopping.is_set():
            key = number % _KEYS
            producer.produce(
                self.topic,
                key=str(key),
                value=str(number),
                partition=key % self._partitions,
                on_delivery=self._delivered(str(key), number),
            )
            number += 1
            producer.poll(0.05)

    def _delivered(self, key: str, number: int) -> Callable[[KafkaError | None, Message], None]:
        def on_delivery(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                self.failed(str(error.name()))
                return
            self.answered(message.partition(), message.latency())
            self._count += 1
            self._newest[key] = max(number, self._newest.get(key, -1))

        return on_delivery

    @property
    def acknowledged(self) -> int:
        """How many records."""
        return self._count

    def compare(self, brokers: Sequence[Address]) -> ClientReport:
        """Compare the last record of each key with the last one acknowledged."""
        stored = read_back(self.topic, self._partitions, brokers)
        stale, gone = stale_keys(self._newest, stored), self.acknowledged - len(stored)
        return ClientReport(
            self.name,
            self.description,
            self.acknowledged,
            len(stale),
            0,
            self.pauses.longest,
            dict(self.failures),
            detail=f"{gone} older records were compacted away" if gone > 0 else "nothing was compacted yet",
        )


def stale_keys(acknowledged: Mapping[str, int], stored: Sequence[StoredRecord]) -> list[str]:
    """Return the keys of a compacted topic whose last record is older than what was acknowledged, or that are gone.

    A later write that was not acknowledged may well be there. Pure.
    """
    latest = {record.key.decode(errors="replace"): number_of(record.value) for record in stored}
    return sorted(key for key, number in acknowledged.items() if latest.get(key, -1) < number)


@load
def write_compacted(topic: str) -> Compacted:
    """Write the newest values of a few keys to a compacted topic: the last one acknowledged must be there."""
    return Compacted(topic)
