"""Rules of leaders: one that nobody fetches from resigns, and the active controller is the one that leads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import groupby, zip_longest

from harness.cluster.conformance.history import History, Life, Violation
from harness.cluster.conformance.observations import (
    LEADER,
    ControllerClaimed,
    Counted,
    Looked,
    MajorityMissed,
    Place,
    SnapshotKept,
    Transitioned,
)

CHECK_QUORUM = "check_quorum"
ACTIVE_CONTROLLER_LEADS = "active_controller_leads"

CHECK_QUORUM_FACTOR = 1.5  # LeaderState.CHECK_QUORUM_TIMEOUT_FACTOR
# A raft thread looks at its timers between two requests, each of which may wait for a disk.
_GRACE_SECONDS = 2.0
# Log and answer have their times from one clock, and the line is written after the look at the timer.
_ROUNDED_SECONDS = 0.1
# A leader that was held (SIGSTOP, a pause of its JVM) may answer once before it looks at its timers.
_APART_SECONDS = 1.0
# A controller first reads what its log has; that of a thousand topics takes it less than a second.
_CLAIM_SECONDS = 20.0


def check_quorum(history: History) -> Iterator[Violation]:
    """A leader from whom no majority has fetched for 1.5 fetch time-outs says no longer that it leads; not sooner.

    By DescribeQuorum: it names itself as leader and, by its own account, when each voter last fetched from it. Of three
    voters one must have; where it takes several, their fetches may lie a time-out apart before the timer begins anew,
    and nothing is said of one that resigns too soon.
    """
    timeout = max((step.state.fetch_timeout for step in history.of(Transitioned)), default=0.0)
    if timeout <= 0:
        return
    began = _beginnings(history)
    yield from _given_up_too_soon(history, timeout * CHECK_QUORUM_FACTOR)
    snapshots = [kept.place for kept in history.of(SnapshotKept) if kept.fetched]
    in_turn = sorted(history.looks, key=whose)  # while two say that they lead, both answer each look
    for (leader, epoch), looks in groupby(in_turn, key=whose):
        if (leader, epoch) in began:
            yield from _unfetched(list(looks), began[leader, epoch], timeout * CHECK_QUORUM_FACTOR, snapshots)


def whose(look: Looked) -> tuple[int, int]:
    """Return the leader and the epoch of an answer."""
    return look.leader, look.epoch


def _needed(look: Looked) -> int:
    """Return how many other voters it takes for a majority."""
    return len(look.fetched) // 2 + (look.leader not in look.fetched)


def silent_seconds(look: Looked) -> float:
    """Return for how long no majority has fetched, by the leader's account; 0 where nobody needs to.

    Infinite where not enough of them ever did in its epoch.
    """
    in_turn = sorted((at for node, at in look.fetched.items() if node != look.leader), reverse=True)
    needed = _needed(look)
    if not needed:
        return 0.0
    return _now(look) - in_turn[needed - 1] if in_turn[needed - 1] >= 0 else math.inf


def seconds_since_fetch(look: Looked, voter: int) -> float:
    """Return how long ago a voter last fetched, by the leader's account; infinite where it never did."""
    at = look.fetched.get(voter, -1.0)
    return _now(look) - at if at >= 0 else math.inf


def _now(look: Looked) -> float:
    """Return when a leader answered by the clock that times its voters' fetches; its own entry says so (RaftUtil)."""
    return look.fetched.get(look.leader, -1.0) if look.fetched.get(look.leader, -1.0) >= 0 else look.at


def _beginnings(history: History) -> Mapping[tuple[int, int], Place]:
    """Return where each leader of an epoch said that it leads it."""
    return {
        (step.place.node, step.state.epoch): step.place
        for step in history.of(Transitioned)
        if step.state.kind == LEADER
    }


def _unfetched(looks: list[Looked], began: Place, bound: float, snapshots: list[Place]) -> Iterator[Violation]:
    """Yield that looks at one leader, some time apart, all show it without a majority for too long."""
    since, voters, first = looks[0].at, frozenset(looks[0].fetched), 0.0
    for look in looks:
        if frozenset(look.fetched) != voters:
            since, voters = look.at, frozenset(look.fetched)  # another majority counts
        last = max(since, look.at - silent_seconds(look))
        allowed = bound * (1 if _needed(look) <= 1 else 2) * look.slow + _GRACE_SECONDS
        if look.at - last <= allowed or _is_fetching_snapshot(look, last, allowed, snapshots):
            first = 0.0
            continue
        first = first or look.at
        if look.at - first >= _APART_SECONDS:
            story = f"node {look.leader} still leads epoch {look.epoch}, and for {look.at - last:.1f} s no majority of "
            reason = f"{story}{sorted(voters)} has fetched from it: it resigns after {bound:g} s"
            yield Violation(CHECK_QUORUM, reason, (began,), look.line)
            return


def _given_up_too_soon(history: History, bound: float) -> Iterator[Violation]:
    """Yield that a leader missed its majority too soon after a fetch, by what it had told of that itself."""
    for life in history.lives():
        for said, step in life.with_steps():
            if isinstance(said, MajorityMissed) and step and step.state.kind == LEADER:
                mine = [look for look in history.looks if whose(look) == (life.node, step.state.epoch)]
                before = [look for look in mine if step.place.at <= look.at <= said.place.at]
                since = said.place.at - _last_majority(before)
                if since < bound - _ROUNDED_SECONDS:
                    story = f"node {life.node} gave up epoch {step.state.epoch} {since:.1f} s after the last fetch"
                    reason = f"{story} that made a majority: it resigns after {bound:g} s"
                    yield Violation(CHECK_QUORUM, reason, (said.place, step.place))


def _last_majority(looks: list[Looked]) -> float:
    """Return when a fetch made a majority last, by a leader's looks; never where it takes two, or voters changed."""
    if len({frozenset(look.fetched) for look in looks}) != 1 or _needed(looks[0]) != 1:
        return -math.inf
    return max(at for look in looks for node, at in look.fetched.items() if node != look.leader)


def _is_fetching_snapshot(look: Looked, last: float, allowed: float, begun: list[Place]) -> bool:
    """Whether a voter began to fetch a snapshot since, and no longer ago than it may be silent: such fetches count."""
    recent = max(last, look.at - allowed)
    return any(place.node in look.fetched and recent < place.at <= look.at for place in begun)


def active_controller_leads(history: History) -> Iterator[Violation]:
    """A controller is active in epochs that its node leads; and in each that it leads on for long enough."""
    does_claim = any(True for _ in history.of(ControllerClaimed))
    for life in history.lives():
        if any(True for _ in life.of(Transitioned)):
            yield from _not_led(life)
        if does_claim and history.is_over:
            yield from _never_claimed(life, _CLAIM_SECONDS * history.slow)


def _not_led(life: Life) -> Iterator[Violation]:
    """Yield claims of epochs that a node had not begun to lead: a controller hears of that from its raft."""
    led = set[int]()
    for said in life.said:
        if isinstance(said, Transitioned) and said.state.kind == LEADER:
            led.add(said.state.epoch)
        elif isinstance(said, ControllerClaimed) and said.epoch not in led:
            story = f"the controller of node {life.node} is active in epoch {said.epoch}"
            yield Violation(ACTIVE_CONTROLLER_LEADS, f"{story}, which its node does not lead", (said.place,))


def _never_claimed(life: Life, bound: float) -> Iterator[Violation]:
    """Yield epochs that a node led for long, committing in them, without its controller becoming active."""
    claimed = {claim.epoch for claim in life.of(ControllerClaimed)}
    first = {counted.first_of: counted.place for counted in life.of(Counted) if counted.first_of >= 0}
    steps = [*life.of(Transitioned)]
    for step, after in zip_longest(steps, steps[1:]):
        epoch = step.state.epoch
        if step.state.kind != LEADER or epoch in claimed or epoch not in first:
            continue
        until = after.place if after is not None else life.said[-1].place
        if until.at - first[epoch].at > bound:
            story = f"node {life.node} led epoch {epoch} for {until.at - first[epoch].at:.0f} s after it committed"
            reason = f"{story} in it, and its controller did not become active"
            yield Violation(ACTIVE_CONTROLLER_LEADS, reason, (until, step.place))
