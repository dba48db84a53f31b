"""A transactional producer that commits and aborts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from confluent_kafka import KafkaException, Producer

from harness.cluster.address import Address
from harness.model.clients import ClientReport
from harness.scenario.client import Client
from harness.scenario.loads.first_answers import begin_to_write
from harness.scenario.loads.readback import client_settings, number_of, read_back
from harness.scenario.loads.topics import Placement, keeping
from harness.scenario.verbs import load
from harness.scenario.world import World

_ABORT_EVERY = 5
_NAMED = 10


@dataclass(frozen=True, slots=True)
class Transactions:
    """Commit transactions over all partitions of a topic; every fifth is aborted on purpose."""

    topic: str

    @property
    def description(self) -> str:
        """The load as a clause."""
        return f"commit transactions to “{self.topic}”, every fifth aborted"

    def start(self, world: World) -> Client:
        """Create the topic and begin. Raises ActionFailed."""
        replicas = Placement.ONE_PER_BROKER.replicas(world)
        world.create_topic(self.topic, replicas, keeping(in_sync=2))
        client = TransactionsClient(self.topic, len(replicas), world.cluster.client_brokers)
        return begin_to_write(client, world, len(replicas))


class TransactionsClient(Client):
    """Knows how each of its transactions ended."""

    def __init__(self, topic: str, partitions: int, brokers: Sequence[Address]) -> None:
        super().__init__(topic, "transactions, every fifth aborted", brokers, (0,))
        self.topic = topic
        self._partitions = partitions
        self._committed: list[int] = []
        self._aborted: list[int] = []
        self._unknown: list[int] = []

    def work(self) -> None:
        """Commit and abort until stopped."""
        number = 0
        while not self.stopping.is_set():  # a producer that met a fatal error is replaced, and fences the old one
            producer = self._producer()
            while producer is not None and not self.stopping.is_set():
                if not self._transaction(producer, number):
                    producer = None
                number += 1

    def _producer(self) -> Producer | None:
        producer = Producer(
            client_settings(self.brokers)
            | {"transactional.id": "rehearsal", "transaction.timeout.ms": 30000, "linger.ms": 5}
        )
        try:
            return producer if self._insist(lambda: producer.init_transactions(5)) else None
        except KafkaException as error:
            self._count(error)
            self.stopping.wait(1.0)
            return None

    def _transaction(self, producer: Producer, number: int) -> bool:
        """Carry one out and note how it ended; return False when the producer cannot go on."""
        abort, began = number % _ABORT_EVERY == _ABORT_EVERY - 1, time.monotonic()
        may_commit = False
        try:
            producer.begin_transaction()
            for partition in range(self._partitions):
                producer.produce(self.topic, key=str(number), value=b"x", partition=partition)
            # Before its partitions are registered, an abort fails for good (librdkafka issue 4849).
            producer.flush(5) if abort else producer.poll(0.1)
            may_commit = not abort
            ended = self._insist(lambda: producer.abort_transaction(5) if abort else producer.commit_transaction(5))
        except KafkaException as error:
            recovered = self._recovers(error, producer)
            # Nobody commits unasked, nor what was aborted since.
            (self._unknown if may_commit and not recovered else self._aborted).append(number)
            return recovered
        if not ended and may_commit:
            self._unknown.append(number)
        elif abort:
            self._aborted.append(number)
        else:
            self._committed.append(number)
            self.answered(latency_seconds=time.monotonic() - began)
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
        self.failed(str(error.args[0].name()))

    def _insist(self, act: Callable[[], None]) -> bool:
        """Do it again as long as the error says that this may help; return False when stopped meanwhile."""
        deadline = float("inf")
        while time.monotonic() < deadline:
            if self.stopping.is_set() and deadline == float("inf"):
                deadline = time.monotonic() + self.patience_seconds
            try:
                act()
            except KafkaException as error:
                if not error.args[0].retriable():
                    raise
                self._count(error)
                continue
            return True
        return False

    @property
    def acknowledged(self) -> int:
        """How many transactions were committed."""
        return len(self._committed)

    def compare(self, brokers: Sequence[Address]) -> ClientReport:
        """Compare with what a read-committed consumer sees."""
        stored = read_back(self.topic, self._partitions, brokers, committed=True)
        ended = TransactionLedger(self._partitions, self._committed, self._aborted, self._unknown)
        lost, duplicates, violations = compare_transactions(ended, [number_of(record.key) for record in stored])
        return ClientReport(
            self.name,
            self.description,
            self.acknowledged,
            len(lost),
            duplicates,
            self.pauses.longest,
            dict(self.failures),
            violations,
            detail=f"{len(self._aborted)} aborted on purpose, {len(self._unknown)} without an answer"
            + (f"; gone: {', '.join(map(str, lost[:_NAMED]))}" if lost else ""),
        )


@dataclass(frozen=True, slots=True)
class TransactionLedger:
    """What a transactional producer knows: numbers of transactions by how they ended; `parts` records each."""

    parts: int
    committed: Collection[int]
    aborted: Collection[int]
    unknown: Collection[int]


def compare_transactions(ended: TransactionLedger, seen: Sequence[int]) -> tuple[list[int], int, tuple[str, ...]]:
    """Compare with what a read-committed consumer sees: (lost transactions, duplicate records, violations).

    A transaction whose commit was never answered may be there or not, but wholly. Pure.
    """
    counts = Counter(seen)
    lost = [number for number in ended.committed if counts[number] < ended.parts]
    duplicates = sum(max(count - ended.parts, 0) for count in counts.values())
    known = {*ended.committed, *ended.aborted, *ended.unknown}
    foreign = counts.keys() - known
    visible = [number for number in ended.aborted if counts[number]]
    torn = [number for number in ended.unknown if 0 < counts[number] < ended.parts]
    violations = [f"records of {len(foreign)} transactions can be read that were never begun"] if foreign else []
    violations += [f"{len(visible)} aborted transactions can be read"] if visible else []
    violations += [f"{len(torn)} transactions can be read in part"] if torn else []
    # A producer with transactions takes no new epoch within one: who has a batch twice has taken it twice.
    repeated = [number for number in ended.committed if counts[number] > ended.parts]
    violations += [f"{len(repeated)} committed transactions have records twice"] if repeated else []
    return lost, duplicates, tuple(violations)


@load
def commit_transactions(topic: str) -> Transactions:
    """Commit transactions, every fifth aborted on purpose: what was committed must be readable, and nothing else."""
    return Transactions(topic)
