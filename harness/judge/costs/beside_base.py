"""Costs of the candidate held against those of the base that ran beside it, at one repeat already; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from statistics import median

from harness.judge.costs.held_back import was_held_back
from harness.judge.costs.limits import limit_of, shipped_limits
from harness.judge.costs.rounds import Round, rounds_of
from harness.model.costs import Cost, CostLimit
from harness.model.declaration import Declaration
from harness.model.runs import RunKey, RunResult

HELD_BACK = "the host slowed the nodes down"
APART = "one of the two runs was made again, minutes after the other"


def costs_by_shipped_limits(
    declaration: Declaration,
    runs: Sequence[RunResult],
    again: Collection[RunKey] = (),
    first: Sequence[RunResult] = (),
) -> tuple[Cost, ...]:
    """Return the costs of what was declared; between two releases what every one has its own of is not judged."""
    one_release = not declaration.is_of_two_releases
    return costs_of(declaration.compared, runs, shipped_limits(), one_release=one_release, again=again, first=first)


def costs_of(
    compared: Sequence[tuple[str, str]],
    runs: Sequence[RunResult],
    limits: Sequence[CostLimit],
    *,
    one_release: bool = True,
    again: Collection[RunKey] = (),
    first: Sequence[RunResult] = (),
) -> tuple[Cost, ...]:
    """Return every figure that has a limit and was measured on both sides, or ought to have been, by scenario.

    `compared` are the names of a control and of the arm held against it; `one_release` says that both are of one;
    `again` are the runs in whose place one stands that was made later, `first` what these were where that counts too.
    """
    scenarios = dict.fromkeys(run.scenario for run in runs)
    return tuple(
        cost
        for scenario in scenarios
        for control, arm in compared
        for cost in _costs(rounds_of(runs, scenario, control, arm, again, first), limits, one_release)
    )


def _costs(rounds: Sequence[Round], limits: Sequence[CostLimit], one_release: bool) -> Iterator[Cost]:
    names = {name for each in rounds for run in (each.base, each.candidate) for name in run.measures}
    for name in sorted(names):
        if found := limit_of(name, limits):
            if measured := [each for each in rounds if each.has(name, found[0])]:
                cost = _cost(measured, len(rounds), name, *found)
                has_its_own = found[0].level and not one_release
                yield replace(cost, over=False, not_judged="each release has its own level") if has_its_own else cost
            elif lacking := [each for each in rounds if each.lacks(name) and not found[0].may_lack]:
                yield _unmeasured(lacking, name, *found)


def _unmeasured(lacking: Sequence[Round], name: str, limit: CostLimit, description: str) -> Cost:
    base = median(each.base.measures[name] for each in lacking)
    return Cost(
        scenario=lacking[0].base.scenario,
        arm=lacking[0].candidate.arm,
        control=lacking[0].base.arm,
        figure=name,
        description=description,
        unit=limit.unit,
        base=base,
        candidate=None,
        allowed=round(allowed(limit, base), 3),
        over=False,
        rounds=len(lacking),
        not_judged="no run of the candidate that passed measured them",
    )


def _cost(measured: Sequence[Round], made: int, name: str, limit: CostLimit, description: str) -> Cost:
    compared = [(each, pair) for each in measured if (pair := each.comparable(name, limit))]
    judged = [pair for each, pair in compared if not _why_no_measure(each, limit)]
    shown = judged or [pair for _, pair in compared] or [each.measured(name, limit) for each in measured]
    base, candidate = _middle(shown, limit)
    first = measured[0]
    return Cost(
        scenario=first.base.scenario,
        arm=first.candidate.arm,
        control=first.base.arm,
        figure=name,
        description=description,
        unit=limit.unit,
        base=base,
        candidate=candidate,
        allowed=round(allowed(limit, base), 3),
        over=bool(judged) and candidate > allowed(limit, base),
        rounds=len(shown),
        not_judged="" if judged else _why_none(compared, limit),
        unjudged=made - len(judged) if judged else 0,
    )


def _middle(rounds: Sequence[tuple[float, float]], limit: CostLimit) -> tuple[float, float]:
    """Return the round that decides: of an even number the lesser of both in the middle.

    It is over the limit if, and only if, more than half of the rounds are.
    """
    by_excess = sorted(rounds, key=lambda pair: pair[1] - allowed(limit, pair[0]))
    return by_excess[(len(by_excess) - 1) // 2]


def _why_none(compared: Sequence[tuple[Round, tuple[float, float]]], limit: CostLimit) -> str:
    """Return why no round was judged: for the host's sake, where that holds for any of them."""
    reasons = [_why_no_measure(each, limit) for each, _ in compared] or ["the runs were not decided in the same way"]
    return HELD_BACK if HELD_BACK in reasons else reasons[0]


def _why_no_measure(each: Round, limit: CostLimit) -> str:
    """Return why base's figure is no measure for the candidate's, empty where it is: wall time is the host's too."""
    if limit.waits and was_held_back(each.base, each.candidate):
        return HELD_BACK
    return APART if limit.waits and each.apart else ""


def allowed(limit: CostLimit, base: float) -> float:
    """Return the most that a candidate may have where base has this; less than nothing (a heap that shrank) is none."""
    return max(max(base, 0.0) + limit.least, base * limit.ratio)
