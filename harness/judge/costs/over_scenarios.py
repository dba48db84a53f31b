"""A cost that is in every cluster, held against base's over all scenarios at once; pure.

One cluster's figure differs from base's by chance. What a jar costs wherever it runs shows in each of them, and the
median of many differences is much steadier than one: a tenth of what a scenario may cost by itself is noticed so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from harness.base.text import listed
from harness.judge.costs.limits import limit_of
from harness.model.costs import EVERYWHERE, Cost, CostLimit

# Of six differences all are above 0 by chance once in 64 times, of eight all but one once in 28: together with the
# limit that is rare enough.
LEAST_SCENARIOS, _FORGIVES_ONE = 6, 8

_MOST_NAMED = 5


def costs_everywhere(costs: Sequence[Cost], limits: Sequence[CostLimit]) -> tuple[Cost, ...]:
    """Return a cost over all scenarios for each figure that has a limit for that and was judged in enough of them.

    It is over where the median difference is over `everywhere`, and the candidate's figure is above base's in all
    scenarios; of eight or more, in all but one.
    """
    return tuple(
        _over(judged, _limit(judged, limits).everywhere)
        for judged in _everywhere(costs, limits).values()
        if len(judged) >= LEAST_SCENARIOS
    )


def are_over(differences: Sequence[float], most: float) -> bool:
    """Say whether differences to base, a scenario each, are more than `most` in half of them and nearly all above 0."""
    above = sum(difference > 0 for difference in differences)
    return median(differences) > most and above >= len(differences) - (len(differences) >= _FORGIVES_ONE)


def in_too_few(costs: Sequence[Cost], limits: Sequence[CostLimit]) -> tuple[str, ...]:
    """Return in a sentence what was not judged over all scenarios for lack of them, where anything was."""
    found = _everywhere(costs, limits)
    few = {what for what, judged in found.items() if len(judged) < LEAST_SCENARIOS}
    if not few or len(few) == len(found):
        return ()
    which = listed(sorted({figure for _, _, figure in few}), _MOST_NAMED)
    return (f"Judged in fewer than {LEAST_SCENARIOS} scenarios, and so not compared over all of them: {which}.",)


def _everywhere(costs: Sequence[Cost], limits: Sequence[CostLimit]) -> Mapping[tuple[str, str, str], list[Cost]]:
    """Return the costs of each figure that has a limit for all scenarios at once."""
    return {what: judged for what, judged in _by_figure(costs).items() if _limit(judged, limits).everywhere}


def _by_figure(costs: Sequence[Cost]) -> Mapping[tuple[str, str, str], list[Cost]]:
    found: dict[tuple[str, str, str], list[Cost]] = {}
    for cost in costs:
        if not cost.not_judged and cost.scenario != EVERYWHERE:
            found.setdefault((cost.control, cost.arm, cost.figure), []).append(cost)
    return found


def _limit(judged: Sequence[Cost], limits: Sequence[CostLimit]) -> CostLimit:
    found = limit_of(judged[0].figure, limits)
    assert found, "only figures with a limit are costs"
    return found[0]


def _over(judged: Sequence[Cost], most: float) -> Cost:
    differences = _differences(judged)
    base, shift = median(cost.base for cost in judged), median(differences)
    first = judged[0]
    return Cost(
        scenario=EVERYWHERE,
        arm=first.arm,
        control=first.control,
        figure=first.figure,
        description=first.description,
        unit=first.unit,
        base=base,
        candidate=round(base + shift, 3),
        allowed=round(base + most, 3),
        over=are_over(differences, most),
        rounds=len(judged),
    )


def _differences(judged: Sequence[Cost]) -> Sequence[float]:
    return [cost.candidate - cost.base for cost in judged if cost.candidate is not None]
