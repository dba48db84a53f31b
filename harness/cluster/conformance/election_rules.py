"""Rules of elections: one vote and one leader per epoch, and a majority behind each leader."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.cluster.conformance.history import History, Violation
from harness.cluster.conformance.observations import (
    CANDIDATE,
    LEADER,
    PROSPECTIVE,
    RESIGNED,
    UNATTACHED,
    Place,
    Said,
    Transitioned,
    Unseen,
    VoteGranted,
)
from harness.cluster.conformance.transitions import forgets_vote
from harness.cluster.metadata_log.broken import ONE_LEADER_PER_EPOCH

ONE_VOTE_PER_EPOCH = "one_vote_per_epoch"
ELECTED_BY_MAJORITY = "elected_by_majority"
VOTE_IS_PERMITTED = "vote_is_permitted"


@dataclass(frozen=True, slots=True)
class _Vote:
    epoch: int
    candidate: int
    place: Place


def one_vote_per_epoch(history: History) -> Iterator[Violation]:
    """A voter votes for one candidate of an epoch, itself counted, and remembers it on disk."""
    first: dict[tuple[int, int, int], _Vote] = {}
    for node, disk, vote in _votes(history):
        known = first.setdefault((node, disk, vote.epoch), vote)
        if known.candidate != vote.candidate:
            story = f"node {node} voted for node {known.candidate} and for node {vote.candidate} in epoch {vote.epoch}"
            yield Violation(ONE_VOTE_PER_EPOCH, story, (vote.place, known.place))


def votes_are_remembered(history: History) -> Iterator[Violation]:
    """A process begins with the vote that the one before it cast, while its epoch has no leader (quorum-state)."""
    last: dict[tuple[int, int], Transitioned] = {}
    for life in history.lives():
        steps = [*life.of(Transitioned)]
        before = last.get((life.node, life.disk))
        if steps and before is not None and forgets_vote(before.state, steps[0].state):
            story = f"node {life.node} voted for node {before.state.voted} in epoch {before.state.epoch}"
            reason = f"{story}, and has forgotten that as it starts again"
            yield Violation(ONE_VOTE_PER_EPOCH, reason, (steps[0].place, before.place))
        if steps:
            last[life.node, life.disk] = steps[-1]


def vote_is_permitted(history: History) -> Iterator[Violation]:
    """A node votes in no epoch before its own, and in its own only while it knows no leader (EpochState.canGrantVote).

    Its disk remembers the leader for its next process, which may only repeat the vote that it begins with: 4.x begins
    without the leader then. Pre-votes bind nobody, and are not asked for here.
    """
    led: dict[tuple[int, int, int], Transitioned] = {}
    for life in history.lives():
        for said, now in life.with_steps():
            if isinstance(said, Transitioned):
                if _leader_in(said) >= 0:
                    led[life.node, life.disk, said.state.epoch] = said
            elif isinstance(said, VoteGranted) and now is not None:
                known = led.get((life.node, life.disk, said.epoch))
                if (shown := _forbidding(said, now, known)) is not None:
                    story = f"node {life.node} voted for node {said.candidate} in epoch {said.epoch}"
                    reason = f"{story}, {_why_not(said, shown)}"
                    yield Violation(VOTE_IS_PERMITTED, reason, (said.place, shown.place))


def _forbidding(vote: VoteGranted, now: Transitioned, known: Transitioned | None) -> Transitioned | None:
    """Return the step that forbids a vote: into the present state, or of earlier where that knew the leader."""
    if vote.epoch != now.state.epoch:
        return now if vote.epoch < now.state.epoch else None
    if _leader_in(now) >= 0:
        # 4.x looks at the vote before the leader (QuorumState.unattachedOrProspectiveCanGrantVote).
        repeats = now.state.of_4 and now.state.kind in (UNATTACHED, PROSPECTIVE) and now.state.voted == vote.candidate
        return None if repeats else now
    return known if now.state.voted != vote.candidate else None


def _why_not(vote: VoteGranted, shown: Transitioned) -> str:
    if vote.epoch < shown.state.epoch:
        return f"when it was in epoch {shown.state.epoch}"
    return f"of which node {_leader_in(shown)} was the leader"


def _leader_in(step: Transitioned) -> int:
    """Return who leads the epoch of a state, by that state; -1 where it does not say. Only a leader resigns."""
    return step.place.node if step.state.kind in (LEADER, RESIGNED) else step.state.leader


def elected_by_majority(history: History) -> Iterator[Violation]:
    """More than half of the voters that a new leader counts say that they voted for it.

    A voter says so before it answers, so that nobody's vote is missing once all logs have been read; that of a node
    without a log here, or with lines missing, is taken for granted.
    """
    if not history.is_over:
        return
    # What nodes say while they are stopped counts too: one that was still stopping may win by votes from there.
    votes = {(node, vote.epoch, vote.candidate) for node, _, vote in _votes(history)}
    votes |= {(node, vote.epoch, vote.candidate) for node, said in history.ending.items() for vote in _cast(node, said)}
    known = {
        node
        for node, said in history.said.items()
        if any(isinstance(each, Transitioned) for each in said) and not any(isinstance(each, Unseen) for each in said)
    }
    for step in history.of(Transitioned):
        state, node = step.state, step.place.node
        if state.kind == LEADER:
            lacking = {each for each in state.voters & known if (each, state.epoch, node) not in votes}
            granted = len(state.voters) - len(lacking)
            if state.voters and granted <= len(state.voters) // 2:
                story = f"node {node} leads epoch {state.epoch} by {granted} of {len(state.voters)} votes"
                reason = f"{story}: voters {sorted(lacking)} did not vote for it"
                yield Violation(ELECTED_BY_MAJORITY, reason, (step.place,))


def one_leader_per_epoch(history: History) -> Iterator[Violation]:
    """All who know the leader of an epoch know the same one: itself, also once it has resigned, and all others."""
    first: dict[int, tuple[int, Place]] = {}
    for step in history.of(Transitioned):
        leader = _leader_in(step)
        if leader >= 0:
            known, place = first.setdefault(step.state.epoch, (leader, step.place))
            if known != leader:
                story = f"epoch {step.state.epoch} has two leaders: node {known} for node {place.node}, and"
                reason = f"{story} node {leader} for node {step.place.node}"
                yield Violation(ONE_LEADER_PER_EPOCH, reason, (step.place, place))


def _votes(history: History) -> Iterator[tuple[int, int, _Vote]]:
    """Yield the node, its disk and each vote that it says it cast; a candidate votes for itself."""
    for life in history.lives():
        yield from ((life.node, life.disk, vote) for vote in _cast(life.node, life.said))


def _cast(node: int, said: Iterable[Said]) -> Iterator[_Vote]:
    """Yield each vote that a node says it cast; a candidate votes for itself."""
    for each in said:
        if isinstance(each, VoteGranted):
            yield _Vote(each.epoch, each.candidate, each.place)
        elif isinstance(each, Transitioned):
            voted = node if each.state.kind == CANDIDATE else each.state.voted
            if voted >= 0:
                yield _Vote(each.state.epoch, voted, each.place)
