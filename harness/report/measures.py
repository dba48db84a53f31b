"""Figures of runs as intervals over repeats, arm by arm, and how the candidate's compare with base's; pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, median, variance

from harness.model.arms import Role
from harness.model.verdict import JudgedRun, VerdictRecord
from harness.report.figures import describe, figure
from harness.report.limits import beyond

_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """One figure of a scenario: for each arm its median and range, and the ratio of the candidate's to base's."""

    scenario: str
    name: str
    arms: tuple[str, ...]
    ratio: str


@dataclass(frozen=True, slots=True)
class Measures:
    """The figures: `rows` over repeats, `runs` one by one under `names`; how many of both are not shown."""

    arms: tuple[str, ...]
    rows: tuple[MeasureRow, ...]
    names: tuple[str, ...]
    runs: tuple[tuple[str, tuple[str, ...]], ...]
    hidden_rows: int = 0
    hidden_runs: int = 0


def measures_of(record: VerdictRecord, runs: Sequence[JudgedRun], most: int) -> Measures:
    """Return the figures of `runs`, in their order, but for those that are shown as costs: so many of each.

    What runs of before were measured to do is none of this verification's.
    """
    runs = [run for run in runs if not run.origin]
    shown = {cost.figure for cost in record.costs}
    names = sorted({name for run in runs for name in run.measures} - shown)
    scenarios = dict.fromkeys(run.scenario for run in runs)
    rows = [
        _row(record, scenario, name, [run for run in runs if run.scenario == scenario and name in run.measures])
        for scenario in scenarios
        for name in names
    ]
    shown_rows = [row for row in rows if any(each != "–" for each in row.arms)]
    return Measures(
        tuple(arm.name for arm in record.arms),
        tuple(shown_rows[:most]),
        tuple(describe(name) for name in names),
        tuple(
            (f"{r.scenario} · {r.arm} · {r.repeat}", tuple(figure(r.measures.get(name)) for name in names))
            for r in runs[:most]
        ),
        beyond(shown_rows, most),
        beyond(runs, most),
    )


def _row(record: VerdictRecord, scenario: str, name: str, runs: Sequence[JudgedRun]) -> MeasureRow:
    values = {arm.name: [run.measures[name] for run in runs if run.arm == arm.name] for arm in record.arms}
    by_role = {arm.role: values[arm.name] for arm in record.arms}
    ratio = ratio_interval(by_role.get(Role.BASE, ()), by_role.get(Role.ON, ()))
    return MeasureRow(scenario, describe(name), tuple(map(_interval, values.values())), ratio)


def _interval(values: Sequence[float]) -> str:
    if not values:
        return "–"
    if min(values) == max(values):
        return figure(values[0])
    return f"{figure(median(values))} ({figure(min(values))} to {figure(max(values))})"


def ratio_interval(base: Sequence[float], candidate: Sequence[float]) -> str:
    """Return the ratio of geometric means with its 95 % interval (Welch's, of logarithms).

    Empty with fewer than two values on a side, or where a value is not positive: then there is no such ratio.
    """
    if min(len(base), len(candidate)) < 2 or min(*base, *candidate) <= 0:
        return ""
    logs = [[math.log(value) for value in values] for values in (base, candidate)]
    shift = mean(logs[1]) - mean(logs[0])
    errors = [variance(each) / len(each) for each in logs]
    if not sum(errors):
        return f"×{math.exp(shift):.3g}"
    from scipy import special  # most of a second that nobody without repeats need wait

    dof = sum(errors) ** 2 / sum(error**2 / (len(each) - 1) for error, each in zip(errors, logs, strict=True))
    half = float(special.stdtrit(dof, (1 + _LEVEL) / 2)) * math.sqrt(sum(errors))
    return f"×{math.exp(shift):.3g} ({math.exp(shift - half):.3g} to {math.exp(shift + half):.3g})"
