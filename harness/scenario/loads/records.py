"""Numbered records at a steady rate: every one that was acknowledged is looked for when the run ends."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from confluent_kafka import KafkaError, Message, Producer

from harness.cluster.address import Address
from harness.model.clients import ClientReport
from harness.scenario.client import Client
from harness.scenario.ledger.history import NO_TRANSACTION, History, Place
from harness.scenario.ledger.judge import judge, violations
from harness.scenario.loads.first_answers import begin_to_write
from harness.scenario.loads.readback import StoredRecord, client_settings, number_of, read_back
from harness.scenario.loads.topics import Placement, keeping, make_offsets_topic
from harness.scenario.verbs import load
from harness.scenario.world import World

# Longer than any fault that a scenario makes: what can still be acknowledged is not given up.
_GIVEN_UP_AFTER_MS = 60000
_VALUE = b"x" * 100
_MOST_WAITING = 1_000_000  # of records, in the library: those of a minute without a leader


@dataclass(frozen=True, slots=True)
class Records:
    """Produce numbered records at a steady rate to partitions replicated on several brokers."""

    topic: str
    acks: str
    per_second: int
    placement: Placement = Placement.ONE_ON_VOTERS

    @property
    def description(self) -> str:
        """The load as a clause."""
        return f"produce {self.per_second} records a second to “{self.topic}” with acks={self.acks}"

    def start(self, world: World) -> Client:
        """Create the topic and begin. Raises ActionFailed."""
        if self.placement is Placement.ONE_ON_VOTERS:
            make_offsets_topic(world, self.placement.replicas(world))
        replicas = self.placement.replicas(world)
        world.create_topic(self.topic, replicas, keeping(min(2, *map(len, replicas))))
        client = RecordsClient(self, len(replicas), world.cluster.client_brokers)
        return begin_to_write(client, world, len(replicas))


class RecordsClient(Client):
    """Produces in a thread of its own until stopped, then reads everything back."""

    patience_seconds = 10.0

    def __init__(self, load: Records, partitions: int, brokers: Sequence[Address]) -> None:
        super().__init__(load.topic, f"records with acks={load.acks}", brokers, range(partitions))
        self._load = load
        self._partitions = partitions
        self._sent = 0
        self._acked: dict[int, Place] = {}
        self.topic = load.topic
        self.fills_offsets = True

    def work(self) -> None:
        """Produce until stopped."""
        producer = Producer(
            client_settings(self.brokers)
            | {"acks": self._load.acks, "enable.idempotence": self._load.acks == "all", "linger.ms": 5}
            | {"message.timeout.ms": _GIVEN_UP_AFTER_MS, "queue.buffering.max.messages": _MOST_WAITING}
        )
        with self.awaiting_answers(producer):
            self._produce(producer)

    def _produce(self, producer: Producer) -> None:
        number, due = 0, time.monotonic()
        while not self.stopping.is_set():
            producer.produce(
                self._load.topic,
                key=str(number),
                value=_VALUE,
                partition=number % self._partitions,
                on_delivery=self._delivered,
            )
            number, due = number + 1, due + 1 / self._load.per_second
            self._sent = number
            while (left := due - time.monotonic()) > 0 and not self.stopping.is_set():
                producer.poll(left)  # returns early whenever there is a delivery to report

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.failed(str(error.name()))
            return
        self.answered(message.partition(), message.latency())
        offset = message.offset()
        self._acked[int(message.key() or b"-1")] = (message.partition() or 0, -1 if offset is None else offset)

    @property
    def acknowledged(self) -> int:
        """How many records."""
        return len(self._acked)

    def compare(self, brokers: Sequence[Address]) -> ClientReport:
        """Read the whole topic back."""
        stored, binding = read_back(self._load.topic, self._partitions, brokers), self._load.acks == "all"
        lost, duplicates = lost_and_twice([*self._acked], [number_of(record.key) for record in stored])
        return ClientReport(
            self.name,
            self.description,
            self.acknowledged,
            lost,
            duplicates,
            self.pauses.longest,
            dict(self.failures),
            never_so(self._sent, self._acked, stored, binding=binding),
            binding=binding,
        )


def never_so(
    sent: int, acked: Mapping[int, Place], stored: Sequence[StoredRecord], *, binding: bool
) -> tuple[str, ...]:
    """Return in sentences what no build may do to so many numbered records, beside losing any; of copies only how many.

    With acks=all their producer is idempotent, so that they keep their order. Pure.
    """
    places = [((record.partition, record.offset), number_of(record.key)) for record in stored]
    history = History(dict.fromkeys(range(sent), NO_TRANSACTION), acknowledged=dict(acked), stored=places)
    found = replace(judge(history), duplicated=())  # who wrote a copy is known to a ledger only
    changed = [number_of(record.key) for record in stored if record.value != _VALUE]
    of_values = (f"{len(changed)} records have another value than they were sent with",) if changed else ()
    return (*violations(found, idempotent=binding, binding=binding), *of_values)


def lost_and_twice(acked: Sequence[int], stored: Sequence[int]) -> tuple[int, int]:
    """Return how many acknowledged records are gone, and how many are there more than once. Pure."""
    counts = Counter(stored)
    return sum(number not in counts for number in acked), sum(count - 1 for count in counts.values())


@load
def produce(topic: str, *, acks: str = "all", per_second: int = 20) -> Records:
    """Produce numbered records; with acks=all, none that was acknowledged may be gone at the end."""
    return Records(topic, acks, per_second)
