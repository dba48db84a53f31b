"""What batches do to the topics of a cluster, and which topics there are behind them; pure."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field

from harness.cluster.metadata_log.metadata_records import (
    ABORT_TRANSACTION,
    PARTITION,
    REMOVE_TOPIC,
    TOPIC,
    kind_of,
    partition_in,
    topic_id_in,
    topic_in,
    values_of,
)

Partition = tuple[bytes, int]  # the topic's id, and the number


@dataclass(frozen=True, slots=True)
class TopicChanges:
    """Topics that a batch makes, by their ids with their names, partitions that it makes, and ids that it removes.

    One that is not `clear` may do more or less: it ends a metadata transaction by taking it back, or cannot be read.
    """

    made: tuple[tuple[bytes, str], ...] = ()
    partitions: tuple[Partition, ...] = ()
    removed: tuple[bytes, ...] = ()
    clear: bool = True


UNCLEAR = TopicChanges(clear=False)


def topic_changes(records: bytes) -> TopicChanges | None:
    """Return what the records of a batch of data do to topics; None where they do nothing to them."""
    made, partitions, removed = [], [], []
    try:
        for value in values_of(records):
            kind, at = kind_of(value)
            if kind == TOPIC:
                made.append(topic_in(value, at))
            elif kind == PARTITION:
                topic, number, _ = partition_in(value, at)
                partitions.append((topic, number))
            elif kind == REMOVE_TOPIC:
                removed.append(topic_id_in(value, at))
            elif kind == ABORT_TRANSACTION:
                return UNCLEAR
    except (IndexError, struct.error, UnicodeDecodeError):
        return UNCLEAR
    return TopicChanges(tuple(made), tuple(partitions), tuple(removed)) if made or partitions or removed else None


@dataclass(slots=True)
class Topics:
    """The topics that there are, as far as batches were seen: names and partitions by id, and ids that were removed."""

    names: dict[bytes, str] = field(default_factory=dict)
    partitions: dict[bytes, set[int]] = field(default_factory=dict)
    removed: set[bytes] = field(default_factory=set)
    clear: bool = True

    def take(self, changes: TopicChanges) -> None:
        """Do what a batch does."""
        self.clear = self.clear and changes.clear
        self.names.update(changes.made)
        for topic, number in changes.partitions:
            self.partitions.setdefault(topic, set()).add(number)
        for topic in changes.removed:
            self.removed.add(topic)
            self.names.pop(topic, None)
            self.partitions.pop(topic, None)

    def forget(self) -> None:
        """What there is is not known any more: batches were not seen. What was removed stays so."""
        self.names.clear()
        self.partitions.clear()


def topics_of(changes: Iterable[TopicChanges | None]) -> Topics:
    """Return the topics that all changes come to."""
    topics = Topics()
    for each in changes:
        if each is not None:
            topics.take(each)
    return topics
