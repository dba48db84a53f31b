"""The rehearsals of a rollout as JUnit's cases: passed when nothing in them would stop the roll; pure."""

from __future__ import annotations

from harness.model.rollout import Rehearsal, RolloutOutcome, RolloutVerdict, Turn
from harness.model.runs import Outcome
from harness.report.junit_xml import Case, CaseResult, Suite, render_junit
from harness.rollout.rollout_verdict import outcome_of

SUITE = "rollout"
_RESULTS = {
    RolloutOutcome.PASSED: CaseResult.PASSED,
    RolloutOutcome.STOPPED: CaseResult.FAILED,
    RolloutOutcome.INCONCLUSIVE: CaseResult.ERROR,
}


def render_rehearsals(found: RolloutVerdict) -> str:
    """Return JUnit XML with one suite and a case per rehearsal."""
    cases = tuple(_case(rehearsal) for rehearsal in found.rehearsals)
    return render_junit(f"rollout {found.outcome}", [Suite(SUITE, cases)])


def _case(rehearsal: Rehearsal) -> Case:
    result = rehearsal.result
    skipped = result.outcome is Outcome.UNSUPPORTED
    return Case(
        classname=SUITE,
        name=rehearsal.name,
        seconds=result.seconds,
        result=CaseResult.SKIPPED if skipped else _RESULTS[outcome_of(rehearsal)],
        message="; ".join((result.summary, *_expected_stops(rehearsal))),
        story="\n".join((*map(_stop, _stopped(rehearsal)), *(f"see {each.place}" for each in result.evidence))),
    )


def _expected_stops(rehearsal: Rehearsal) -> list[str]:
    """Return the stops that a rehearsal passed by: the sabotaged jar must stop its turn."""
    passed = rehearsal.result.outcome is Outcome.PASSED
    return [f"expected failure: {_stop(turn)}" for turn in _stopped(rehearsal) if passed]


def _stopped(rehearsal: Rehearsal) -> list[Turn]:
    return [turn for turn in rehearsal.turns if turn.stopped]


def _stop(turn: Turn) -> str:
    return f"node {turn.node} ({turn.roles}) in “{turn.phase}”: {turn.stopped}"
