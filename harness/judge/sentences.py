"""The judge's sentences: one place for the wording of reasons, rows and the headline; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import assert_never

from harness.judge.table import Ruling
from harness.model.arms import RELEASE, Arm, Role
from harness.model.claims import Claim
from harness.model.costs import Cost
from harness.model.declaration import Declaration
from harness.model.proof import ChangedMethod, Coverage
from harness.model.runs import RunResult, Verdict
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
) -> str:
    """Return the sentence beside the verdict: what was seen, never that anything is safe.

    `changed` are the methods of the candidate that do something else, `shown` the smallest defects that would have
    shown.
    """
    match verdict:
        case Verdict.SHIP:
            seen = (
                _what_passed(declaration, rows)
                if declaration.has_claims
                else _nothing_worse(declaration, rows, changed)
            )
            return f"{seen} What would have shown: {', '.join(shown)}." if shown else seen
        case Verdict.HOLD:
            return reasons[0]
        case Verdict.INCONCLUSIVE:
            return f"Too little could be tested. {reasons[0]}"
        case _:
            assert_never(verdict)


def _what_passed(declaration: Declaration, rows: Rows) -> str:
    """Return what the scenarios show of the claims: what the candidate does better, and what it does as base does."""
    on = _with_candidate(declaration.arm(Role.ON))
    same, left = _with_effect(rows, Effect.SAME), _with_effect(rows, Effect.NOT_FIXED)
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
    left = _with_effect(rows, Effect.NOT_FIXED)
    better = _better(declaration, rows, Effect.IMPROVES, f"on {_name(declaration, Role.ON)}", _UNCLAIMED)
    found = _of_each(better, (left, f"{_do(left, 'fail')} on both"))
    asked = "1 scenario" if len(names) == 1 else f"{len(names)} scenarios"
    what = "; ".join((*([] if better[0] else ["no fix was shown"]), *found))
    return f"No regression found in {asked} ({_list(names)}){_times(declaration)}{_with(declaration, changed)}; {what}."


def _better(declaration: Declaration, rows: Rows, effect: Effect, on: str, remark: str) -> tuple[list[str], str]:
    """Return the scenarios of an effect that fail on the control and pass, and that said of them."""
    names = _with_effect(rows, effect)
    control = next((ruling.control for name, ruling in rows if name in names), Role.BASE)
    base = _name(declaration, control)
    return names, f"{_do(names, 'fail')} on {base} and {_do(names, 'pass')} {on}, {remark}"


def _of_each(*groups: tuple[Sequence[str], str]) -> Iterator[str]:
    """Yield what is said of each group of scenarios that is not empty."""
    return (f"{_list(names)} {what}" for names, what in groups if names)


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
    methods = list(dict.fromkeys(each.label for each in changed))
    classes = list(dict.fromkeys(each.outermost for each in changed))
    if not methods:
        return ", with no changed method found"
    if len(methods) <= _FEW:
        return f", with {_list(methods)} changed"
    of = _list(classes) if len(classes) <= _FEW else f"{', '.join(classes[:_FEW])} and {len(classes) - _FEW} more"
    return f", with {len(methods)} methods of {of} changed"


def _with_effect(rows: Rows, wanted: Effect) -> list[str]:
    return [name for name, ruling in rows if ruling.effect is wanted]


def _times(declaration: Declaration) -> str:
    return f", {declaration.repeats} times each" if declaration.repeats > 1 else ""


def _with_candidate(arm: Arm | None) -> str:
    if arm is None or arm.build.builder not in ("given", RELEASE):
        return "with the patch on"
    return "on the given jar" if arm.build.builder == "given" else f"on {arm.build.kafka.label}"


def effect(declaration: Declaration, name: str, claim: Claim | None, ruling: Ruling) -> str:
    """Return what base and on mean together in the scenario `name`."""
    base, on = _name(declaration, ruling.control), _name(declaration, Role.ON)
    if ruling.effect is Effect.SAME and not declaration.has_claims:  # asked was whether anything is worse
        return f"{name} passes on {base} and on {on}."
    return _effect(name, claim, ruling, base, on)


def nothing_discriminates(declaration: Declaration) -> str:
    """Return why nothing was shown although nothing went wrong."""
    base, on = _name(declaration, Role.BASE), _name(declaration, Role.ON)
    if declaration.kafkas and not declaration.has_claims:
        old, new = declaration.kafkas
        return f"One scenario, in which nothing is worse, is too little to say so of {new.label} beside {old.label}."
    return (
        f"Nothing discriminates: no scenario fails on {base} and passes on {on}, so a jar that does nothing would do."
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
        f"{claim.scenario}: no run measured {figure} by which a build can be judged, and {claim.id} limits it to "
        f"{claim.limits[figure]:g}."
    )


def unlogged_claim(declaration: Declaration, claim: Claim, pattern: str) -> str:
    """Return the gap that a claim leaves whose log line is missing."""
    arm = _name(declaration, Role.ON)
    return f"The claim {claim.id} lacks its evidence: {arm} logs no line that matches {pattern} in {claim.scenario}."


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
    base_does = f"{_name(declaration, role)} {_verb(control)}"
    off_does = f"{_name(declaration, Role.OFF)} {_verb(ruling.off)}"
    match ruling.inertness:
        case Inertness.NOT_INERT:
            return f"{name}: the flag is not inert: {off_does} where {base_does}{_because(ruling.off)}."
        case Inertness.UNDECIDED:
            return f"{name}: whether the flag is inert is not known: {off_does}{_because(ruling.off)}."
        case Inertness.INERT | Inertness.UNSUPPORTED | Inertness.NO_FLAG:
            return ""
        case _:
            assert_never(ruling.inertness)


def _name(declaration: Declaration, role: Role) -> str:
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


def unreached(coverage: Coverage | None) -> str:
    """Return which changed methods no scenario entered; empty when each was, or none is known."""
    if coverage is None or not coverage.unreached_methods:
        return ""
    names = coverage.unreached_methods
    more = len(names) - _MOST_METHODS
    listed = f"{', '.join(names[:_MOST_METHODS])} and {more} more" if more > 0 else _list(names)
    return f"No scenario runs {len(names)} of the methods that the candidate changes or adds: {listed}."


def unasked(run: RunResult) -> str:
    """Return which expectations of a run its plan did not come to, and why."""
    return f"{run.scenario} on {run.arm} was {run.label}, and so not asked for {_list(run.unasked)}."


def costs_not_judged(costs: Sequence[Cost]) -> tuple[str, ...]:
    """Return which figures of an arm were not held against its control's, with the reason, scenarios taken together."""
    groups: dict[tuple[str, str, str], list[Cost]] = {}
    for cost in costs:
        if cost.not_judged:
            groups.setdefault((cost.arm, cost.control, cost.not_judged), []).append(cost)
    return tuple(
        f"Not held against {control}'s: {len(found)} figure{'s'[: len(found) > 1]} of {arm} in "
        f"{_list([*dict.fromkeys(each.scenario for each in found)])}, since {why}."
        for (arm, control, why), found in groups.items()
    )


def against(
    verdict: Verdict,
    declaration: Declaration,
    rows: Rows,
    coverage: Coverage | None = None,
    worse_in: Collection[str] = (),
    *,
    is_blocked: bool = False,
) -> str:
    """Return the strongest reason against the verdict; `worse_in` are scenarios whose logs or figures are worse.

    `is_blocked` says that something holds the candidate back whatever its scenarios show.
    """
    match verdict:
        case Verdict.SHIP:
            return unreached(coverage) or _against_shipping(declaration, rows)
        case Verdict.HOLD:
            return _for_the_candidate(declaration, rows, worse_in, is_blocked=is_blocked)
        case Verdict.INCONCLUSIVE:
            return _what_was_decided(rows)
        case _:
            assert_never(verdict)


def _against_shipping(declaration: Declaration, rows: Rows) -> str:
    left, silent = (_with_effect(rows, each) for each in (Effect.NOT_FIXED, Effect.UNSUPPORTED))
    if left:
        return f"The defect that base shows in {_list(left)} is not fixed: the candidate shows it too."
    if silent:
        return f"This host cannot run {_list(silent)}."
    blind = [name for name, ruling in rows if declaration.has_claims and not ruling.discriminates]
    no_evidence = f" {_list(blind)} would have passed without the patch." if blind else ""
    return confidence(declaration.repeats) + no_evidence


def _for_the_candidate(declaration: Declaration, rows: Rows, worse_in: Collection[str], *, is_blocked: bool) -> str:
    good = [name for name, ruling in rows if ruling.verdict is Verdict.SHIP and name not in worse_in]
    passed = f"Nothing speaks against the candidate in {_list(good)}." if good else ""
    once = "Each scenario ran once per arm, so a single unlucky run would look the same."
    # What the jar is shows without a run; what its logs and figures are worse by was held against many.
    is_chance = declaration.repeats == 1 and not is_blocked
    return f"{passed} {once if is_chance else ''}".strip() or "None: no scenario speaks for it."


def _what_was_decided(rows: Rows) -> str:
    good = [name for name, ruling in rows if ruling.verdict is Verdict.SHIP]
    if not good:
        return "None: nothing was decided in the candidate's favour."
    return f"Nothing that could be decided speaks against the candidate: {_list(good)}."


def confidence(repeats: int) -> str:
    """Return what `repeats` runs without a violation can rule out, at 95 % confidence."""
    if repeats == 1:
        return "Each scenario ran once per arm: a fault that shows only in some runs can have been missed."
    rate = 100 * (1 - 0.05 ** (1 / repeats))
    return (
        f"Each scenario ran {repeats} times per arm: at 95 % confidence, "
        f"that rules out only faults that show in more than {rate:.0f} % of runs."
    )


def _list(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]
