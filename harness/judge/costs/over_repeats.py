"""Seconds that the candidate takes longer than base, beyond the noise, where repeats are enough to say so; pure.

A figure counts only if three things agree, so that a noisy host makes no HOLD: every run of the candidate is worse than
every run of base; it is worse by half and by more than a moment; and a t-test of the logarithms says so at a false
discovery rate of 1 % over all figures of the verification (Benjamini and Hochberg).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import mean, median, variance

from harness.judge.costs.held_back import is_wall_time, was_held_back
from harness.judge.costs.limits import BY_CHANCE, shipped_limits
from harness.model.runs import Outcome, RunKey, RunResult
from harness.model.verdict import CellName

LEAST_RUNS = 3
_LEAST_RATIO = 1.5
_LEAST_SECONDS = 1.0
_FALSE_DISCOVERIES = 0.01
# So that nothing is infinitely many times nothing; a tenth of a second is what figures are good for.
_FLOOR_SECONDS = 0.1
_SECONDS = "_seconds"


@dataclass(frozen=True, slots=True)
class WorseFigure:
    """A figure by which a candidate's arm may be worse than base; `p` of the one-sided test."""

    scenario: str
    arm: str
    base_arm: str
    name: str
    base: tuple[float, ...]
    candidate: tuple[float, ...]
    p: float

    @property
    def cell(self) -> CellName:
        """What it is about."""
        return CellName(self.scenario, self.arm)

    @property
    def sentence(self) -> str:
        """What is worse."""
        what = self.name.removesuffix(_SECONDS).replace("_", " ")
        before, now = median(self.base), median(self.candidate)
        return (
            f"{self.scenario}: {self.arm} takes longer than {self.base_arm}, beyond the noise: {what} {now:.1f} s "
            f"against {before:.1f} s (medians of {len(self.candidate)} and {len(self.base)} runs, none overlapping)"
        )


def worse_figures(
    compared: Sequence[tuple[str, str]], runs: Sequence[RunResult], again: Collection[RunKey] = ()
) -> tuple[WorseFigure, ...]:
    """Return the figures in which the candidate's arms are slower than base's.

    `compared` are the names of a control and of the arm held against it. There are none without LEAST_RUNS runs of both
    arms that have a figure, where all passed: a run that failed ends elsewhere, so that its figures cannot be compared.
    Repeats in which the host held the nodes of either arm back do not count for wall time, nor those in which one of
    both was made later than the other: it stands in the place of one that is in `again`.
    """
    tested = sorted(_tested(compared, runs, again), key=lambda each: each.p)
    significant = [rank for rank, each in enumerate(tested, 1) if each.p <= _FALSE_DISCOVERIES * rank / len(tested)]
    found = tested[: max(significant, default=0)]
    return tuple(each for each in found if _is_plain(each))


def _tested(
    compared: Sequence[tuple[str, str]], runs: Sequence[RunResult], again: Collection[RunKey]
) -> Iterator[WorseFigure]:
    for scenario, (base, arm) in product(dict.fromkeys(run.scenario for run in runs), compared):
        before, now = _passed(runs, scenario, base), _passed(runs, scenario, arm)
        slow = {run.repeat for run in (*before, *now) if was_held_back(run)}
        apart = {run.repeat for run in before if run.key in again} ^ {run.repeat for run in now if run.key in again}
        for name in sorted({name for run in now for name in run.measures if _is_judged(name)}):
            left_out = slow | apart if is_wall_time(name, shipped_limits()) else set[int]()
            one, two = (_values(each, name, left_out) for each in (before, now))
            if min(len(one), len(two)) >= LEAST_RUNS:
                yield WorseFigure(scenario, arm, base, name, one, two, p_larger(one, two))


def _is_judged(name: str) -> bool:
    return name.endswith(_SECONDS) and name not in BY_CHANCE


def _values(runs: Sequence[RunResult], name: str, left_out: Collection[int]) -> tuple[float, ...]:
    """Return a figure of the runs that have it, but for those of repeats that say nothing of it."""
    return tuple(run.measures[name] for run in runs if name in run.measures and run.repeat not in left_out)


def _passed(runs: Sequence[RunResult], scenario: str, arm: str) -> list[RunResult]:
    """Return the runs of a cell if all of them passed in this verification, none otherwise."""
    mine = [run for run in runs if (run.scenario, run.arm) == (scenario, arm)]
    return mine if all(run.outcome is Outcome.PASSED and not run.origin for run in mine) else []


def p_larger(base: Sequence[float], candidate: Sequence[float]) -> float:
    """Return the one-sided p of Student's t-test that the candidate's logarithms are larger."""
    logs = [[math.log(max(value, _FLOOR_SECONDS)) for value in values] for values in (base, candidate)]
    dof = len(base) + len(candidate) - 2
    pooled = sum(variance(each) * (len(each) - 1) for each in logs) / dof
    error = math.sqrt(pooled * (1 / len(base) + 1 / len(candidate)))
    shift = mean(logs[1]) - mean(logs[0])
    if not error:
        return 0.0 if shift > 0 else 1.0
    from scipy import special  # most of a second that nobody without repeats need wait

    return float(special.stdtr(dof, -shift / error))


def _is_plain(each: WorseFigure) -> bool:
    before, now = median(each.base), median(each.candidate)
    apart = min(each.candidate) > max(each.base)
    return apart and now > _LEAST_RATIO * before and now - before > _LEAST_SECONDS
