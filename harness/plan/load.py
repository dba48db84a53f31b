"""A load in the background and its ledger: every acknowledged record is looked for when the run ends."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from harness.cluster.ports import HOST

_FLUSH_SECONDS = 10.0
_READ_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Load:
    """Produce numbered records at a steady rate to one partition replicated on every voter."""

    topic: str
    acks: str
    per_second: int

    @property
    def words(self) -> str:
        """The load as a clause."""
        return f"produce {self.per_second} records a second to “{self.topic}” with acks={self.acks}"

    @property
    def topic_config(self) -> Mapping[str, str]:
        """A record counts once two replicas have it: an ISR of one acknowledges what its only member can lose."""
        return {"min.insync.replicas": "2"}


def produce(topic: str, *, acks: str = "all", per_second: int = 20) -> Load:
    """Return a load for `plan.background`."""
    return Load(topic, acks, per_second)


@dataclass(frozen=True, slots=True)
class LedgerSummary:
    """What became of the load; `unread` says why the ledger could not be checked, empty when it was."""

    acked: int
    failed: int
    lost: int
    duplicates: int
    longest_stall_seconds: float
    unread: str = ""


def summarise(
    acked: Sequence[int], failed: int, stored: Sequence[int], stall: float, unread: str = ""
) -> LedgerSummary:
    """Compare what was acknowledged with what is stored. Pure."""
    counts = Counter(stored)
    lost = 0 if unread else sum(1 for number in acked if number not in counts)
    duplicates = sum(count - 1 for count in counts.values())
    return LedgerSummary(len(acked), failed, lost, duplicates, stall, unread)


class Ledger:
    """Produces in a thread of its own until stopped, then reads everything back."""

    def __init__(self, load: Load, broker_ports: Sequence[int]) -> None:
        self._load = load
        self._bootstrap = ",".join(f"{HOST}:{port}" for port in broker_ports)
        self._acked: list[int] = []
        self._failed = 0
        self._longest_stall = 0.0
        self._last_ack = time.monotonic()
        self._stopping = threading.Event()
        self._patience = _FLUSH_SECONDS
        self._fault = ""
        self._thread = threading.Thread(target=self._produce, name="ledger", daemon=True)

    def start(self) -> None:
        """Begin to produce."""
        self._last_ack = time.monotonic()
        self._thread.start()

    def stop(self, *, patient: bool = True) -> None:
        """Stop producing; wait for what is in flight if `patient`."""
        self._patience = _FLUSH_SECONDS if patient else 0.0
        self._stopping.set()
        self._thread.join(self._patience + 5)

    def _produce(self) -> None:
        try:
            self._produce_until_stopped()
        except (KafkaException, BufferError) as error:
            self._fault = f"the producer failed: {error}"

    def _produce_until_stopped(self) -> None:
        producer = Producer(
            _quietly(self._bootstrap)
            | {"acks": self._load.acks, "enable.idempotence": self._load.acks == "all", "linger.ms": 5}
        )
        number, due = 0, time.monotonic()
        while not self._stopping.is_set():
            producer.produce(self._load.topic, key=str(number), value=b"x" * 100, on_delivery=self._delivered)
            number, due = number + 1, due + 1 / self._load.per_second
            while (left := due - time.monotonic()) > 0 and not self._stopping.is_set():
                producer.poll(left)  # returns early whenever there is a delivery to report
        producer.flush(self._patience)
        self._note_gap()

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._failed += 1
            return
        self._note_gap()
        self._acked.append(_number(message))

    def _note_gap(self) -> None:
        now = time.monotonic()
        self._longest_stall = max(self._longest_stall, now - self._last_ack)
        self._last_ack = now

    def verify(self, broker_ports: Sequence[int]) -> LedgerSummary:
        """Read the whole partition back through the brokers that live now."""
        stored: list[int] = []
        unread = self._fault or ("the producer did not end" if self._thread.is_alive() else "")
        try:
            stored = _read_all(self._load.topic, broker_ports)
        except (TimeoutError, KafkaException) as error:
            unread = str(error)
        return summarise(self._acked, self._failed, stored, self._longest_stall, unread)


def _number(message: Message) -> int:
    return int(message.key() or b"-1")


def _quietly(bootstrap: str) -> dict[str, Any]:
    """Return client settings without librdkafka's own lines on stderr; moved brokers are found again quickly."""
    return {
        "bootstrap.servers": bootstrap,
        "log_level": 0,
        "error_cb": lambda _: None,
        "reconnect.backoff.max.ms": 500,
        "topic.metadata.refresh.interval.ms": 1000,
        "message.timeout.ms": 60000,
    }


def _read_all(topic: str, broker_ports: Sequence[int]) -> list[int]:
    """Return the numbers stored in partition 0 up to its high watermark. Raises TimeoutError, KafkaException."""
    settings = _quietly(",".join(f"{HOST}:{port}" for port in broker_ports))
    settings.pop("message.timeout.ms")
    consumer = Consumer(settings | {"group.id": "ledger", "enable.auto.commit": False, "auto.offset.reset": "error"})
    deadline = time.monotonic() + _READ_SECONDS
    try:
        end = _high_watermark(consumer, topic, deadline)
        consumer.assign([TopicPartition(topic, 0, 0)])
        return _consume(consumer, end, deadline)
    finally:
        consumer.close()


def _high_watermark(consumer: Consumer, topic: str, deadline: float) -> int:
    while time.monotonic() < deadline:
        try:
            _, end = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=3)
        except KafkaException as error:
            last = error
            continue
        return int(end)
    raise TimeoutError(f"the end of {topic}-0 was not told within {_READ_SECONDS:g} s ({last})")


def _consume(consumer: Consumer, end: int, deadline: float) -> list[int]:
    numbers: dict[int, int] = {}  # by offset: a record that is fetched twice is stored once
    position = 0
    while position < end:
        message = consumer.poll(1.0)
        if time.monotonic() > deadline:
            raise TimeoutError(f"only {position} of {end} offsets could be read back within {_READ_SECONDS:g} s")
        if message is None or message.error() is not None:
            continue
        position = (message.offset() or 0) + 1
        numbers[position] = _number(message)
    return list(numbers.values())
