"""A load in the background and its ledger: every acknowledged record is looked for when the run ends."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from harness.scenario.pauses import Pauses
from harness.scenario.readback import client_settings, read_back

_FLUSH_SECONDS = 10.0
# Longer than any fault that a scenario makes: what can still be acknowledged is not given up.
_GIVEN_UP_AFTER_MS = 60000


@dataclass(frozen=True, slots=True)
class Load:
    """Produce numbered records at a steady rate to partitions replicated on several brokers."""

    topic: str
    acks: str
    per_second: int
    partitions: int = 1

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


def spread(brokers: Sequence[int], partitions: int, copies: int) -> list[tuple[int, ...]]:
    """Return each partition's replicas, so many copies on brokers in turn; the first is preferred as leader."""
    turns = (number % len(brokers) for number in range(partitions))
    return [(*brokers[turn:], *brokers[:turn])[:copies] for turn in turns]


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
        self._ports = tuple(broker_ports)
        self._acked: list[int] = []
        self.failures: Counter[str] = Counter()
        self.pauses = Pauses(range(load.partitions))
        self._stopping = threading.Event()
        self._patience = _FLUSH_SECONDS
        self._fault = ""
        self._thread = threading.Thread(target=self._produce, name="ledger", daemon=True)

    def start(self) -> None:
        """Begin to produce."""
        self.pauses.begin()
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
            client_settings(self._ports)
            | {"acks": self._load.acks, "enable.idempotence": self._load.acks == "all", "linger.ms": 5}
            | {"message.timeout.ms": _GIVEN_UP_AFTER_MS}
        )
        number, due = 0, time.monotonic()
        while not self._stopping.is_set():
            producer.produce(
                self._load.topic,
                key=str(number),
                value=b"x" * 100,
                partition=number % self._load.partitions,
                on_delivery=self._delivered,
            )
            number, due = number + 1, due + 1 / self._load.per_second
            while (left := due - time.monotonic()) > 0 and not self._stopping.is_set():
                producer.poll(left)  # returns early whenever there is a delivery to report
        producer.flush(self._patience)
        self.pauses.close()

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.failures[str(error.name())] += 1
            return
        self.pauses.answered(message.partition())
        self._acked.append(_number(message.key()))

    def verify(self, broker_ports: Sequence[int]) -> LedgerSummary:
        """Read the whole topic back through the brokers that live now."""
        stored: list[int] = []
        unread = self._fault or ("the producer did not end" if self._thread.is_alive() else "")
        try:
            records = read_back(self._load.topic, self._load.partitions, broker_ports)
            stored = [_number(record.key) for record in records]
        except (TimeoutError, KafkaException) as error:
            unread = str(error)
        return summarise(self._acked, self.failures.total(), stored, self.pauses.longest, unread)


def _number(key: str | bytes | None) -> int:
    return int(key or b"-1")
