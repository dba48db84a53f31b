"""A consumer group that reads on and commits."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaException, TopicPartition

from harness.cluster.address import Address
from harness.model.clients import ClientReport
from harness.scenario.client import Client
from harness.scenario.loads.readback import READ_SECONDS, client_settings, high_watermarks
from harness.scenario.loads.topics import partitions_of
from harness.scenario.verbs import load
from harness.scenario.world import ActionFailed, World

_COMMIT_EVERY_SECONDS = 1.0
# A member that lost its coordinator to a kill was seen to wait 35 s until it was served again.
_DRAIN_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Group:
    """Read a topic that another load writes, and commit."""

    topic: str

    @property
    def description(self) -> str:
        """The load as a clause."""
        return f"read “{self.topic}” with a consumer group"

    def start(self, world: World) -> Client:
        """Begin; the topic is another load's, which writes nothing but records to it. Raises ActionFailed."""
        if not any(client.topic == self.topic and client.fills_offsets for client in world.clients):
            raise ActionFailed(
                f"no load writes nothing but records to “{self.topic}”: gaps that transactions and compaction leave "
                "would pass for lost records"
            )
        partitions = partitions_of(world, self.topic)
        client = GroupClient(self.topic, partitions, world.cluster.client_brokers)
        client.start()
        return client


class GroupClient(Client):
    """Commits as it goes, must not be set back and must not miss a record."""

    patience_seconds = READ_SECONDS + _DRAIN_SECONDS

    def __init__(self, topic: str, partitions: int, brokers: Sequence[Address]) -> None:
        super().__init__("group", "deliveries to a consumer group", brokers, range(partitions))
        self._topic = topic
        self._partitions = partitions
        self._position = GroupPosition()
        self._unread = ""

    def work(self) -> None:
        """Read and commit until stopped, then read to the end that the producers left."""
        consumer = Consumer(
            client_settings(self.brokers)
            | {"group.id": "rehearsal", "enable.auto.commit": False, "auto.offset.reset": "earliest"}
            | {"session.timeout.ms": 10000, "heartbeat.interval.ms": 1000}
        )
        try:
            consumer.subscribe([self._topic])
            self._follow(consumer)
            if self.patient:
                self._drain(consumer)
        finally:
            consumer.close()

    def _follow(self, consumer: Consumer) -> None:
        due = time.monotonic() + _COMMIT_EVERY_SECONDS
        while not self.stopping.is_set():
            self._poll(consumer)
            if time.monotonic() > due:
                self._commit(consumer)
                due = time.monotonic() + _COMMIT_EVERY_SECONDS

    def _poll(self, consumer: Consumer) -> None:
        message = consumer.poll(0.1)
        if message is None:
            return
        error = message.error()
        if error is not None:
            self.failed(str(error.name()))
            return
        partition, offset = message.partition() or 0, message.offset() or 0
        self.answered(partition)
        self._position.deliver(partition, offset)

    def _commit(self, consumer: Consumer) -> None:
        wanted = self._position.commit()
        offsets = [TopicPartition(self._topic, partition, offset) for partition, offset in wanted.items()]
        try:
            if offsets:
                consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:
            self.failed(str(error.args[0].name()))
            return
        self._position.committed_to(wanted)

    def _drain(self, consumer: Consumer) -> None:
        """Read on to the end that the producers left, and commit."""
        ends = high_watermarks(self._topic, self._partitions, self.brokers)
        deadline = time.monotonic() + _DRAIN_SECONDS
        while self._position.short_of(ends) and time.monotonic() < deadline:
            self._poll(consumer)
        self._commit(consumer)
        if short := self._position.short_of(ends):
            self._unread = f"{short} records were left to read after {_DRAIN_SECONDS:g} s"

    @property
    def acknowledged(self) -> int:
        """How many records were delivered."""
        return self._position.delivered

    def compare(self, brokers: Sequence[Address]) -> ClientReport:  # noqa: ARG002 - it has read already
        """Say where the group got to."""
        position = self._position
        rewound = f"{position.rewound} records below the committed offset came again"
        return ClientReport(
            self.name,
            self.description,
            self.acknowledged,
            position.skipped,
            position.again,
            self.pauses.longest,
            dict(self.failures),
            (rewound,) if position.rewound else (),
            detail="committed to " + ", ".join(f"{each}: {at}" for each, at in sorted(position.committed.items())),
            unread=self._unread,
        )


class GroupPosition:
    """Follows a consumer group on a topic of nothing but records: where each partition was read and committed to."""

    def __init__(self) -> None:
        self.delivered = 0
        self.again = 0
        self.skipped = 0
        self.rewound = 0
        self.committed: dict[int, int] = {}
        self._next: dict[int, int] = {}

    def deliver(self, partition: int, offset: int) -> None:
        """Note a delivery. What lies below a committed offset must not come again; nothing may be left out."""
        expected = self._next.get(partition, 0)
        self.delivered += 1
        self.rewound += offset < self.committed.get(partition, 0)
        self.again += offset < expected
        self.skipped += max(offset - expected, 0)
        self._next[partition] = max(expected, offset + 1)

    def commit(self) -> dict[int, int]:
        """Return the offsets to commit: just behind what was delivered."""
        return dict(self._next)

    def committed_to(self, offsets: Mapping[int, int]) -> None:
        """Note a commit that was acknowledged."""
        self.committed |= offsets

    def short_of(self, ends: Mapping[int, int]) -> int:
        """Return how many records lie between where the group got to and the ends."""
        return sum(max(end - self._next.get(partition, 0), 0) for partition, end in ends.items())


@load
def consume(topic: str) -> Group:
    """Read a topic with a consumer group that commits: it must not be set back, and must not miss a record."""
    return Group(topic)
