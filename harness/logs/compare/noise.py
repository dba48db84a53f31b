"""How much runs of one build differ from each other, and whether what only one build logs is more than that; pure.

Much of what a cluster logs comes and goes: whether an election had to be repeated, whether a topic was made by this
node. Such lines come in incidents, several templates together. A template that is in every run of one arm and in no run
of the other is a difference only when it is not known to come and go within base's runs, as often as the candidate logs
it, and when so many runs agree that an incident would hardly fall on the arms' border. docs/log-diff.md has the
method and its limits; how often a line is logged is the question of `rates`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from harness.logs.compare.counts import Count, Where
from harness.logs.compare.moderation import Array
from harness.logs.compare.tables import WHOLE, Assessment, Key, Place, tables
from harness.model.findings import Significance

MOST_CHANCE = 0.05  # of an incident that looks like a difference


class Noise:
    """What is known of chance in a set of runs; made once for all contrasts."""

    def __init__(self, counts: Iterable[Count], seconds: Mapping[Where, float]) -> None:
        """Learn from all arms' counts; `seconds` says which runs there are, and how long their phases were."""
        self.tables = tables(counts, seconds)

    @cached_property
    def repeated(self) -> bool:
        """Whether any arm was run more than once: without that nothing is known of chance."""
        return any(table.repeated() for table in self.tables.values())

    def runs(self, place: Place, key: Key, arm: str) -> tuple[int, ...]:
        """Return how often an arm's runs logged something, in the order of the repeats."""
        table = self.tables[place]
        return tuple(int(each) for each in table.row(key)[table.of(arm)])

    def presence(self, place: Place, key: Key, base: str, candidate: str) -> Assessment:
        """Say whether what only one of two arms logs is more than something that comes and goes."""
        if not self.repeated:
            return Assessment(Significance.UNKNOWN)
        table = self.tables[place]
        row = table.row(key)
        seen = row > 0
        excused = self._excused_by_base(place, key, base, candidate)
        if excused is not None:
            return Assessment(excused)
        if not (seen[table.of(base)].all() or seen[table.of(candidate)].all()):
            return Assessment(Significance.UNKNOWN)
        # Either way round, if how likely an incident is in a run may be anything.
        chance = 2 * self._incidents[place] * float(special.beta(seen.sum() + 1, (~seen).sum() + 1))
        if base in self._unsteady.get(key, set()):
            # What is logged as often as it pleases may well have fallen on these runs alone.
            chance = max(chance, 2 * float(seen.mean()) ** row.sum())
        is_beyond = chance < MOST_CHANCE and self._is_replicated(place, key, base, candidate)
        return Assessment(Significance.BEYOND if is_beyond else Significance.UNKNOWN)

    def _excused_by_base(self, place: Place, key: Key, base: str, candidate: str) -> Significance | None:
        """Return what base shows of a key that came and went in its own runs; None where it excuses nothing.

        Only base is a witness: what the candidate's jar logs in some runs only, under any setting, may be its very
        fault. It excuses as much as it logged in a run itself: in the same scenario that is noise, in another nobody
        can tell.
        """
        logged = self._most(place, key, candidate)
        coming = [at for at, arm in self._coming_and_going.get(key, ()) if arm == base]
        as_much = [at for at in coming if logged <= self._most(at, key, base)]
        if any(at.scenario == place.scenario for at in as_much):
            return Significance.WITHIN
        return Significance.UNKNOWN if as_much else None

    def _most(self, place: Place, key: Key, arm: str) -> int:
        """Return how often the run of an arm logged a key that logged it most."""
        return max(self.runs(place, key, arm), default=0)

    def _is_replicated(self, place: Place, key: Key, base: str, candidate: str) -> bool:
        """Say whether a difference is seen more than once: in another scenario, or in runs enough."""
        seen = self.tables[place].row(key) > 0
        own = self._side(place, key, base, candidate)
        others = (each for each in self.tables if each.scenario != place.scenario)
        elsewhere = any(own == self._side(each, key, base, candidate) for each in others)
        return elsewhere or self.is_enough(int(seen.sum()), int((~seen).sum()))

    def _side(self, place: Place, key: Key, base: str, candidate: str) -> str:
        """Return the one of two arms that logs a key in all of its runs while the other does in none; else nothing."""
        table = self.tables[place]
        seen = {arm: table.row(key)[table.of(arm)] > 0 for arm in (base, candidate)}
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

    @cached_property
    def _coming_and_going(self) -> dict[Key, set[tuple[Place, str]]]:
        """Return the places and arms within which a key was sometimes there and sometimes not."""
        found: dict[Key, set[tuple[Place, str]]] = defaultdict(set)
        for place, table in self.tables.items():
            varies = {table.runs[columns[0]][0]: _varies(table.counts[:, columns]) for columns in table.repeated()}
            for (key, phase), at in table.rows.items():
                if phase == WHOLE:
                    found[key] |= {(place, arm) for arm, rows in varies.items() if rows[at]}
        return found

    @cached_property
    def _unsteady(self) -> dict[Key, set[str]]:
        """Return the arms whose runs did not log a key equally often, in some scenario and by some kind of node."""
        found: dict[Key, set[str]] = defaultdict(set)
        for table in self.tables.values():
            for columns in table.repeated():
                ranges = np.ptp(table.counts[:, columns], axis=1)
                for (key, phase), at in table.rows.items():
                    if phase == WHOLE and ranges[at]:
                        found[key].add(table.runs[columns[0]][0])
        return found

    @cached_property
    def _incidents(self) -> dict[Place, int]:
        """Return how many different things come and go at each place and are not known from any other."""
        return {place: max(len(self._patterns[place]), 1) for place in self.tables}

    @cached_property
    def _patterns(self) -> dict[Place, set[bytes]]:
        """Return in which runs each of these was there.

        What always comes together is one. What is known from elsewhere cannot be taken for a difference.
        """
        patterns: dict[Place, set[bytes]] = defaultdict(set)
        for key, where in self._coming_and_going.items():
            places = {place for place, _ in where}
            if len(places) == 1 and not key.level:
                patterns[next(iter(places))].add((self.tables[next(iter(places))].row(key) > 0).tobytes())
        return patterns


def _varies(counts: Array) -> NDArray[np.bool_]:
    """Return of each row whether it is above zero in some columns and not in all."""
    seen = counts > 0
    return np.asarray(seen.any(1) & ~seen.all(1), np.bool_)
