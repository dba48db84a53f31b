"""A snapshot has the topics that the log has below its end, whichever node wrote it, and no others; pure.

It stands for that part of the log (KIP-630): who starts with it, or fetches it, never sees what it lacks. Kafka's own
checks are of its bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from harness.base.kafka_id import kafka_id
from harness.cluster.metadata_log.batches import Batch
from harness.cluster.metadata_log.broken import METADATA_LOGS_AGREE, Broken
from harness.cluster.metadata_log.node_log import NodeLog
from harness.cluster.metadata_log.topic_changes import Topics


@dataclass(slots=True)
class _Prefix:
    """The topics of the log below `end`; those of before `since` are not known."""

    since: int = 0
    end: int = 0
    topics: Topics = field(default_factory=Topics)

    def take(self, batch: Batch) -> None:
        """Go on with a committed batch, which need not be the next one."""
        if batch.base_offset != self.end:
            self.since = batch.base_offset
            self.topics.forget()
        self.end = batch.last_offset + 1
        if batch.topics is not None:
            self.topics.take(batch.topics)


def wrong_topics(committed: Iterable[Batch], logs: Sequence[NodeLog]) -> Iterator[Broken]:
    """Yield snapshots that lack topics or partitions, or have others than the log; `committed` ascends."""
    kept = sorted(
        ((each.end_offset, log.node, topics) for log in logs for each, topics in log.topics.items()),
        key=lambda snapshot: snapshot[:2],
    )
    prefix, batches = _Prefix(), iter(committed)
    batch = next(batches, None)
    for end, node, topics in kept:
        while batch is not None and batch.last_offset < end:
            prefix.take(batch)
            batch = next(batches, None)
        if prefix.end == end and prefix.topics.clear and topics.clear and (what := _difference(prefix, topics)):
            story = f"the snapshot up to offset {end} of node {node} {what}"
            yield Broken(METADATA_LOGS_AGREE, story, (node,), end - 1)


def _difference(prefix: _Prefix, snapshot: Topics) -> str:
    """Return what a snapshot has otherwise than the log before it, as a clause; empty where it is the same."""
    log = prefix.topics
    if lacking := [name for topic, name in log.names.items() if topic not in snapshot.names]:
        return f"lacks {_listed(lacking)}, which the log before it makes"
    if lacking := [
        f"{log.names.get(topic, kafka_id(topic))}-{number}"
        for topic, numbers in log.partitions.items()
        for number in numbers - snapshot.partitions.get(topic, set())
    ]:
        return f"lacks {_listed(lacking)}, which the log before it makes"
    if gone := [name for topic, name in snapshot.names.items() if topic in log.removed]:
        return f"has {_listed(gone)}, which the log before it removes"
    if prefix.since == 0 and (more := [name for topic, name in snapshot.names.items() if topic not in log.names]):
        return f"has {_listed(more)}, which the log before it does not make"
    return ""


def _listed(names: Collection[str]) -> str:
    first = min(names)
    return f"{first} and {len(names) - 1} more" if len(names) > 1 else first
