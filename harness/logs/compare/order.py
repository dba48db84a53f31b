"""Lines that changed places: what one arm's nodes log before something else, and the other's after it; pure.

Two families of one logger are in order at a node by the lines where each is first logged. Much of that order is chance
(threads race), so a pair counts only if in each run of the two arms two nodes or more log both, all of the candidate's
agree, all of base's agree on the contrary, and no arm's nodes differ about it anywhere. How surely is computed as for
presence (`noise`): by Euler's beta function, times the number of orders that are chance and known from here alone. It
is tested over nodes and over runs, because what races once for a whole run (which of two topics comes first) is in
the same order at all its nodes. Of the runs only such races are counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from harness.logs.compare.counts import Count
from harness.logs.compare.noise import MOST_CHANCE
from harness.logs.compare.tables import Place

_FEWEST = 2  # nodes of a run that logged both
_LINE_BITS = 40  # of a position: the rest says which of the node's files it is in


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


class _Run(NamedTuple):
    arm: str
    repeat: int


@dataclass(frozen=True, slots=True)
class _Signs:
    """The order of each pair at a place: 1 as named, -1 the other way round, 0 where it is not known.

    `by_node` has a column per node and run, `by_run` one per run of `runs`, in which two nodes must have it and all
    agree. `varies` says whether the nodes of some arm differ about a pair, `races` whether those of some run do.
    """

    pairs: tuple[Pair, ...]
    runs: tuple[_Run, ...]
    by_node: NDArray[np.int8]
    by_run: NDArray[np.int8]
    varies: NDArray[np.bool_]
    races: NDArray[np.bool_]

    def settled(self, arm: str) -> NDArray[np.int8]:
        """Return the order of each pair that all runs of an arm agree about, 0 for the others."""
        columns = self.by_run[:, [run.arm == arm for run in self.runs]]
        return np.where((columns != 0).all(1), _agreed(columns), 0)


class Order:
    """The order of first lines in a set of runs; made once for all contrasts."""

    def __init__(self, counts: Iterable[Count]) -> None:
        """Learn from all arms' counts; those of a node come in the order in which its files were written."""
        self._signs = {place: _signs(rows) for place, rows in _first_lines(counts).items()}

    def swaps(self, base: str, candidate: str) -> list[Swap]:
        """Return what changed places, each family once, with the neighbour that it changed places with."""
        return [swap for place in self._signs for swap in self._swaps(place, base, candidate)]

    def _swaps(self, place: Place, base: str, candidate: str) -> Iterable[Swap]:
        signs = self._signs[place]
        was, now = signs.settled(base), signs.settled(candidate)
        moved = np.flatnonzero((was * now < 0) & ~signs.varies)
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
        signs, (among_nodes, among_runs) = self._signs[place], self._races[place]
        return max(_chance(signs.by_node[at], among_nodes), _chance(signs.by_run[at], among_runs))

    @cached_property
    def _elsewhere(self) -> Mapping[Pair, set[Place]]:
        """Return the places where nodes of one arm differ about a pair."""
        found: dict[Pair, set[Place]] = defaultdict(set)
        for place, signs in self._signs.items():
            for at in np.flatnonzero(signs.varies):
                found[signs.pairs[at]].add(place)
        return found

    @cached_property
    def _races(self) -> dict[Place, tuple[int, int]]:
        """Return how many orders at each place are chance and known from there alone: of nodes, and of whole runs."""
        found = {}
        for place, signs in self._signs.items():
            here = [at for at in np.flatnonzero(signs.varies) if self._elsewhere[signs.pairs[at]] == {place}]
            of_runs = [at for at in here if not signs.races[at] and signs.by_run[at].any()]
            found[place] = (_different(signs.by_node[here]), _different(signs.by_run[of_runs]))
        return found


def _different(rows: NDArray[np.int8]) -> int:
    return max(len({row.tobytes() for row in rows}), 1)


def _chance(row: NDArray[np.int8], races: int) -> float:
    return 2 * races * float(special.beta((row > 0).sum() + 1, (row < 0).sum() + 1))


_Node = tuple[_Run, int]
# Of a logger, those that most nodes have: each two are a pair, and a cluster may name thousands of topics in its lines.
_MOST_FAMILIES = 400


def _first_lines(counts: Iterable[Count]) -> dict[Place, dict[str, dict[str, dict[_Node, int]]]]:
    """Return by place, logger, family and node where its first line stands: by file, then by line.

    Configuration keys have no family and are left out.
    """
    found: dict[Place, dict[str, dict[str, dict[_Node, int]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(dict))
    )
    files: dict[tuple[Place, _Node], dict[str, int]] = defaultdict(dict)
    for count in counts:
        place = Place(count.where.scenario, count.where.node_role)
        node = (_Run(count.where.arm, count.where.repeat), count.node)
        of_node = files[place, node]
        stands = of_node.setdefault(count.file, len(of_node)) << _LINE_BITS | count.line
        if count.family:
            lines = found[place][count.logger][count.family]
            lines[node] = min(lines.get(node, stands), stands)
    return found


def _signs(rows: Mapping[str, Mapping[str, Mapping[_Node, int]]]) -> _Signs:
    nodes = sorted({node for families in rows.values() for lines in families.values() for node in lines})
    pairs: list[Pair] = []
    parts = [np.zeros((0, len(nodes)), np.int8)]
    for logger, families in sorted(rows.items()):
        names = sorted(sorted(families, key=lambda name: (-len(families[name]), name))[:_MOST_FAMILIES])
        first = np.array([[families[name].get(node, 0) for node in nodes] for name in names])
        one, other = np.triu_indices(len(names), 1)
        known = (first[one] > 0) & (first[other] > 0)
        parts.append(np.where(known, np.sign(first[other] - first[one]), 0).astype(np.int8))
        pairs += [Pair(logger, names[i], names[j]) for i, j in zip(one, other, strict=True)]
    signs = np.concatenate(parts)
    runs = sorted({run for run, _ in nodes})
    of_runs = [signs[:, [each == run for each, _ in nodes]] for run in runs]
    of_arms = [signs[:, [run.arm == arm for run, _ in nodes]] for arm in sorted({run.arm for run in runs})]
    return _Signs(
        tuple(pairs),
        tuple(runs),
        signs,
        np.stack([np.where((part != 0).sum(1) < _FEWEST, 0, _agreed(part)) for part in of_runs], axis=1),
        np.any([_differ(part) for part in of_arms], axis=0),
        np.any([_differ(part) for part in of_runs], axis=0),
    )


def _agreed(signs: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return the order of each pair about which no columns differ."""
    before, after = (signs > 0).any(1), (signs < 0).any(1)
    return np.asarray((before & ~after).astype(np.int8) - (after & ~before), np.int8)


def _differ(signs: NDArray[np.int8]) -> NDArray[np.bool_]:
    return np.asarray((signs > 0).any(1) & (signs < 0).any(1), np.bool_)


def _both(pair: Pair) -> Sequence[str]:
    return pair.one, pair.other
