"""A ledger of every record: what was sent, what its client was told, what a consumer saw, what is there in the end."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from harness.cluster.address import Address
from harness.cluster.segments import Writer, writers
from harness.model.clients import ClientReport
from harness.scenario.client import Client
from harness.scenario.ledger.history import NO_TRANSACTION, Ended, History, Ledger, Place
from harness.scenario.ledger.judge import Findings, judge, repeated, violations
from harness.scenario.loads.along import DRAIN_SECONDS, ReadsAlong
from harness.scenario.loads.first_answers import begin_to_write
from harness.scenario.loads.readback import client_settings, high_watermarks, number_of, read_back
from harness.scenario.loads.topics import Placement, keeping, make_offsets_topic, partitions_of
from harness.scenario.verbs import load
from harness.scenario.world import World

# Longer than any fault that a scenario makes: what can still be acknowledged is not given up.
_GIVEN_UP_AFTER_MS = 60000
_TRANSACTION = 10
_ABORTED_EVERY = 5
_TRANSACTION_SECONDS = 10.0
_LAST_ANSWERS_SECONDS = 10.0
_READING_ON_SECONDS = DRAIN_SECONDS + 10.0  # who does not answer is waited for as well
# What is due is sent in bunches: one by one they take several times the processor.
_BUNCH_SECONDS = _ANSWERS_SECONDS = 0.02
_BATCH = 500
_BY_KEY = -1  # instead of a partition
_MOST_WAITING = 1_000_000  # of records, in the library: those of minutes without a leader


@dataclass(frozen=True, slots=True)
class Promise:
    """What a producer is promised, and so what may be expected of its records."""

    acks: str = "all"
    idempotent: bool = True
    transactional: bool = False

    def settings(self, topic: str) -> dict[str, str | bool | int]:
        """Return the configuration of the producer to a topic."""
        own: dict[str, str | bool | int] = {
            "acks": self.acks,
            "enable.idempotence": self.idempotent,
            "linger.ms": 5,
            "queue.buffering.max.messages": _MOST_WAITING,
        }
        if self.transactional:
            return own | {"transactional.id": f"ledger-{topic}", "transaction.timeout.ms": 30000}
        return own | {"message.timeout.ms": _GIVEN_UP_AFTER_MS}

    @property
    def description(self) -> str:
        """The promise as a clause."""
        kind = "in transactions" if self.transactional else "idempotently" if self.idempotent else "without idempotence"
        return f"acks={self.acks}, {kind}"


@dataclass(frozen=True, slots=True)
class KeepLedger:
    """Write numbered records, consume them, and keep account of each; `keys` is how many keys there are, 0 for none.

    Without a `placement` the topic is there, and others write to it too, nothing that could be a number.
    """

    topic: str
    promise: Promise
    keys: int
    per_second: int
    placement: Placement | None = Placement.ONE_PER_BROKER

    @property
    def description(self) -> str:
        """The load as a clause."""
        keyed = f", {self.keys} keys" if self.keys else ""
        return (
            f"keep a ledger of {self.per_second} records a second to “{self.topic}” ({self.promise.description}{keyed})"
        )

    def start(self, world: World) -> Client:
        """Create the topic, if it is not there, and begin. Raises ActionFailed."""
        partitions = self._create(world, self.placement) if self.placement else partitions_of(world, self.topic)
        client = LedgerClient(
            self,
            partitions,
            world.cluster.client_brokers,
            world.folder.ledger(self.topic),
            lambda places: _written_by(world, self.topic, places),
        )
        return begin_to_write(client, world, partitions)

    def _create(self, world: World, placement: Placement) -> int:
        # Where groups read the topic this is Kafka's to make: coordinators count on its 50 partitions.
        make_offsets_topic(world, Placement.ONE_ON_VOTERS.replicas(world))
        replicas = placement.replicas(world)
        world.create_topic(self.topic, replicas, keeping(min(2, *map(len, replicas))))
        return len(replicas)


def _written_by(world: World, topic: str, places: Iterable[Place]) -> dict[Place, Writer]:
    """Return who wrote what lies at these places, as the disks of the nodes have it."""
    offsets = defaultdict(list)
    for partition, offset in places:
        offsets[partition].append(offset)
    found: dict[Place, Writer] = {}
    for partition, wanted in offsets.items():
        for node in world.cluster.nodes.values():
            with suppress(FileNotFoundError):  # a segment that is deleted at this moment
                known = writers(node.data_dir / f"{topic}-{partition}", wanted)
                found = {(partition, offset): writer for offset, writer in known.items()} | found
    return found


class LedgerClient(Client):
    """A producer and a consumer, each in a thread, and the ledger of both."""

    patience_seconds = _LAST_ANSWERS_SECONDS + _READING_ON_SECONDS

    def __init__(
        self,
        load: KeepLedger,
        partitions: int,
        brokers: Sequence[Address],
        file: Path,
        written_by: Callable[[Iterable[Place]], Mapping[Place, Writer]],
    ) -> None:
        super().__init__(load.topic, f"records in a ledger, {load.promise.description}", brokers, range(partitions))
        if load.promise.transactional:
            # For the last, and for ending one that was left open.
            self.patience_seconds = 3 * _TRANSACTION_SECONDS + _READING_ON_SECONDS
        self._load = load
        self._partitions = partitions
        self._written_by = written_by
        self._ledger = Ledger(file)
        self.topic = load.topic
        self.fills_offsets = not load.promise.transactional and load.placement is not None
        self._number = 0
        self._due = 0.0
        self._asked_to_commit = False
        self._answers: list[tuple[KafkaError | None, Message]] = []  # that were not entered yet
        self._along = ReadsAlong(load.topic, partitions, self._ledger, self._is_ours)

    @property
    def history(self) -> History:
        """What is entered so far."""
        return self._ledger.history

    def work(self) -> None:
        """Produce until stopped, and consume meanwhile."""
        consumer = threading.Thread(target=self._read_along, name=f"{self.name} consumer", daemon=True)
        consumer.start()
        self._due = time.monotonic()
        try:
            if self._load.promise.transactional:
                self._in_transactions()
            else:
                self._steadily(self._producer())
        finally:
            self._enter_answers()
            self.pauses.close()
            self.stopping.wait()  # the consumer goes on without a producer that failed
            self._along.all_is_written(patient=self.patient)
            consumer.join(_READING_ON_SECONDS)

    def _read_along(self) -> None:
        self._along.watch(self.brokers, committed=self._load.promise.transactional)

    def _steadily(self, producer: Producer) -> None:
        try:
            while not self.stopping.is_set():
                self._send(producer, _BATCH)
        finally:
            self.unanswered = producer.flush(_LAST_ANSWERS_SECONDS if self.patient else 0.0)

    def _producer(self) -> Producer:
        told = {"on_delivery": self._told}
        return Producer(client_settings(self.brokers) | self._load.promise.settings(self.name) | told)

    def _send(self, producer: Producer, most: int, transaction: int = NO_TRANSACTION) -> int:
        """Send what is due, one record at least, and take answers until the next are; return how many were sent."""
        now, load = time.monotonic(), self._load
        count = min(most, max(1, 1 + int((now - self._due) * load.per_second)))
        numbers = range(self._number, self._number + count)
        records = [(number, f"k{number % load.keys}" if load.keys else "") for number in numbers]
        self._ledger.sent(records, transaction)
        for number, key in records:
            where = _BY_KEY if key else number % self._partitions
            producer.produce(load.topic, str(number), key or None, where)
        self._number, self._due = self._number + count, self._due + count / load.per_second
        self._take_answers(producer, until=max(self._due, now + _BUNCH_SECONDS))
        return count

    def _told(self, error: KafkaError | None, message: Message) -> None:
        """Keep an answer of the library's."""
        self._answers.append((error, message))

    def _take_answers(self, producer: Producer, until: float) -> None:
        """Enter answers as they come, until then or until stopped."""
        while True:
            producer.poll(0)
            self._enter_answers()
            left = until - time.monotonic()
            if left <= 0 or self.stopping.wait(min(left, _ANSWERS_SECONDS)):
                return

    def _enter_answers(self) -> None:
        """Enter every answer that came since the last time."""
        answers, self._answers = self._answers, []
        taken, latencies = [], []
        for error, message in answers:
            number = int(message.value() or b"-1")
            if error is None:
                offset = message.offset()
                taken.append((number, message.partition() or 0, -1 if offset is None else offset))
                latencies.append(message.latency())
            else:
                self.failed(str(error.name()))
                self._ledger.failed(number, str(error.name()))
        if taken:
            self.answered_all({partition for _, partition, _ in taken}, latencies)
            self._ledger.acknowledged(taken)

    def _in_transactions(self) -> None:
        """Commit one transaction after the other, every fifth aborted; a producer that met an error is replaced."""
        producer, transaction, is_open = None, 0, False
        while not self.stopping.is_set():
            self._asked_to_commit = is_open = False
            try:
                producer = producer or self._initialised()
                ended = self._transaction(producer, transaction)
            except KafkaException as error:
                self.failed(str(error.args[0].name()))
                # Who was never asked to commit may not do so: the next producer ends it by an abort.
                ended = Ended.UNKNOWN if self._asked_to_commit else Ended.ABORTED
                producer, self._due, is_open = None, time.monotonic(), True
            self._enter_answers()
            self._ledger.ended(transaction, ended)
            transaction += 1
        if is_open and self.patient:
            # Left open it would hide all that lies behind it from who reads back, until the broker gives it up.
            with suppress(KafkaException):
                self._initialised()

    def _initialised(self) -> Producer:
        producer = self._producer()
        producer.init_transactions(_TRANSACTION_SECONDS)
        return producer

    def _transaction(self, producer: Producer, transaction: int) -> Ended:
        """Carry one out. Raises KafkaException where it is not known how it ended."""
        producer.begin_transaction()
        left = _TRANSACTION
        while left:
            left -= self._send(producer, left, transaction)
        if transaction % _ABORTED_EVERY == _ABORTED_EVERY - 1:
            producer.flush(_TRANSACTION_SECONDS)  # an abort before that fails for good (librdkafka issue 4849)
            producer.abort_transaction(_TRANSACTION_SECONDS)
            return Ended.ABORTED
        self._asked_to_commit = True
        producer.commit_transaction(_TRANSACTION_SECONDS)
        return Ended.COMMITTED

    def _is_ours(self, value: str | bytes) -> bool:
        """Whether a record is to be accounted for: of a topic that others write to, only what names a number."""
        return self._load.placement is not None or value.isdigit()

    def compare(self, brokers: Sequence[Address]) -> ClientReport:
        """Read everything back, and judge."""
        promise, ledger = self._load.promise, self._ledger
        for partition, end in high_watermarks(self.name, self._partitions, brokers).items():
            ledger.high_watermark(partition, end)
        records = read_back(self.name, self._partitions, brokers, committed=promise.transactional)
        ours = [record for record in records if self._is_ours(record.value)]
        keys = {number_of(record.value): record.key.decode(errors="replace") for record in ours}
        numbers = (((record.partition, record.offset), number_of(record.value)) for record in ours)
        ledger.stored(numbers, {number: key for number, key in keys.items() if number in self.history.sent})
        ledger.written(self._written_by(place for places in repeated(self.history).values() for place in places))
        ledger.close()
        return self._report(judge(self.history), binding=promise.acks == "all")

    def _report(self, found: Findings, *, binding: bool) -> ClientReport:
        history = self.history
        ends = list(history.transactions.values())
        told = (
            f", {ends.count(Ended.ABORTED)} transactions aborted, {ends.count(Ended.UNKNOWN)} unknown" if ends else ""
        )
        return ClientReport(
            self.name,
            self.description,
            self.acknowledged,
            len(found.lost),
            len(found.duplicated) + len(found.resent),
            self.pauses.longest,
            dict(self.failures),
            violations(found, idempotent=self._load.promise.idempotent, binding=binding),
            f"{len(history.sent)} sent, {len(history.seen)} consumed, {len(found.unacknowledged)} without an answer, "
            f"{len(found.resent)} sent anew in another epoch of the producer, "
            f"{history.setbacks} setbacks of a high watermark{told}",
            self._why_unseen(),
            binding=binding,
        )

    @property
    def acknowledged(self) -> int:
        """How many records."""
        return len(self.history.acknowledged)

    def _why_unseen(self) -> str:
        """Return why it is not known what consumers were given; empty where it is."""
        nothing = self.history.acknowledged and not self.history.seen
        return self._along.unseen or ("its consumer saw nothing" if nothing else "")

    def unread(self, why: str) -> ClientReport:
        """Return a report that says why nothing could be compared; what was acknowledged is known all the same."""
        self._ledger.close()
        return super().unread(why)

    def abandon(self) -> None:
        """End without waiting; the file has what is known."""
        super().abandon()
        self._ledger.close()


@load
def keep_ledger(
    topic: str,
    *,
    acks: str = "all",
    idempotent: bool = True,
    transactional: bool = False,
    keys: int = 0,
    per_second: int = 50,
    existing: bool = False,
) -> KeepLedger:
    """Keep account of every record that is written and read; no build may lose, invent, move or reorder any.

    An `existing` topic is one that the plan has made: it is written to in all partitions that it has now.
    """
    if acks != "all" and (idempotent or transactional):
        raise ValueError("a producer that is idempotent or transactional has acks=all: write idempotent=False")
    if transactional and not idempotent:
        raise ValueError("a transactional producer is idempotent")
    placement = None if existing else Placement.ONE_PER_BROKER
    return KeepLedger(topic, Promise(acks, idempotent, transactional), keys, per_second, placement)
