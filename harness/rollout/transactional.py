"""A transactional producer that commits and aborts while the cluster is rolled."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from confluent_kafka import KafkaException, Producer

from harness.rollout.accounts import Account, Transactions, settle_transactions
from harness.rollout.clients import PATIENCE_SECONDS, Client
from harness.scenario.pauses import Pauses
from harness.scenario.readback import client_settings, read_back

_ABORT_EVERY = 5
_NAMED = 10


class Transactional(Client):
    """Transactions over all partitions; every fifth is aborted on purpose."""

    name = topic = "payments"
    words = "transactions, every fifth aborted"

    def __init__(self, partitions: int, broker_ports: Sequence[int]) -> None:
        super().__init__(partitions, broker_ports)
        self.pauses = Pauses()
        self._committed: list[int] = []
        self._aborted: list[int] = []
        self._unknown: list[int] = []

    def _work(self) -> None:
        number = 0
        while not self._stopping.is_set():  # a producer that met a fatal error is replaced, and fences the old one
            producer = self._producer()
            while producer is not None and not self._stopping.is_set():
                if not self._transaction(producer, number):
                    producer = None
                number += 1

    def _producer(self) -> Producer | None:
        producer = Producer(
            client_settings(self.ports)
            | {"transactional.id": "rehearsal", "transaction.timeout.ms": 30000, "linger.ms": 5}
        )
        try:
            return producer if self._insist(lambda: producer.init_transactions(5)) else None
        except KafkaException as error:
            self._count(error)
            self._stopping.wait(1.0)
            return None

    def _transaction(self, producer: Producer, number: int) -> bool:
        """Carry one out and note how it ended; return False when the producer cannot go on."""
        abort = number % _ABORT_EVERY == _ABORT_EVERY - 1
        try:
            producer.begin_transaction()
            for partition in range(self.partitions):
                producer.produce(self.topic, key=str(number), value=b"x", partition=partition)
            # Before its partitions are registered, an abort fails for good (librdkafka issue 4849).
            producer.flush(5) if abort else producer.poll(0.1)
            ended = self._insist(lambda: producer.abort_transaction(5) if abort else producer.commit_transaction(5))
        except KafkaException as error:
            self._unknown.append(number)
            return self._recovers(error, producer)
        if not ended:
            self._unknown.append(number)
        elif abort:
            self._aborted.append(number)
        else:
            self._committed.append(number)
            self.pauses.answered()
        return ended

    def _recovers(self, error: KafkaException, producer: Producer) -> bool:
        """Abort what the broker did not take; return whether the producer can go on."""
        self._count(error)
        if error.args[0].fatal():
            return False
        try:
            return self._insist(lambda: producer.abort_transaction(5))
        except KafkaException as another:
            self._count(another)
            return False

    def _count(self, error: KafkaException) -> None:
        self.failures[str(error.args[0].name())] += 1

    def _insist(self, act: Callable[[], None]) -> bool:
        """Do it again as long as the error says that this may help; return False when told to stop meanwhile."""
        deadline = float("inf")
        while time.monotonic() < deadline:
            if self._stopping.is_set() and deadline == float("inf"):
                deadline = time.monotonic() + PATIENCE_SECONDS
            try:
                act()
            except KafkaException as error:
                if not error.args[0].retriable():
                    raise
                self._count(error)
                continue
            return True
        return False

    def account(self) -> Account:
        """Compare with what a read-committed consumer sees."""
        stored = read_back(self.topic, self.partitions, self.ports, committed=True)
        known = Transactions(self.partitions, self._committed, self._aborted, self._unknown)
        lost, duplicates, wrong = settle_transactions(known, [int(record.key) for record in stored])
        return Account(
            self.name,
            self.words,
            len(self._committed),
            len(lost),
            duplicates,
            self.pauses.longest,
            dict(self.failures),
            wrong,
            told=f"{len(self._aborted)} aborted on purpose, {len(self._unknown)} without an answer"
            + (f"; gone: {', '.join(map(str, lost[:_NAMED]))}" if lost else ""),
        )
