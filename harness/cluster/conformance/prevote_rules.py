"""Rules of pre-votes, which Kafka 4 asks for before elections (KIP-996): nobody who hears from a leader grants one."""

from __future__ import annotations

from collections.abc import Iterator

from harness.cluster.conformance.history import History, Life, Violation
from harness.cluster.conformance.observations import (
    FOLLOWER,
    LEADER,
    HighWatermarkMoved,
    Place,
    PreVoteGranted,
    Said,
    SnapshotKept,
    Transitioned,
    Truncated,
)

PRE_VOTE_IS_PERMITTED = "pre_vote_is_permitted"


def pre_vote_is_permitted(history: History) -> Iterator[Violation]:
    """A leader grants no pre-vote, nor does a follower that has fetched since it follows (FollowerState.canGrantVote).

    So a voter that was cut off alone deposes nobody when it is back. That a follower has fetched shows by what came of
    it: another high watermark, a cut of its log, or a snapshot to fetch.
    """
    for life in history.lives():
        for grant, step, heard in _grants(life):
            story = f"node {life.node} granted node {grant.candidate} a pre-vote in epoch {grant.epoch}"
            if step.state.kind == LEADER:
                yield Violation(PRE_VOTE_IS_PERMITTED, f"{story}, which it leads itself", (grant.place, step.place))
            elif step.state.kind == FOLLOWER and heard is not None:
                reason = f"{story}, and had fetched from its leader {step.state.leader}"
                yield Violation(PRE_VOTE_IS_PERMITTED, reason, (grant.place, heard))


def _grants(life: Life) -> Iterator[tuple[PreVoteGranted, Transitioned, Place | None]]:
    """Yield each pre-vote with the step into the state that granted it, and where a fetch showed since, if it did."""
    heard: Place | None = None
    for said, step in life.with_steps():
        if isinstance(said, Transitioned):
            heard = None
        elif _is_of_fetch(said):
            heard = said.place
        elif isinstance(said, PreVoteGranted) and step is not None:
            yield said, step, heard


def _is_of_fetch(said: Said) -> bool:
    return isinstance(said, HighWatermarkMoved | Truncated) or (isinstance(said, SnapshotKept) and said.fetched)
