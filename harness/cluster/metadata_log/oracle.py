"""The logs of all nodes, read again and again, held against what Raft promises of what was committed; pure.

What is committed is known from the looks: a leader says how far. That is what its own log then holds for good (Leader
Append-Only), what every later leader's log holds (Leader Completeness), and what lies on the disks of a majority of the
voters. Any other node may lag behind, or hold a tail that was never committed, until a leader makes it truncate that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.cluster.metadata_log.batches import Batch
from harness.cluster.metadata_log.broken import COMMITTED_STAYS, METADATA_LOGS_AGREE, Broken
from harness.cluster.metadata_log.files import QuorumState
from harness.cluster.metadata_log.looks import Commit, Watched
from harness.cluster.metadata_log.node_log import NodeLog
from harness.cluster.metadata_log.quorum_rules import LeaderSaid, broken_quorum_states, leaders_said
from harness.cluster.metadata_log.rules import broken_alone, disagreements, shown
from harness.cluster.metadata_log.snapshot_topics import wrong_topics


@dataclass(frozen=True, slots=True)
class Committed:
    """A batch that is committed, and the epoch of the leader that was the first to say so."""

    batch: Batch
    epoch: int


@dataclass(frozen=True, slots=True)
class Known:
    """What readings so far have shown.

    `committed` is by base offset. `agreed` says how far each node's log was seen to hold what is committed. `wiped` are
    nodes whose folder is another one than before, and that did not catch up since: somebody took their disk away, so
    nothing is missed on it.
    """

    committed: Mapping[int, Committed] = field(default_factory=dict)
    agreed: Mapping[int, int] = field(default_factory=dict)
    lives: Mapping[int, str] = field(default_factory=dict)
    wiped: frozenset[int] = frozenset()
    states: Mapping[int, QuorumState] = field(default_factory=dict)
    leaders: Mapping[int, LeaderSaid] = field(default_factory=dict)


def meet(known: Known, lives: Mapping[int, str]) -> Known:
    """Note which folder each node's log lies in; forget what was seen in another one."""
    changed = {node for node, life in lives.items() if known.lives.get(node) and known.lives[node] != life}
    return replace(
        known,
        agreed={node: end for node, end in known.agreed.items() if node not in changed},
        lives={**known.lives, **{node: life for node, life in lives.items() if life or node in changed}},
        wiped=known.wiped | changed,
        states={node: state for node, state in known.states.items() if node not in changed},
    )


def settle(known: Known, lives: Mapping[int, str]) -> Known:
    """Note which folder each node's log lies in now, of nodes that run or just ended: nobody but they wrote there."""
    return replace(known, lives={**known.lives, **{node: life for node, life in lives.items() if life}})


def judge(known: Known, logs: Sequence[NodeLog], watched: Watched) -> tuple[Known, tuple[Broken, ...]]:
    """Hold all logs against each other and against what was known; return what is known now, and what is broken.

    `watched` must be from before the logs were read: what a leader called committed by then lies in its log.
    """
    known = meet(known, {log.node: log.life for log in logs})
    of_leader = _log_of(logs, watched.commit.leader if watched.commit else -1)
    known = replace(known, committed=_extended(known, of_leader, watched.commit))
    leaders, two_leaders = leaders_said(known.leaders, logs, watched.leaders)
    found = (
        *(broken for log in logs for broken in broken_alone(log)),
        *disagreements(logs),
        *two_leaders,
        *(broken for log in logs for broken in _lost(known, log)),
        *(broken for log in logs for broken in _overruled(known, log, watched)),
        *_without_majority(known, logs, of_leader, watched.commit),
        *_wrong_snapshots(known.committed, logs),
        *wrong_topics((known.committed[base].batch for base in sorted(known.committed)), logs),
        *broken_quorum_states(known.states, logs),
    )
    states = {log.node: log.quorum for log in logs if log.quorum is not None}
    agreed = {log.node: _agreed(known.committed, log) for log in logs if log.is_whole}
    end = max((each.batch.last_offset + 1 for each in known.committed.values()), default=0)
    caught_up = {node for node, offset in agreed.items() if offset >= end > 0}
    known = replace(known, agreed={**known.agreed, **agreed}, states={**known.states, **states}, leaders=leaders)
    return replace(known, wiped=known.wiped - caught_up), found


def _log_of(logs: Sequence[NodeLog], node: int) -> NodeLog | None:
    return next((log for log in logs if log.node == node), None)


def _extended(known: Known, of_leader: NodeLog | None, commit: Commit | None) -> dict[int, Committed]:
    """Return what is committed with what the leader has called committed since, as its own log has it."""
    committed = dict(known.committed)
    if commit is not None and of_leader is not None:
        end = max((each.batch.last_offset for each in committed.values()), default=-1)
        for batch in of_leader.batches:
            if end < batch.base_offset and batch.last_offset < commit.high_watermark:
                committed[batch.base_offset] = Committed(batch, commit.epoch)
    return committed


def _lost(known: Known, log: NodeLog) -> Iterator[Broken]:
    """Yield the first committed batch that a node had and has no more, unless a snapshot took its place."""
    if not log.is_whole:
        return
    held = {batch.base_offset: batch for batch in log.batches}
    end = known.agreed.get(log.node, 0)
    for base, each in sorted(known.committed.items()):
        covered = base < log.start and log.has_snapshot_of(each.batch.last_offset)
        if each.batch.last_offset < end and held.get(base) != each.batch and not covered:
            now = log.covering(base)
            story = f"node {log.node} had {each.batch.words}, which is committed; it has {shown(now)} now"
            yield Broken(COMMITTED_STAYS, story, (log.node,), base)
            return


def _overruled(known: Known, log: NodeLog, watched: Watched) -> Iterator[Broken]:
    """Yield the first committed batch in whose place a later leader wrote another, or that a later leader lacks."""
    if not log.is_whole:
        return
    epoch, leader = watched.newest
    for base, each in sorted(known.committed.items()):
        if base < log.start:
            continue
        found = log.covering(base)
        if found == each.batch:
            continue
        if found is not None and found.epoch > each.epoch:
            story = f"{each.batch.words} is committed since epoch {each.epoch}, and node {log.node} has {found.words}"
        elif log.node == leader and epoch > each.epoch and leader not in known.wiped:
            story = f"node {leader} leads epoch {epoch} without {each.batch.words}, committed since epoch {each.epoch}"
        else:
            continue  # it lags, or has a tail that was not committed
        yield Broken(COMMITTED_STAYS, story, (log.node,), base)
        return
    yield from _overwritten(log, watched)


def _overwritten(log: NodeLog, watched: Watched) -> Iterator[Broken]:
    """Yield that a record below a high watermark is of a later epoch than the leader that said so.

    That needs no earlier reading: the record that was committed may be gone everywhere by the first one.
    """
    for epoch, mark in sorted(watched.marks.items()):
        found = log.last_below(mark)
        if found is not None and found.epoch > epoch:
            story = f"all below {mark} was committed in epoch {epoch}, and node {log.node} has {found.words}"
            yield Broken(COMMITTED_STAYS, story, (log.node,), found.base_offset)
            return


def _without_majority(
    known: Known, logs: Sequence[NodeLog], of_leader: NodeLog | None, commit: Commit | None
) -> Iterator[Broken]:
    """Yield that what a leader calls committed is on the disks of fewer voters than a majority."""
    if commit is None or of_leader is None or of_leader.node in known.wiped:
        return
    last = of_leader.covering(commit.high_watermark - 1)
    if not _holds(of_leader, commit.high_watermark, last):
        story = f"node {commit.leader}, leader of epoch {commit.epoch}, ends at {of_leader.end}"
        reason = f"{story}, and called all below {commit.high_watermark} committed"
        yield Broken(COMMITTED_STAYS, reason, (commit.leader,), of_leader.end - 1)
    by_node = {log.node: log for log in logs}
    lacking = sorted(
        node
        for node in commit.voters - known.wiped
        if not _holds(by_node.get(node, NodeLog(node, "")), commit.high_watermark, last)
    )
    if lacking and len(commit.voters) - len(lacking) <= len(commit.voters) // 2:
        story = (
            f"node {commit.leader}, leader of epoch {commit.epoch}, calls all below offset {commit.high_watermark} "
            f"committed, and voters {lacking} of {sorted(commit.voters)} do not have it"
        )
        yield Broken(COMMITTED_STAYS, story, tuple(sorted(commit.voters)), commit.high_watermark - 1)


def _holds(log: NodeLog, high_watermark: int, last: Batch | None) -> bool:
    """Whether a log has all below a high watermark: its last batch, with which all before match, or a snapshot."""
    if not log.is_whole or log.has_snapshot_of(high_watermark - 1):
        return True
    return log.covering(high_watermark - 1) == last if last is not None else log.end >= high_watermark


def _wrong_snapshots(committed: Mapping[int, Committed], logs: Sequence[NodeLog]) -> Iterator[Broken]:
    """Yield snapshots that name another epoch for their last record than it was committed with, or another one does."""
    epochs = {each.batch.last_offset: each.batch.epoch for each in committed.values()}
    for log in logs:
        for snapshot in log.snapshots:
            epoch = epochs.setdefault(snapshot.end_offset - 1, snapshot.epoch)
            if epoch != snapshot.epoch:
                story = f"node {log.node} has a snapshot up to offset {snapshot.end_offset} of epoch {snapshot.epoch}"
                yield Broken(
                    METADATA_LOGS_AGREE,
                    f"{story}, and what it ends with was committed in epoch {epoch}",
                    (log.node,),
                    snapshot.end_offset - 1,
                )


def _agreed(committed: Mapping[int, Committed], log: NodeLog) -> int:
    """Return the offset up to which a log holds what is committed; all before the last batch alike matches too."""
    alike = (batch for batch in reversed(log.batches) if _is(committed.get(batch.base_offset), batch))
    return next((batch.last_offset + 1 for batch in alike), 0)


def _is(committed: Committed | None, batch: Batch) -> bool:
    return committed is not None and committed.batch == batch
