"""What speaks most against a verdict, and what the candidate leaves as it was; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import assert_never

from harness.base.text import counted, listed
from harness.judge.scenario_verdict import RuledScenario
from harness.judge.sentences import Rows, arm_name, with_effect
from harness.model.arms import Role, is_base_itself
from harness.model.declaration import Declaration
from harness.model.proof import Proof
from harness.model.runs import Verdict
from harness.model.verdict import Effect

ONCE = "Each scenario ran once per arm, so a single unlucky run would look the same."
_FOR_IT = (Effect.SUPPORTS, Effect.IMPROVES, Effect.SAME)


def not_fixed(declaration: Declaration, ruled: Iterable[RuledScenario], proof: Proof | None) -> tuple[str, ...]:
    """Return what the candidate leaves as it was, whatever the verdict: where it fails as base does, then what reading
    its source found that nobody promised."""
    on = arm_name(declaration, Role.ON)
    failing = (
        f"{each.declared.name}: {on} fails {ruling.on.expectation}, as {arm_name(declaration, ruling.control)} does."
        for each in ruled
        for _, ruling in each.rulings
        if ruling.effect is Effect.NOT_FIXED
    )
    gaps = (f"{each.question}: {each.detail}" for each in (proof.audit if proof else ()) if each.standing == "gap")
    return tuple(dict.fromkeys((*failing, *gaps)))


def against(
    verdict: Verdict,
    declaration: Declaration,
    rows: Rows,
    not_reached: str = "",
    worse_in: Collection[str] = (),
    *,
    is_blocked: bool = False,
    asked_again: int = 0,
) -> str:
    """Return the strongest reason against the verdict; `worse_in` are scenarios whose logs or figures are worse.

    `not_reached` says what of the jar was not tested: what no run shows (`not_shown_by_runs`), most of upstream's tests
    (`mostly_excused`), or which changed methods no scenario ran (`unreached`). `is_blocked` says that something holds
    the candidate back whatever its scenarios show, `asked_again` how many runs were made once more.
    """
    match verdict:
        case Verdict.SHIP:
            # What base fails too is told in any case, as not fixed; what changed and never ran is told here.
            return not_reached or _left(rows) or _against_shipping(declaration, rows, asked_again)
        case Verdict.HOLD:
            is_single = declaration.repeats == 1 and not asked_again and not is_blocked
            return _for_the_candidate(rows, worse_in, is_single=is_single)
        case Verdict.INCONCLUSIVE:
            return _what_was_decided(rows, worse_in)
        case _:
            assert_never(verdict)


def _left(rows: Rows) -> str:
    left = with_effect(rows, Effect.NOT_FIXED)
    return f"The defect that base shows in {listed(left)} is not fixed: the candidate shows it too." if left else ""


def _against_shipping(declaration: Declaration, rows: Rows, asked_again: int) -> str:
    if is_base_itself(declaration.arms):
        return "The candidate is base, byte for byte: nothing was compared but base with itself."
    if silent := with_effect(rows, Effect.UNSUPPORTED):
        return f"This host cannot run {listed(silent)}."
    blind = [name for name, ruling in rows if declaration.has_claims and not ruling.discriminates]
    no_evidence = f" {listed(blind)} would have passed without the patch." if blind else ""
    return confidence(declaration.repeats, asked_again) + no_evidence


def _for_the_candidate(rows: Rows, worse_in: Collection[str], *, is_single: bool) -> str:
    good = [name for name in _speaking_for(rows) if name not in worse_in]
    passed = f"Nothing speaks against the candidate in {listed(good)}." if good else ""
    # What the jar is shows without a run, what its logs and figures are worse by was held against many, and what was
    # asked once more was seen twice.
    return f"{passed} {ONCE if is_single else ''}".strip() or "None: no scenario speaks for the candidate."


def _what_was_decided(rows: Rows, worse_in: Collection[str]) -> str:
    if good := [name for name in _speaking_for(rows) if name not in worse_in]:
        return f"Nothing that could be decided speaks against the candidate: {listed(good)}."
    return "None: nothing was decided in the candidate's favour."


def _speaking_for(rows: Rows) -> list[str]:
    """Return the scenarios that the candidate passes, its flag switched off or on."""
    return [name for name, ruling in rows if ruling.effect in _FOR_IT and ruling.verdict is Verdict.SHIP]


def confidence(repeats: int, asked_again: int = 0) -> str:
    """Return what `repeats` runs without a violation can rule out, at 95 % confidence; some were `asked_again`."""
    if repeats == 1:
        more = f" (plus {counted(asked_again, 'extra run')})" if asked_again else ""
        return f"Each scenario ran once per arm{more}: a fault that shows only in some runs may have been missed."
    rate = 100 * (1 - 0.05 ** (1 / repeats))
    return (
        f"Each scenario ran {repeats} times per arm: at 95 % confidence, "
        f"that rules out only faults that show in more than {rate:.0f} % of runs."
    )
