"""Rules of control records on disk: nodes go by the voters and the kraft.version of their logs and snapshots (KIP-853).

Stock does not read again what takes the place of truncated records (KRaftControlRecordStateMachine.truncateNewEntries
leaves `nextOffset` where it was), so that nothing is asked of a process that truncated, nor of snapshots on its disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.cluster.conformance.history import History, Life, Violation
from harness.cluster.conformance.observations import (
    Booted,
    DiskReplaced,
    Files,
    HighWatermarkMoved,
    Named,
    Place,
    SnapshotKept,
    Transitioned,
    Truncated,
    VersionApplied,
    VotersApplied,
)
from harness.cluster.conformance.voter_rules import (
    KRAFT_VERSION_AS_LOGGED,
    VOTERS_AS_LOGGED,
    committed,
    told_apart,
)
from harness.cluster.metadata_log.control_records import Voters, alike

_Applied = type[VotersApplied] | type[VersionApplied]
_Value = Voters | int
_RULES: Mapping[_Applied, str] = {VotersApplied: VOTERS_AS_LOGGED, VersionApplied: KRAFT_VERSION_AS_LOGGED}


def voters_are_those_on_disk(history: History) -> Iterator[Violation]:
    """Voters are applied, kept in snapshots and read from them as the disk has them."""
    for judge in (_applied_as_on_disk, _kept_as_logged, _kept_alike, _read_from_snapshots):
        yield from judge(history, VotersApplied)


def kraft_version_is_that_on_disk(history: History) -> Iterator[Violation]:
    """The kraft.version is applied, kept in snapshots and read from them as the disk has it."""
    for judge in (_applied_as_on_disk, _kept_as_logged, _kept_alike, _read_from_snapshots):
        yield from judge(history, VersionApplied)


def _applied_as_on_disk(history: History, kind: _Applied) -> Iterator[Violation]:
    """What the last process applied is what its disk has at that offset, and it missed no committed record."""
    last = {life.node: life for life in history.lives()}
    for files in history.files:
        life = last.get(files.node)
        if life is None or any(True for _ in life.of(Truncated)):
            continue
        for each in _known(life, kind):
            on_disk = _on_disk(files, each.offset, kind)
            if on_disk is not None and not _alike(_value(each), on_disk):
                one, other = _words(_value(each), on_disk)
                story = f"node {life.node} applied the {_noun(kind)} {one} of offset {each.offset}"
                yield Violation(_RULES[kind], f"{story}, where its disk has {other}", (each.place,))
        yield from _missed(life, _in_log(files, kind), kind)


def _missed(life: Life, in_log: Mapping[int, _Value], kind: _Applied) -> Iterator[Violation]:
    high = max((moved.offset for moved in life.of(HighWatermarkMoved)), default=-1)
    applied = [*life.of(kind)]
    newest = max((each.offset for each in applied), default=None)
    missed = [offset for offset in in_log if newest is not None and newest < offset < high]
    if missed:
        value = _words(in_log[max(missed)], frozenset())[0]
        story = f"node {life.node} never applied the {_noun(kind)} {value} that its log names at offset {max(missed)}"
        yield Violation(_RULES[kind], f"{story}, which is committed", (applied[-1].place,))


def _kept_as_logged(history: History, kind: _Applied) -> Iterator[Violation]:
    """A snapshot has what the newest record below its end has, where the log beside it still holds that."""
    for files, place in _untouched(history):
        for end, named in files.named.items():
            offset = max((each for each in _in_log(files, kind) if each < end), default=None)
            if offset is not None and not _alike(_in_log(files, kind)[offset], _in_snapshot(named, kind)):
                one, other = _words(_in_snapshot(named, kind), _in_log(files, kind)[offset])
                story = f"the snapshot up to {end} of node {files.node} has the {_noun(kind)} {one}"
                yield Violation(_RULES[kind], f"{story}, and its log {other} at offset {offset}", (place,))


def _kept_alike(history: History, kind: _Applied) -> Iterator[Violation]:
    """Snapshots that end alike have the same, whoever wrote them."""
    first: dict[int, tuple[int, _Value, Place]] = {}
    for files, place in _untouched(history):
        for end, named in files.named.items():
            value = _in_snapshot(named, kind)
            node, known, before = first.setdefault(end, (files.node, value, place))
            if end > 0 and not _alike(known, value):
                one, other = _words(known, value)
                story = f"the snapshot up to {end} of node {node} has the {_noun(kind)} {one}"
                yield Violation(_RULES[kind], f"{story}, and that of node {files.node} {other}", (place, before))


def _read_from_snapshots(history: History, kind: _Applied) -> Iterator[Violation]:
    """Who starts with a snapshot, or fetches one to an empty disk, reads what it has (maybeLoadSnapshot)."""
    if not any(True for _ in history.of(kind)):
        return  # this build says nothing of it
    disks = {life.node: life.disk for life in history.lives()}
    named = {(files.node, disks.get(files.node)): files.named for files in history.files}
    newest: dict[tuple[int, int], int] = {}
    for life in history.lives():
        if not any(True for _ in life.of(Transitioned)):
            continue  # no process: that a disk was replaced stands alone before the one that finds it
        disk = (life.node, life.disk)
        for end, loaded in (*_at_its_start(life, newest.get(disk, 0)), *_to_an_empty_disk(life, disk not in newest)):
            in_snapshot = _in_snapshot(named.get(disk, {}).get(end, Named()), kind)
            applied = (each for each in life.of(kind) if each.place.line < loaded.line)
            if in_snapshot and not any(each.offset >= end - 1 for each in applied):
                story = f"node {life.node} never applied the {_noun(kind)} of its snapshot up to {end}"
                yield Violation(_RULES[kind], story, (loaded,))
        newest[disk] = max([newest.get(disk, 0), *_whole_snapshots(life)])


def _at_its_start(life: Life, newest: int) -> Iterator[tuple[int, Place]]:
    """Yield where a snapshot ends that a process finds on its disk, and its first step, before which it is loaded."""
    first = next(life.of(Transitioned), None)
    if isinstance(life.said[0], Booted) and first is not None:
        yield newest, first.place


def _to_an_empty_disk(life: Life, is_first: bool) -> Iterator[tuple[int, Place]]:
    """Yield where a snapshot ends that a node fetches before anything else, and what it knows of it once it is loaded.

    Only of a node that has followed one leader, and knows nothing to be committed: else its log may end behind that.
    """
    steps = cut = None
    for said in life.said if is_first and isinstance(life.said[0], Booted | DiskReplaced) else ():
        if isinstance(said, Transitioned) and said.state.leader >= 0:
            if steps is not None:
                return
            steps = said
        elif isinstance(said, Truncated):
            cut = said
        elif isinstance(said, HighWatermarkMoved):
            if cut is not None and cut.whole:
                yield cut.offset, said.place
            return


def _whole_snapshots(life: Life) -> Iterator[int]:
    """Yield where the snapshots end that a process surely left on its disk."""
    yield from (kept.offset for kept in life.of(SnapshotKept) if not kept.fetched)
    yield from (cut.offset for cut in life.of(Truncated) if cut.whole)


def _untouched(history: History) -> Iterator[tuple[Files, Place]]:
    """Yield the files of nodes that never truncated, each with the last line of its log."""
    lives = [*history.lives()]
    cut = {life.node for life in lives for each in life.said if isinstance(each, Truncated) and not each.whole}
    last = {life.node: life.said[-1].place for life in lives}
    yield from ((files, last[files.node]) for files in history.files if files.node in last.keys() - cut)


def _known(life: Life, kind: _Applied) -> Iterator[VotersApplied | VersionApplied]:
    """Yield what a process applied for good, and can be read: what it was formatted with, and what is committed."""
    formatted = (each for each in life.of(kind) if each.offset < 0)
    yield from (each for each in (*formatted, *committed(life, kind)) if _value(each) != frozenset())


def _on_disk(files: Files, offset: int, kind: _Applied) -> _Value | None:
    """Return what a disk has at an offset: in its log, else in a snapshot that ends right behind."""
    if offset in _in_log(files, kind):
        return _in_log(files, kind)[offset]
    return _in_snapshot(files.named[offset + 1], kind) if offset + 1 in files.named else None


def _in_log(files: Files, kind: _Applied) -> Mapping[int, _Value]:
    return files.voters if kind is VotersApplied else files.versions


def _in_snapshot(named: Named, kind: _Applied) -> _Value:
    return named.voters if kind is VotersApplied else named.version


def _value(applied: VotersApplied | VersionApplied) -> _Value:
    return applied.voters if isinstance(applied, VotersApplied) else applied.version


def _alike(one: _Value, other: _Value) -> bool:
    return alike(one, other) if isinstance(one, frozenset) and isinstance(other, frozenset) else one == other


def _words(one: _Value, other: _Value) -> tuple[str, str]:
    if isinstance(one, frozenset) and isinstance(other, frozenset):
        return told_apart(one, other)
    return str(one), str(other)


def _noun(kind: _Applied) -> str:
    return "voters" if kind is VotersApplied else "kraft.version"
