"""What `quorum-state` files, LeaderChange records and looks say of epochs and their leaders must agree; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.cluster.metadata_log.broken import EPOCH_NEVER_FALLS, ONE_LEADER_PER_EPOCH, QUORUM_STATE_AGREES, Broken
from harness.cluster.metadata_log.files import QuorumState
from harness.cluster.metadata_log.node_log import NodeLog


@dataclass(frozen=True, slots=True)
class LeaderSaid:
    """Whom something names as the leader of an epoch, and what: a clause such as `the log of node 1`, and where."""

    leader: int
    source: str
    node: int = -1
    offset: int = -1
    is_file: bool = False


def leaders_said(
    known: Mapping[int, LeaderSaid], logs: Sequence[NodeLog], seen: Mapping[int, int]
) -> tuple[dict[int, LeaderSaid], tuple[Broken, ...]]:
    """Return who leads each epoch by all that says so, and where two things name two leaders of one."""
    leaders = dict(known)
    found = []
    for epoch, said in _each_said(logs, seen):
        first = leaders.setdefault(epoch, said)
        if first.leader != said.leader:
            name = QUORUM_STATE_AGREES if first.is_file or said.is_file else ONE_LEADER_PER_EPOCH
            story = f"{first.source} names node {first.leader}, {said.source} node {said.leader}"
            nodes = tuple(sorted({node for node in (first.node, said.node) if node >= 0}))
            found.append(Broken(name, f"epoch {epoch} has two leaders: {story}", nodes, max(first.offset, said.offset)))
    return leaders, tuple(found)


def _each_said(logs: Sequence[NodeLog], seen: Mapping[int, int]) -> Iterator[tuple[int, LeaderSaid]]:
    for epoch, leader in seen.items():
        yield epoch, LeaderSaid(leader, "the leader itself")
    for log in logs:
        for batch in log.batches:
            if batch.leader >= 0:
                said = LeaderSaid(batch.leader, f"the log of node {log.node}", log.node, batch.base_offset)
                yield batch.epoch, said
        if log.quorum is not None and log.quorum.leader >= 0:
            source = f"quorum-state of node {log.node}"
            yield log.quorum.epoch, LeaderSaid(log.quorum.leader, source, log.node, is_file=True)


def broken_quorum_states(known: Mapping[int, QuorumState], logs: Sequence[NodeLog]) -> Iterator[Broken]:
    """Yield quorum-state files that are behind their own log, or that take back what they said before.

    A node writes an epoch into the file before it writes or fetches a record of it (QuorumState.durableTransitionTo),
    and `logs` were read before their files.
    """
    for log in logs:
        now, before = log.quorum, known.get(log.node)
        if now is None:
            if before is not None and log.is_whole:
                story = f"quorum-state of node {log.node} is gone, which was of epoch {before.epoch}"
                yield Broken(QUORUM_STATE_AGREES, story, (log.node,))
            continue
        if now.epoch < log.epoch:
            story = f"quorum-state of node {log.node} is of epoch {now.epoch}, its log of {log.epoch}"
            yield Broken(QUORUM_STATE_AGREES, story, (log.node,), log.end - 1)
        if before is not None and now.epoch < before.epoch:
            story = f"quorum-state of node {log.node} went back from epoch {before.epoch} to {now.epoch}"
            yield Broken(EPOCH_NEVER_FALLS, story, (log.node,))
        if before is not None and now.epoch == before.epoch and (why := _takes_back(before, now)):
            story = f"node {log.node} voted for node {before.voted} in epoch {now.epoch}, and then {why}"
            yield Broken(QUORUM_STATE_AGREES, story, (log.node,))


def _takes_back(before: QuorumState, now: QuorumState) -> str:
    """Return how a vote is taken back within its epoch; it is forgotten only once the leader is known."""
    if before.voted < 0 or now.voted == before.voted:
        return ""
    if now.voted >= 0:
        return f"for {now.voted}"
    return "forgot that" if now.leader < 0 else ""
