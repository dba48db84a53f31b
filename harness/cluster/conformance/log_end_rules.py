"""Rules of how far the log of a candidate must reach for a vote (Raft §5.4.1): no less far than the voter's own."""

from __future__ import annotations

from collections.abc import Iterator

from harness.cluster.conformance.commit_rules import committed_starts
from harness.cluster.conformance.history import History, Life, Violation
from harness.cluster.conformance.observations import (
    PROSPECTIVE,
    UNATTACHED,
    Counted,
    HighWatermarkMoved,
    PreVoteGranted,
    Said,
    Transitioned,
    Truncated,
    VoteGranted,
)

CANDIDATES_ARE_UP_TO_DATE = "candidates_are_up_to_date"


def candidates_are_up_to_date(history: History) -> Iterator[Violation]:
    """A vote or pre-vote is granted to no candidate whose log ends before what the voter's own is known to hold.

    What a log is known to hold is all below its high watermark, while its disk lives; and that is of an epoch at least
    which begins below it, and of which a leader called a record committed. Logs end by epoch and then by offset
    (OffsetAndEpoch). A voter that lost its disk has voted for leaders without what it had.
    """
    if not history.voters_kept_disks:
        return
    starts = committed_starts(history)
    held: dict[tuple[int, int], HighWatermarkMoved | Counted] = {}
    for life in history.lives():
        disk = life.node, life.disk
        for said in _without_repeats(life):
            high = held.get(disk)
            if isinstance(said, HighWatermarkMoved | Counted) and (high is None or said.offset > high.offset):
                held[disk] = said
            elif isinstance(said, Truncated) and high is not None and said.offset < high.offset:
                del held[disk]
            elif isinstance(said, VoteGranted | PreVoteGranted) and high is not None:
                yield from _of_grant(said, high, starts)


def _of_grant(
    grant: VoteGranted | PreVoteGranted, high: HighWatermarkMoved | Counted, starts: dict[int, int]
) -> Iterator[Violation]:
    own = max((epoch for epoch, start in starts.items() if start < high.offset), default=0), high.offset
    if min(grant.last) >= 0 and grant.last < own:
        what = "vote" if isinstance(grant, VoteGranted) else "pre-vote"
        story = (
            f"node {grant.place.node} granted node {grant.candidate} a {what} in epoch {grant.epoch}, whose log ends"
        )
        reason = f"{story} at {_end(grant.last)}, and its own holds all below {_end(own)}"
        yield Violation(CANDIDATES_ARE_UP_TO_DATE, reason, (grant.place, high.place))


def _end(of: tuple[int, int]) -> str:
    epoch, offset = of
    return f"{offset} of epoch {epoch}"


def _without_repeats(life: Life) -> Iterator[Said]:
    """Yield all but votes that are granted for having been cast before, whatever logs hold (EpochState.canGrantVote).

    A voter steps into the state that has its vote, and then says that it grants it.
    """
    cast = False
    for said, step in life.with_steps():
        if isinstance(said, Transitioned):
            cast = _casts(said)
        elif isinstance(said, VoteGranted):
            is_first, cast = cast, False
            if step is None or (not is_first and _has_vote(step, said)):
                continue
        yield said


def _casts(step: Transitioned) -> bool:
    before = step.before
    return before is not None and before.kind in (UNATTACHED, PROSPECTIVE) and before.voted < 0 <= step.state.voted


def _has_vote(step: Transitioned, vote: VoteGranted) -> bool:
    return (step.state.epoch, step.state.voted) == (vote.epoch, vote.candidate)
