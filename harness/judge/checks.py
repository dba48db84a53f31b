"""Each run as a test: passed when as claimed; pure. JUnit and the report tell the same."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from harness.judge.cells import QUESTION_REACHABLE, CellOutcome
from harness.judge.standing import was_asked
from harness.model.arms import Role
from harness.model.claims import Claim, Expected
from harness.model.runs import Outcome, RunResult


class Check(StrEnum):
    """A run's result in the words of test runners."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"


def check_run(result: RunResult, claims: Sequence[Claim], base: CellOutcome, cell: CellOutcome) -> Check:
    """Return how a run compares with what the claims about its scenario say of its role.

    Where they say nothing the base arm is the measure: of itself anything decided, of `off` the same, of `on`
    that it holds or is no worse.
    """
    match result.outcome:
        case Outcome.UNSUPPORTED:
            return Check.SKIPPED
        case Outcome.BROKEN:
            return Check.ERROR
        case Outcome.INCONCLUSIVE:
            return Check.FAILED if cell.expectation == QUESTION_REACHABLE else Check.ERROR
        case Outcome.FAILED if result.role is Role.BASE and not was_asked(base):
            return Check.ERROR  # a control that crashed was never asked
        case Outcome.PASSED | Outcome.FAILED:
            return Check.PASSED if _as_claimed(result, claims, base) else Check.FAILED


def expected_of(role: Role, claims: Sequence[Claim]) -> tuple[Expected, ...]:
    """Return what claims say of a role, each thing once, in their order."""
    return tuple(dict.fromkeys(claim.expected[role] for claim in claims if role in claim.expected))


def _as_claimed(result: RunResult, claims: Sequence[Claim], base: CellOutcome) -> bool:
    shown = Expected(result.outcome, result.expectation if result.outcome is Outcome.FAILED else "")
    expected = expected_of(result.role, claims)
    return all(shown == one for one in expected) if expected else _no_worse(result.role, shown, base)


def _no_worse(role: Role, shown: Expected, base: CellOutcome) -> bool:
    as_base = str(shown) == str(base)
    match role:
        case Role.BASE:
            return True
        case Role.OFF:
            return as_base if was_asked(base) else shown.outcome is Outcome.PASSED
        case Role.ON:
            return shown.outcome is Outcome.PASSED or (as_base and was_asked(base))
