"""How often a line is logged: a moderated t-test on log counts (Smyth 2004); pure.

The variance is that of the template within arms, over all scenarios, drawn towards what templates vary in general. Both
the count and the count per second must differ, since a longer phase makes more of what is logged all the time, and no
more of what is logged once. Many rates are tested at once: what counts has a false discovery rate (Benjamini and
Hochberg) among what warns, or among the rest. Thousands of questions of which hardly one is true make it severe, and so
it may be higher where a gap lies between the arms that is much wider than the runs of any arm ever lay apart.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from harness.logs.compare.moderation import Array, Prior, fit, moderated
from harness.logs.compare.tables import WHOLE, Assessment, Key, Place, Table
from harness.model.findings import WORSE, Significance

MIN_EFFECT = 1.5  # times as often
# Of false ones among the rates that count. With 0.05 for all, two of 20 splits of runs of one build showed a rate.
_MOST_FALSE = 0.01
_MOST_FALSE_APART = 0.05
_EXCEEDING_EVENTS = 5
_WEIGHS = {Significance.WITHIN: 0, Significance.UNKNOWN: 1, Significance.BEYOND: 2}
_APART = 3.0  # times the widest spread of a line within an arm


class Rates:
    """What is known of how often each line is logged; made once for all contrasts."""

    def __init__(self, tables: Mapping[Place, Table]) -> None:
        """Learn from all arms' counts."""
        self._tables = tables

    def assess(self, base: str, candidate: str) -> dict[tuple[Place, Key], Assessment]:
        """Return, for all that both arms log, the phase whose rate differs most surely; there one may log nothing."""
        from scipy import stats  # a second that nobody without repeats need wait

        tests = [test for place, table in self._tables.items() for test in self._tests(place, table, base, candidate)]
        # Apart: what warns can hold a candidate back, and differences of what does not must not make that likelier.
        parts = [[test for test in tests if test.warns is warns] for warns in (True, False)]
        tests = [test for part in parts for test in part]
        qs = [q for part in parts if part for q in stats.false_discovery_control([test.p for test in part]).tolist()]
        best: dict[tuple[Place, Key], Assessment] = {}
        for test, q in sorted(zip(tests, qs, strict=True), key=lambda pair: pair[0].p):
            beyond = q < (_MOST_FALSE_APART if test.apart else _MOST_FALSE) and test.effect >= np.log2(MIN_EFFECT)
            otherwise = Significance.UNKNOWN if test.exceeds else Significance.WITHIN
            assessment = Assessment(Significance.BEYOND if beyond else otherwise, test.phase, q)
            before = best.setdefault((test.place, test.key), assessment)
            # What a run exceeds in one phase is not within the noise because another phase differs more surely.
            if _WEIGHS[assessment.significance] > _WEIGHS[before.significance]:
                best[test.place, test.key] = assessment
        return best

    def _tests(self, place: Place, table: Table, base: str, candidate: str) -> list[_RateTest]:
        of_base, of_candidate = table.of(base), table.of(candidate)
        if not of_base or not of_candidate:
            return []
        either = np.asarray(table.counts[:, [*of_base, *of_candidate]].any(1))
        both = {
            key
            for (key, phase), at in table.rows.items()
            if phase == WHOLE and table.counts[at, of_base].any() and table.counts[at, of_candidate].any()
        }
        shifts = np.array([each[:, of_candidate].mean(1) - each[:, of_base].mean(1) for each in table.logs()])
        variances, dofs = self._spread(table)
        size = 1 / len(of_base) + 1 / len(of_candidate)
        p = np.asarray(2 * special.stdtr(dofs, -np.abs(shifts) / np.sqrt(variances * size))).max(0)
        # More in number and fewer by time: the phase was longer, and nothing can be concluded.
        effect = np.abs(shifts).min(0) * (shifts[0] * shifts[1] >= 0)
        p = np.where(effect > 0, p, 1.0)
        apart = self._apart(table, of_base, of_candidate)
        exceeds = self._exceeds(table, of_base, of_candidate)
        warning = {(key.logger, key.family) for key, _ in table.rows if key.level in WORSE}
        levels = Counter(
            (key.logger, key.family)
            for (key, phase), at in table.rows.items()
            if key.level and phase == WHOLE and either[at]
        )
        return [
            _RateTest(
                place,
                key,
                "" if phase == WHOLE else phase,
                float(p[at]),
                float(effect[at]),
                bool(apart[at]),
                bool(exceeds[at]),
                key.level in WORSE if key.level else (key.logger, key.family) in warning,
            )
            for (key, phase), at in table.rows.items()
            if key in both and either[at] and bool(key.level) is (levels[key.logger, key.family] > 1)
        ]

    def _exceeds(self, table: Table, of_base: list[int], of_candidate: list[int]) -> NDArray[np.bool_]:
        """Return whether a run of the candidate logs clearly more than any of base: its own spread is no noise."""
        most, of_all = (np.asarray(table.counts[:, of].max(1)) for of in (of_candidate, of_base))
        return np.asarray((most - of_all >= _EXCEEDING_EVENTS) & (most > MIN_EFFECT * of_all))

    def _apart(self, table: Table, of_base: list[int], of_candidate: list[int]) -> NDArray[np.bool_]:
        """Return whether all runs of one arm lie far from all of the other, in numbers and in numbers per second."""
        widest = np.array([self._widest[row] for row in table.rows]).reshape(-1, 2)
        gaps = []
        for logs in table.logs():
            was, now = logs[:, of_base], logs[:, of_candidate]
            gaps.append(np.maximum(now.min(1) - was.max(1), was.min(1) - now.max(1)))
        return np.asarray((np.column_stack(gaps) > _APART * widest).all(1))

    @cached_property
    def _widest(self) -> dict[tuple[Key, str], Array]:
        """Return, of a key in a phase, how far the runs of an arm lay apart at any place: in both models."""
        found: dict[tuple[Key, str], Array] = defaultdict(lambda: np.zeros(2))
        for table in self._tables.values():
            repeated = table.repeated()
            ranges = [[np.ptp(logs[:, columns], axis=1) for columns in repeated] for logs in table.logs()]
            widest = np.array(ranges).reshape(2, len(repeated), len(table.counts)).max(1, initial=0.0)
            for row, at in table.rows.items():
                found[row] = np.maximum(found[row], widest[:, at])
        return found

    def _spread(self, table: Table) -> tuple[Array, Array]:
        """Return variances and degrees of freedom of both models: the cell's own or the key's, whichever is larger."""
        variances, dofs = np.ones((2, len(table.counts))), np.ones((2, len(table.counts)))
        of_key = [self._pooled[key] for key, _ in table.rows]
        for model, squares in enumerate(table.squares()):
            prior = self._priors[model]
            own = moderated(squares, np.full(len(squares), float(table.dof())), prior)
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
        for table in self._tables.values():
            rows = np.column_stack([*table.squares(), np.full(len(table.counts), float(table.dof()))])
            for (key, _), at in table.rows.items():
                sums[key] += rows[at]
        return sums

    @cached_property
    def _priors(self) -> tuple[Prior, Prior]:
        known = np.array([sums for key, sums in self._pooled.items() if not key.level and sums[2]]).reshape(-1, 3)
        return fit(known[:, 0], known[:, 2]), fit(known[:, 1], known[:, 2])


@dataclass(frozen=True, slots=True)
class _RateTest:
    place: Place
    key: Key
    phase: str
    p: float
    effect: float
    apart: bool
    exceeds: bool
    warns: bool
