"""The verdict table: what a scenario means, given what a claim promises and what its cells show; pure.

Every pair is spelled out and no branch is a default: a new state does not type-check until it is placed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from harness.judge.classify import (
    Candidate,
    Control,
    Expectations,
    Promise,
    as_candidate,
    candidate_of,
    control_of,
    promise_of,
    was_decided,
)
from harness.judge.reasons import weightiest
from harness.model.arms import Role
from harness.model.claims import Expected
from harness.model.runs import Verdict
from harness.model.verdict import CellOutcome, CellState, Effect, Inertness


@dataclass(frozen=True, slots=True)
class Ruling:
    """What one scenario means under one claim (or none); cells are those that were judged.

    `base_off` is None where base has no flag to switch off, and `off` where the jar does not know the flag. `control`
    is the role that `on` is compared with: `base-off` for a claim, if there is one, since claims describe a base
    without the fix. `discriminates` says whether the control fails for the named reason, so that a pass on the
    candidate proves something.
    """

    promise: Promise
    effect: Effect
    inertness: Inertness
    discriminates: bool
    base: CellOutcome
    base_off: CellOutcome | None
    off: CellOutcome | None
    on: CellOutcome
    control: Role

    @property
    def control_cell(self) -> CellOutcome:
        """The cell that `on` is compared with."""
        return self.base_off if self.control is Role.BASE_OFF and self.base_off else self.base

    @property
    def off_control(self) -> tuple[Role, CellOutcome]:
        """What `off` is compared with: its role and its cell."""
        return (Role.BASE_OFF, self.base_off) if self.base_off else (Role.BASE, self.base)

    @property
    def verdict(self) -> Verdict | None:
        """The weight of this scenario in the verdict; None when nothing was tested."""
        return weightiest([weight_of_effect(self.effect), weight_of_inertness(self.inertness)])


def rule(
    expected: Expectations | None,
    base: CellOutcome,
    off: CellOutcome | None,
    on: CellOutcome,
    base_off: CellOutcome | None = None,
) -> Ruling:
    """Decide one scenario; `expected` is what a claim expects per role, or None without a claim.

    Without a claim `on` is compared with base as it is, since that is what a rollout replaces.
    """
    says = expected or {}
    promise = promise_of(expected)
    without_flag = base_off or base
    control_role = Role.BASE_OFF if expected is not None and base_off else Role.BASE
    compared = without_flag if expected is not None else base
    control = control_of(says.get(Role.BASE), compared)
    on_read = as_candidate(on, compared, says.get(Role.ON))
    off_read = None if off is None else as_candidate(off, without_flag, says.get(Role.OFF))
    return Ruling(
        promise=promise,
        effect=effect_of(promise, control, candidate_of(compared, on_read)),
        inertness=_inertness(says.get(Role.BASE), without_flag, off_read),
        discriminates=control is Control.FAILED,
        base=base,
        base_off=base_off,
        off=off_read,
        on=on_read,
        control=control_role,
    )


def _inertness(says: Expected | None, without_flag: CellOutcome, off: CellOutcome | None) -> Inertness:
    if off is None:
        return Inertness.NO_FLAG
    if control_of(says, without_flag) is Control.OTHERWISE:
        return Inertness.UNDECIDED
    return inertness_of(without_flag, off)


def effect_of(promise: Promise, base: Control, on: Candidate) -> Effect:
    """Return what a pair base/on means under a promise: the rows of the table."""
    match base:
        case Control.PASSED:
            return _beside_a_passing_base(promise, on)
        case Control.FAILED:
            return _beside_a_failing_base(promise, on)
        case Control.OTHERWISE | Control.BROKEN | Control.INCONCLUSIVE | Control.UNSTABLE:
            return Effect.CONTROL_UNDECIDED
        case Control.UNSUPPORTED:
            return _beside_an_unsupported_base(on)
        case Control.MISSING:
            return Effect.NOT_RUN
        case _:
            assert_never(base)


def _beside_a_passing_base(promise: Promise, on: Candidate) -> Effect:
    match on:
        case Candidate.PASSED:
            return _both_passed(promise)
        case Candidate.FAILED_ALIKE | Candidate.FAILED_ANEW:
            return Effect.REGRESSION
        case Candidate.UNSTABLE:
            return Effect.UNSTABLE
        case Candidate.INCONCLUSIVE | Candidate.BROKEN | Candidate.UNSUPPORTED:
            return Effect.CANDIDATE_UNDECIDED
        case Candidate.MISSING:
            return Effect.NOT_RUN
        case _:
            assert_never(on)


def _both_passed(promise: Promise) -> Effect:
    match promise:
        case Promise.NOTHING | Promise.KEEPS:
            return Effect.SAME
        case Promise.FIXES | Promise.LEAVES:
            return Effect.BLIND
        case _:
            assert_never(promise)


def _beside_a_failing_base(promise: Promise, on: Candidate) -> Effect:
    match on:
        case Candidate.PASSED:
            return _failed_then_passed(promise)
        case Candidate.FAILED_ALIKE:
            return _both_failed(promise)
        case Candidate.FAILED_ANEW:
            return Effect.REGRESSION if promise is Promise.NOTHING else Effect.CLAIM_REFUTED
        case Candidate.UNSTABLE:
            return Effect.UNSTABLE
        case Candidate.INCONCLUSIVE | Candidate.BROKEN | Candidate.UNSUPPORTED:
            return Effect.CANDIDATE_UNDECIDED
        case Candidate.MISSING:
            return Effect.NOT_RUN
        case _:
            assert_never(on)


def _failed_then_passed(promise: Promise) -> Effect:
    match promise:
        case Promise.NOTHING:
            return Effect.IMPROVES
        case Promise.FIXES | Promise.KEEPS:
            return Effect.SUPPORTS
        case Promise.LEAVES:
            return Effect.CLAIM_REFUTED
        case _:
            assert_never(promise)


def _both_failed(promise: Promise) -> Effect:
    match promise:
        case Promise.NOTHING | Promise.LEAVES:
            return Effect.NOT_FIXED
        case Promise.FIXES | Promise.KEEPS:
            return Effect.CLAIM_REFUTED
        case _:
            assert_never(promise)


def _beside_an_unsupported_base(on: Candidate) -> Effect:
    match on:
        case Candidate.UNSUPPORTED:
            return Effect.UNSUPPORTED
        case Candidate.MISSING:
            return Effect.NOT_RUN
        case (
            Candidate.PASSED
            | Candidate.FAILED_ALIKE
            | Candidate.FAILED_ANEW
            | Candidate.INCONCLUSIVE
            | Candidate.BROKEN
            | Candidate.UNSTABLE
        ):
            return Effect.CONTROL_UNDECIDED
        case _:
            assert_never(on)


def inertness_of(base: CellOutcome, off: CellOutcome) -> Inertness:
    """Return whether the flag, switched off, leaves the candidate behaving as the base does."""
    if not was_decided(base):
        return _not_comparable(base, off)
    match candidate_of(base, off):
        case Candidate.PASSED:
            return Inertness.INERT if base.state is off.state else Inertness.NOT_INERT
        case Candidate.FAILED_ALIKE:
            return Inertness.INERT
        case Candidate.FAILED_ANEW | Candidate.UNSTABLE:
            return Inertness.NOT_INERT
        case Candidate.INCONCLUSIVE | Candidate.BROKEN | Candidate.UNSUPPORTED | Candidate.MISSING:
            return Inertness.UNDECIDED
        case never:
            assert_never(never)


def _not_comparable(base: CellOutcome, off: CellOutcome) -> Inertness:
    both_unsupported = base.state is off.state is CellState.UNSUPPORTED
    return Inertness.UNSUPPORTED if both_unsupported else Inertness.UNDECIDED


def weight_of_effect(effect: Effect) -> Verdict | None:
    """Return what an effect adds to the verdict; None where nothing was tested."""
    match effect:
        case Effect.CLAIM_REFUTED | Effect.REGRESSION | Effect.UNSTABLE:
            return Verdict.HOLD
        case Effect.BLIND | Effect.CONTROL_UNDECIDED | Effect.CANDIDATE_UNDECIDED | Effect.NOT_RUN:
            return Verdict.INCONCLUSIVE
        case Effect.SUPPORTS | Effect.IMPROVES | Effect.SAME | Effect.NOT_FIXED:
            return Verdict.SHIP
        case Effect.UNSUPPORTED:
            return None
        case _:
            assert_never(effect)


def weight_of_inertness(inertness: Inertness) -> Verdict | None:
    """Return what inertness adds to the verdict; alone it never speaks for SHIP."""
    match inertness:
        case Inertness.NOT_INERT:
            return Verdict.HOLD
        case Inertness.UNDECIDED:
            return Verdict.INCONCLUSIVE
        case Inertness.INERT | Inertness.UNSUPPORTED | Inertness.NO_FLAG:
            return None
        case _:
            assert_never(inertness)
