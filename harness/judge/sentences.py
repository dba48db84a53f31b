"""What the judge says, in sentences: one place for the wording of reasons, rows and the headline; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from harness.judge.table import Ruling
from harness.model.arms import Role
from harness.model.claims import Claim
from harness.model.declaration import Declaration
from harness.model.runs import Verdict
from harness.model.verdict import CellOutcome, CellState, Effect, Inertness

_REASON_LIMIT = 300


def headline(verdict: Verdict, reasons: Sequence[str], runs: int, leaves_defects: bool) -> str:
    """Return the sentence beside the verdict: what was seen, never that anything is safe."""
    match verdict:
        case Verdict.SHIP:
            what = "no violation that the base arm does not show too" if leaves_defects else "no violation"
            return f"{what[0].upper()}{what[1:]} in {_times(runs)} of this plan on this jar."
        case Verdict.HOLD:
            return reasons[0]
        case Verdict.INCONCLUSIVE:
            return f"Too little could be asked. {reasons[0]}"
        case _:
            assert_never(verdict)


def effect(asked: Declaration, name: str, claim: Claim | None, ruling: Ruling) -> str:
    """Return what base and on mean together in the scenario `name`."""
    base, on = _told(asked, Role.BASE, ruling.base), _told(asked, Role.ON, ruling.on)
    return _effect(name, f" {claim.id}" if claim else "", ruling, base, on)


def absent_arm(role: Role) -> str:
    """Return what is missing when no arm plays `role`."""
    match role:
        case Role.BASE:
            return "There is no base arm, so nothing shows what happens without the patch."
        case Role.OFF:
            return "There is no off arm, so nothing shows whether the flag, switched off, is inert."
        case Role.ON:
            return "There is no on arm, so the candidate was not asked."
        case _:
            assert_never(role)


def unrun_claim(claim: Claim) -> str:
    """Return the gap that a claim leaves whose scenario was not declared."""
    return f"The claim {claim.id} is untested: its scenario {claim.scenario} was not run."


def unsupported_claim(claim: Claim, ruling: Ruling) -> str:
    """Return the gap that a claim leaves whose scenario this host does not support on any arm."""
    why = _because(ruling.base)
    return f"The claim {claim.id} is untested: this host does not support its scenario {claim.scenario}{why}."


def claim_without_flag(claim: Claim, flag_key: str) -> str:
    """Return the gap that a claim about the flag leaves when the candidate has no such flag to switch off."""
    return (
        f"The claim {claim.id} says what the flag, switched off, must show, "
        f"but the candidate does not know the flag {flag_key}."
    )


def _effect(name: str, claim: str, ruling: Ruling, base: str, on: str) -> str:
    why_base, why_on = _because(ruling.base), _because(ruling.on)
    match ruling.effect:
        case Effect.SUPPORTS:
            return f"{name}: {base} and {on}, which supports the claim{claim}."
        case Effect.IMPROVES:
            return f"{name}: {base} and {on}, an improvement that nobody claimed."
        case Effect.SAME:
            return f"{name}: {base} and {on}; it does not discriminate, so it proves nothing about the patch."
        case Effect.NOT_FIXED:
            return f"{name}: {base} and {on}: not fixed by this candidate."
        case Effect.NOT_ASKED:
            return f"{name}: not asked, this host does not support it{why_base}."
        case Effect.CLAIM_REFUTED:
            return f"{name}: the claim{claim} is refuted: {on}{why_on}; {base}."
        case Effect.REGRESSION:
            return f"{name}: regression: {on}{why_on}; {base}."
        case Effect.UNSTABLE:
            return f"{name}: {on}, so it cannot be relied on{why_on}."
        case Effect.BLIND:
            return f"{name}: does not discriminate: {base} where the claim{claim} says it is refuted, and {on}."
        case Effect.CONTROL_UNDECIDED:
            return f"{name}: the control is undecided: {base}{why_base}; {on}."
        case Effect.CANDIDATE_UNDECIDED:
            return f"{name}: the candidate is undecided: {on}{why_on}."
        case Effect.NOT_RUN:
            lost = ruling.base if ruling.base.state is CellState.MISSING else ruling.on
            return f"{name}: {base} and {on}{_because(lost)}."
        case _:
            assert_never(ruling.effect)


def flag(asked: Declaration, name: str, ruling: Ruling) -> str:
    """Return what base and off mean together; empty where there is nothing to remark."""
    if ruling.off is None:
        return ""
    base, off = _told(asked, Role.BASE, ruling.base), _told(asked, Role.OFF, ruling.off)
    match ruling.inertness:
        case Inertness.NOT_INERT:
            return f"{name}: the flag is not inert: {off} where {base}{_because(ruling.off)}."
        case Inertness.UNDECIDED:
            return f"{name}: whether the flag is inert is undecided: {off}{_because(ruling.off)}."
        case Inertness.INERT | Inertness.NOT_ASKED | Inertness.NO_FLAG:
            return ""
        case _:
            assert_never(ruling.inertness)


def _told(asked: Declaration, role: Role, cell: CellOutcome) -> str:
    arm = asked.arm(role)
    return f"{arm.name if arm else f'the {role} arm'} {_verb(cell)}"


def _verb(cell: CellOutcome) -> str:
    match cell.state:
        case CellState.PASSED:
            return "held"
        case CellState.FAILED:
            return f"is {cell}"
        case CellState.MISSING:
            return "has no result"
        case CellState.INCONCLUSIVE | CellState.BROKEN | CellState.UNSUPPORTED | CellState.UNSTABLE:
            return f"is {cell.state}"
        case _:
            assert_never(cell.state)


def _because(cell: CellOutcome) -> str:
    reason = cell.reason.strip().rstrip(".")
    cut = f"{reason[:_REASON_LIMIT]}…" if len(reason) > _REASON_LIMIT else reason
    return f" ({cut})" if cut else ""


def against(verdict: Verdict, asked: Declaration, rows: Sequence[tuple[str, Ruling]]) -> str:
    """Return the strongest reason against the verdict, for the reader who would rather not believe it."""
    match verdict:
        case Verdict.SHIP:
            return _against_shipping(asked, rows)
        case Verdict.HOLD:
            return _for_the_candidate(asked, rows)
        case Verdict.INCONCLUSIVE:
            return _what_was_decided(rows)
        case _:
            assert_never(verdict)


def _against_shipping(asked: Declaration, rows: Sequence[tuple[str, Ruling]]) -> str:
    left = [name for name, ruling in rows if ruling.effect is Effect.NOT_FIXED]
    silent = [name for name, ruling in rows if ruling.effect is Effect.NOT_ASKED]
    if not any(ruling.discriminates for _, ruling in rows):
        return "No scenario is refuted on the base arm, so a jar that does nothing would pass this plan too."
    if left:
        return f"The base's defect is not fixed in {_list(left)}: the candidate shows it too."
    if silent:
        return f"This host could not ask {_list(silent)}."
    blind = [name for name, ruling in rows if not ruling.discriminates]
    proves_nothing = f" {_list(blind)} would have passed without the patch." if blind else ""
    return _confidence(asked.repeats) + proves_nothing


def _for_the_candidate(asked: Declaration, rows: Sequence[tuple[str, Ruling]]) -> str:
    good = [name for name, ruling in rows if ruling.verdict is Verdict.SHIP]
    held = f"Nothing speaks against the candidate in {_list(good)}." if good else ""
    once = "Each cell ran once, so a single unlucky run would look the same." if asked.repeats == 1 else ""
    return f"{held} {once}".strip() or "None: no scenario speaks for the candidate."


def _what_was_decided(rows: Sequence[tuple[str, Ruling]]) -> str:
    good = [name for name, ruling in rows if ruling.verdict is Verdict.SHIP]
    if not good:
        return "None: nothing was decided in the candidate's favour."
    return f"What could be decided does not speak against the candidate: {_list(good)}."


def _confidence(repeats: int) -> str:
    """Return what `repeats` runs without a violation can rule out, at 95 % confidence."""
    if repeats == 1:
        return "Each cell ran once: a fault that shows in only some runs can have been missed."
    rate = 100 * (1 - 0.05 ** (1 / repeats))
    return (
        f"Each cell ran {repeats} times: that rules out, at 95 % confidence, "
        f"only faults that show in more than {rate:.0f} % of runs."
    )


def _times(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs} runs"


def _list(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]
