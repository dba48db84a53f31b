"""From what the rehearsals showed to the answer; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from harness.model.outcome_names import STOPS_ON_SIGTERM
from harness.model.rollout import Rehearsal, RolloutOutcome, Turn
from harness.model.runs import Outcome
from harness.rollout.builds import CANDIDATE, DIES_ON_LOAD, WITH_KEY
from harness.rollout.rehearsals import CONTROL, FINALISED, FORWARD_AND_BACK


def decide_rollout(
    rehearsals: Sequence[Rehearsal], missing: Sequence[str] = ()
) -> tuple[RolloutOutcome, str, tuple[str, ...]]:
    """Decide all rehearsals together: (outcome, sentence, reasons); `missing` names those declared without a result.

    If base itself cannot be rolled, nothing is said about the candidate; nor is it where no node ever ran it.
    """
    outcome, reasons = _decide(rehearsals, missing)
    return outcome, _sentence(outcome, rehearsals), reasons


def _decide(rehearsals: Sequence[Rehearsal], missing: Sequence[str]) -> tuple[RolloutOutcome, tuple[str, ...]]:
    control = next((each for each in rehearsals if each.name == CONTROL), None)
    if control is not None and control.result.outcome is not Outcome.PASSED:
        return RolloutOutcome.INCONCLUSIVE, (f"base itself could not be rolled: {control.result.reason}",)
    stopped = _reasons(rehearsals, RolloutOutcome.STOPPED)
    if stopped:
        return RolloutOutcome.STOPPED, stopped
    unclear = _reasons(rehearsals, RolloutOutcome.INCONCLUSIVE)
    unclear += tuple(f"{name}: it has no result" for name in missing)
    if unclear:
        return RolloutOutcome.INCONCLUSIVE, unclear
    if not rehearsals:
        return RolloutOutcome.INCONCLUSIVE, ("nothing was rehearsed",)
    if not any(map(ran_the_candidate, rehearsals)):
        return RolloutOutcome.INCONCLUSIVE, (f"no node ran the candidate: add --rehearse {FORWARD_AND_BACK}",)
    return RolloutOutcome.PASSED, ()


def ran_the_candidate(rehearsal: Rehearsal) -> bool:
    """Return whether a node had a turn in a rehearsal that put the candidate on it, and came back."""
    return any(turn.build in (CANDIDATE, WITH_KEY) and not turn.stopped for turn in rehearsal.turns)


def _reasons(rehearsals: Sequence[Rehearsal], outcome: RolloutOutcome) -> tuple[str, ...]:
    return tuple(
        f"{each.name}: {_before(each)}{each.result.reason}" for each in rehearsals if outcome_of(each) is outcome
    )


def _before(rehearsal: Rehearsal) -> str:
    failed = rehearsal.result.outcome is Outcome.FAILED
    return "" if not failed or _left_base(rehearsal) else "before any node had left base: "


def may_begin(name: str, found: Sequence[Rehearsal]) -> bool:
    """Return whether a rehearsal may begin after those that were: features are finalised only when all passed."""
    return name != FINALISED or all(outcome_of(each) is RolloutOutcome.PASSED for each in found)


def outcome_of(rehearsal: Rehearsal) -> RolloutOutcome:
    """Return what one rehearsal weighs; one that failed before any node had left base says nothing of the candidate."""
    match rehearsal.result.outcome:
        case Outcome.PASSED:
            return RolloutOutcome.PASSED
        case Outcome.FAILED:
            return RolloutOutcome.STOPPED if _left_base(rehearsal) else RolloutOutcome.INCONCLUSIVE
        case Outcome.INCONCLUSIVE | Outcome.BROKEN | Outcome.UNSUPPORTED:
            return RolloutOutcome.INCONCLUSIVE
        case never:
            assert_never(never)


def _left_base(rehearsal: Rehearsal) -> bool:
    """Whether a node had stopped in its turn, as it is to: until then all of them ran base alone."""
    return any(not turn.stopped or turn.build == DIES_ON_LOAD or _has_stopped(turn) for turn in rehearsal.turns)


def _has_stopped(turn: Turn) -> bool:
    """Whether a node might be stopped in its turn, and did when it was asked to."""
    might = bool(turn.before) and all(check.met for check in turn.before)
    return might and bool(turn.after) and all(check.met for check in turn.after if check.name == STOPS_ON_SIGTERM)


def stopping_turn(rehearsal: Rehearsal) -> Turn | None:
    """Return the turn in which a roll was stopped; a jar that is meant to die on load has stopped nothing."""
    return next((turn for turn in rehearsal.turns if turn.stopped and turn.build != DIES_ON_LOAD), None)


def _sentence(outcome: RolloutOutcome, rehearsals: Sequence[Rehearsal]) -> str:
    match outcome:
        case RolloutOutcome.PASSED:
            return f"{_count(rehearsals)} passed, and nothing that clients were promised was lost."
        case RolloutOutcome.STOPPED:
            return _where(rehearsals)
        case RolloutOutcome.INCONCLUSIVE:
            return "Too little could be tested."
        case never:
            assert_never(never)


def _count(rehearsals: Sequence[Rehearsal]) -> str:
    return "1 rehearsal" if len(rehearsals) == 1 else f"All {len(rehearsals)} rehearsals"


def _where(rehearsals: Sequence[Rehearsal]) -> str:
    """Return where the first rehearsal that failed was stopped: at which node, or what was lost in it."""
    failed = next(each for each in rehearsals if outcome_of(each) is RolloutOutcome.STOPPED)
    stopped = stopping_turn(failed)
    at = f" at node {stopped.node} ({stopped.roles})" if stopped else ""
    return f"Stopped{at} in {failed.name}: {failed.result.reason}."
