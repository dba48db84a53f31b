"""What nodes of the quorum send each other, sent by nobody of the quorum: to see how a node checks it.

Each function makes one request to the metadata partition; what is not given is as a node would send it. None of them
can change anything where it is refused. What a version has no field for is left out.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from types import ModuleType
from typing import Any

from kio.schema.errors import ErrorCode
from kio.serial.errors import SerialError
from kio.static.primitive import i32Timedelta

from harness.cluster.address import Address
from harness.cluster.config import METADATA_TOPIC
from harness.cluster.protocol import Wire, ask, encoded, fitting

# Uuid.METADATA_TOPIC_ID
_METADATA_TOPIC_ID = uuid.UUID(int=1)
_NO_DIRECTORY = None
_BYTES = 1024
_AT_ONCE = timedelta(0)


@dataclass(frozen=True, slots=True)
class Stray:
    """What a request says; `node` is whom it names as candidate or leader, `receiver` whom it is meant for.

    `position` is the byte of a snapshot from which on it is fetched. Without a topic it says nothing of any partition;
    directories are those of disks, None to leave them out.
    """

    cluster: str
    epoch: int
    node: int
    receiver: int
    topic: str = METADATA_TOPIC
    last_epoch: int = 0
    offset: int = 0
    directory: uuid.UUID | None = field(default=_NO_DIRECTORY)
    receiver_directory: uuid.UUID | None = field(default=_NO_DIRECTORY)
    has_topic: bool = True
    position: int = 0


def vote(of: ModuleType, stray: Stray) -> Any:
    """Ask for a vote: `node` in `epoch`, with a log that ends at `offset` of `last_epoch`."""
    partition = fitting(
        of.PartitionData,
        partition_index=0,
        replica_epoch=stray.epoch,
        replica_id=stray.node,
        replica_directory_id=stray.directory,
        voter_directory_id=stray.receiver_directory,
        last_offset_epoch=stray.last_epoch,
        last_offset=stray.offset,
    )
    topic = fitting(of.TopicData, topic_name=stray.topic, partitions=(partition,))
    return fitting(of.VoteRequest, cluster_id=stray.cluster, voter_id=stray.receiver, topics=_kept(stray, topic))


def begin_quorum_epoch(of: ModuleType, stray: Stray) -> Any:
    """Say that `node` leads `epoch`."""
    partition = fitting(
        of.PartitionData,
        partition_index=0,
        voter_directory_id=stray.receiver_directory,
        leader_id=stray.node,
        leader_epoch=stray.epoch,
    )
    topic = fitting(of.TopicData, topic_name=stray.topic, partitions=(partition,))
    return fitting(
        of.BeginQuorumEpochRequest,
        cluster_id=stray.cluster,
        voter_id=stray.receiver,
        topics=_kept(stray, topic),
        leader_endpoints=(),
    )


def end_quorum_epoch(of: ModuleType, stray: Stray) -> Any:
    """Say that `node` leads `epoch` no longer."""
    partition = fitting(
        of.PartitionData, partition_index=0, leader_id=stray.node, leader_epoch=stray.epoch, preferred_candidates=()
    )
    topic = fitting(of.TopicData, topic_name=stray.topic, partitions=(partition,))
    return fitting(of.EndQuorumEpochRequest, cluster_id=stray.cluster, topics=_kept(stray, topic), leader_endpoints=())


def fetch(of: ModuleType, stray: Stray, max_wait: timedelta = _AT_ONCE) -> Any:
    """Fetch from `offset` as nobody (no replica id), with a log that ends in `last_epoch`, from `epoch`'s leader."""
    known = _METADATA_TOPIC_ID if stray.topic == METADATA_TOPIC else uuid.UUID(int=4711)
    partition = fitting(
        of.FetchPartition,
        partition=0,
        current_leader_epoch=stray.epoch,
        fetch_offset=stray.offset,
        last_fetched_epoch=stray.last_epoch,
        partition_max_bytes=_BYTES,
    )
    topic = fitting(of.FetchTopic, topic_id=known, partitions=(partition,))
    return fitting(
        of.FetchRequest,
        cluster_id=stray.cluster,
        max_wait=i32Timedelta.parse(max_wait),
        min_bytes=0,
        max_bytes=_BYTES,
        topics=_kept(stray, topic),
        forgotten_topics_data=(),
    )


def fetch_snapshot(of: ModuleType, stray: Stray) -> Any:
    """Fetch the snapshot that ends at `offset` of `last_epoch`, under the leader of `epoch`, from `position` on."""
    partition = fitting(
        of.PartitionSnapshot,
        partition=0,
        current_leader_epoch=stray.epoch,
        snapshot_id=of.SnapshotId(end_offset=stray.offset, epoch=stray.last_epoch),
        position=stray.position,
    )
    topic = fitting(of.TopicSnapshot, name=stray.topic, partitions=(partition,))
    return fitting(of.FetchSnapshotRequest, cluster_id=stray.cluster, max_bytes=_BYTES, topics=_kept(stray, topic))


def _kept(stray: Stray, topic: Any) -> tuple[Any, ...]:
    return (topic,) if stray.has_topic else ()


REQUESTS = {each.__name__: each for each in (vote, begin_quorum_epoch, end_quorum_epoch, fetch, fetch_snapshot)}


def can_say(of: ModuleType, name: str, stray: Stray, right: Stray) -> bool:
    """Whether a request says, in the version of kio's module of it, by what it differs from the right one.

    A version without a field leaves it out; one that cannot name the partition cannot say anything.
    """
    try:
        made, other = REQUESTS[name](of, stray), REQUESTS[name](of, right)
        return bool(encoded(made)) and (stray == right or made != other)
    except (TypeError, ValueError, SerialError):
        return False


def send(wire: Wire, address: Address, name: str, stray: Stray) -> str:
    """Send a request by its name and return the error's: `none` for none, `none, granted` for a vote.

    Raises Unreachable.
    """
    return send_in(wire.schemas(name, address), address, name, stray)


def send_in(of: ModuleType, address: Address, name: str, stray: Stray) -> str:
    """Send a request in the version of kio's module of it, as `send` does in the newest one. Raises Unreachable."""
    request = REQUESTS[name](of, stray)
    answer = ask(address, request, timeout=3.0)
    topics = answer.responses if name == "fetch" else answer.topics
    if answer.error_code is not ErrorCode.none or not (topics or request.topics):
        return str(answer.error_code.name)
    partition = _only_partition(topics)
    if partition is None:
        return _NO_PARTITION
    return f"{partition.error_code.name}{', granted' if getattr(partition, 'vote_granted', False) else ''}"


_NO_PARTITION = "no partition in the answer"


def _only_partition(topics: Sequence[Any]) -> Any | None:
    return next((each for topic in topics for each in topic.partitions), None)


@dataclass(frozen=True, slots=True)
class Fetched:
    """How a Fetch was answered, and after how many seconds.

    `size` is that of the records in bytes; `diverging` and `snapshot` are the offsets at which the log is said to
    diverge, and at which the snapshot ends that is to be fetched instead, -1 for neither.
    """

    error: str
    seconds: float
    size: int = 0
    diverging: int = -1
    snapshot: int = -1


def fetched(wire: Wire, address: Address, stray: Stray, max_wait: float) -> Fetched:
    """Fetch as nobody, and let the leader wait so many seconds for a record. Raises Unreachable."""
    request, began = fetch(wire.schemas("fetch", address), stray, timedelta(seconds=max_wait)), time.monotonic()
    answer = ask(address, request, timeout=max_wait + 3.0)
    took = time.monotonic() - began
    if answer.error_code is not ErrorCode.none or not (answer.responses or request.topics):
        return Fetched(answer.error_code.name, took)
    found = _only_partition(answer.responses)
    if found is None:
        return Fetched(_NO_PARTITION, took)
    return Fetched(
        found.error_code.name,
        took,
        len(found.records or b""),
        int(found.diverging_epoch.end_offset),
        int(found.snapshot_id.end_offset),
    )
