"""Whether the candidate's clients get as much acknowledged as base's; pure.

Base's own worst run is the measure. A run of the candidate is worse when it stays below that by a fifth of its records
or more: a few that fail while a leader goes are noise. What had no answer when the client ended, seconds after it had
sent the last, was not acknowledged either. Of a run that failed as base's did only many records say something: it ended
at its failure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.judge.went_alike import runs_of_control, went_alike
from harness.model.declaration import Declaration
from harness.model.outcome_names import RECORDS_ACKNOWLEDGED
from harness.model.runs import Outcome, RunResult

_MARGIN = 0.2  # of all records
_MANY = 100  # records


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of the records of one run, or of one client."""

    acknowledged: int
    failed: int
    unanswered: int

    @property
    def total(self) -> int:
        """How many were sent."""
        return self.acknowledged + self.failed + self.unanswered

    @property
    def share(self) -> float:
        """The share that was acknowledged, of all."""
        return self.acknowledged / self.total

    @property
    def is_many(self) -> bool:
        """Whether there are so many that their share says something."""
        return self.total >= _MANY

    @property
    def others(self) -> str:
        """What became of those that were not acknowledged."""
        if not self.unanswered:
            return "the others failed"
        return f"{self.failed} failed, {self.unanswered} had no answer" if self.failed else "the others had no answer"

    def __str__(self) -> str:
        return f"{self.acknowledged} of {self.total}"


def judge_acknowledgements(declaration: Declaration, results: Sequence[RunResult]) -> list[RunResult]:
    """Return the results; a candidate's run that did what base did has failed with far too little acknowledged.

    A run that already failed otherwise than base did keeps its name.
    """
    return [_judged(result, runs_of_control(declaration, result, results)) for result in results]


def _judged(result: RunResult, base: Sequence[RunResult]) -> RunResult:
    alike = [run for run in base if run.label == result.label]  # one that ended earlier sent what was easier
    reason = _too_few(alike, result) if went_alike(result, alike) else ""
    failed = replace(result, outcome=Outcome.FAILED, expectation=RECORDS_ACKNOWLEDGED, reason=reason)
    return failed if reason else result


def far_fewer(sent: Sent, base: Sent) -> bool:
    """Whether so many less were acknowledged than on base that it is no noise."""
    return sent.share <= base.share - _MARGIN


def _too_few(base: Sequence[RunResult], result: RunResult) -> str:
    """Return that far fewer records were acknowledged than in base's worst run; empty where that is not so."""
    before, now = [sent for run in base if (sent := _sent(run))], _sent(result)
    if not before or not now or (result.outcome is Outcome.FAILED and not all(each.is_many for each in (*before, now))):
        return ""
    worst = min(before, key=lambda sent: sent.share)
    if not far_fewer(now, worst):
        return ""
    return f"{now} records were acknowledged, against {worst} in base's worst run: {now.others}"


def _sent(run: RunResult) -> Sent | None:
    """Return what became of a run's records; None where it sent none."""
    sent = Sent(*(int(run.measures.get(f"{what}_records", 0)) for what in ("acked", "failed", "unanswered")))
    return sent if sent.total else None
