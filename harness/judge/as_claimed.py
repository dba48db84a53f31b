"""Whether a run, and a cell, are as claimed: the one place where that is decided; pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from harness.judge.classify import was_decided
from harness.model.arms import Role
from harness.model.claims import Claim, Expected
from harness.model.outcome_names import QUESTION_REACHABLE
from harness.model.runs import Outcome, RunResult
from harness.model.verdict import CellOutcome, CellState, Check, Standing


def check_run(result: RunResult, expected: Sequence[Expected], measure: CellOutcome, cell: CellOutcome) -> Check:
    """Return how a run compares with what claims expect of its role.

    Where they expect nothing the control's cell is the `measure`: of a control itself anything decided, of `off` the
    same, of `on` that it passes or is no worse.
    """
    match result.outcome:
        case Outcome.UNSUPPORTED:
            return Check.SKIPPED
        case Outcome.BROKEN:
            return Check.ERROR
        case Outcome.INCONCLUSIVE:
            return Check.FAILED if cell.expectation == QUESTION_REACHABLE else Check.ERROR
        case Outcome.FAILED if result.role.is_control and not was_decided(measure):
            return Check.ERROR  # a control that crashed shows nothing
        case Outcome.PASSED | Outcome.FAILED:
            return _check_decided(result, expected, measure)


def check_of_stock(result: RunResult, expected: Expected) -> Check:
    """Return how a run of Kafka as it is compares with what its scenario expects, where there is no candidate."""
    match result.outcome:
        case Outcome.UNSUPPORTED:
            return Check.SKIPPED
        case Outcome.BROKEN | Outcome.INCONCLUSIVE:
            return Check.ERROR
        case Outcome.PASSED | Outcome.FAILED:
            return _check_against(result, (expected,))


def expected_of(role: Role, claims: Sequence[Claim]) -> tuple[Expected, ...]:
    """Return what claims say of a role, each thing once, in their order."""
    return tuple(dict.fromkeys(claim.expected[role] for claim in claims if role in claim.expected))


def standing_of(state: CellState, checks: Collection[Check]) -> Standing:
    """Return how a cell stands, by the worst of its runs' checks: one repeat that is not as claimed counts."""
    if Check.FAILED in checks:
        return Standing.NOT_AS_CLAIMED
    if not checks or Check.ERROR in checks or state in (CellState.MISSING, CellState.UNSTABLE):
        return Standing.UNDECIDED
    return Standing.UNSUPPORTED if Check.SKIPPED in checks else Standing.AS_CLAIMED


def _check_decided(result: RunResult, expected: Sequence[Expected], measure: CellOutcome) -> Check:
    if not expected:
        return Check.PASSED if _no_worse(result.role, _shown(result), measure) else Check.FAILED
    return _check_against(result, expected)


def _check_against(result: RunResult, expected: Sequence[Expected]) -> Check:
    if any(_shown(result) != one for one in expected):
        return Check.FAILED
    return Check.EXPECTED_FAILURE if result.outcome is Outcome.FAILED else Check.PASSED


def _shown(result: RunResult) -> Expected:
    return Expected(result.outcome, result.expectation if result.outcome is Outcome.FAILED else "")


def _no_worse(role: Role, shown: Expected, measure: CellOutcome) -> bool:
    alike = str(shown) == str(measure)
    match role:
        case Role.BASE | Role.BASE_OFF:
            return True
        case Role.OFF:
            return alike if was_decided(measure) else shown.outcome is Outcome.PASSED
        case Role.ON:
            return shown.outcome is Outcome.PASSED or (alike and was_decided(measure))
