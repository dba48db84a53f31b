"""Rules of a node's states: which may follow which, who may stand for election, and that epochs never fall."""

from __future__ import annotations

from collections.abc import Iterator

from harness.cluster.conformance.history import History, Violation
from harness.cluster.conformance.observations import (
    CANDIDATE,
    FOLLOWER,
    LEADER,
    PROSPECTIVE,
    RESIGNED,
    Place,
    SnapshotKept,
    Transitioned,
    Truncated,
    VoteGranted,
)
from harness.cluster.conformance.transitions import FIRST, why_illegal
from harness.cluster.metadata_log.broken import EPOCH_NEVER_FALLS

LEGAL_TRANSITIONS = "legal_transitions"
ONLY_VOTERS_STAND = "only_voters_stand"
ONLY_FOLLOWERS_TRUNCATE = "only_followers_truncate"


def legal_transitions(history: History) -> Iterator[Violation]:
    """Each step is one that QuorumState has; who led an epoch begins in it anew as one that has resigned.

    So nobody writes a second record at an offset in one epoch, even where a record that was not flushed is gone.
    """
    led: dict[tuple[int, int, int], Place] = {}
    for life in history.lives():
        for step in life.of(Transitioned):
            state = step.state
            if why := why_illegal(step):
                yield Violation(LEGAL_TRANSITIONS, f"node {life.node}: {why}", (step.place,))
            before = led.get((life.node, life.disk, state.epoch))
            if before is not None and step.before is None and state.kind in FIRST and state.kind != RESIGNED:
                story = f"node {life.node}: a process begins as {state.kind} in epoch {state.epoch}"
                yield Violation(LEGAL_TRANSITIONS, f"{story}, which it led before", (step.place, before))
            if state.kind == LEADER:
                led[life.node, life.disk, state.epoch] = step.place


def only_voters_stand(history: History) -> Iterator[Violation]:
    """Only a node that is in the voter set, by its own log, stands for election (QuorumState.isObserver).

    A process may begin as the candidate that it was before. A leader leads on until its removal is committed. Where
    nothing else says who votes, a leader itself says whom it counts.
    """
    for life in history.lives():
        for said, voters in life.with_voters():
            if not isinstance(said, Transitioned) or not _stands(said):
                continue
            named, places = (voters.ids, (voters.place,)) if voters else (said.state.voters, ())
            if named and life.node not in named:
                story = f"node {life.node} became {said.state.kind} of epoch {said.state.epoch}"
                yield Violation(ONLY_VOTERS_STAND, f"{story}, and voters are {sorted(named)}", (said.place, *places))


def _stands(step: Transitioned) -> bool:
    return step.before is not None and step.state.kind in (PROSPECTIVE, CANDIDATE, LEADER)


def epochs_never_fall(history: History) -> Iterator[Violation]:
    """A node's epoch never falls while it has its disk, not even from one process to the next (quorum-state).

    Who grants a vote is in its epoch; that nobody votes in an earlier one is another rule.
    """
    newest: dict[tuple[int, int], tuple[int, Place]] = {}
    for life in history.lives():
        for said in life.said:
            if not isinstance(said, Transitioned | VoteGranted):
                continue
            epoch = said.state.epoch if isinstance(said, Transitioned) else said.epoch
            last, place = newest.get((life.node, life.disk), (-1, said.place))
            if isinstance(said, Transitioned) and epoch < last:
                story = f"node {life.node} went back from epoch {last} to {epoch}"
                yield Violation(EPOCH_NEVER_FALLS, story, (said.place, place))
            if isinstance(said, Transitioned) or epoch > last:
                newest[life.node, life.disk] = epoch, said.place


def only_followers_truncate(history: History) -> Iterator[Violation]:
    """Only a follower cuts anything off its log, or begins to fetch a snapshot for it: a leader only appends.

    It does both by an answer to its fetch, which no other state takes (KafkaRaftClient.handleFetchResponse).
    """
    for life in history.lives():
        for said, step in life.with_steps():
            if not isinstance(said, Truncated | SnapshotKept) or step is None or step.state.kind == FOLLOWER:
                continue
            if isinstance(said, Truncated) or said.fetched:
                what = "truncated its log to" if isinstance(said, Truncated) else "began to fetch the snapshot up to"
                reason = f"node {life.node} {what} {said.offset} as {step.state.kind} of epoch {step.state.epoch}"
                yield Violation(ONLY_FOLLOWERS_TRUNCATE, reason, (said.place, step.place))
