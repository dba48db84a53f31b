"""For how long voters listen where the voter set does not know them: when UpdateRaftVoter is due; pure.

A voter whose endpoint changed is to tell the leader so every three fetch time-outs (KIP-853). Before 4.1 it does so
only where no request is on its way at that very moment, and a Fetch nearly always is (KAFKA-16538): there it breaks no
rule, and is told, and measured beside base. From 4.1 on it waits for the answer to that Fetch, so that it is a rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from harness.cluster.address import Address
from harness.cluster.conformance.history import History, Violation
from harness.cluster.conformance.leader_rules import seconds_since_fetch, whose
from harness.cluster.conformance.observations import FOLLOWER, Looked, Transitioned, VersionApplied

ENDPOINT_IS_ANNOUNCED = "endpoint_is_announced"

PERIODS_IN_FETCH_TIMEOUTS = 3
# A leader refuses while it adds or removes a voter, and is asked again a period later: three tries, and a time-out.
_MOST_FETCH_TIMEOUTS = 3 * PERIODS_IN_FETCH_TIMEOUTS + 1
# Between two looks that lie further apart, as around a measured window, nobody knows what a voter did.
_APART_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Unregistered:
    """Since when (a monotonic time) each voter is not known where it listens, and the longest that one was, in s."""

    since: Mapping[int, float] = field(default_factory=dict)
    longest: float = 0.0


def wrong(named: Mapping[int, Address], present: Mapping[int, Address]) -> list[int]:
    """Return the running voters whose address the voter set has wrong.

    A voter that the set does not have at all was removed: nothing is due from it.
    """
    return [node for node, address in present.items() if named.get(node, address) != address]


def follow(
    known: Unregistered, at: float, named: Mapping[int, Address], present: Mapping[int, Address]
) -> Unregistered:
    """Take a leader's answer into account: what the voter set names, and where running voters listen."""
    since = {node: known.since.get(node, at) for node in wrong(named, present)}
    return replace(known, since=since, longest=max([known.longest, *(at - began for began in since.values())]))


def endpoint_is_announced(history: History) -> Iterator[Violation]:
    """A voter that follows and fetches has the leader write down where it listens, within three of its periods.

    Of a quorum whose voters are written down (kraft.version 1), while the same nodes vote. Whether a majority is there
    to write it down is for `check_quorum` to ask.
    """
    steps: dict[int, list[Transitioned]] = {}
    for step in history.of(Transitioned):
        steps.setdefault(step.place.node, []).append(step)
    in_turn = sorted(history.looks, key=whose)
    for (leader, _), looks in groupby(in_turn, key=whose):
        dynamic = [said.place.at for said in history.of(VersionApplied) if said.place.node == leader and said.version]
        seen = [look for look in looks if dynamic and look.at >= min(dynamic)]
        for node in sorted(frozenset[int]().union(*(look.elsewhere for look in seen))):
            yield from _unannounced(node, seen, steps.get(node, []))


def _unannounced(node: int, looks: Sequence[Looked], steps: Sequence[Transitioned]) -> Iterator[Violation]:
    """Yield that a voter was named elsewhere in look after look for too long, though it could have announced itself."""
    since, last, slow = 0.0, None, 1.0
    for look in looks:
        step = next((each for each in reversed(steps) if each.place.at <= look.at), None)
        if step is None or not _can_announce(node, look, step):
            last = None
            continue
        if last is None or not _goes_on(last, look, step):
            since, slow = look.at, 1.0
        last, slow = look, max(slow, look.slow)
        if look.at - since > step.state.fetch_timeout * _MOST_FETCH_TIMEOUTS * slow:
            story = f"node {node} follows node {look.leader} in epoch {look.epoch}, and for {look.at - since:.0f} s the"
            reason = f"{story} voter set names another address than it listens at"
            yield Violation(ENDPOINT_IS_ANNOUNCED, reason, (step.place,), look.line)
            return


def _can_announce(node: int, look: Looked, step: Transitioned) -> bool:
    """Whether a voter has to announce itself, follows this leader and gets through to it."""
    follows = (step.state.kind, step.state.leader, step.state.epoch) == (FOLLOWER, look.leader, look.epoch)
    return node in look.elsewhere and follows and seconds_since_fetch(look, node) <= step.state.fetch_timeout


def _goes_on(before: Looked, look: Looked, step: Transitioned) -> bool:
    """Whether nothing happened between two looks that has a voter begin its period anew, or the leader refuse it."""
    is_near = look.at - before.at <= _APART_SECONDS
    return is_near and before.fetched.keys() == look.fetched.keys() and step.place.at <= before.at
