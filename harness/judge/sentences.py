"""The judge's sentences: one place for the wording of reasons, rows and the headline; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from harness.base.text import cut, listed
from harness.judge.table import Ruling
from harness.model.arms import GIVEN, RELEASE, Arm, Role, is_base_itself
from harness.model.claims import Claim
from harness.model.costs import Cost
from harness.model.declaration import Declaration
from harness.model.proof import ChangedMethod, Coverage, Proof
from harness.model.runs import Evidence, RunResult, Verdict
from harness.model.verdict import CellOutcome, CellState, Effect, Inertness

_REASON_LIMIT = 300
_MOST_METHODS = 8
_FEW = 3  # methods or classes that a sentence names
_UNCLAIMED = "which no claim mentions"

Rows = Sequence[tuple[str, Ruling]]  # scenarios by name


def headline(
    verdict: Verdict,
    reasons: Sequence[str],
    declaration: Declaration,
    rows: Rows,
    changed: Sequence[ChangedMethod],
    shown: Sequence[str] = (),
    measured: str = "",
) -> str:
    """Return the sentence beside the verdict: what was seen, never that anything is safe.

    `changed` are the methods of the candidate that do something else, `shown` the smallest defects that would have
    shown, and `measured` says when that was measured.
    """
    match verdict:
        case Verdict.SHIP:
            seen = (
                _what_passed(declaration, rows)
                if declaration.has_claims
                else _nothing_worse(declaration, rows, changed)
            )
            when = f" ({measured})" if measured else ""
            return f"{seen} Smallest planted defects the suite noticed: {', '.join(shown)}{when}." if shown else seen
        case Verdict.HOLD:
            return reasons[0]
        case Verdict.INCONCLUSIVE:
            return f"Too little could be tested. {reasons[0]}"
        case _:
            assert_never(verdict)


def _what_passed(declaration: Declaration, rows: Rows) -> str:
    """Return what the scenarios show of the claims: what the candidate does better, and what it does as base does."""
    on = _with_candidate(declaration.arm(Role.ON))
    same, left = with_effect(rows, Effect.SAME), with_effect(rows, Effect.NOT_FIXED)
    said = _of_each(
        _better(declaration, rows, Effect.SUPPORTS, on, "as claimed"),
        _better(declaration, rows, Effect.IMPROVES, on, _UNCLAIMED),
        (same, f"{_do(same, 'pass')} on both"),
        (left, f"{_do(left, 'fail')} on both"),
    )
    times = f" (each run {declaration.repeats} times)" if declaration.repeats > 1 else ""
    return f"{'; '.join(said)}{times}."


def _nothing_worse(declaration: Declaration, rows: Rows, changed: Sequence[ChangedMethod]) -> str:
    """Return what was found where nothing is claimed: no regression, and whether anything went better."""
    names = [name for name, ruling in rows if ruling.effect is not Effect.UNSUPPORTED]
    left = with_effect(rows, Effect.NOT_FIXED)
    better = _better(declaration, rows, Effect.IMPROVES, f"on {arm_name(declaration, Role.ON)}", _UNCLAIMED)
    found = _of_each(better, (left, f"{_do(left, 'fail')} on both"))
    asked = "1 scenario" if len(names) == 1 else f"{len(names)} scenarios"
    silent = with_effect(rows, Effect.UNSUPPORTED)
    not_run = [f"{len(silent)} of {len(rows)} could not run on this host"] if silent else []
    what = "; ".join((*([] if better[0] else ["no fix was shown"]), *found, *not_run))
    return (
        f"No regression found in {asked} ({listed(names)}){_times(declaration)}{_with(declaration, changed)}; {what}."
    )


def _better(declaration: Declaration, rows: Rows, effect: Effect, on: str, remark: str) -> tuple[list[str], str]:
    """Return the scenarios of an effect that fail on the control and pass, and that said of them."""
    names = with_effect(rows, effect)
    control = next((ruling.control for name, ruling in rows if name in names), Role.BASE)
    base = arm_name(declaration, control)
    return names, f"{_do(names, 'fail')} on {base} and {_do(names, 'pass')} {on}, {remark}"


def _of_each(*groups: tuple[Sequence[str], str]) -> Iterator[str]:
    """Yield what is said of each group of scenarios that is not empty."""
    return (f"{listed(names)} {what}" for names, what in groups if names)


def _do(names: Sequence[str], verb: str) -> str:
    """Return a verb in the present, for one scenario or for several."""
    return verb if len(names) > 1 else f"{verb}{'es' if verb.endswith('s') else 's'}"


def _with(declaration: Declaration, changed: Sequence[ChangedMethod]) -> str:
    """Return which methods changed, or of many their classes; of an unknown compiler's only other calls are seen.

    Of two whole Kafkas it says which.
    """
    if declaration.kafkas:
        base, candidate = declaration.kafkas
        return f", with {candidate.label} in place of {base.label}"
    if is_base_itself(declaration.arms):
        return ", with base's own jars, byte for byte, as the candidate"
    methods = list(dict.fromkeys(each.label for each in changed))
    classes = list(dict.fromkeys(each.outermost for each in changed))
    if not methods:
        return ", with no changed method found"
    if len(methods) <= _FEW:
        return f", with {listed(methods)} changed"
    of = listed(classes) if len(classes) <= _FEW else f"{', '.join(classes[:_FEW])} and {len(classes) - _FEW} more"
    return f", with {len(methods)} methods of {of} changed"


def with_effect(rows: Rows, wanted: Effect) -> list[str]:
    """Return the scenarios of an effect."""
    return [name for name, ruling in rows if ruling.effect is wanted]


def _times(declaration: Declaration) -> str:
    return f", {declaration.repeats} times each" if declaration.repeats > 1 else ""


def _with_candidate(arm: Arm | None) -> str:
    if arm is None or arm.build.builder not in (GIVEN, RELEASE):
        return "with the patch on"
    return "on the given jar" if arm.build.builder == GIVEN else f"on {arm.build.kafka.label}"


def effect(declaration: Declaration, name: str, claim: Claim | None, ruling: Ruling) -> str:
    """Return what base and on mean together in the scenario `name`."""
    base, on = arm_name(declaration, ruling.control), arm_name(declaration, Role.ON)
    if ruling.effect is Effect.SAME and not declaration.has_claims:  # asked was whether anything is worse
        return f"{name} passes on {base} and on {on}."
    return _effect(name, claim, ruling, base, on)


def nothing_discriminates(declaration: Declaration) -> str:
    """Return why nothing was shown although nothing went wrong."""
    base, on = arm_name(declaration, Role.BASE), arm_name(declaration, Role.ON)
    if declaration.kafkas and not declaration.has_claims:
        old, new = declaration.kafkas
        return f"One scenario in which nothing is worse is not enough to judge {new.label} against {old.label}."
    return (
        f"Nothing discriminates: no scenario fails on {base} and passes on {on}, "
        "so a jar that changes nothing would look the same."
    )


def absent_arm(role: Role) -> str:
    """Return what is missing when no arm plays `role`."""
    match role:
        case Role.BASE:
            return "There is no base arm, so nothing shows what happens without the patch."
        case Role.BASE_OFF:
            return "There is no base-off arm, so nothing shows what base does with the flag off."
        case Role.OFF:
            return "There is no off arm, so nothing shows whether the flag, switched off, is inert."
        case Role.ON:
            return "There is no on arm, so the candidate was not tested."
        case _:
            assert_never(role)


def unrun_claim(claim: Claim) -> str:
    """Return the gap that a claim leaves whose scenario was not declared."""
    return f"The claim {claim.id} is untested: its scenario {claim.scenario} was not run."


def unsupported_claim(claim: Claim, ruling: Ruling) -> str:
    """Return the gap that a claim leaves whose scenario this host does not support on any arm."""
    why = _because(ruling.control_cell)
    return f"The claim {claim.id} is untested: this host does not support its scenario {claim.scenario}{why}."


def unmeasured_limit(claim: Claim, figure: str) -> str:
    """Return that a figure which a claim limits was not measured, or on a host that held the nodes back."""
    return (
        f"{claim.scenario}: not every run measured {figure} in a way that can be judged, but {claim.id} limits it to "
        f"{claim.limits[figure]:g}."
    )


def unlogged_claim(declaration: Declaration, claim: Claim, pattern: str) -> str:
    """Return the gap that a claim leaves whose log line is missing."""
    arm = arm_name(declaration, Role.ON)
    return f"The claim {claim.id} lacks its evidence: {arm} logs no line that matches {pattern} in {claim.scenario}."


def logged_with_flag_off(declaration: Declaration, claim: Claim, line: Evidence) -> str:
    """Return that the flag is not inert by a line that a claim expects with the flag on alone."""
    control = declaration.control_of(Role.OFF)
    off, on = arm_name(declaration, Role.OFF), arm_name(declaration, Role.ON)
    return (
        f"{claim.scenario}: the flag is not inert: {off} logs what the claim {claim.id} expects of {on}, and "
        f"{control.name if control else 'base'} does not: {cut(line.excerpt, _REASON_LIMIT)} ({line.place})."
    )


def claim_without_flag(claim: Claim, flag_key: str) -> str:
    """Return the gap that a claim about the flag leaves when the candidate has no such flag to switch off."""
    return f"The claim {claim.id} is about the flag switched off, but the candidate does not have the flag {flag_key}."


def _effect(name: str, stated: Claim | None, ruling: Ruling, base: str, on: str) -> str:
    control, claim = ruling.control_cell, stated.id if stated else ""
    base_does, on_does = f"{base} {_verb(control)}", f"{on} {_verb(ruling.on)}"
    why_base, why_on = _because(control), _because(ruling.on)
    match ruling.effect:
        case Effect.SUPPORTS:
            return f"{name}: {base_does} and {on_does}, as the claim {claim} says."
        case Effect.IMPROVES:
            return f"{name}: {base_does} and {on_does}: an improvement that no claim mentions."
        case Effect.SAME:
            return f"{name} passes on {base} too, so it is no evidence for the patch."
        case Effect.NOT_FIXED:
            return f"{name}: {base_does} and so does {on}: not fixed by this candidate."
        case Effect.UNSUPPORTED:
            return f"{name} was not run: this host does not support it{why_base}."
        case Effect.CLAIM_REFUTED:
            return f"{name}: the claim {claim} is refuted: {on_does}{why_on}; {base_does}."
        case Effect.REGRESSION:
            return f"{name}: regression: {on_does}{why_on}; {base_does}."
        case Effect.UNSTABLE:
            return f"{name}: {on_does}, so it cannot be relied on{why_on}."
        case Effect.BLIND:
            return f"{name}: {base_does} where the claim {claim} says that it fails, so a pass on {on} proves nothing."
        case Effect.CONTROL_UNDECIDED:
            return f"{name}: the control is undecided: {base_does}{why_base}{_otherwise(stated, control)}; {on_does}."
        case Effect.CANDIDATE_UNDECIDED:
            return f"{name}: the candidate is undecided: {on_does}{why_on}."
        case Effect.NOT_RUN:
            lost = control if control.state is CellState.MISSING else ruling.on
            return f"{name}: {base_does} and {on_does}{_because(lost)}."
        case _:
            assert_never(ruling.effect)


def _otherwise(claim: Claim | None, control: CellOutcome) -> str:
    """Return what a claim says of a control that failed otherwise, or where it was to pass; else nothing."""
    said = claim.expected.get(Role.BASE) if claim else None
    differs = control.state is CellState.FAILED and said is not None and str(said) != str(control)
    return f", where the claim {claim.id} says {said}" if claim and differs else ""


def flag(declaration: Declaration, name: str, ruling: Ruling) -> str:
    """Return what base and off mean together; empty where there is nothing to remark."""
    if ruling.off is None:
        return ""
    role, control = ruling.off_control
    base_does = f"{arm_name(declaration, role)} {_verb(control)}"
    off_does = f"{arm_name(declaration, Role.OFF)} {_verb(ruling.off)}"
    match ruling.inertness:
        case Inertness.NOT_INERT:
            return f"{name}: the flag is not inert: {off_does} where {base_does}{_because(ruling.off)}."
        case Inertness.UNDECIDED:
            return f"{name}: whether the flag is inert is not known: {off_does}{_because(ruling.off)}."
        case Inertness.INERT | Inertness.UNSUPPORTED | Inertness.NO_FLAG:
            return ""
        case _:
            assert_never(ruling.inertness)


def arm_name(declaration: Declaration, role: Role) -> str:
    """Return the name of the arm that plays `role`."""
    arm = declaration.arm(role)
    return arm.name if arm else f"the {role} arm"


def _verb(cell: CellOutcome) -> str:
    match cell.state:
        case CellState.PASSED:
            return "passes"
        case CellState.FAILED:
            return f"fails {cell.expectation}"
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


def unreached(coverage: Coverage | None, changed: Sequence[ChangedMethod]) -> str:
    """Return which changed methods no scenario entered, or that it failed to be measured; empty when each was.

    It is also empty where nobody was to measure it, or nothing is known to have changed.
    """
    if coverage and coverage.gap and changed and not (coverage.methods or coverage.lines):
        return f"No run measured which of the changed methods ({len(changed)}) the scenarios run: {coverage.gap}"
    if coverage is None or not coverage.unreached_methods:
        return ""
    names = coverage.unreached_methods
    return (
        f"No scenario runs {len(names)} of the methods that the candidate changes or adds: "
        f"{listed(names, _MOST_METHODS)}."
    )


def nothing_changed_ran(coverage: Coverage | None, proof: Proof | None) -> str:
    """Return that what ran is base in all but name; empty where a changed method ran, a test did, or nobody knows."""
    if coverage is None or coverage.gap or not coverage.methods or any(each.scenarios for each in coverage.methods):
        return ""
    if proof and proof.tests.count:
        return ""
    return (
        "Nothing that ran enters what the candidate changes: no scenario runs any of its "
        f"{len(coverage.methods)} changed methods, and no test ran on it."
    )


def unasked(run: RunResult) -> str:
    """Return which expectations of a run its plan did not come to, and why."""
    return f"{run.scenario} on {run.arm} ended as {run.label} before it could test {listed(run.unasked)}."


def costs_not_judged(costs: Sequence[Cost]) -> tuple[str, ...]:
    """Return which figures of an arm were not held against its control's, with the reason, scenarios taken together."""
    groups: dict[tuple[str, str, str], list[Cost]] = {}
    for cost in costs:
        if cost.not_judged:
            groups.setdefault((cost.arm, cost.control, cost.not_judged), []).append(cost)
    return tuple(
        f"Not compared with {control}: {len(found)} figure{'s'[: len(found) > 1]} of {arm} in "
        f"{listed([*dict.fromkeys(each.scenario for each in found)])}, because {why}."
        for (arm, control, why), found in groups.items()
    )
