"""Rules of who votes: nodes go by the voters and the kraft.version that their logs name, and logs agree on them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TypeVar

from harness.cluster.conformance.history import History, Life, Violation
from harness.cluster.conformance.observations import (
    LEADER,
    Booted,
    Counted,
    HighWatermarkMoved,
    Said,
    Transitioned,
    Truncated,
    VersionApplied,
    VotersApplied,
)
from harness.cluster.metadata_log.control_records import Voter, Voters, alike

VOTERS_AS_LOGGED = "voters_as_logged"
KRAFT_VERSION_AS_LOGGED = "kraft_version_as_logged"

_A = TypeVar("_A", bound=VotersApplied | VersionApplied)


def voter_sets_agree(history: History) -> Iterator[Violation]:
    """The VotersRecord at a committed offset is the same for every node that applied it."""
    for before, now in _pairs(history, VotersApplied):
        if before.voters and now.voters and not alike(before.voters, now.voters):
            one, other = told_apart(before.voters, now.voters)
            story = f"at offset {now.offset} node {before.place.node} applied the voters {one}"
            reason = f"{story}, and node {now.place.node} the voters {other}"
            yield Violation(VOTERS_AS_LOGGED, reason, (now.place, before.place))


def kraft_versions_agree(history: History) -> Iterator[Violation]:
    """The kraft.version at a committed offset is the same for every node, and never falls from there on."""
    for before, now in _pairs(history, VersionApplied):
        if before.version != now.version:
            story = f"at offset {now.offset} node {before.place.node} has kraft.version {before.version}"
            reason = f"{story}, and node {now.place.node} {now.version}"
            yield Violation(KRAFT_VERSION_AS_LOGGED, reason, (now.place, before.place))
    by_disk = defaultdict[tuple[int, int], list[VersionApplied]](list)
    for life in history.lives():
        formatted = (each for each in life.of(VersionApplied) if each.offset < 0)
        by_disk[life.node, life.disk] += [*formatted, *committed(life, VersionApplied)]
    for (node, _), applied in by_disk.items():
        for low, high in pairwise(sorted(applied, key=lambda each: each.offset)):
            if high.version < low.version:
                story = f"node {node} has kraft.version {low.version} at offset {low.offset}"
                reason = f"{story} and {high.version} at {high.offset}"
                yield Violation(KRAFT_VERSION_AS_LOGGED, reason, (high.place, low.place))


def leaders_count_their_voters(history: History) -> Iterator[Violation]:
    """A leader counts the voters of the newest record that it has applied, committed or not (KIP-853).

    When it begins, and whenever it finds what is committed (LeaderState.updateLocalState).
    """
    for life in history.lives():
        for said, newest in life.with_voters():
            if newest is None:
                continue
            story, counts = _counted_by(said)
            if counts and counts != newest.ids:
                reason = f"{story}, and its log names {sorted(newest.ids)} at offset {newest.offset}"
                yield Violation(VOTERS_AS_LOGGED, reason, (said.place, newest.place))


def _counted_by(said: Said) -> tuple[str, frozenset[int]]:
    """Return which voters a leader says that it counts, in a clause too; nobody where it says nothing of them."""
    if isinstance(said, Transitioned) and said.state.kind == LEADER:
        voters = said.state.voters
        return f"node {said.place.node} leads epoch {said.state.epoch} with voters {sorted(voters)}", voters
    if isinstance(said, Counted):
        voters = frozenset(said.ends)
        return f"node {said.place.node} finds what is committed by voters {sorted(voters)}", voters
    return "", frozenset()


def _pairs(history: History, kind: type[_A]) -> Iterator[tuple[_A, _A]]:
    """Yield what was applied first at each committed offset, beside what another process applied there."""
    first: dict[int, _A] = {}
    for life in history.lives():
        for each in committed(life, kind):
            yield first.setdefault(each.offset, each), each


def committed(life: Life, kind: type[_A]) -> Iterator[_A]:
    """Yield what a process applied and later knew to be committed, without what it cut off again."""
    pending: list[_A] = []
    lowest = math.inf  # of them, since high watermarks come by the thousand
    for said in life.said:
        if isinstance(said, kind) and said.offset >= 0:
            pending.append(said)
            lowest = min(lowest, said.offset)
        elif isinstance(said, Truncated):
            pending = [] if said.whole else [each for each in pending if each.offset < said.offset]
        elif isinstance(said, HighWatermarkMoved) and lowest < said.offset:
            yield from (each for each in pending if each.offset < said.offset)
            pending = [each for each in pending if each.offset >= said.offset]
            lowest = min((each.offset for each in pending), default=math.inf)


def has_lost_voters(said: Iterable[Said]) -> bool:
    """Whether a node's last process cut off the newest voters that it had read, and has read none since.

    docs/upstream/unread-voters-after-truncation.md
    """
    newest, lost = None, False
    for each in said:
        match each:
            case Booted():
                newest, lost = None, False
            case VotersApplied(offset=offset):
                newest, lost = offset, False
            case Truncated(offset=offset, whole=whole):
                lost = lost or (newest is not None and (whole or offset <= newest))
    return lost


def told_apart(one: Voters, other: Voters) -> tuple[str, str]:
    """Return two sets of voters in words: by their nodes, and where these are the same, by all that is said of them."""
    if (nodes := _nodes(one)) != _nodes(other):
        return nodes, _nodes(other)
    return ", ".join(sorted(map(_in_words, one - other))), ", ".join(sorted(map(_in_words, other - one)))


def _nodes(voters: Voters) -> str:
    return str(sorted(each.node for each in voters))


def _in_words(voter: Voter) -> str:
    where = " and ".join(sorted(f"{name}://{host}:{port}" for name, host, port in voter.endpoints))
    return f"{voter.node} ({voter.directory or 'no directory id'}, {where or 'nowhere'})"
