"""Producers: numbered records with the acks that are asked for, and the newest value of each key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from confluent_kafka import KafkaError, Message, Producer

from harness.rollout.accounts import Account, stale_keys
from harness.rollout.clients import PATIENCE_SECONDS, Client
from harness.scenario.load import Ledger, Load
from harness.scenario.readback import client_settings, read_back

_KEYS = 40
_PER_SECOND = 30


class Records(Client):
    """Numbered records to all partitions, with the acks that are asked for."""

    def __init__(self, name: str, acks: str, partitions: int, broker_ports: Sequence[int]) -> None:
        self.name = self.topic = name
        self._load = Load(name, acks, per_second=_PER_SECOND, partitions=partitions)
        self._ledger = Ledger(self._load, broker_ports)
        self.words = f"records with acks={acks}"
        super().__init__(partitions, broker_ports)
        self.pauses, self.failures = self._ledger.pauses, self._ledger.failures

    def start(self) -> None:
        """Begin to produce."""
        self._ledger.start()

    def stop(self) -> None:
        """Stop producing; wait for what is in flight."""
        self._ledger.stop()

    def abandon(self) -> None:
        """End without waiting for what is in flight."""
        self._ledger.stop(patient=False)

    def _work(self) -> None:
        """The ledger has a thread of its own."""

    def settled(self) -> Account:
        """Return the ledger's account."""
        return self.account()

    def account(self) -> Account:
        """Read the topic back."""
        found = self._ledger.verify(self.ports)
        return Account(
            self.name,
            self.words,
            found.acked,
            found.lost,
            found.duplicates,
            found.longest_stall_seconds,
            dict(self.failures),
            unread=found.unread,
            binding=self._load.acks == "all",
        )


class Compacted(Client):
    """The newest number of each of a few keys, in a topic that is compacted while the cluster is rolled."""

    name = topic = "balances"
    words = "last values by key, compacted"
    topic_config: Mapping[str, str] = {
        "min.insync.replicas": "2",
        "cleanup.policy": "compact",
        "min.cleanable.dirty.ratio": "0.01",
        "segment.ms": "5000",
    }

    def __init__(self, partitions: int, broker_ports: Sequence[int]) -> None:
        super().__init__(partitions, broker_ports)
        self._newest: dict[str, int] = {}
        self._acknowledged = 0

    def _work(self) -> None:
        producer = Producer(client_settings(self.ports) | {"acks": "all", "enable.idempotence": True})
        number = 0
        while not self._stopping.is_set():
            key = number % _KEYS
            producer.produce(
                self.topic,
                key=str(key),
                value=str(number),
                partition=key % self.partitions,
                on_delivery=self._delivered(str(key), number),
            )
            number += 1
            producer.poll(0.05)
        producer.flush(PATIENCE_SECONDS)

    def _delivered(self, key: str, number: int) -> Callable[[KafkaError | None, Message], None]:
        def hear(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                self.failures[str(error.name())] += 1
                return
            self.pauses.answered(message.partition())
            self._acknowledged += 1
            self._newest[key] = max(number, self._newest.get(key, -1))

        return hear

    def account(self) -> Account:
        """Compare the last record of each key with the last one acknowledged."""
        stored = read_back(self.topic, self.partitions, self.ports)
        stale = stale_keys(self._newest, stored)
        gone = self._acknowledged - len(stored)
        return Account(
            self.name,
            self.words,
            self._acknowledged,
            len(stale),
            0,
            self.pauses.longest,
            dict(self.failures),
            told=f"{gone} older records were compacted away" if gone > 0 else "nothing was compacted yet",
        )
