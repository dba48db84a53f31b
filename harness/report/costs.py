"""What the candidate costs beside base, as pictures and a table for each scenario; pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from harness.judge.costs.reasons import number
from harness.model.costs import EVERYWHERE, Cost
from harness.model.events import NodeSampled
from harness.model.runs import RunKey
from harness.model.verdict import VerdictRecord
from harness.report.cost_multiples import share_of_room
from harness.report.limits import kept
from harness.report.result_matrix import slug
from harness.report.share_curves import Panel, panels
from harness.rundir.journal import Entry

_BAR_WIDTH = 120.0
_LEAST_SHOWN = 6
_MEDIANS = "{control} is the median of the scenarios, and {arm} is that plus the median of their differences."
_ABOVE_IN_SOME = "above the limit, but not above base in nearly all scenarios: within"


@dataclass(frozen=True, slots=True)
class Bars:
    """Widths of the bars of base and candidate, and where the limit is, out of _BAR_WIDTH."""

    base: float
    candidate: float
    limit: float


@dataclass(frozen=True, slots=True)
class CostRow:
    """One cost in its `unit`; `standing` is `over`, `within`, or why it was not judged.

    A value that no run measured is a dash with what it counts as.
    """

    description: str
    unit: str
    base: str
    candidate: str
    limit: str
    standing: str
    bars: Bars


@dataclass(frozen=True, slots=True)
class CostView:
    """All costs of a scenario on an arm, the nearest to their limits first; `repeat` is that of the curves.

    Of the costs `rows` are shown and `more` are folded; `remark` says what their figures are where that is not plain.
    """

    id: str
    scenario: str
    arm: str
    control: str
    over: int
    rows: tuple[CostRow, ...]
    more: tuple[CostRow, ...]
    panels: tuple[Panel, ...]
    repeat: int
    remark: str


def cost_views(record: VerdictRecord, journals: Mapping[str, Sequence[Entry]], most: int) -> tuple[CostView, ...]:
    """Return a view for each scenario and arm that has costs, at most so many, those first with one over its limit."""
    grouped = groupby(record.costs, key=lambda cost: (cost.scenario, cost.arm, cost.control))
    found = [(key, list(costs)) for key, costs in grouped]
    shown = kept(found, most, lambda each: any(cost.over for cost in each[1]))
    return tuple(_view(record, *key, costs, journals) for key, costs in shown)


def _view(
    record: VerdictRecord,
    scenario: str,
    arm: str,
    control: str,
    costs: Sequence[Cost],
    journals: Mapping[str, Sequence[Entry]],
) -> CostView:
    repeat = next((r for r in range(1, record.repeats + 1) if _samples(record, journals, scenario, arm, r)), 1)
    base, candidate = (_samples(record, journals, scenario, name, repeat) for name in (control, arm))
    over = {cost.figure for cost in costs if cost.over}
    rows = [_row(cost, _unmeasured(record, cost)) for cost in sorted(costs, key=_distance)]
    shown = max(len(over), _LEAST_SHOWN)
    return CostView(
        f"costs-{slug(scenario, arm)}",
        scenario,
        arm,
        control,
        len(over),
        tuple(rows[:shown]),
        tuple(rows[shown:]),
        panels(base, candidate, over) if base and candidate else (),
        repeat,
        _MEDIANS.format(arm=arm, control=control) if scenario == EVERYWHERE else "",
    )


def _distance(cost: Cost) -> tuple[bool, bool, float]:
    """Return how far a cost is from its limit: what is over comes first, and what was not judged last."""
    return not cost.over, bool(cost.not_judged), -share_of_room(cost)


def _samples(
    record: VerdictRecord, journals: Mapping[str, Sequence[Entry]], scenario: str, arm: str, repeat: int
) -> list[tuple[float, NodeSampled]]:
    """Return what was sampled in a repeat, or in the spare run that was decided in its place (harness.model.spares)."""
    first, spare = RunKey(scenario, arm, repeat), RunKey(scenario, arm, record.repeats + repeat)
    decided = {run.key for run in record.runs if run.outcome.is_decided}
    stands = spare in decided and first not in decided
    entries = journals.get((spare if stands else RunKey(scenario, arm, repeat)).folder, ())
    return [(entry.t, entry.event) for entry in entries if isinstance(entry.event, NodeSampled)]


def _unmeasured(record: VerdictRecord, cost: Cost) -> frozenset[str]:
    """Return the arms of which no run has the figure: it counts as what it is where nothing of the kind happens."""
    if cost.scenario == EVERYWHERE:
        return frozenset()
    measured = {run.arm for run in record.runs if run.scenario == cost.scenario and cost.figure in run.measures}
    return frozenset({cost.control, cost.arm} - measured)


def _shown(value: float | None, *, measured: bool) -> str:
    return number(value) if measured or value is None else f"– (counts as {number(value)})"


def _standing(cost: Cost) -> str:
    if cost.not_judged or cost.over:
        return cost.not_judged or "over"
    above = cost.candidate is not None and cost.candidate > cost.allowed
    return _ABOVE_IN_SOME if above and cost.scenario == EVERYWHERE else "within"


def _row(cost: Cost, unmeasured: Collection[str]) -> CostRow:
    values = (cost.base, cost.candidate or 0.0, cost.allowed)
    largest = max(values) or 1.0
    widths = (round(max(value, 0.0) / largest * _BAR_WIDTH, 1) for value in values)
    return CostRow(
        cost.description.rstrip(","),
        cost.unit,
        _shown(cost.base, measured=cost.control not in unmeasured),
        _shown(cost.candidate, measured=cost.arm not in unmeasured),
        number(cost.allowed),
        _standing(cost),
        Bars(*widths),
    )
