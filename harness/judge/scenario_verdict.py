"""What each scenario means: its cells under what the claims say of it; pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from harness.base.extend import extended
from harness.judge import sentences
from harness.judge.as_claimed import check_of_stock, check_run, expected_of, standing_of
from harness.judge.cells import fold_repeats, missing_cell
from harness.judge.reasons import rank
from harness.judge.rerun import rerun_command
from harness.judge.reruns import with_more_runs
from harness.judge.table import Ruling, rule, weight_of_effect, weight_of_inertness
from harness.model.arms import Arm, Role
from harness.model.claims import Claim, Expected
from harness.model.declaration import Declaration, DeclaredScenario
from harness.model.request import Request
from harness.model.runs import RunKey, RunResult
from harness.model.spares import beyond
from harness.model.verdict import (
    CellName,
    CellOutcome,
    Check,
    JudgedCell,
    JudgedRun,
    JudgedScenario,
    Reason,
    ReasonSource,
)


@dataclass(frozen=True, slots=True)
class RuledScenario:
    """A declared scenario with a ruling for each claim about it, or a single one without a claim.

    `stock` is what it expects of Kafka as it is, None where there is a candidate.
    """

    declared: DeclaredScenario
    rulings: tuple[tuple[Claim | None, Ruling], ...]
    stock: Expected | None = None

    @property
    def weightiest(self) -> tuple[Claim | None, Ruling]:
        """The claim and the ruling that weigh most; the first of those that weigh alike."""
        return min(self.rulings, key=lambda pair: rank(pair[1].verdict))

    @property
    def ruling(self) -> Ruling:
        """The weightiest ruling."""
        return self.weightiest[1]

    @property
    def claims(self) -> list[Claim]:
        """The claims about the scenario."""
        return [claim for claim, _ in self.rulings if claim]

    def cell(self, role: Role) -> CellOutcome | None:
        """Return the judged cell of a role; None for one that cannot exist."""
        ruling = self.ruling
        cells = {Role.BASE: ruling.base, Role.BASE_OFF: ruling.base_off, Role.OFF: ruling.off, Role.ON: ruling.on}
        return cells[role]

    def measure(self, role: Role) -> CellOutcome:
        """Return the cell by which a run of a role is measured where nothing is claimed of it; a control's own."""
        match role:
            case Role.BASE | Role.ON:
                return self.ruling.base
            case Role.BASE_OFF | Role.OFF:
                return self.ruling.off_control[1]

    def expected_of(self, role: Role) -> tuple[Expected, ...]:
        """Return what claims say of a role; what they say of base is said of the arm that has no fix."""
        if self.stock:
            return (self.stock,)
        if self.ruling.base_off is None:
            return expected_of(role, self.claims)
        return () if role is Role.BASE else expected_of(Role.BASE if role is Role.BASE_OFF else role, self.claims)

    @property
    def discriminates(self) -> bool:
        """Whether a control fails for the named reason."""
        return any(ruling.discriminates for _, ruling in self.rulings)


def rule_scenario(
    declaration: Declaration, declared: DeclaredScenario, results: Sequence[RunResult], shown: Sequence[RunResult] = ()
) -> RuledScenario:
    """Judge one scenario by the claims about it, and by base as it is where claims are held against base-off.

    `results` are those in the place of declared repeats; of what is `shown` beside them the cells have the number.
    """
    cells = {role: _outcome(declaration, declared.name, role, results, shown) for role in Role}
    off = cells[Role.OFF] if declaration.flag_known else None
    base_off = cells[Role.BASE_OFF] if declaration.base_has_flag_on else None
    about: list[Claim | None] = [claim for claim in declaration.claims if claim.scenario == declared.name]
    if base_off or not about:
        about.append(None)
    return RuledScenario(
        declared,
        tuple(
            (claim, rule(claim.expected if claim else None, cells[Role.BASE], off, cells[Role.ON], base_off))
            for claim in about
        ),
        None if declaration.candidate else declared.of_stock,
    )


def reasons_of_scenario(declaration: Declaration, ruled: RuledScenario) -> tuple[Reason, ...]:
    """Return what base and on mean together, and what base and off mean where that is worth a remark."""
    name, (claim, ruling) = ruled.declared.name, ruled.weightiest
    effect = Reason(
        ReasonSource.EFFECT,
        weight_of_effect(ruling.effect),
        _cell_name(declaration, name, Role.ON),
        sentences.effect(declaration, name, claim, ruling),
    )
    remark = sentences.flag(declaration, name, ruling)
    if not remark:
        return (effect,)
    weight = weight_of_inertness(ruling.inertness)
    return effect, Reason(ReasonSource.FLAG, weight, _cell_name(declaration, name, Role.OFF), remark)


def judged_runs(
    ruled: RuledScenario, results: Sequence[RunResult], asked_again: Collection[RunKey] = ()
) -> list[JudgedRun]:
    """Return the results of a scenario with their checks; what was `asked_again` decides nothing."""
    return [
        extended(JudgedRun, result, check=Check.SKIPPED if result.key in asked_again else _check(ruled, result))
        for result in results
        if result.scenario == ruled.declared.name
    ]


def _check(ruled: RuledScenario, result: RunResult) -> Check:
    if ruled.stock:
        return check_of_stock(result, ruled.stock)
    measure = ruled.measure(result.role)
    return check_run(result, ruled.expected_of(result.role), measure, ruled.cell(result.role) or measure)


def judged_scenario(
    declaration: Declaration, request: Request, ruled: RuledScenario, runs: Sequence[JudgedRun]
) -> JudgedScenario:
    """Return the scenario as the verdict has it; `runs` are all judged runs."""
    ruling = ruled.ruling
    return JudgedScenario(
        name=ruled.declared.name,
        question=ruled.declared.question,
        verdict=ruling.verdict,
        effect=ruling.effect,
        inertness=ruling.inertness,
        discriminates=ruled.discriminates,
        cells=tuple(
            _cell(request, ruled, arm, outcome, runs)
            for arm in declaration.arms
            if (outcome := ruled.cell(arm.role)) is not None
        ),
    )


def _cell(
    request: Request, ruled: RuledScenario, arm: Arm, outcome: CellOutcome, runs: Sequence[JudgedRun]
) -> JudgedCell:
    name = (ruled.declared.name, arm.name)
    return extended(
        JudgedCell,
        outcome,
        role=arm.role,
        arm=arm.name,
        expected=ruled.expected_of(arm.role),
        standing=standing_of(outcome.state, {run.check for run in runs if (run.scenario, run.arm) == name}),
        rerun=rerun_command(request, *name),
    )


def _outcome(
    declaration: Declaration, scenario: str, role: Role, results: Sequence[RunResult], shown: Sequence[RunResult]
) -> CellOutcome:
    arm = declaration.arm(role)
    if arm is None:
        return missing_cell(declaration.repeats, f"no arm plays the role {role}")
    of_cell, all_of_it = (
        [result for result in each if (result.scenario, result.arm) == (scenario, arm.name)]
        for each in (results, shown)
    )
    cell = fold_repeats(of_cell, declaration.repeats)
    return with_more_runs(cell, beyond(declaration, all_of_it))


def _cell_name(declaration: Declaration, scenario: str, role: Role) -> CellName:
    arm = declaration.arm(role)
    return CellName(scenario, arm.name if arm else "")
