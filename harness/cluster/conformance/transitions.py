"""Which states may follow which: the tables of org.apache.kafka.raft.QuorumState, and what they ask of the epoch."""

from __future__ import annotations

from harness.cluster.conformance.observations import (
    CANDIDATE,
    FOLLOWER,
    LEADER,
    PROSPECTIVE,
    RESIGNED,
    UNATTACHED,
    State,
    Transitioned,
)

SAME, NEXT, LATER, LATER_OR_SAME = "the same epoch", "the next epoch", "a later epoch", "the same epoch or a later one"

# A process begins in what its quorum-state says, a leader of before as one that has resigned (QuorumState.initialize).
FIRST = (UNATTACHED, FOLLOWER, RESIGNED, CANDIDATE)

_ANY_RELEASE = {
    # With the same epoch, a vote is added, or (4) the leader's name.
    (UNATTACHED, UNATTACHED): LATER_OR_SAME,
    (UNATTACHED, FOLLOWER): LATER_OR_SAME,
    (CANDIDATE, UNATTACHED): LATER,
    (CANDIDATE, FOLLOWER): LATER_OR_SAME,
    (CANDIDATE, LEADER): SAME,
    (LEADER, UNATTACHED): LATER,
    (LEADER, RESIGNED): SAME,
    (LEADER, FOLLOWER): LATER,
    (FOLLOWER, UNATTACHED): LATER,
    # With the same epoch, more endpoints of the same leader.
    (FOLLOWER, FOLLOWER): LATER_OR_SAME,
    (RESIGNED, UNATTACHED): LATER,
    (RESIGNED, FOLLOWER): LATER,
}
BEFORE_PREVOTE = _ANY_RELEASE | {
    (UNATTACHED, CANDIDATE): NEXT,
    (CANDIDATE, CANDIDATE): NEXT,
    (FOLLOWER, CANDIDATE): NEXT,
    (RESIGNED, CANDIDATE): NEXT,
}
WITH_PREVOTE = _ANY_RELEASE | {
    (UNATTACHED, PROSPECTIVE): SAME,
    (CANDIDATE, PROSPECTIVE): SAME,
    (FOLLOWER, PROSPECTIVE): SAME,
    (RESIGNED, PROSPECTIVE): SAME,  # a lone voter that led starts again (KafkaRaftClient.initialize)
    (PROSPECTIVE, PROSPECTIVE): SAME,  # a vote is added
    (PROSPECTIVE, UNATTACHED): LATER_OR_SAME,
    (PROSPECTIVE, FOLLOWER): LATER_OR_SAME,
    (PROSPECTIVE, CANDIDATE): NEXT,
}


def why_illegal(step: Transitioned) -> str:
    """Return why a step may not be, as a clause; empty where it may."""
    before, state = step.before, step.state
    if state.kind == FOLLOWER and state.leader == step.place.node:
        return f"it follows itself in epoch {state.epoch}"
    if before is None:
        return "" if state.kind in FIRST else f"a process begins as {state.kind}"
    table = WITH_PREVOTE if state.of_4 or before.of_4 else BEFORE_PREVOTE
    allowed = table.get((before.kind, state.kind))
    if allowed is None:
        return f"{state.kind} does not follow {before.kind}"
    if not _holds(allowed, before.epoch, state.epoch):
        return f"{state.kind} follows {before.kind} in {allowed}, not in {state.epoch} after {before.epoch}"
    return _changed_its_mind(before, state) if before.epoch == state.epoch else ""


def _holds(allowed: str, before: int, now: int) -> bool:
    return {
        SAME: now == before,
        NEXT: now == before + 1,
        LATER: now > before,
        LATER_OR_SAME: now >= before,
    }[allowed]


def _changed_its_mind(before: State, state: State) -> str:
    """Return that within an epoch another leader is followed, or another vote is cast, than before."""
    if min(before.leader, state.leader) >= 0 and before.leader != state.leader:
        return f"in epoch {state.epoch} it knew node {before.leader} as leader, and then node {state.leader}"
    if min(before.voted, state.voted) >= 0 and before.voted != state.voted:
        return f"in epoch {state.epoch} it voted for node {before.voted}, and then for node {state.voted}"
    return f"in epoch {state.epoch} it forgot its vote for node {before.voted}" if forgets_vote(before, state) else ""


def forgets_vote(before: State, state: State) -> bool:
    """Whether a voter has no vote any more in an epoch of which it knows no leader; only its like would name it."""
    are_alike = before.kind == state.kind == UNATTACHED and before.of_4 == state.of_4 and before.epoch == state.epoch
    return are_alike and before.voted >= 0 and max(before.leader, state.voted, state.leader) < 0
