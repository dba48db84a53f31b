"""How a leader checks a FetchSnapshot that it cannot answer with a snapshot (KIP-630)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import ClassVar

from harness.cluster.formatting import kafka_uuid
from harness.cluster.metadata_log.files import SnapshotId, snapshots_among
from harness.cluster.probes import Quorum
from harness.cluster.protocol import Unreachable
from harness.cluster.raft_requests import Stray, send
from harness.scenario.conditions.quorum_answers import Answers, asked_once
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World

_FETCH_SNAPSHOT = "fetch_snapshot"
_BEYOND = 1_000_000
_OTHER_TOPIC = "orders"


@dataclass(frozen=True, slots=True)
class SnapshotRequestsAreChecked:
    """Whoever fetches a snapshot that it cannot have is told why (KafkaRaftClient.handleFetchSnapshotRequest).

    Kafka up to 4.3 means to, and cannot write the answer: a partition with an error has no records, which may not be
    null. It logs a NullPointerException at ERROR and answers UNKNOWN_SERVER_ERROR (docs/upstream).
    """

    name: ClassVar[str] = "snapshot_requests_are_checked"
    description: str = "voters refuse each FetchSnapshot that is wrong with the error that is meant for it"

    def sample(self, world: World) -> Sample:
        """Send each of them once; the leader must have a snapshot."""
        return asked_once(world, lambda quorum: _answers(world, quorum))


def _answers(world: World, quorum: Quorum) -> Answers:
    cluster = world.cluster
    names = (path.name for path in cluster.nodes[quorum.leader].metadata_log.iterdir())
    newest = max(snapshots_among(names), key=attrgetter("end_offset"))
    right = Stray(kafka_uuid(cluster.id), quorum.epoch, quorum.leader, quorum.leader)
    for what, stray, error in wrong_requests(right, newest):
        yield what, (send(cluster.wire, cluster.controllers[quorum.leader], _FETCH_SNAPSHOT, stray), error)
    for follower in (each.id for each in cluster.voters if each.is_running and each.id != quorum.leader):
        answer = send(cluster.wire, cluster.controllers[follower], _FETCH_SNAPSHOT, right)
        yield f"sent to follower {follower}", (answer, "not_leader_or_follower")


def wrong_requests(right: Stray, newest: SnapshotId) -> Iterator[tuple[str, Stray, str]]:
    """Yield what is wrong with a request, the request, and the error that is meant for it. Pure."""
    there = replace(right, offset=newest.end_offset, last_epoch=newest.epoch)
    yield "of an epoch that is over", replace(there, epoch=right.epoch - 1), "fenced_leader_epoch"
    yield "of an epoch that has not begun", replace(there, epoch=right.epoch + 1), "unknown_leader_epoch"
    yield "of another topic", replace(there, topic=_OTHER_TOPIC), "unknown_topic_or_partition"
    yield "that there is not", replace(there, offset=newest.end_offset + _BEYOND), "snapshot_not_found"
    yield "of an end below 0", replace(there, offset=-1, last_epoch=-1), "snapshot_not_found"
    yield "that nodes were formatted with", replace(there, offset=0, last_epoch=0), "snapshot_not_found"
    yield "from before its first byte on", replace(there, position=-1), "position_out_of_range"
    yield "from behind its last byte on", replace(there, position=2**40), "position_out_of_range"


@dataclass(frozen=True, slots=True)
class SnapshotWithoutTopicsIsRefused:
    """A leader that is sent a FetchSnapshot without a topic says INVALID_REQUEST. No answer is a wrong one.

    Kafka up to 4.3 looks into the first of no topics, and its raft thread throws (apache/kafka pull request 23185).
    """

    name: ClassVar[str] = "snapshot_without_topics_is_refused"
    description: str = "the leader refuses a FetchSnapshot without a topic"

    def sample(self, world: World) -> Sample:
        """Send it once: another leader would have to answer the next one."""
        quorum = world.quorum()
        if quorum.leader < 0:
            return Sample(False, {"leader": -1}, testable=False)
        stray = Stray(kafka_uuid(world.cluster.id), quorum.epoch, quorum.leader, quorum.leader, has_topic=False)
        try:
            answer = send(world.cluster.wire, world.cluster.controllers[quorum.leader], _FETCH_SNAPSHOT, stray)
        except Unreachable as error:
            answer = f"nothing ({error})"
        is_refused = answer == "invalid_request"
        problem = "" if is_refused else f"it answered {answer}"
        return Sample(is_refused, {"leader": quorum.leader, "answer": answer}, problem=problem, final=not is_refused)


@condition
def snapshot_requests_are_checked() -> SnapshotRequestsAreChecked:
    """Voters refuse each FetchSnapshot that is wrong with the error that is meant for it."""
    return SnapshotRequestsAreChecked()


@condition
def snapshot_without_topics_is_refused() -> SnapshotWithoutTopicsIsRefused:
    """The leader refuses a FetchSnapshot without a topic; it is sent one once."""
    return SnapshotWithoutTopicsIsRefused()
