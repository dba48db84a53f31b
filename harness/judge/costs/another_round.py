"""A candidate that costs more than base, by one round alone, is asked once more beside base; pure.

docs/adr/0043-a-cost-over-its-limit-is-asked-once-more.md says why that is no trying until it passes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from harness.judge.costs.beside_base import costs_by_shipped_limits
from harness.judge.costs.limits import rank_of
from harness.judge.costs.reasons import amount
from harness.model.costs import Cost
from harness.model.declaration import Declaration
from harness.model.runs import RunKey, RunResult
from harness.model.spares import in_place, is_asked_again, is_spare

_MOST_OVER = 4  # one scenario in so many: what costs more in many of them has no bad luck


def another_round(declaration: Declaration, results: Sequence[RunResult]) -> list[RunKey]:
    """Return the runs by which a control and an arm that cost more than it are asked once more, side by side.

    There are none where several repeats were declared, of which more than half decide, and none of runs whose spare
    repeat stands for one that did not come to an answer.
    """
    if not declaration.has_spares or declaration.repeats > 1:
        return []
    over = _over(declaration, results)
    if len({cost.scenario for cost in over}) > max(1, len(declaration.scenarios) // _MOST_OVER):
        return []
    pairs = dict.fromkeys((cost.scenario, arm) for cost in over for arm in (cost.control, cost.arm))
    return [RunKey(scenario, arm, declaration.repeats + 1) for scenario, arm in pairs]


def that_ended_alike(results: Sequence[RunResult], asked: Collection[RunKey]) -> list[RunResult]:
    """Return the runs `asked` again, of the scenarios in which each of them ended as the arm's first run did.

    What ended otherwise did other things for another time, and takes nothing back of what the first round cost.
    """
    first = {(run.scenario, run.arm): run.label for run in results if run.key not in asked}
    again = [run for run in results if run.key in asked]
    otherwise = {run.scenario for run in again if run.label != first.get((run.scenario, run.arm))}
    return [run for run in again if run.scenario not in otherwise]


def of_another_round(
    declaration: Declaration, results: Sequence[RunResult], asked: Collection[RunKey]
) -> tuple[str, ...]:
    """Return in a sentence for each scenario what cost more in one round, and what in that of the runs `asked`."""
    second = {_name(cost): cost for cost in costs_by_shipped_limits(declaration, that_ended_alike(results, asked))}
    made = {run.scenario for run in results if run.key in asked}
    found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for cost in sorted(_over(declaration, results), key=lambda cost: rank_of(cost.figure)):
        then = f"{cost.description} {_both(cost)}, then {_both(second.get(_name(cost)))}"
        found[cost.scenario, cost.control, cost.arm].append(then)
    return tuple(
        f"{scenario} was run once more on {control} and {arm}, because {arm} cost more: {'; '.join(told)}."
        for (scenario, control, arm), told in found.items()
        if scenario in made
    )


def in_some_rounds(
    declaration: Declaration, results: Sequence[RunResult], costs: Sequence[Cost], again: Collection[RunKey] = ()
) -> tuple[str, ...]:
    """Return in sentences what is over its limit in some of the declared repeats, and not in most.

    `again` are the runs in whose place one of `results` stands that was made later.
    """
    if declaration.repeats == 1:
        return ()
    repeats = [[run for run in results if run.repeat == repeat] for repeat in range(1, declaration.repeats + 1)]
    over = {_name(cost) for cost in costs if cost.over}
    found: dict[tuple[str, str, str, str], list[Cost]] = defaultdict(list)
    for runs in repeats:
        for cost in costs_by_shipped_limits(declaration, runs, again):
            if cost.over and _name(cost) not in over:
                found[_name(cost)].append(cost)
    return tuple(
        f"{rounds[0].scenario}: {rounds[0].arm} costs more than {rounds[0].control} in {len(rounds)} of "
        f"{declaration.repeats} repeats, and not in most: {rounds[0].description} {_both(rounds[0])}."
        for rounds in found.values()
    )


def of_what_was_replaced(
    declaration: Declaration, results: Sequence[RunResult], again: Collection[RunKey]
) -> tuple[str, ...]:
    """Return in sentences what cost more until the runs `again` were asked once more, or only then.

    A node that spins until nothing is left may itself be why its run came to no answer.
    """
    made_first = [run for run in results if not is_spare(declaration, run.key)]
    replaced = {(run.scenario, run.arm) for run in made_first if run.key in again}
    first, later = (
        {_name(cost): cost for cost in costs if not replaced.isdisjoint(_cells(cost))}
        for costs in (
            costs_by_shipped_limits(declaration, made_first),
            costs_by_shipped_limits(declaration, in_place(declaration, results), again),
        )
    )
    before = (cost for cost in first.values() if cost.over)
    only_then = (later[name] for name, cost in first.items() if not cost.over and name in later and later[name].over)
    return tuple(
        f"{cost.scenario}, of which a run was made again, {when} cost more on {cost.arm} than on {cost.control}: "
        f"{cost.description} {_both(first[_name(cost)])}, then {_both(later.get(_name(cost)))}."
        for when, costs in (("first", before), ("then", only_then))
        for cost in costs
    )


def _over(declaration: Declaration, results: Sequence[RunResult]) -> list[Cost]:
    """Return what is over its limit by what was declared; nothing of an arm or a control that is asked again anyway."""
    first = [run for run in results if not is_spare(declaration, run.key)]
    unclear = {(run.scenario, run.arm) for run in first if is_asked_again(run)}
    found = costs_by_shipped_limits(declaration, first)
    return [cost for cost in found if cost.over and unclear.isdisjoint(_cells(cost))]


def _cells(cost: Cost) -> tuple[tuple[str, str], tuple[str, str]]:
    return (cost.scenario, cost.control), (cost.scenario, cost.arm)


def _name(cost: Cost) -> tuple[str, str, str, str]:
    return cost.scenario, cost.control, cost.arm, cost.figure


def _both(cost: Cost | None) -> str:
    if cost is None or cost.not_judged:
        return "no comparable figure"
    return f"{amount(cost.candidate, cost.unit)} against {amount(cost.base, cost.unit)}"
