"""How a cell stands: what a claim promises, and what base and candidate show measured by it; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import assert_never

from harness.judge.cells import missed_its_guard
from harness.model.arms import Role
from harness.model.claims import Expected
from harness.model.outcome_names import LOOKED_AT_LAST, NODE_ALIVE, QUESTION_REACHABLE
from harness.model.runs import Outcome
from harness.model.verdict import CellOutcome, CellState

Expectations = Mapping[Role, Expected]


class Promise(StrEnum):
    """What a claim promises about a scenario."""

    NOTHING = "nothing"  # no claim
    FIXES = "fixes"  # base fails, on passes
    KEEPS = "keeps"  # on passes; base passes as well, or nothing is said of it
    LEAVES = "leaves"  # on fails: a limit that the patch states


class Control(StrEnum):
    """How the base arm stands, measured by what was claimed of it."""

    PASSED = "passed"
    FAILED = "failed"  # as named by the claim; by any name where nothing is claimed
    OTHERWISE = "failed otherwise"  # by another name, or by a crash: never a control
    INCONCLUSIVE = "inconclusive"
    BROKEN = "broken"
    UNSUPPORTED = "unsupported"
    UNSTABLE = "unstable"
    MISSING = "missing"


class Candidate(StrEnum):
    """How an arm of the candidate stands, measured by the base."""

    PASSED = "passed"
    FAILED_ALIKE = "failed as base does"
    FAILED_ANEW = "failed as base does not"
    INCONCLUSIVE = "inconclusive"
    BROKEN = "broken"
    UNSUPPORTED = "unsupported"
    UNSTABLE = "unstable"
    MISSING = "missing"


def promise_of(expected: Expectations | None) -> Promise:
    """Return what a claim promises; a claim that says nothing of `on` promises that it passes."""
    if expected is None:
        return Promise.NOTHING
    if _fails(expected.get(Role.ON)):
        return Promise.LEAVES
    return Promise.FIXES if _fails(expected.get(Role.BASE)) else Promise.KEEPS


def _fails(expected: Expected | None) -> bool:
    return expected is not None and expected.outcome is Outcome.FAILED


def control_of(expected: Expected | None, base: CellOutcome) -> Control:
    """Return how the base arm stands; in it a crash or an unreachable question is never the expected failure."""
    match base.state:
        case CellState.PASSED:
            return Control.PASSED
        case CellState.FAILED:
            return Control.FAILED if _as_named(expected, base.expectation) else Control.OTHERWISE
        case CellState.INCONCLUSIVE:
            return Control.INCONCLUSIVE
        case CellState.BROKEN:
            return Control.BROKEN
        case CellState.UNSUPPORTED:
            return Control.UNSUPPORTED
        case CellState.UNSTABLE:
            return Control.UNSTABLE
        case CellState.MISSING:
            return Control.MISSING
        case _:
            assert_never(base.state)


def _as_named(expected: Expected | None, name: str) -> bool:
    if name in (NODE_ALIVE, QUESTION_REACHABLE):
        return False
    return expected is None or expected == Expected(Outcome.FAILED, name)


def candidate_of(base: CellOutcome, cell: CellOutcome) -> Candidate:
    """Return how a candidate's cell compares with base's."""
    match cell.state:
        case CellState.PASSED:
            return Candidate.PASSED
        case CellState.FAILED:
            alike = (base.state, base.expectation) == (cell.state, cell.expectation)
            return Candidate.FAILED_ALIKE if alike else Candidate.FAILED_ANEW
        case CellState.INCONCLUSIVE:
            return Candidate.INCONCLUSIVE
        case CellState.BROKEN:
            return Candidate.BROKEN
        case CellState.UNSUPPORTED:
            return Candidate.UNSUPPORTED
        case CellState.UNSTABLE:
            return Candidate.UNSTABLE
        case CellState.MISSING:
            return Candidate.MISSING
        case _:
            assert_never(cell.state)


def was_decided(base: CellOutcome) -> bool:
    """Return whether the base arm was decided, so that a candidate can be measured by it."""
    return control_of(None, base) in (Control.PASSED, Control.FAILED)


def as_candidate(cell: CellOutcome, base: CellOutcome, expected: Expected | None) -> CellOutcome:
    """Read a candidate's cell beside a base that was decided; `expected` is what a claim says of it, if anything.

    A guard that the candidate misses in every repeat, where base comes to an answer, is a failure; of the ledger a base
    that failed shows nothing. So is what the decided repeats failed, though others are undecided, where the claim, or
    base if nothing is claimed, has another outcome.
    What harness or host failed to test (`SAYS_NOTHING_OF_THE_BUILD`) stays INCONCLUSIVE.
    """
    if not was_decided(base):
        return cell
    if missed_its_guard(cell) and (base.state is CellState.PASSED or cell.expectation not in LOOKED_AT_LAST):
        checked = "leaves a ledger that can be checked" if cell.expectation in LOOKED_AT_LAST else "comes to an answer"
        reason = f"the base {checked}, this arm never does: {cell.reason}"
        return replace(cell, state=CellState.FAILED, expectation=QUESTION_REACHABLE, reason=reason)
    allowed = expected or Expected(Outcome(base.state.value), base.expectation)
    if cell.failed and allowed != Expected(Outcome.FAILED, cell.failed):
        return replace(cell, state=CellState.FAILED, expectation=cell.failed)
    return cell
