"""Rules of who votes: nodes go by the voters and the kraft.version that their logs name, and logs agree on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TypeVar

from harness.cluster.conformance.history import History, Life, Violation
from harness.cluster.conformance.observations import (
    LEADER,
    Counted,
    Files,
    HighWatermarkMoved,
    Said,
    Transitioned,
    Truncated,
    VersionApplied,
    VotersApplied,
)

VOTERS_AS_LOGGED = "voters_as_logged"
KRAFT_VERSION_AS_LOGGED = "kraft_version_as_logged"

_A = TypeVar("_A", VotersApplied, VersionApplied)


def voter_sets_agree(history: History) -> Iterator[Violation]:
    """The VotersRecord at a committed offset is the same for every node that applied it."""
    for before, now in _differing(history, VotersApplied, lambda each: each.voters):
        if not (before.voters and now.voters):
            continue
        story = f"at offset {now.offset} node {before.place.node} applied the voters {sorted(before.ids)}"
        reason = f"{story}, and node {now.place.node} the voters {sorted(now.ids)}{_of_whom(before, now)}"
        yield Violation(VOTERS_AS_LOGGED, reason, (now.place, before.place))


def kraft_versions_agree(history: History) -> Iterator[Violation]:
    """The kraft.version at a committed offset is the same for every node, and never falls from there on."""
    for before, now in _differing(history, VersionApplied, lambda each: each.version):
        story = f"at offset {now.offset} node {before.place.node} has kraft.version {before.version}"
        reason = f"{story}, and node {now.place.node} {now.version}"
        yield Violation(KRAFT_VERSION_AS_LOGGED, reason, (now.place, before.place))
    by_disk = defaultdict[tuple[int, int], list[VersionApplied]](list)
    for life in history.lives():
        formatted = (each for each in life.of(VersionApplied) if each.offset < 0)
        by_disk[life.node, life.disk] += [*formatted, *_committed(life, VersionApplied)]
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


def voters_on_disk_are_applied(history: History) -> Iterator[Violation]:
    """What a process applied is what its disk has at that offset, and it missed no committed record of voters.

    A process that truncated is passed over: stock does not read again what replaces truncated records
    (KRaftControlRecordStateMachine.truncateNewEntries leaves `nextOffset` where it was).
    """
    last = {life.node: life for life in history.lives()}
    for files in history.files:
        life = last.get(files.node)
        if life is not None and not any(True for _ in life.of(Truncated)):
            yield from _not_as_on_disk(life, files)


def _not_as_on_disk(life: Life, files: Files) -> Iterator[Violation]:
    applied = [*_committed(life, VotersApplied)]
    for each in applied:
        on_disk = files.voters.get(each.offset, each.ids)
        if each.voters and on_disk != each.ids:
            story = f"node {life.node} applied the voters {sorted(each.ids)} of offset {each.offset}"
            yield Violation(VOTERS_AS_LOGGED, f"{story}, where its disk has {sorted(on_disk)}", (each.place,))
    high = max((moved.offset for moved in life.of(HighWatermarkMoved)), default=-1)
    newest = max((each.offset for each in life.of(VotersApplied)), default=None)
    missed = [offset for offset in files.voters if newest is not None and newest < offset < high]
    if missed:
        place = [*life.of(VotersApplied)][-1].place
        story = f"node {life.node} never applied the voters {sorted(files.voters[max(missed)])} that its log names"
        yield Violation(VOTERS_AS_LOGGED, f"{story} at offset {max(missed)}, which is committed", (place,))


def _differing(history: History, kind: type[_A], value: Callable[[_A], object]) -> Iterator[tuple[_A, _A]]:
    """Yield what was applied first at each committed offset, beside what another process applied there."""
    first: dict[int, _A] = {}
    for life in history.lives():
        for each in _committed(life, kind):
            known = first.setdefault(each.offset, each)
            if value(known) != value(each):
                yield known, each


def _committed(life: Life, kind: type[_A]) -> Iterator[_A]:
    """Yield what a process applied and later knew to be committed, without what it cut off again."""
    pending: list[_A] = []
    for said in life.said:
        if isinstance(said, kind) and said.offset >= 0:
            pending.append(said)
        elif isinstance(said, Truncated):
            pending = [] if said.whole else [each for each in pending if each.offset < said.offset]
        elif isinstance(said, HighWatermarkMoved):
            yield from (each for each in pending if each.offset < said.offset)
            pending = [each for each in pending if each.offset >= said.offset]


def _of_whom(before: VotersApplied, now: VotersApplied) -> str:
    """Return where two sets of the same nodes differ."""
    return f" ({sorted(before.voters ^ now.voters)})" if before.ids == now.ids else ""
