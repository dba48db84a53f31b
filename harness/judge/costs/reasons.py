"""Why the figures of the candidate hold it back: costs beside base, slowness over repeats, limits of claims; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from harness.judge.costs.limits import rank_of
from harness.judge.costs.over_repeats import worse_figures
from harness.judge.costs.stated import broken_limits
from harness.model.claims import Claim
from harness.model.costs import EVERYWHERE, Cost
from harness.model.declaration import Declaration
from harness.model.runs import RunKey, RunResult, Verdict
from harness.model.verdict import CellName, Reason, ReasonSource


def reasons_of_costs(
    declaration: Declaration, runs: Sequence[RunResult], costs: Sequence[Cost], again: Collection[RunKey] = ()
) -> tuple[Reason, ...]:
    """Return a reason for each figure that is over its limit, and for each limit of a claim that is broken.

    Those of the processor come first: what a thread burns it may also allocate and log, and the first reason is the
    verdict's sentence. What is over a limit is not named again for what repeats say of it. `again` are the runs in
    whose place one of `runs` stands that was made later.
    """
    over = sorted((cost for cost in costs if cost.over), key=lambda cost: rank_of(cost.figure))
    named = {(cost.scenario, cost.arm, cost.figure) for cost in over}
    slower = worse_figures(declaration.compared, runs, again)
    return (
        *(_over(cost) for cost in over),
        *(_hold(each.cell, each.sentence) for each in slower if (each.scenario, each.arm, each.name) not in named),
        *(_hold(CellName(claim.scenario, ""), sentence) for claim, sentence in _broken(declaration.claims, runs)),
    )


def _broken(claims: Sequence[Claim], runs: Sequence[RunResult]) -> Iterator[tuple[Claim, str]]:
    for claim in claims:
        for clause in broken_limits(claim, runs):
            yield claim, f"{claim.scenario}: the limit of {claim.id} is broken: {clause}"


def _cell(cost: Cost) -> CellName | None:
    return CellName(cost.scenario, cost.arm) if cost.scenario != EVERYWHERE else None


def _over(cost: Cost) -> Reason:
    """Return a HOLD; a question where one round is over the limit and the others could not be judged."""
    if cost.rounds > 1 or not cost.unjudged:
        return _hold(_cell(cost), over_its_limit(cost))
    made = 1 + cost.unjudged
    why = f"{over_its_limit(cost)}; that is one round of {made}, and the others cannot be judged by this figure"
    return Reason(ReasonSource.FIGURES, Verdict.INCONCLUSIVE, _cell(cost), why)


def _hold(cell: CellName | None, sentence: str) -> Reason:
    return Reason(ReasonSource.FIGURES, Verdict.HOLD, cell, sentence)


def over_its_limit(cost: Cost) -> str:
    """Return in a sentence what a candidate costs more than base."""
    rounds = f", {_which(cost)}" if cost.rounds > 1 else ""
    now, before, most = (f"{each} {cost.unit}" for each in told_apart(cost.candidate, cost.base, cost.allowed))
    return (
        f"{cost.scenario}: {cost.arm} costs more than {cost.control}: {cost.description} {now} against {before}{rounds}"
        f"; the limit is {most}"
    )


def _which(cost: Cost) -> str:
    if cost.scenario == EVERYWHERE:
        return f"medians of {cost.rounds} scenarios"
    return f"in the {'lesser' if cost.rounds == 2 else 'middle one'} of {cost.rounds} rounds"


def amount(value: float | None, unit: str) -> str:
    """Return a figure with its unit: `97 % of a core`, `0.25 s`."""
    return f"{number(value)} {unit}"


def told_apart(now: float | None, before: float, most: float) -> tuple[str, str, str]:
    """Return a figure, base's and the limit, with decimals where the first and the last would read alike."""
    if now is not None and now != most and number(now) == number(most):
        return f"{now:.2f}", f"{before:.2f}", f"{most:.2f}"
    return number(now), number(before), number(most)


def number(value: float | None) -> str:
    """Return a figure as exact as matters: `97`, `0.25`; a dash for one that was not measured."""
    if value is None:
        return "–"
    return f"{value:.0f}" if abs(value) >= 100 or float(value).is_integer() else f"{value:.3g}"
