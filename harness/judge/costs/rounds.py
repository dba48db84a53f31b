"""A run of a control and the candidate's of the same repeat: what of both can be compared; pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from harness.model.costs import CostLimit
from harness.model.runs import Outcome, RunKey, RunResult

_CARRIED_OUT = frozenset({Outcome.PASSED, Outcome.FAILED, Outcome.INCONCLUSIVE})


@dataclass(frozen=True, slots=True)
class Round:
    """A run of the control, and the candidate's of the same repeat.

    They are `apart` where one of them was asked once more, minutes later and with fewer clusters beside it, and the
    other was not.
    """

    base: RunResult
    candidate: RunResult
    apart: bool = False

    def has(self, name: str, limit: CostLimit) -> bool:
        """Whether a figure is known of both sides: measured, or of what did not happen on one of them."""
        sides = [name in run.measures for run in (self.base, self.candidate)]
        return all(sides) or (any(sides) and limit.where_absent is not None)

    def lacks(self, name: str) -> bool:
        """Whether a figure of base was not measured of the candidate, although both did the same to their end."""
        passed = self.base.outcome is self.candidate.outcome is Outcome.PASSED
        return name in self.base.measures and passed

    def measured(self, name: str, limit: CostLimit) -> tuple[float, float]:
        """Return base's figure and the candidate's, whatever they say of each other."""
        return _of(self.base.measures, name, limit), _of(self.candidate.measures, name, limit)

    def comparable(self, name: str, limit: CostLimit) -> tuple[float, float] | None:
        """Return base's figure and the candidate's where they can be compared: a run that ended otherwise did others.

        A thread that took a core did so even where a guard was unmet, or where the host let it have no more; but what
        is done only after one of them has ended is not held against it.
        """
        if self.base.outcome.is_decided and self.base.label == self.candidate.label:
            return self.measured(name, limit)
        if not limit.any_outcome or not {self.base.outcome, self.candidate.outcome} <= _CARRIED_OUT:
            return None
        if self.base.by_phase and self.candidate.by_phase:
            return self._where_both_were(name, limit)
        return self.measured(name, limit) if self.base.outcome is Outcome.PASSED else None

    def _where_both_were(self, name: str, limit: CostLimit) -> tuple[float, float] | None:
        """Return the most of both in the phases that both reached, None where there is no such phase."""
        reached = self.base.by_phase.keys() & self.candidate.by_phase.keys()
        phases = [(self.base.by_phase[each], self.candidate.by_phase[each]) for each in reached]
        known = [each for each in phases if all(name in side for side in each)]
        if limit.where_absent is not None:
            known = [each for each in phases if any(name in side for side in each)]
        pairs = [(_of(base, name, limit), _of(candidate, name, limit)) for base, candidate in known]
        return (max(base for base, _ in pairs), max(candidate for _, candidate in pairs)) if pairs else None


def _of(figures: Mapping[str, float], name: str, limit: CostLimit) -> float:
    return figures[name] if name in figures or limit.where_absent is None else limit.where_absent


def rounds_of(
    runs: Sequence[RunResult],
    scenario: str,
    control: str,
    arm: str,
    again: Collection[RunKey] = (),
    first: Sequence[RunResult] = (),
) -> list[Round]:
    """Return the rounds of a scenario in which both arms have a run that this verification made.

    `again` are the runs that were asked once more, and in whose place another one stands. Where `first` has these runs,
    what they were beside the other arm is a round as well: what a spare costs by itself is one round of two.
    """
    stand, before = _by_arm(runs, scenario), _by_arm(first, scenario)
    later = [
        Round(base, candidate, apart=(base.key in again) != (candidate.key in again))
        for base, candidate in _pairs(stand, control, arm)
    ]
    asked = {repeat for name, repeat in before if name in (control, arm)}
    pairs = _pairs({**stand, **before}, control, arm)
    return [*later, *(Round(base, candidate) for base, candidate in pairs if base.repeat in asked)]


_ByArm = Mapping[tuple[str, int], RunResult]


def _by_arm(runs: Sequence[RunResult], scenario: str) -> _ByArm:
    return {(run.arm, run.repeat): run for run in runs if run.scenario == scenario and not run.origin}


def _pairs(of: _ByArm, control: str, arm: str) -> list[tuple[RunResult, RunResult]]:
    repeats = sorted({repeat for _, repeat in of})
    pairs = ((of.get((control, repeat)), of.get((arm, repeat))) for repeat in repeats)
    return [(base, candidate) for base, candidate in pairs if base and candidate]
