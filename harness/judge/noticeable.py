"""What a verification would have noticed, by what its suite was seen to notice when defects were planted; pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from harness.model.costs import EVERYWHERE, Cost
from harness.model.power import COSTS, Noticed, Power


def would_show(power: Power | None, decided: Collection[str], costs: Sequence[Cost]) -> tuple[str, ...]:
    """Return the smallest defects that would have shown in a verification that decided these scenarios.

    A defect counts where the scenario that noticed it was decided; one that no single scenario noticed where all were.
    What showed by its costs counts only where every figure of those scenarios was held against base's: where a fix
    turns a scenario, or the host held nodes back, some were not. Over many scenarios one may lack a figure.
    """
    if power is None:
        return ()
    shown = (each for each in power.noticed if _needed(each, power) <= {*decided})
    return tuple(each.defect for each in shown if each.stage != COSTS or _needed(each, power) <= _judged(each, costs))


def _needed(noticed: Noticed, power: Power) -> set[str]:
    return {noticed.scenario} if _is_of_one(noticed) else {*power.scenarios}


def _judged(noticed: Noticed, costs: Sequence[Cost]) -> set[str]:
    unjudged = (each for each in costs if each.not_judged and (_is_of_one(noticed) or each.candidate is not None))
    return {each.scenario for each in costs} - {each.scenario for each in unjudged}


def _is_of_one(noticed: Noticed) -> bool:
    return noticed.scenario not in ("", EVERYWHERE)
