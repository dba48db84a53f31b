"""Costs at a glance: one small chart for each, the candidate between what base costs and the limit; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.base.text import counted, cut
from harness.judge.costs.reasons import number
from harness.model.costs import EVERYWHERE, Cost
from harness.model.verdict import VerdictRecord
from harness.report.result_matrix import slug

WIDTH = 372.0
LEFT = 122.0
BASE_X = 150.0
LIMIT_X = 268.0
ROW = 19.0
TOP = 6.0
_MOST_CHARTS = 9
_MOST_ROWS = 4
_LABEL = 18


@dataclass(frozen=True, slots=True)
class CostDot:
    """A cost of a scenario on an arm: where the candidate is, in user units; base is at BASE_X, the limit at LIMIT_X.

    `values` are the candidate's and base's.
    """

    label: str
    y: float
    candidate_x: float
    over: bool
    values: str
    title: str


@dataclass(frozen=True, slots=True)
class CostChart:
    """One cost, in the cells that are nearest to its limit; `hidden` more of them are further away."""

    id: str
    description: str
    dots: tuple[CostDot, ...]
    hidden: int
    over: bool
    height: float
    width: float = WIDTH
    left: float = LEFT
    base_x: float = BASE_X
    limit_x: float = LIMIT_X


@dataclass(frozen=True, slots=True)
class CostOverview:
    """All costs in sentences, and the charts of those that are nearest to their limits."""

    sentence: str
    not_judged: str
    charts: tuple[CostChart, ...]


def cost_overview(record: VerdictRecord) -> CostOverview | None:
    """Return what all costs of a verdict come to; None where there are none."""
    judged = [cost for cost in record.costs if not cost.not_judged and cost.candidate is not None]
    if not record.costs:
        return None
    nearest = sorted(judged, key=lambda cost: (not cost.over, -share_of_room(cost)))
    figures = list(dict.fromkeys(cost.figure for cost in nearest))
    return CostOverview(
        _sentence(judged, nearest),
        _not_judged(record.costs),
        tuple(_chart(record, [c for c in nearest if c.figure == figure]) for figure in figures[:_MOST_CHARTS]),
    )


def share_of_room(cost: Cost) -> float:
    """Return how much the candidate takes of what its limit leaves it beyond base; below 0 where it is less."""
    return ((cost.candidate or 0.0) - cost.base) / max(cost.allowed - cost.base, 1e-9)


def _sentence(judged: Sequence[Cost], nearest: Sequence[Cost]) -> str:
    over = [cost for cost in judged if cost.over]
    if over:
        return f"{len(over)} of {counted(len(judged), 'cost')} over the limit. The furthest: {_named(nearest[0])}."
    if not nearest:
        return "No cost could be compared with its limit."
    share = f"{100 * max(share_of_room(nearest[0]), 0.0):.0f} %"
    costs = counted(len(judged), "cost")
    return f"None of {costs} is over its limit. The nearest uses {share} of its room above base: {_named(nearest[0])}."


def _named(cost: Cost) -> str:
    return f"{_described(cost)}, in {cost.scenario} on {cost.arm}"


def _described(cost: Cost) -> str:
    return cost.description.rstrip(",")


def _not_judged(costs: Sequence[Cost]) -> str:
    reasons: dict[str, int] = {}
    for cost in costs:
        if cost.not_judged:
            reasons[cost.not_judged] = reasons.get(cost.not_judged, 0) + 1
    return "; ".join(f"{count} not judged: {reason}" for reason, count in sorted(reasons.items()))


def _chart(record: VerdictRecord, costs: Sequence[Cost]) -> CostChart:
    first = costs[0]
    shown = costs[:_MOST_ROWS]
    return CostChart(
        f"cost-{slug(first.figure)}",
        f"{_described(first)}, {first.unit}",
        tuple(_dot(record, cost, TOP + ROW * row) for row, cost in enumerate(shown)),
        len(costs) - len(shown),
        any(cost.over for cost in costs),
        TOP + ROW * len(shown) + 4,
    )


def _dot(record: VerdictRecord, cost: Cost, y: float) -> CostDot:
    role = next((arm.role.value for arm in record.arms if arm.name == cost.arm), cost.arm)
    scenario = "all" if cost.scenario == EVERYWHERE else cost.scenario
    title = (
        f"{cost.scenario} on {cost.arm}: {number(cost.candidate or 0.0)} {cost.unit}, "
        f"{number(cost.base)} on {cost.control}, limit {number(cost.allowed)}"
    )
    room = _LABEL - len(role)
    label = scenario if len(scenario) <= room else f"{scenario[: room - 1]}…"
    values = f"{number(cost.candidate or 0.0)} ({number(cost.base)})"
    return CostDot(f"{label} {role}", y, _x(cost), cost.over, values, cut(title, 300))


def _x(cost: Cost) -> float:
    """Return where the candidate is; what is far from both base and limit stays on the picture."""
    return round(min(max(BASE_X + (LIMIT_X - BASE_X) * share_of_room(cost), LEFT), LIMIT_X + 18), 1)
