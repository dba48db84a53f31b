"""Pure: what both arms log of one family of lines, at one place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from harness.logs.compare.counts import Count, Where
from harness.logs.compare.tables import Key, Place
from harness.model.findings import severity


@dataclass(frozen=True, slots=True)
class Pair:
    """One family in both arms; `base` and `candidate` are in the order in which they were counted.

    `level` is empty where all levels are counted together.
    """

    scenario: str
    node_role: str
    logger: str
    family: str
    base: tuple[Count, ...]
    candidate: tuple[Count, ...]
    level: str = ""

    @property
    def place(self) -> Place:
        """Where it is logged."""
        return Place(self.scenario, self.node_role)

    @property
    def key(self) -> Key:
        """What is counted."""
        return Key(self.logger, self.family, self.level)

    @property
    def key_at_its_level(self) -> Key:
        """What is counted, with its level also where that is the only one: elsewhere it may have others."""
        levels = levels_of((*self.base, *self.candidate))
        return replace(self.key, level=next(iter(levels))) if len(levels) == 1 else self.key

    def by_level(self) -> list[Pair]:
        """Return what is logged at each level, the worst first; itself where that is one."""
        levels = sorted(levels_of((*self.base, *self.candidate)), key=severity, reverse=True)
        return [self._at(level) for level in levels] if len(levels) > 1 else [self]

    def _at(self, level: str) -> Pair:
        base, candidate = (tuple(c for c in side if c.level == level) for side in (self.base, self.candidate))
        return replace(self, base=base, candidate=candidate, level=level)


def comparable(base: str, candidate: str, seconds: Iterable[Where]) -> set[tuple[str, str]]:
    """Return the pairs of scenario and kind of node of which both arms have logs."""
    places = list(seconds)
    of_base, of_candidate = (
        {(where.scenario, where.node_role) for where in places if where.arm == arm} for arm in (base, candidate)
    )
    return of_base & of_candidate


def pairs_of(base: str, candidate: str, counts: Iterable[Count], places: set[tuple[str, str]]) -> Iterable[Pair]:
    """Yield every family that either arm logs at these places."""
    sides: dict[tuple[str, str, str, str], tuple[list[Count], list[Count]]] = defaultdict(lambda: ([], []))
    for count in counts:
        where = count.where
        if (where.scenario, where.node_role) in places and where.arm in (base, candidate):
            side = sides[where.scenario, where.node_role, count.logger, count.key]
            side[where.arm == candidate].append(count)
    for (scenario, node_role, logger, family), (of_base, of_candidate) in sides.items():
        yield Pair(scenario, node_role, logger, family, tuple(of_base), tuple(of_candidate))


def levels_of(counts: Sequence[Count]) -> set[str]:
    """Return at which levels something is logged."""
    return {count.level for count in counts}


def by_phase(counts: Sequence[Count]) -> dict[str, int]:
    """Return how many events there are in each phase."""
    sums: dict[str, int] = defaultdict(int)
    for count in counts:
        sums[count.where.phase] += count.count
    return sums


def busiest(counts: Sequence[Count]) -> str:
    """Return the phase with the most events; among equals the first by name."""
    sums = by_phase(counts)
    return min(sums, key=lambda phase: (-sums[phase], phase))
