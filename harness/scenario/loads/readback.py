"""Everything that a topic holds, read back through the brokers that live now."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from harness.cluster.address import Address, SecuredAddress, listed

READ_SECONDS = 20.0
_SILENT = logging.Logger("librdkafka", logging.CRITICAL + 1)


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """One record as it lies in the log."""

    partition: int
    offset: int
    key: bytes
    value: bytes


@dataclass(frozen=True, slots=True)
class Watermarks:
    """Where a partition begins and ends, by its leader: the offset of its first record, and of the next to commit."""

    low: int
    high: int


def client_settings(brokers: Sequence[Address]) -> dict[str, Any]:
    """Return client settings without librdkafka's own lines on stderr; moved brokers are found again quickly."""
    secured = next((each.settings for each in brokers if isinstance(each, SecuredAddress)), {})
    return {
        **secured,
        "bootstrap.servers": listed(brokers),
        "log_level": 0,
        "logger": _SILENT,
        "error_cb": lambda _: None,
        "reconnect.backoff.max.ms": 500,
        "topic.metadata.refresh.interval.ms": 1000,
    }


def read_back(
    topic: str, partitions: int, brokers: Sequence[Address], *, committed: bool = False
) -> list[StoredRecord]:
    """Return the records of a topic between each partition's watermarks, in the order of its offsets.

    What lies below the low one is not there. With `committed`, records of aborted transactions are left out.
    Raises TimeoutError, KafkaException.
    """
    isolation = "read_committed" if committed else "read_uncommitted"
    consumer = Consumer(
        client_settings(brokers)
        | {"group.id": "ledger", "enable.auto.commit": False, "auto.offset.reset": "error"}
        | {"isolation.level": isolation, "enable.partition.eof": True}
    )
    try:
        bounds = watermarks(topic, partitions, brokers)
        deadline = time.monotonic() + READ_SECONDS
        consumer.assign([TopicPartition(topic, number, each.low) for number, each in bounds.items()])
        return _consume(consumer, bounds, deadline)
    finally:
        consumer.close()


def high_watermarks(topic: str, partitions: int, brokers: Sequence[Address]) -> dict[int, int]:
    """Return the end of each partition by its leader. Raises TimeoutError."""
    return {number: each.high for number, each in watermarks(topic, partitions, brokers).items()}


def watermarks(
    topic: str, partitions: int, brokers: Sequence[Address], is_over: Callable[[], bool] = lambda: False
) -> dict[int, Watermarks]:
    """Return where each partition begins and ends by its leader. Raises TimeoutError, also once the run is over.

    A read-committed client gets the last stable offset instead: what a transaction just committed lies above it
    until the coordinator has written its markers, after the commit was acknowledged.
    """
    consumer = Consumer(client_settings(brokers) | {"group.id": "ends", "isolation.level": "read_uncommitted"})
    deadline = time.monotonic() + READ_SECONDS
    try:
        return {number: _watermarks(consumer, topic, number, deadline, is_over) for number in range(partitions)}
    finally:
        consumer.close()


def _watermarks(
    consumer: Consumer, topic: str, partition: int, deadline: float, is_over: Callable[[], bool]
) -> Watermarks:
    last: object = "no answer"
    while time.monotonic() < deadline and not is_over():
        try:
            low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=3)
        except KafkaException as error:
            last = error
            continue
        return Watermarks(int(low), int(high))
    raise TimeoutError(f"the end of {topic}-{partition} was not known within {READ_SECONDS:g} s ({last})")


def _consume(consumer: Consumer, bounds: Mapping[int, Watermarks], deadline: float) -> list[StoredRecord]:
    """Read until every partition's end; what lies before it may be no record (a control batch, a compacted one)."""
    found: dict[tuple[int, int], StoredRecord] = {}  # by offset: a record that is fetched twice is stored once
    positions = {number: each.low for number, each in bounds.items()}
    while left := sum(max(each.high - positions[number], 0) for number, each in bounds.items()):
        message = consumer.poll(1.0)
        if time.monotonic() > deadline:
            asked = sum(each.high - each.low for each in bounds.values())
            raise TimeoutError(f"only {asked - left} of {asked} offsets could be read back within {READ_SECONDS:g} s")
        if message is None:
            continue
        offset, partition = message.offset(), message.partition()
        if offset is None or partition is None:
            continue
        if message.error() is None:
            positions[partition] = offset + 1
            found[(partition, offset)] = StoredRecord(partition, offset, _bytes(message.key()), _bytes(message.value()))
        elif is_end(message):
            positions[partition] = max(positions[partition], offset)
    return [found[place] for place in sorted(found)]


def number_of(text: bytes) -> int:
    """Return which record a key or a value names; -1, which nobody sent, where it names none."""
    try:
        return int(text)
    except ValueError:
        return -1


def is_end(message: Message) -> bool:
    """Whether this is no record, but says that a partition ends at its offset."""
    error = message.error()
    return error is not None and error.code() == KafkaError._PARTITION_EOF


def _bytes(value: str | bytes | None) -> bytes:
    return value.encode() if isinstance(value, str) else value or b""
