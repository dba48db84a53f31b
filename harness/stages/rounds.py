"""In which order the scenarios are run on a jar that is wrong on purpose, and what may decide after each; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from harness.model.detection import Expected
from harness.model.power import COSTS
from harness.model.runs import Verdict
from harness.model.verdict import Reason, ReasonSource

# What compares figures of the candidate with those of the base that ran beside it.
_COSTS = frozenset({ReasonSource.FIGURES})
_STAGES = {ReasonSource.FIGURES: COSTS, ReasonSource.EFFECT: "scenarios", ReasonSource.FLAG: "scenarios"}
_BEFORE_CLUSTERS = {"build", "drop-in", "source", "tests", "simulation"}
_CHEAP_TO_SHOW = {COSTS, "logs"}


@dataclass(frozen=True, slots=True)
class Round:
    """Scenarios that are run together.

    `beside` runs base beside the candidate; otherwise runs of base that are there already are lent. `outcomes` and
    `costs` say what may decide afterwards, `logs` that the logs are compared before. After the `last` no scenario has a
    lent base any more, so that costs over all scenarios count too.
    """

    scenarios: tuple[str, ...]
    beside: bool
    outcomes: bool
    costs: bool
    logs: bool = False
    last: bool = False

    def decides(self, reason: Reason) -> bool:
        """Whether a reason counts after this round; what was proved of the jar counts before any."""
        if reason.source is ReasonSource.PROOF:
            return False
        return self._decides_costs(reason) if reason.source in _COSTS else self.outcomes

    def _decides_costs(self, reason: Reason) -> bool:
        """Whether a cost counts: one of this round's scenarios, since the others' base may still be a lent one."""
        return self.costs and (reason.cell.scenario in self.scenarios if reason.cell else self.last)


def plan_rounds(scenarios: Sequence[str], lent: Collection[str], jobs: int, expected: Expected) -> tuple[Round, ...]:
    """Return the rounds for a jar, in their order; a HOLD after one ends them. The scenario that must show it is first.

    Outcomes come first, on the candidate alone, as many scenarios at a time as there are `jobs`, for those that base
    has `lent` runs of. Costs need a base of their own beside the candidate: whatever an outcome showed has had its
    chance by then, and does not get a second one. Where costs are expected there is nothing to gain, and each
    scenario is run beside base at once.
    """
    scenarios = sorted(scenarios, key=lambda name: name != expected.scenario)
    early = "logs" in expected.by
    alone = [] if costs_expected(expected.by) else [name for name in scenarios if name in lent]
    first = [Round(names, False, True, False) for names in _batches(alone, jobs)]
    pairs = max(1, jobs // 2)
    second = [Round(names, True, True, True) for names in _batches([s for s in scenarios if s not in alone], pairs)]
    third = [Round(names, True, False, True) for names in _batches(alone, pairs)]
    rounds = (*_with_logs(first, early), *_with_logs(second, early), *third)
    return (*rounds[:-1], *(replace(each, last=True) for each in rounds[-1:]))


def costs_expected(by: Collection[str]) -> bool:
    """Whether costs are what must show a mutant on live clusters, and nothing but logs beside them."""
    live = {*by} - _BEFORE_CLUSTERS
    return COSTS in live and live <= _CHEAP_TO_SHOW


def against(reasons: Sequence[Reason], after: Round) -> tuple[Reason, ...]:
    """Return what speaks against a jar after a round."""
    return tuple(each for each in reasons if each.weight is Verdict.HOLD and after.decides(each))


def gaps(reasons: Sequence[Reason], after: Round) -> tuple[Reason, ...]:
    """Return what a round ought to have decided and did not: its scenarios, and the logs where it compared them."""
    return tuple(each for each in reasons if each.weight is Verdict.INCONCLUSIVE and _is_gap(each, after))


def stage_of(reason: Reason) -> str:
    """Return the stage that a reason comes from, as mutants.toml names it."""
    return _STAGES.get(reason.source, str(reason.source))


def _is_gap(reason: Reason, after: Round) -> bool:
    if not after.decides(reason):
        return False
    if reason.source is ReasonSource.LOGS:
        return after.logs
    return reason.cell is not None and reason.cell.scenario in after.scenarios


def _batches(names: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    return (tuple(names[start : start + size]) for start in range(0, len(names), size))


def _with_logs(rounds: Sequence[Round], early: bool) -> list[Round]:
    """Return the rounds, with the logs compared after the last; `early` has them compared after the first as well."""
    compared = {len(rounds) - 1, *([0] if early else [])}
    return [replace(each, logs=number in compared) for number, each in enumerate(rounds)]
