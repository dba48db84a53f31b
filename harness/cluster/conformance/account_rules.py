"""Rules of what nodes say of their state elsewhere: their `quorum-state` file and their metrics agree with their logs.

Metrics are read from another thread, a line a second, each between the beginning of its line and that of the next. A
step is logged once it is taken, and on a busy host that may take a moment. So a single line shows nothing.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, zip_longest

from harness.cluster.conformance.history import History, Life, Violation
from harness.cluster.conformance.leader_rules import ACTIVE_CONTROLLER_LEADS
from harness.cluster.conformance.observations import (
    CANDIDATE,
    FOLLOWER,
    LEADER,
    PROSPECTIVE,
    RESIGNED,
    UNATTACHED,
    Attempted,
    HighWatermarkMoved,
    Metered,
    Said,
    State,
    Transitioned,
    Unseen,
    VoteGranted,
)
from harness.cluster.metadata_log.broken import QUORUM_STATE_AGREES
from harness.cluster.metadata_log.files import QuorumState

METRICS_AS_LOGGED = "metrics_as_logged"

_APART_SECONDS = 1.0  # a line of the log and one of the metrics tell of the same moment
_LASTS_SECONDS = 3.0
_RISES = 2  # a single one may come with a snapshot, which updates no log end
# A controller hears of its raft by a queue of events, one of which may be long.
_RENOUNCES_SECONDS = 20.0
_STEPS = (Attempted, Transitioned)
# What KafkaRaftMetrics calls each state in `current-state`, 3.9 and 4.x.
_NAMES = {
    "leader": LEADER,
    "candidate": CANDIDATE,
    "follower": FOLLOWER,
    "observer": FOLLOWER,
    "prospective": PROSPECTIVE,
    "prospective-voted": PROSPECTIVE,
    "voted": UNATTACHED,
    "unattached-voted": UNATTACHED,
    "unattached": UNATTACHED,
}


def quorum_state_is_the_last_step(history: History) -> Iterator[Violation]:
    """`quorum-state` has what the last durable step wrote (QuorumState.durableTransitionTo).

    That step is said before it is written, and once more when it is taken: a process that ended in between may have
    written it or not. One may be taken when nodes are asked to stop. A follower of 3.9 has forgotten its vote, one of 4
    keeps it, and a build may do so without printing it: then it is one that was cast in that epoch.
    """
    for files in history.files:
        lives = [life for life in history.lives() if life.node == files.node]
        in_plan = [said for life in lives if life.disk == lives[-1].disk for said in life.said]
        ending = history.ending.get(files.node, ())
        said_in_all = (*in_plan, *ending)
        steps = [each for each in said_in_all if isinstance(each, _STEPS)]
        attempts = [each for each in steps if isinstance(each, Attempted)]
        if files.quorum is None or not attempts:
            continue
        is_taken = isinstance(steps[-1], Transitioned)
        said = attempts[-1]
        cast = set(_votes(files.node, said_in_all, files.quorum.epoch))
        if any(isinstance(each, Unseen) for each in history.said[files.node]):
            cast.add(files.quorum.voted)  # in lines that are missing
        if not any(_is_written(files.quorum, each, cast) for each in attempts[-1 if is_taken else -2 :]):
            story = f"quorum-state of node {files.node} has {_in_words(files.quorum)}"
            reason = f"{story}, and its last durable step was to {_in_words(_election(files.node, said.state))}"
            shown = [each.place for each in attempts if each not in ending]  # what is logged at the end lies elsewhere
            yield Violation(QUORUM_STATE_AGREES, reason, tuple(shown[-1:]))


def _votes(node: int, said: Iterable[Said], epoch: int) -> Iterator[int]:
    """Yield whom a node has voted for in an epoch, by what it said."""
    for each in said:
        if isinstance(each, VoteGranted) and each.epoch == epoch:
            yield each.candidate
        elif isinstance(each, Attempted | Transitioned) and each.state.epoch == epoch:
            yield _election(node, each.state).voted


def _is_written(found: QuorumState, attempt: Attempted, cast: Collection[int]) -> bool:
    state = attempt.state
    election = _election(attempt.place.node, state)
    if not _tells_leader(state):
        election = replace(election, leader=found.leader)
    if state.kind == FOLLOWER and state.voted < 0 and found.voted in cast:
        election = replace(election, voted=found.voted)
    return found == election


def _tells_leader(state: State) -> bool:
    """Whether a state says whom it knows as leader: Unattached of 3.9 may know one, and does not print it."""
    return state.kind != UNATTACHED or state.of_4


def _election(node: int, state: State) -> QuorumState:
    """Return what a state writes down (EpochState.election)."""
    leader = node if state.kind in (LEADER, RESIGNED) else state.leader
    voted = node if state.kind == CANDIDATE else state.voted
    return QuorumState(state.epoch, leader, voted)


def _in_words(election: QuorumState) -> str:
    return f"epoch {election.epoch}, leader {election.leader}, vote {election.voted}"


@dataclass(frozen=True, slots=True)
class _Told:
    """A line of metrics beside the steps that the node had taken last, or took meanwhile, by its log.

    `high_watermarks` are those that it knew by its log; `says_more`: where it comes to know more, its present state
    logs that.
    """

    line: Metered
    steps: tuple[Transitioned, ...]
    high_watermarks: tuple[int, ...]
    says_more: bool


def metrics_are_as_logged(history: History) -> Iterator[Violation]:
    """State, epoch, leader, vote and high watermark of the metrics are those of the log (KafkaRaftMetrics)."""
    for node, told in _told(history):
        for aspect, value, is_wrong in _ASPECTS:
            for wrong, lines in groupby(told, is_wrong):
                found = list(lines)
                first, last = found[0], found[-1]
                if wrong and last.line.at - first.line.at >= _LASTS_SECONDS * history.slow:
                    step = last.steps[-1]
                    story = f"the metrics of node {node} have the {aspect} {value(last.line)} for "
                    story += f"{last.line.at - first.line.at:.0f} s, and it logged {_step_in_words(step, last)}"
                    yield Violation(METRICS_AS_LOGGED, story, (step.place,))


def logs_reach_high_watermarks(history: History) -> Iterator[Violation]:
    """By a node's metrics, what is committed is in its log (KafkaRaftClient.updateFollowerHighWatermark).

    Only an append updates `log-end-offset`: a process that has just begun, or has just taken a snapshot, knows a high
    watermark before. But it hears of no further ones, one after the other, without records that it appends.
    """
    for node, told in _told(history):
        for is_short, lines in groupby(told, _ends_short):
            found = list(lines)
            late = [each for each in found if each.line.at - found[0].line.at >= _LASTS_SECONDS * history.slow]
            risen = [high for low, high in pairwise(late) if high.line.high_watermark > low.line.high_watermark]
            if is_short and len(risen) >= _RISES:
                step, last = risen[-1].steps[-1], risen[-1].line
                story = f"the metrics of node {node} have the log end {last.log_end} for"
                story += f" {last.at - found[0].line.at:.0f} s, and a high watermark above it that rises to"
                yield Violation(METRICS_AS_LOGGED, f"{story} {last.high_watermark}", (step.place,))


def _ends_short(told: _Told) -> bool:
    return 0 <= told.line.log_end < told.line.high_watermark


def controllers_renounce(history: History) -> Iterator[Violation]:
    """A controller is not active for long after its node has ceased to lead (QuorumController.renounce)."""
    for node, told in _told(history):
        for is_active, lines in groupby(told, _is_active_without_leading):
            found = list(lines)
            lasted = found[-1].line.at - found[0].line.at
            if is_active and lasted > _RENOUNCES_SECONDS * history.slow:
                step = found[-1].steps[-1]
                story = f"the controller of node {node} is active for {lasted:.0f} s in which its node is"
                reason = f"{story} {step.state.kind} of epoch {step.state.epoch}"
                yield Violation(ACTIVE_CONTROLLER_LEADS, reason, (step.place,))


def _is_active_without_leading(told: _Told) -> bool:
    return told.line.is_active and all(step.state.kind != LEADER for step in told.steps)


def _told(history: History) -> Iterator[tuple[int, list[_Told]]]:
    """Yield the lines of each process of which both accounts are there."""
    lines = [line for line in history.metered if line.epoch >= 0]
    lives = [life for life in history.lives() if any(True for _ in life.of(Transitioned))]
    for life, after in zip_longest(lives, lives[1:]):
        begins = life.said[0].place.at
        ends = after.said[0].place.at if after is not None and after.node == life.node else math.inf
        if _is_in_order(history.said[life.node]):
            of_life = [line for line in lines if line.node == life.node and begins <= line.at < ends]
            yield life.node, list(_beside(life, of_life))


def _is_in_order(said: Sequence[Said]) -> bool:
    """Whether no lines are missing, and the node's clock was never set back: else nobody can tell what was when."""
    times = [each.place.at for each in said if each.place.at]
    is_whole = not any(isinstance(each, Unseen) for each in said)
    return is_whole and all(low <= high + _APART_SECONDS for low, high in pairwise(times))


def _beside(life: Life, lines: Sequence[Metered]) -> Iterator[_Told]:
    steps, moved = [*life.of(Transitioned)], [*_high_watermarks(life)]
    of_steps, of_moved = [step.place.at for step in steps], [each.place.at for _, each in moved]
    for line in lines:
        if taken := tuple(steps[_meanwhile(of_steps, line)]):
            known = moved[_meanwhile(of_moved, line)]
            says_more = any(step is taken[-1] for step, _ in known)
            yield _Told(line, taken, tuple(each.offset for _, each in known), says_more)


def _high_watermarks(life: Life) -> Iterator[tuple[Transitioned, HighWatermarkMoved]]:
    """Yield each high watermark with the step into the state in which it was logged."""
    step: Transitioned | None = None
    for said in life.said:
        if isinstance(said, Transitioned):
            step = said
        elif isinstance(said, HighWatermarkMoved) and step is not None:
            yield step, said


def _meanwhile(times: Sequence[float], line: Metered) -> slice:
    """Return where the last is that was said surely before a line of metrics, and all that may be of its time."""
    before = bisect_right(times, line.at - _APART_SECONDS)
    return slice(max(before - 1, 0), bisect_right(times, line.until + _APART_SECONDS))


def _step_in_words(step: Transitioned, told: _Told) -> str:
    state = f"{step.state.kind} of epoch {step.state.epoch}, leader {_election(step.place.node, step.state).leader}"
    return f"{state}, high watermark {told.high_watermarks[-1]}" if told.high_watermarks else state


def _wrong_state(told: _Told) -> bool:
    kind = _NAMES.get(told.line.state, "")
    kinds = {UNATTACHED if step.state.kind == RESIGNED else step.state.kind for step in told.steps}
    return bool(kind) and kind not in kinds


def _wrong_epoch(told: _Told) -> bool:
    return told.line.epoch not in {step.state.epoch for step in told.steps}


def _wrong_leader(told: _Told) -> bool:
    known = {_election(step.place.node, step.state).leader for step in told.steps}
    return told.line.leader not in known and all(_tells_leader(step.state) for step in told.steps)


def _wrong_vote(told: _Told) -> bool:
    """Whether the metrics tell of a vote that was not cast; a leader's is its own."""
    cast = {node for step in told.steps for node in (_election(step.place.node, step.state).voted,) if node >= 0}
    own = {step.place.node for step in told.steps if step.state.kind == LEADER}
    return told.line.voted >= 0 and told.line.voted not in cast | own


def _wrong_high_watermark(told: _Told) -> bool:
    """Whether they tell of less than was logged before, or of more; a state that has just begun may know none."""
    known, told_of = told.high_watermarks, told.line.high_watermark
    return bool(known) and told_of >= 0 and (told_of < min(known) or (told.says_more and told_of > max(known)))


_ASPECTS: Sequence[tuple[str, Callable[[Metered], object], Callable[[_Told], bool]]] = (
    ("state", lambda line: line.state, _wrong_state),
    ("epoch", lambda line: line.epoch, _wrong_epoch),
    ("leader", lambda line: line.leader, _wrong_leader),
    ("vote", lambda line: line.voted, _wrong_vote),
    ("high watermark", lambda line: line.high_watermark, _wrong_high_watermark),
)
