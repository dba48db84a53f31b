"""Lines that changed places: what one arm's nodes log before something else, and the other's after it; pure.

Two families of one logger are in order at a node by the lines where each is first logged. Much of that order is chance
(threads race), so a pair counts only if all nodes of the candidate agree, all other arms agree on the contrary, and the
pair is in the same order wherever else both are logged. How surely is told as for presence (`noise`): by Euler's beta
function over the nodes that logged both, times the number of pairs whose order is chance and known from here alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from harness.logs.counts import Count
from harness.logs.noise import MOST_CHANCE, Place

_FEWEST = 3  # nodes that logged both, on either side


@dataclass(frozen=True, slots=True)
class Pair:
    """Two families of a logger, in the order of their names."""

    logger: str
    one: str
    other: str


@dataclass(frozen=True, slots=True)
class Swap:
    """A family that all of base's nodes first log before another (`was_first`), and the candidate's after it.

    Or the other way round. Only what is beyond the noise is one.
    """

    place: Place
    logger: str
    family: str
    neighbour: str
    was_first: bool


@dataclass(frozen=True, slots=True)
class _Signs:
    """Of each pair at a place, a column per node and run: 1 as named, -1 the other way round, 0 if one is missing."""

    arms: tuple[str, ...]
    pairs: tuple[Pair, ...]
    signs: NDArray[np.int8]

    def of(self, arm: str) -> NDArray[np.int8]:
        """Return the columns of an arm."""
        return self.signs[:, [name == arm for name in self.arms]]

    def settled(self) -> dict[str, NDArray[np.int8]]:
        """Return of each arm the order of each pair: 1, -1, or 0 where its nodes differ or none tells."""
        return {arm: _settled(self.of(arm)) for arm in dict.fromkeys(self.arms)}

    def varies(self) -> NDArray[np.bool_]:
        """Return whether the nodes of some arm differ about a pair."""
        within = [(part > 0).any(1) & (part < 0).any(1) for part in map(self.of, dict.fromkeys(self.arms))]
        return np.asarray(np.any(within, axis=0), np.bool_)


class Order:
    """The order of first lines in a set of runs; made once for all contrasts."""

    def __init__(self, counts: Iterable[Count]) -> None:
        """Learn from all arms' counts; a log file is a node in one run."""
        self._signs = {place: _signs(rows) for place, rows in _first_lines(counts).items()}

    def swaps(self, base: str, candidate: str) -> list[Swap]:
        """Return what changed places, each family once, with the neighbour that it changed places with."""
        return [swap for place in self._signs for swap in self._swaps(place, base, candidate)]

    def _swaps(self, place: Place, base: str, candidate: str) -> Iterable[Swap]:
        signs = self._signs[place]
        settled = signs.settled()
        if base not in settled or candidate not in settled:
            return
        was, now = settled[base], settled[candidate]
        moved = np.flatnonzero((was * now < 0) & ~signs.varies())
        known = [self._elsewhere.get(signs.pairs[at], set()) - {place} for at in moved]
        left = [
            at for at, places in zip(moved, known, strict=True) if not places and self._chance(place, at) < MOST_CHANCE
        ]
        while left:
            counted: dict[tuple[str, str], int] = defaultdict(int)
            for at in left:
                pair = signs.pairs[at]
                counted[pair.logger, pair.one] += 1
                counted[pair.logger, pair.other] += 1
            logger, family = max(counted, key=lambda each: (counted[each], each))
            theirs = [at for at in left if signs.pairs[at].logger == logger and family in _both(signs.pairs[at])]
            surest = min(theirs, key=lambda at: (self._chance(place, at), signs.pairs[at].one, signs.pairs[at].other))
            pair, as_named = signs.pairs[surest], was[surest] > 0
            neighbour = pair.other if family == pair.one else pair.one
            yield Swap(place, logger, family, neighbour, bool(as_named == (family == pair.one)))
            left = [at for at in left if at not in theirs]

    def _chance(self, place: Place, at: int | np.integer[Any]) -> float:
        row = self._signs[place].signs[at]
        ways = int((row > 0).sum()), int((row < 0).sum())
        if min(ways) < _FEWEST:
            return 1.0
        return 2 * self._races[place] * float(special.beta(ways[0] + 1, ways[1] + 1))

    @cached_property
    def _elsewhere(self) -> Mapping[Pair, set[Place]]:
        """Return the places where nodes of one arm differ about a pair."""
        found: dict[Pair, set[Place]] = defaultdict(set)
        for place, signs in self._signs.items():
            for at in np.flatnonzero(signs.varies()):
                found[signs.pairs[at]].add(place)
        return found

    @cached_property
    def _races(self) -> dict[Place, int]:
        """Return how many different orders at each place are chance and known from there alone."""
        patterns: dict[Place, set[bytes]] = defaultdict(set)
        for place, signs in self._signs.items():
            for at in np.flatnonzero(signs.varies()):
                if self._elsewhere[signs.pairs[at]] == {place}:
                    patterns[place].add(signs.signs[at].tobytes())
        return {place: max(len(patterns[place]), 1) for place in self._signs}


_File = tuple[str, str]  # an arm and a log file of it


def _first_lines(counts: Iterable[Count]) -> dict[Place, dict[str, dict[str, dict[_File, int]]]]:
    """Return by place, logger, family and file the first line; configuration keys have no family and are left out."""
    found: dict[Place, dict[str, dict[str, dict[_File, int]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(dict))
    )
    for count in counts:
        if count.family:
            place = Place(count.where.scenario, count.where.node_role)
            lines = found[place][count.logger][count.family]
            file = (count.where.arm, count.file)
            lines[file] = min(lines.get(file, count.line), count.line)
    return found


def _signs(rows: Mapping[str, Mapping[str, Mapping[_File, int]]]) -> _Signs:
    files = sorted({file for families in rows.values() for lines in families.values() for file in lines})
    pairs: list[Pair] = []
    parts = [np.zeros((0, len(files)), np.int8)]
    for logger, families in sorted(rows.items()):
        names = sorted(families)
        first = np.array([[families[name].get(file, 0) for file in files] for name in names])
        one, other = np.triu_indices(len(names), 1)
        known = (first[one] > 0) & (first[other] > 0)
        parts.append(np.where(known, np.sign(first[other] - first[one]), 0).astype(np.int8))
        pairs += [Pair(logger, names[i], names[j]) for i, j in zip(one, other, strict=True)]
    return _Signs(tuple(arm for arm, _ in files), tuple(pairs), np.concatenate(parts))


def _settled(signs: NDArray[np.int8]) -> NDArray[np.int8]:
    before, after = (signs > 0).any(1), (signs < 0).any(1)
    return np.asarray((before & ~after).astype(np.int8) - (after & ~before), np.int8)


def _both(pair: Pair) -> Sequence[str]:
    return pair.one, pair.other
