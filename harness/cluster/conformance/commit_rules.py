"""Rules of what is committed: the high watermark never falls, a majority is behind it, nothing below it goes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TypeVar

from harness.cluster.conformance.history import History, Violation
from harness.cluster.conformance.observations import (
    FOLLOWER,
    LEADER,
    Counted,
    HighWatermarkMoved,
    ListenerTold,
    Place,
    Said,
    SnapshotKept,
    State,
    Transitioned,
    Truncated,
    Unseen,
)
from harness.cluster.metadata_log.broken import HIGH_WATERMARK_NEVER_FALLS

_S = TypeVar("_S", bound=Said)

COMMITTED_BY_MAJORITY = "committed_by_majority"
OWN_EPOCH_COMMITTED_FIRST = "own_epoch_committed_first"
LEADER_COMPLETENESS = "leader_completeness"
FOLLOWERS_KNOW_WHAT_LEADERS_COMMITTED = "followers_know_what_leaders_committed"
NO_TRUNCATION_OF_COMMITTED = "no_truncation_of_committed"
SNAPSHOTS_ARE_COMMITTED = "snapshots_are_committed"
LISTENERS_HEAR_COMMITTED = "listeners_hear_committed"


def high_watermark_never_falls(history: History) -> Iterator[Violation]:
    """The high watermark of a process never falls, whomever it follows (FollowerState.updateHighWatermark)."""
    for life in history.lives():
        last: HighWatermarkMoved | Counted | None = None
        for moved in life.said:
            if not isinstance(moved, HighWatermarkMoved | Counted):
                continue
            if last is not None and moved.offset < last.offset:
                story = f"node {life.node} set its high watermark back from {last.offset} to {moved.offset}"
                yield Violation(HIGH_WATERMARK_NEVER_FALLS, story, (moved.place, last.place))
            last = moved


def committed_by_majority(history: History) -> Iterator[Violation]:
    """A leader calls committed what a majority of its voters has (LeaderState.maybeUpdateHighWatermark)."""
    for counted in history.of(Counted):
        have = sum(end >= counted.offset for end in counted.ends.values())
        if counted.ends and have <= len(counted.ends) // 2:
            story = f"node {counted.place.node} calls all below {counted.offset} committed, which {have} of "
            yield Violation(COMMITTED_BY_MAJORITY, f"{story}{len(counted.ends)} voters have", (counted.place,))


def own_epoch_committed_first(history: History) -> Iterator[Violation]:
    """A leader commits nothing before a record of its own epoch (Raft §5.4.2; LeaderState.maybeUpdateHighWatermark)."""
    for leads, counted in _of_leaders(history, Counted):
        if counted.offset <= leads.start:
            story = f"node {counted.place.node}, leader of epoch {leads.epoch} from offset {leads.start} on"
            reason = f"{story}, called all below {counted.offset} committed first"
            yield Violation(OWN_EPOCH_COMMITTED_FIRST, reason, (counted.place,))


def leader_completeness(history: History) -> Iterator[Violation]:
    """A leader begins with all that was committed in earlier epochs (Raft §5.4.3): its epoch starts behind that.

    A voter that lost its disk has voted for leaders without what it had.
    """
    if not history.voters_kept_disks:
        return
    committed = _committed(history)
    for step in history.of(Transitioned):
        state, node = step.state, step.place.node
        if state.kind == LEADER and state.start >= 0:
            before = (most for epoch, most in committed.items() if epoch < state.epoch)
            most = max(before, key=lambda each: each.offset, default=None)
            if most is not None and most.offset > state.start:
                story = f"node {node} leads epoch {state.epoch} from offset {state.start} on"
                reason = f"{story}, and node {most.place.node} had committed all below {most.offset} before"
                yield Violation(LEADER_COMPLETENESS, reason, (step.place, most.place))


def _committed(history: History) -> dict[int, Counted]:
    """Return the most that a leader called committed in each epoch."""
    found: dict[int, Counted] = {}
    for leads, said in _of_leaders(history, Counted):
        found[leads.epoch] = max(found.get(leads.epoch, said), said, key=lambda each: each.offset)
    return found


def committed_starts(history: History) -> dict[int, int]:
    """Return where each epoch begins of which a leader called a record committed: what is there is of that epoch."""
    counts = _of_leaders(history, Counted)
    return {leads.epoch: leads.start for leads, counted in counts if 0 <= leads.start < counted.offset}


def _of_leaders(history: History, kind: type[_S]) -> Iterator[tuple[State, _S]]:
    """Yield each thing of one kind that nodes said as leaders, with the state in which they did."""
    for life in history.lives():
        for said, step in life.with_steps():
            if isinstance(said, kind) and step is not None and step.state.kind == LEADER:
                yield step.state, said


def followers_know_what_leaders_committed(history: History) -> Iterator[Violation]:
    """No follower's high watermark is above all that leaders of its epoch and of before called committed.

    It has it from the answers of its leader (KafkaRaftClient.updateFollowerHighWatermark), which logs its own before.
    Once all was read, and nothing is missing; of leaders that say nothing of their high watermark nobody asks.
    """
    if not (history.is_over and history.voters_kept_disks) or any(history.of(Unseen)):
        return
    whole = {node: (*said, *history.ending.get(node, ())) for node, said in history.said.items()}
    most: dict[int, HighWatermarkMoved] = {}
    for leads, moved in _of_leaders(History(whole), HighWatermarkMoved):
        most[leads.epoch] = max(most.get(leads.epoch, moved), moved, key=lambda each: each.offset)
    for life in history.lives():
        for said, step in life.with_steps():
            if isinstance(said, HighWatermarkMoved) and step is not None and step.state.kind == FOLLOWER:
                yield from _beyond_leaders(said, step.state.epoch, most)


def _beyond_leaders(moved: HighWatermarkMoved, epoch: int, most: dict[int, HighWatermarkMoved]) -> Iterator[Violation]:
    known = (each for at, each in most.items() if at <= epoch)
    if epoch in most and moved.offset > (highest := max(known, key=lambda each: each.offset)).offset:
        story = f"node {moved.place.node} takes all below {moved.offset} for committed in epoch {epoch}"
        reason = f"{story}, whose leaders committed no more than all below {highest.offset}"
        yield Violation(FOLLOWERS_KNOW_WHAT_LEADERS_COMMITTED, reason, (moved.place, highest.place))


def no_truncation_of_committed(history: History) -> Iterator[Violation]:
    """A follower cuts off nothing below its high watermark (KafkaMetadataLog.truncateToEndOffset).

    Nor below that of an earlier process on its disk, which it has forgotten; but for a snapshot it gives all of it up.
    """
    highest: dict[tuple[int, int], HighWatermarkMoved] = {}
    for life in history.lives():
        before = highest.get((life.node, life.disk))
        own: HighWatermarkMoved | None = None
        for said in life.said:
            if isinstance(said, HighWatermarkMoved):
                own = said
                before = said if before is None or before.offset < said.offset else before
                highest[life.node, life.disk] = before
                continue
            high = own if isinstance(said, Truncated) and said.whole else before
            if isinstance(said, Truncated) and high is not None and said.offset < high.offset:
                story = f"node {life.node} truncated its log to {said.offset}, below its high watermark {high.offset}"
                yield Violation(NO_TRUNCATION_OF_COMMITTED, story, (said.place, high.place))


def snapshots_are_committed(history: History) -> Iterator[Violation]:
    """A node writes snapshots of what is committed (SnapshotGenerator), as far as its present state has told of it.

    Those that end alike are of one epoch, and one that ends later is of no earlier epoch.
    """
    epochs: dict[int, tuple[int, Place]] = {}
    yield from _of_every_life(history, epochs)
    if history.voters_kept_disks:
        for (low, before), (high, after) in pairwise(sorted(epochs.items())):
            if after[0] < before[0]:
                story = f"the snapshot up to {low} is of epoch {before[0]} for node {before[1].node}"
                reason = f"{story}, and that up to {high} of epoch {after[0]} for node {after[1].node}"
                yield Violation(SNAPSHOTS_ARE_COMMITTED, reason, (after[1], before[1]))


def _of_every_life(history: History, epochs: dict[int, tuple[int, Place]]) -> Iterator[Violation]:
    for life in history.lives():
        high = -1
        for said in life.said:
            if isinstance(said, Transitioned):
                high = -1  # a build may say in one state how far it knows, and not in another
            elif isinstance(said, HighWatermarkMoved) or (isinstance(said, Truncated) and said.whole):
                high = max(high, said.offset)
            elif isinstance(said, SnapshotKept):
                yield from _of_uncommitted(said, high)
                yield from _of_two_epochs(said, epochs.setdefault(said.offset, (said.epoch, said.place)))


def _of_uncommitted(kept: SnapshotKept, high: int) -> Iterator[Violation]:
    if 0 <= high < kept.offset and not kept.fetched:
        story = f"node {kept.place.node} wrote a snapshot of all below {kept.offset}, and its high watermark is {high}"
        yield Violation(SNAPSHOTS_ARE_COMMITTED, story, (kept.place,))


def _of_two_epochs(kept: SnapshotKept, first: tuple[int, Place]) -> Iterator[Violation]:
    epoch, place = first
    if epoch != kept.epoch:
        story = f"the snapshot up to {kept.offset} is of epoch {epoch} for node {place.node}"
        reason = f"{story}, and of epoch {kept.epoch} for node {kept.place.node}"
        yield Violation(SNAPSHOTS_ARE_COMMITTED, reason, (kept.place, place))


def listeners_hear_committed(history: History) -> Iterator[Violation]:
    """A listener of the raft client hears what is committed, once, in order (KafkaRaftClient.updateListenersProgress).

    The high watermark is logged before the records below it are handed on; one that was logged in an earlier state says
    nothing, since a build may log it in one state and not in another. A listener that is registered anew has another
    name, and a process that begins reads all of the log again.
    """
    for life in history.lives():
        high: HighWatermarkMoved | None = None
        last: dict[str, ListenerTold] = {}
        for said in life.said:
            if isinstance(said, Transitioned):
                high = None
            elif isinstance(said, HighWatermarkMoved):
                high = said
            elif isinstance(said, ListenerTold):
                yield from _of_batch(said, high, last.get(said.listener))
                last[said.listener] = said


def _of_batch(told: ListenerTold, high: HighWatermarkMoved | None, before: ListenerTold | None) -> Iterator[Violation]:
    story = f"node {told.place.node} hands records from offset {told.base} on to {told.listener}"
    if high is not None and told.base >= high.offset:
        reason = f"{story}, and its high watermark is {high.offset}"
        yield Violation(LISTENERS_HEAR_COMMITTED, reason, (told.place, high.place))
    if before is not None and told.base <= before.base:
        reason = f"{story}, after those from {before.base} on"
        yield Violation(LISTENERS_HEAR_COMMITTED, reason, (told.place, before.place))
