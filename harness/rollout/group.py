"""A consumer group that reads on and commits while the cluster is rolled."""

from __future__ import annotations

import time
from collections.abc import Sequence

from confluent_kafka import Consumer, KafkaException, TopicPartition

from harness.rollout.accounts import Account, GroupPosition
from harness.rollout.clients import Client
from harness.scenario.readback import READ_SECONDS, client_settings, high_watermarks

_COMMIT_EVERY_SECONDS = 1.0
# A member that lost its coordinator to a kill was seen to wait 35 s until it was served again.
_DRAIN_SECONDS = 60.0


class Group(Client):
    """A consumer group on the acks=all records: commits as it goes, must not be set back and must not miss one."""

    name = "group"
    words = "deliveries to a consumer group"

    def __init__(self, topic: str, partitions: int, broker_ports: Sequence[int]) -> None:
        self.topic = topic
        super().__init__(partitions, broker_ports)
        self._position = GroupPosition()
        self._unread = ""

    def _work(self) -> None:
        consumer = Consumer(
            client_settings(self.ports)
            | {"group.id": "rehearsal", "enable.auto.commit": False, "auto.offset.reset": "earliest"}
            | {"session.timeout.ms": 10000, "heartbeat.interval.ms": 1000}
        )
        try:
            consumer.subscribe([self.topic])
            self._follow(consumer)
            self._drain(consumer)
        finally:
            consumer.close()

    def _follow(self, consumer: Consumer) -> None:
        due = time.monotonic() + _COMMIT_EVERY_SECONDS
        while not self._stopping.is_set():
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
            self.failures[str(error.name())] += 1
            return
        partition, offset = message.partition() or 0, message.offset() or 0
        self.pauses.answered(partition)
        self._position.deliver(partition, offset)

    def _commit(self, consumer: Consumer) -> None:
        wanted = self._position.commit()
        offsets = [TopicPartition(self.topic, partition, offset) for partition, offset in wanted.items()]
        try:
            if offsets:
                consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:
            self.failures[str(error.args[0].name())] += 1
            return
        self._position.committed_to(wanted)

    def _drain(self, consumer: Consumer) -> None:
        """Read on to the end that the producers left, and commit."""
        ends = high_watermarks(self.topic, self.partitions, self.ports)
        deadline = time.monotonic() + _DRAIN_SECONDS
        while self._position.short_of(ends) and time.monotonic() < deadline:
            self._poll(consumer)
        self._commit(consumer)
        if short := self._position.short_of(ends):
            self._unread = f"{short} records were left to read after {_DRAIN_SECONDS:g} s"

    def stop(self) -> None:
        """End; the drain takes its time."""
        self._stopping.set()
        self._thread.join(READ_SECONDS + _DRAIN_SECONDS + 5)
        self.pauses.close()

    def account(self) -> Account:
        """Tell where the group got to."""
        position = self._position
        rewound = f"{position.rewound} records below the committed offset came again"
        return Account(
            self.name,
            self.words,
            position.delivered,
            position.skipped,
            position.again,
            self.pauses.longest,
            dict(self.failures),
            (rewound,) if position.rewound else (),
            told="committed to " + ", ".join(f"{each}: {at}" for each, at in sorted(position.committed.items())),
            unread=self._unread,
        )
