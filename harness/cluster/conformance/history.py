"""A history: all that nodes said up to some line of each log, cut into the lives of their processes and disks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from harness.cluster.conformance.observations import (
    LEADER,
    Booted,
    DiskReplaced,
    Files,
    Looked,
    Metered,
    Place,
    Said,
    Transitioned,
    Truncated,
    Unseen,
    VotersApplied,
)

_S = TypeVar("_S", bound=Said)


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that was broken: its name, what happened in a clause, and the lines that show it, the last one first.

    `line` is the journal's, where no node's log shows it.
    """

    name: str
    reason: str
    places: tuple[Place, ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class Life:
    """What one process of a node said, in order; `disk` counts the disks that the node has had."""

    node: int
    disk: int
    said: tuple[Said, ...]

    def of(self, kind: type[_S]) -> Iterator[_S]:
        """Yield what it said of one kind."""
        return (each for each in self.said if isinstance(each, kind))

    def with_steps(self) -> Iterator[tuple[Said, Transitioned | None]]:
        """Yield each with the step into the state that the node was in then, itself if it is one; None if unknown."""
        step: Transitioned | None = None
        for said in self.said:
            step = said if isinstance(said, Transitioned) else step
            yield said, step

    def with_voters(self) -> Iterator[tuple[Said, VotersApplied | None]]:
        """Yield each with the newest voters that its log named by then, uncommitted or not (KIP-853); None if unknown.

        What is cut off names nobody any more; where all of the log gave way to a snapshot, that names them next.
        """
        applied: list[VotersApplied] = []
        for said in self.said:
            if isinstance(said, VotersApplied):
                applied.append(said)
            elif isinstance(said, Truncated):
                applied = [] if said.whole else [each for each in applied if each.offset < said.offset]
            yield said, applied[-1] if applied and applied[-1].voters else None


@dataclass(frozen=True, slots=True)
class History:
    """What nodes said, each in its own order, and what was seen of them.

    `is_over` says that every node has ended and that its log was read to the end: only then may something be missed.
    `slow` is how many times longer everything took on the host, infinite on one that starved its nodes. `metered` is
    what nodes' metrics said, each node's in its order. `ending` is what nodes said after the plan, asked to stop.
    """

    said: Mapping[int, Sequence[Said]] = field(default_factory=dict)
    looks: Sequence[Looked] = ()
    files: Sequence[Files] = ()
    is_over: bool = False
    slow: float = 1.0
    metered: Sequence[Metered] = ()
    ending: Mapping[int, Sequence[Said]] = field(default_factory=dict)

    def lives(self) -> Iterator[Life]:
        """Yield the life of each process, node by node; lines that are missing begin another one, and another disk."""
        for node, said in sorted(self.said.items()):
            disk, life = 0, list[Said]()
            for each in said:
                if isinstance(each, Booted | DiskReplaced | Unseen) or _begins(each, life):
                    if life:
                        yield Life(node, disk, tuple(life))
                    disk, life = disk + isinstance(each, DiskReplaced | Unseen), []
                life.append(each)
            if life:
                yield Life(node, disk, tuple(life))

    @property
    def voters_kept_disks(self) -> bool:
        """Whether no node that a leader counted as voter has lost its disk, or lines; no node where none led."""
        counted = (step.state.voters for step in self.of(Transitioned) if step.state.kind == LEADER)
        voters = frozenset[int]().union(*counted) or self.said.keys()
        of_voters = (said for node, said in self.said.items() if node in voters)
        return not any(isinstance(each, DiskReplaced | Unseen) for said in of_voters for each in said)

    def of(self, kind: type[_S]) -> Iterator[_S]:
        """Yield what all nodes said of one kind, node by node."""
        return (each for _, said in sorted(self.said.items()) for each in said if isinstance(each, kind))


def _begins(said: Said, life: Sequence[Said]) -> bool:
    """Whether a process begins here that did not say so: its first state has none before it."""
    return (
        isinstance(said, Transitioned) and said.before is None and any(isinstance(each, Transitioned) for each in life)
    )
