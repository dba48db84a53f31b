"""How much runs of one build differ from each other, and which differences between builds are more than that; pure.

Three questions, each with the answer of base against base in mind (docs/log-diff.md tells the method and its limits):

- *Presence.* Much of what a cluster logs comes and goes: whether an election had to be repeated, whether a topic was
  made by this node. Such lines come in incidents, several templates together. A template that is in every run of one
  arm and in no run of the other is a difference only when it is not known to come and go within any arm (in any
  scenario, by any kind of node), and when so many runs agree that an incident would hardly fall on the arms' border.
- *Rate.* A moderated t-test on log counts (Smyth 2004): the variance is that of the template within arms, over all
  scenarios, drawn towards what templates vary in general. Both the count and the count per second must differ, since
  a longer phase makes more of what is logged all the time, and no more of what is logged once.
- *Many questions at once.* Rates are told by the false discovery rate of Benjamini and Hochberg.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from harness.logs.counts import Count, Where
from harness.logs.moderation import Array, Prior, fit, moderated
from harness.logs.witnesses import Witnesses
from harness.model import Significance

MOST_CHANCE = 0.05  # of an incident that looks like a difference
# Of false ones among the rates that are told. With 0.05 two of 20 splits of runs of one build told of a rate.
MOST_FALSE = 0.01
MIN_EFFECT = 1.5  # times as often
_WHOLE = "\0"  # the name of all phases together: no phase has it


@dataclass(frozen=True, slots=True)
class Place:
    """One kind of node in one scenario."""

    scenario: str
    node_role: str


@dataclass(frozen=True, slots=True)
class Key:
    """What is counted: a family of a logger; with a level, only its events of that level."""

    logger: str
    family: str
    level: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """The answer to one question: how it compares with the noise; of a rate also its phase and false discovery rate."""

    significance: Significance
    phase: str = ""
    q: float | None = None


@dataclass(frozen=True, slots=True)
class _Block:
    """Counts of one place: a row per key and phase (_WHOLE for all phases), a column per run (arm and repeat).

    `seconds` is how long each row's phase was in each run; ones for the whole, whose length is not asked.
    """

    runs: tuple[tuple[str, int], ...]
    rows: Mapping[tuple[Key, str], int]
    counts: Array
    seconds: Array

    def of(self, arm: str) -> list[int]:
        """Return the columns of an arm's runs."""
        return [column for column, (name, _) in enumerate(self.runs) if name == arm]

    def row(self, key: Key) -> Array:
        """Return how often a key was counted in each run, over all phases."""
        at = self.rows.get((key, _WHOLE))
        return np.zeros(len(self.runs)) if at is None else self.counts[at]

    def repeated(self) -> list[list[int]]:
        """Return the columns of each arm that was run more than once."""
        arms = dict.fromkeys(arm for arm, _ in self.runs)
        return [columns for arm in arms if len(columns := self.of(arm)) > 1]

    def logs(self) -> tuple[Array, Array]:
        """Return log2 of counts and of rates; half an event more, so that none is minus infinity."""
        logs: Array = np.log2(self.counts + 0.5)
        return logs, logs - np.log2(self.seconds)

    def dof(self) -> int:
        """Return how many values within arms are free to vary."""
        return sum(len(columns) - 1 for columns in self.repeated())

    def squares(self) -> tuple[Array, Array]:
        """Return the squared deviations of logs from each arm's own mean, summed over arms, row by row."""
        counts, rates = (self._squares(logs) for logs in self.logs())
        return counts, rates

    def _squares(self, logs: Array) -> Array:
        parts = [logs[:, columns] for columns in self.repeated()]
        found: Array = sum(
            (((part - part.mean(1, keepdims=True)) ** 2).sum(1) for part in parts), np.zeros(len(self.counts))
        )
        return found


class Noise:
    """What is known of chance in a set of runs; made once for all contrasts."""

    def __init__(self, counts: Iterable[Count], seconds: Mapping[Where, float]) -> None:
        """Learn from all arms' counts; `seconds` says which runs there are, and how long their phases were."""
        known = list(counts)
        self._blocks = _blocks(known, seconds)
        self._witnesses = Witnesses(known)

    @cached_property
    def repeated(self) -> bool:
        """Whether any arm was run more than once: without that nothing is known of chance."""
        return any(block.repeated() for block in self._blocks.values())

    def runs(self, place: Place, key: Key, arm: str) -> tuple[int, ...]:
        """Return how often an arm's runs logged something, in the order of the repeats."""
        block = self._blocks[place]
        return tuple(int(each) for each in block.row(key)[block.of(arm)])

    def presence(self, place: Place, key: Key, base: str, candidate: str) -> Told:
        """Say whether what only one of two arms logs is more than something that comes and goes."""
        if not self.repeated:
            return Told(Significance.UNKNOWN)
        block = self._blocks[place]
        row = block.row(key)
        seen = row > 0
        logging = [run for run, has in zip(block.runs, seen, strict=True) if has]
        names = (place.scenario, place.node_role), (key.logger, key.family, key.level)
        by_all = self._witnesses.are_all(*names, logging)
        # The candidate itself is no witness: what it logs in some runs only may be its very fault. And what every node
        # of a kind logs is no incident there, though it be one elsewhere.
        coming = self._coming_and_going.get(key, ())
        if any(arm != candidate and (at == place or not by_all) for at, arm in coming):
            return Told(Significance.WITHIN)
        if not (seen[block.of(base)].all() or seen[block.of(candidate)].all()):
            return Told(Significance.UNKNOWN)
        # Either way round, if how likely an incident is in a run may be anything.
        chance = 2 * self._incidents[place] * float(special.beta(seen.sum() + 1, (~seen).sum() + 1))
        if self._unsteady.get(key, set()) - {candidate}:
            # What is logged as often as it pleases may well have fallen on these runs alone.
            chance = max(chance, 2 * float(seen.mean()) ** row.sum())
        replicated = by_all or self._is_replicated(place, key, base, candidate)
        told = chance < MOST_CHANCE and replicated
        return Told(Significance.BEYOND if told else Significance.UNKNOWN)

    def _is_replicated(self, place: Place, key: Key, base: str, candidate: str) -> bool:
        """Say whether a difference is seen more than once: in another scenario, or in runs enough."""
        seen = self._blocks[place].row(key) > 0
        own = self._side(place, key, base, candidate)
        others = (each for each in self._blocks if each.scenario != place.scenario)
        elsewhere = any(own == self._side(each, key, base, candidate) for each in others)
        return elsewhere or self.is_enough(int(seen.sum()), int((~seen).sum()))

    def _side(self, place: Place, key: Key, base: str, candidate: str) -> str:
        """Return the one of two arms that logs a key in all of its runs while the other does in none; else nothing."""
        block = self._blocks[place]
        seen = {arm: block.row(key)[block.of(arm)] > 0 for arm in (base, candidate)}
        sides = [
            arm
            for arm, other in ((base, candidate), (candidate, base))
            if seen[arm].size and seen[arm].all() and not seen[other].any()
        ]
        return sides[0] if sides else ""

    def is_enough(self, few: int, many: int) -> bool:
        """Say whether none of all incidents would fall on just so many runs, which are one of two arms or the rest."""
        incidents = max(sum(map(len, self._patterns.values())), 1)
        return 4 * incidents * float(special.beta(few + 1, many + 1)) < MOST_CHANCE

    def rates(self, base: str, candidate: str) -> dict[tuple[Place, Key], Told]:
        """Return, for everything that both arms log, the phase whose rate differs most surely."""
        if not self.repeated:
            return {}
        from scipy import stats  # a second that nobody without repeats need wait

        tests = [test for place, block in self._blocks.items() for test in self._tests(place, block, base, candidate)]
        qs = stats.false_discovery_control([test.p for test in tests]).tolist() if tests else []
        best: dict[tuple[Place, Key], Told] = {}
        for test, q in sorted(zip(tests, qs, strict=True), key=lambda pair: pair[0].p):
            beyond = q < MOST_FALSE and test.effect >= np.log2(MIN_EFFECT)
            told = Told(Significance.BEYOND if beyond else Significance.WITHIN, test.phase, q)
            before = best.setdefault((test.place, test.key), told)
            if beyond and before.significance is Significance.WITHIN:
                best[test.place, test.key] = told
        return best

    @cached_property
    def _coming_and_going(self) -> dict[Key, set[tuple[Place, str]]]:
        """Return the places and arms within which a key was sometimes there and sometimes not."""
        found: dict[Key, set[tuple[Place, str]]] = defaultdict(set)
        for place, block in self._blocks.items():
            varies = {block.runs[columns[0]][0]: _varies(block.counts[:, columns]) for columns in block.repeated()}
            for (key, phase), at in block.rows.items():
                if phase == _WHOLE:
                    found[key] |= {(place, arm) for arm, rows in varies.items() if rows[at]}
        return found

    @cached_property
    def _unsteady(self) -> dict[Key, set[str]]:
        """Return the arms whose runs did not log a key equally often, in some scenario and by some kind of node."""
        found: dict[Key, set[str]] = defaultdict(set)
        for block in self._blocks.values():
            for columns in block.repeated():
                ranges = np.ptp(block.counts[:, columns], axis=1)
                for (key, phase), at in block.rows.items():
                    if phase == _WHOLE and ranges[at]:
                        found[key].add(block.runs[columns[0]][0])
        return found

    @cached_property
    def _incidents(self) -> dict[Place, int]:
        """Return how many different things come and go at each place and are not known from any other."""
        return {place: max(len(self._patterns[place]), 1) for place in self._blocks}

    @cached_property
    def _patterns(self) -> dict[Place, set[bytes]]:
        """Return in which runs each of these was there.

        What always comes together is one. What is known from elsewhere cannot be taken for a difference.
        """
        patterns: dict[Place, set[bytes]] = defaultdict(set)
        for key, where in self._coming_and_going.items():
            places = {place for place, _ in where}
            if len(places) == 1 and not key.level:
                patterns[next(iter(places))].add((self._blocks[next(iter(places))].row(key) > 0).tobytes())
        return patterns

    def _tests(self, place: Place, block: _Block, base: str, candidate: str) -> list[_Test]:
        of_base, of_candidate = block.of(base), block.of(candidate)
        if not of_base or not of_candidate:
            return []
        both = np.asarray(block.counts[:, of_base].any(1) & block.counts[:, of_candidate].any(1))
        shifts = np.array([each[:, of_candidate].mean(1) - each[:, of_base].mean(1) for each in block.logs()])
        variances, dofs = self._spread(block)
        size = 1 / len(of_base) + 1 / len(of_candidate)
        p = np.asarray(2 * special.stdtr(dofs, -np.abs(shifts) / np.sqrt(variances * size))).max(0)
        # More in number and fewer by time: the phase was longer, and nothing can be told.
        effect = np.abs(shifts).min(0) * (shifts[0] * shifts[1] >= 0)
        p = np.where(effect > 0, p, 1.0)
        return [
            _Test(place, key, "" if phase == _WHOLE else phase, float(p[at]), float(effect[at]))
            for (key, phase), at in block.rows.items()
            if both[at] and not key.level
        ]

    def _spread(self, block: _Block) -> tuple[Array, Array]:
        """Return variances and degrees of freedom of both models: the cell's own or the key's, whichever is larger."""
        variances, dofs = np.ones((2, len(block.counts))), np.ones((2, len(block.counts)))
        of_key = [self._pooled[key] for key, _ in block.rows]
        for model, squares in enumerate(block.squares()):
            prior = self._priors[model]
            own = moderated(squares, np.full(len(squares), float(block.dof())), prior)
            pooled = moderated(
                np.array([each[model] for each in of_key]), np.array([each[2] for each in of_key]), prior
            )
            larger = own[0] > pooled[0]
            variances[model], dofs[model] = (np.where(larger, *pair) for pair in zip(own, pooled, strict=True))
        return variances, dofs

    @cached_property
    def _pooled(self) -> dict[Key, Array]:
        """Return, over all places and phases of a key: squares of log counts, of log rates, and degrees of freedom."""
        sums: dict[Key, Array] = defaultdict(lambda: np.zeros(3))
        for block in self._blocks.values():
            rows = np.column_stack([*block.squares(), np.full(len(block.counts), float(block.dof()))])
            for (key, _), at in block.rows.items():
                sums[key] += rows[at]
        return sums

    @cached_property
    def _priors(self) -> tuple[Prior, Prior]:
        known = np.array([sums for key, sums in self._pooled.items() if not key.level and sums[2]]).reshape(-1, 3)
        return fit(known[:, 0], known[:, 2]), fit(known[:, 1], known[:, 2])


@dataclass(frozen=True, slots=True)
class _Test:
    place: Place
    key: Key
    phase: str
    p: float
    effect: float


def _blocks(counts: Iterable[Count], seconds: Mapping[Where, float]) -> dict[Place, _Block]:
    lengths: dict[Place, dict[str, dict[tuple[str, int], float]]] = defaultdict(lambda: defaultdict(dict))
    for where, length in seconds.items():
        lengths[Place(where.scenario, where.node_role)][where.phase][where.arm, where.repeat] = length
    # Plain tuples: a record's hash is worked out in Python, and there are millions.
    rows: dict[tuple[str, str], dict[tuple[str, str, str, str], dict[tuple[str, int], int]]]
    rows = defaultdict(lambda: defaultdict(dict))
    for count in counts:
        where, logger, key, run = count.where, count.logger, count.key, (count.where.arm, count.where.repeat)
        of_place = rows[where.scenario, where.node_role]
        for level in ("", count.level):
            for phase in (_WHOLE, where.phase):
                row = of_place[logger, key, level, phase]
                row[run] = row.get(run, 0) + count.count
    return {
        place: _block(
            of_phase, {(Key(*key), phase): row for (*key, phase), row in rows[place.scenario, place.node_role].items()}
        )
        for place, of_phase in lengths.items()
    }


def _block(
    lengths: Mapping[str, Mapping[tuple[str, int], float]],
    rows: Mapping[tuple[Key, str], Mapping[tuple[str, int], int]],
) -> _Block:
    """Return the counts as a table; a phase that has no length in some run is counted in the whole alone."""
    runs = tuple(sorted({run for of_run in lengths.values() for run in of_run}))
    known = {phase: [of_run.get(run, 0.0) for run in runs] for phase, of_run in lengths.items()}
    timed = {_WHOLE: [1.0] * len(runs)} | {phase: each for phase, each in known.items() if min(each) > 0}
    kept = [place for place in rows if place[1] in timed]
    return _Block(
        runs,
        {place: at for at, place in enumerate(kept)},
        np.array([[rows[place].get(run, 0) for run in runs] for place in kept], float).reshape(-1, len(runs)),
        np.array([timed[phase] for _, phase in kept], float).reshape(-1, len(runs)),
    )


def _varies(counts: Array) -> NDArray[np.bool_]:
    """Return of each row whether it is above zero in some columns and not in all."""
    seen = counts > 0
    return np.asarray(seen.any(1) & ~seen.all(1), np.bool_)
