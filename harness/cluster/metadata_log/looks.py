"""What leaders say over all looks at the quorum: epochs and high watermarks, which never fall; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from harness.cluster.metadata_log.broken import EPOCH_NEVER_FALLS, HIGH_WATERMARK_NEVER_FALLS, Broken
from harness.cluster.probes import Quorum


@dataclass(frozen=True, slots=True)
class Commit:
    """The highest high watermark that was seen, who said so as leader of which epoch, and of which voters.

    `voters` is empty while nobody can tell whether it was these that it took a majority of: the voter set has changed.
    """

    high_watermark: int
    epoch: int
    leader: int
    voters: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Watched:
    """What all looks so far have shown.

    `leaders` maps epochs to their leaders, `claims` nodes to the newest epoch that they said to lead, `marks` epochs to
    the highest high watermark seen in them; from offset `changed_at` on the present `voters` decide.
    """

    commit: Commit | None = None
    leaders: Mapping[int, int] = field(default_factory=dict)
    claims: Mapping[int, int] = field(default_factory=dict)
    marks: Mapping[int, int] = field(default_factory=dict)
    voters: frozenset[int] = frozenset()
    changed_at: int = -1

    @property
    def newest(self) -> tuple[int, int]:
        """The newest epoch that was led, and its leader; -1 for none."""
        return max(self.leaders.items(), default=(-1, -1))


def watch(watched: Watched, quorum: Quorum) -> tuple[Watched, tuple[Broken, ...]]:
    """Take a look into account; return what is known now, and what the look breaks."""
    found = tuple(_broken(watched, quorum))
    if quorum.leader < 0:
        return watched, found
    newest = {node: epoch for epoch, node in sorted(quorum.leaders)}
    watched = replace(
        watched,
        leaders={**dict(quorum.leaders), **watched.leaders},
        claims={**watched.claims, **{node: max(at, watched.claims.get(node, -1)) for node, at in newest.items()}},
        marks={**watched.marks, quorum.epoch: max(quorum.high_watermark, watched.marks.get(quorum.epoch, -1))},
    )
    return _with_commit(_with_voters(watched, quorum), quorum), found


def _broken(watched: Watched, quorum: Quorum) -> Iterator[Broken]:
    for epoch, node in quorum.leaders:
        if epoch < (before := watched.claims.get(node, -1)):
            yield Broken(EPOCH_NEVER_FALLS, f"node {node} led epoch {before} and says later that it leads {epoch}")
    # A leader of an earlier epoch that does not know of its successor yet may be behind it, so only its own epoch and
    # those before count. -1 is a leader that has committed nothing in its epoch yet, and so says nothing.
    before = max((mark for epoch, mark in watched.marks.items() if epoch <= quorum.epoch), default=-1)
    if 0 <= quorum.high_watermark < before:
        story = f"node {quorum.leader}, leader of epoch {quorum.epoch}, says {quorum.high_watermark} after {before}"
        yield Broken(HIGH_WATERMARK_NEVER_FALLS, f"the high watermark fell: {story}")


def _with_voters(watched: Watched, quorum: Quorum) -> Watched:
    """Note a change of the voter set: a new one is in force from its record on, which the leader's log has by now."""
    voters = frozenset(quorum.voters)
    if voters == watched.voters:
        return watched
    changed_at = quorum.voters.get(quorum.leader, quorum.high_watermark) if watched.voters else -1
    return replace(watched, voters=voters, changed_at=changed_at)


def _with_commit(watched: Watched, quorum: Quorum) -> Watched:
    known = watched.commit.high_watermark if watched.commit else 0
    if quorum.high_watermark <= known:
        return watched
    voters = watched.voters if quorum.high_watermark > watched.changed_at else frozenset()
    return replace(watched, commit=Commit(quorum.high_watermark, quorum.epoch, quorum.leader, voters))
