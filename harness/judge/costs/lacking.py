"""Figures that base has and the candidate has nowhere, although its runs passed: nobody knows what they cost; pure.

A thread that goes by another name, a metric that is gone, a reporter that died: with the figure the oracle is gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harness.base.text import listed
from harness.model.costs import Cost
from harness.model.runs import Verdict
from harness.model.verdict import CellName, Reason, ReasonSource

_MOST = 5  # figures in a sentence


def lacking(costs: Sequence[Cost]) -> tuple[Cost, ...]:
    """Return the costs of figures that an arm has in none of two scenarios or more.

    What it has in one it lacks elsewhere by chance, and in one alone chance is as likely.
    """
    had = {_of_arm(cost) for cost in costs if cost.candidate is not None}
    gone = [cost for cost in costs if cost.candidate is None and _of_arm(cost) not in had]
    times = Counter(map(_of_arm, gone))
    return tuple(cost for cost in gone if times[_of_arm(cost)] > 1)


def _of_arm(cost: Cost) -> tuple[str, str, str]:
    return cost.control, cost.arm, cost.figure


def reasons_of_lacking(lost: Sequence[Cost]) -> tuple[Reason, ...]:
    """Return a gap for each arm with figures that are `lacking`."""
    arms = dict.fromkeys((cost.control, cost.arm) for cost in lost)
    return tuple(_gap([cost for cost in lost if (cost.control, cost.arm) == arm]) for arm in arms)


def _gap(lost: Sequence[Cost]) -> Reason:
    first, figures = lost[0], list(dict.fromkeys(cost.figure for cost in lost))
    scenarios = list(dict.fromkeys(cost.scenario for cost in lost))
    sentence = (
        f"No run of {first.arm} measured these figures, which {first.control} has, so what it costs is not known: "
        f"{listed(figures, _MOST)} (in {listed(scenarios, _MOST)})."
    )
    return Reason(ReasonSource.FIGURES, Verdict.INCONCLUSIVE, CellName(first.scenario, first.arm), sentence)
