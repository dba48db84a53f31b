"""A consumer that reads a topic along while it is written, and then on to the end that its producer left."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from harness.cluster.address import Address
from harness.scenario.ledger.history import Ledger
from harness.scenario.loads.readback import client_settings, is_end

DRAIN_SECONDS = 10.0
_ANSWER_SECONDS, _ANSWERS_SECONDS = 2.0, 8.0  # of one leader, and of all
_BATCH, _BATCH_SECONDS = 500, 0.05  # taken one by one they take several times the processor


class ReadsAlong:
    """Enters in a ledger what it is given of a topic, from the beginning of all partitions on.

    `unseen` says why it is not known what consumers were given; empty where it is. `is_ours` says of a record's value
    whether it is to be accounted for.
    """

    def __init__(self, topic: str, partitions: int, ledger: Ledger, is_ours: Callable[[str | bytes], bool]) -> None:
        self.unseen = "its consumer did not end"
        self._topic = topic
        self._partitions = partitions
        self._ledger = ledger
        self._is_ours = is_ours
        self._reached: dict[int, int] = {}
        self._is_written = threading.Event()
        self._is_patient = True

    def all_is_written(self, *, patient: bool) -> None:
        """Nothing more is written; who is `patient` reads on to the end."""
        self._is_patient = patient
        self._is_written.set()

    def watch(self, brokers: Sequence[Address], *, committed: bool) -> None:
        """Read until all is written and read, and remember whether that went well.

        What nobody saw says nothing about what can be seen.
        """
        try:
            self.unseen = self._consume(brokers, committed=committed)
        except (KafkaException, ValueError) as error:
            self.unseen = f"its consumer failed: {error}"

    def _consume(self, brokers: Sequence[Address], *, committed: bool) -> str:
        """Read along, then on; return where it fell short. What cannot be read now is read later."""
        isolation = "read_committed" if committed else "read_uncommitted"
        own = {"group.id": "ledger-consumer", "enable.auto.commit": False, "auto.offset.reset": "earliest"}
        consumer = Consumer(
            client_settings(brokers) | own | {"isolation.level": isolation, "enable.partition.eof": True}
        )
        try:
            consumer.assign([TopicPartition(self._topic, number, 0) for number in range(self._partitions)])
            while not self._is_written.is_set():
                self._take(consumer)
            return self._drain(consumer) if self._is_patient else ""
        finally:
            consumer.close()

    def _drain(self, consumer: Consumer) -> str:
        """Read on to the end of each partition, and return of which it was not reached in time."""
        ends = self._ends(consumer)
        if unsaid := sorted({*range(self._partitions)} - ends.keys()):
            return f"where the topic ends was not said of partitions {unsaid}"
        deadline = time.monotonic() + DRAIN_SECONDS
        while short_of(ends, self._reached) and time.monotonic() < deadline:
            self._take(consumer)
        return short_of(ends, self._reached)

    def _ends(self, consumer: Consumer) -> dict[int, int]:
        """Return up to where leaders let this consumer read; one that does not answer is asked again for a while."""
        found: dict[int, int] = {}
        deadline = time.monotonic() + _ANSWERS_SECONDS
        while len(found) < self._partitions and time.monotonic() < deadline:
            for number in {*range(self._partitions)} - found.keys():
                part, left = TopicPartition(self._topic, number), max(deadline - time.monotonic(), 0.1)
                with suppress(KafkaException):
                    _, found[number] = consumer.get_watermark_offsets(part, timeout=min(left, _ANSWER_SECONDS))
            self._take(consumer)  # which waits a moment where there is nothing: an error may come at once
        return found

    def _take(self, consumer: Consumer) -> None:
        batch = consumer.consume(_BATCH, _BATCH_SECONDS)
        self.saw([message for message in batch if message.error() is None])
        self._note_positions(batch)
        self.note_watermarks(consumer, {message.partition() or 0 for message in batch})

    def saw(self, messages: Sequence[Message]) -> None:
        """Enter records in the order in which they came."""
        ours = [(each, value) for each in messages if self._is_ours(value := each.value() or b"-1")]
        self._ledger.seen([((each.partition() or 0, each.offset() or 0), int(value)) for each, value in ours])

    def _note_positions(self, messages: Iterable[Message]) -> None:
        """Note how far each partition is read; what lies before its end may be no record, as a transaction's marker.

        The position falls where a log was truncated.
        """
        for each in messages:
            if each.error() is None or is_end(each):
                self._reached[each.partition() or 0] = (each.offset() or 0) + (each.error() is None)

    def note_watermarks(self, consumer: Consumer, partitions: Iterable[int]) -> None:
        """Note what leaders said with the last fetch; the library has it already."""
        for number in partitions:
            watermarks = consumer.get_watermark_offsets(TopicPartition(self._topic, number), cached=True)
            if watermarks and watermarks[1] >= 0:
                self._ledger.high_watermark(number, watermarks[1])


def short_of(ends: Mapping[int, int], reached: Mapping[int, int]) -> str:
    """Return in which partitions a consumer did not get to the end; empty where it did in all. Pure."""
    short = [(number, reached.get(number, 0), end) for number, end in ends.items() if reached.get(number, 0) < end]
    return "; ".join(f"its consumer got to {at} of {end} in partition {number}" for number, at, end in short)
