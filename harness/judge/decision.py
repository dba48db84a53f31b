"""The verdict over the jar's proof, its logs and figures, and all scenarios and claims of a verification; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from harness.judge import sentences
from harness.judge.acknowledgements import judge_acknowledgements
from harness.judge.against import against, not_fixed
from harness.judge.claim_verdict import judged_claims, reasons_of_claims, reasons_of_flag
from harness.judge.costs.another_round import (
    another_round,
    in_some_rounds,
    of_another_round,
    of_what_was_replaced,
    that_ended_alike,
)
from harness.judge.costs.beside_base import costs_by_shipped_limits
from harness.judge.costs.lacking import lacking, reasons_of_lacking
from harness.judge.costs.limits import shipped_limits
from harness.judge.costs.over_scenarios import costs_everywhere, in_too_few
from harness.judge.costs.reasons import reasons_of_costs
from harness.judge.expectations import of_stock
from harness.judge.failed_stops import failed_stops, reasons_of_failed_stops
from harness.judge.log_verdict import reasons_of_logs
from harness.judge.metrics_kept import other_metrics, reasons_of_metrics
from harness.judge.metrics_that_stand_still import reasons_of_standstill
from harness.judge.noticeable import would_show
from harness.judge.other_words import refusals_in_other_words
from harness.judge.proof_verdict import mostly_excused, not_shown_by_runs, reasons_of_proof, untested
from harness.judge.raft_steps import steps_not_read
from harness.judge.reasons import GAPS, is_blocker, rests_on, worst
from harness.judge.reruns import asked_again, reasons_of_what_was_asked_again
from harness.judge.scenario_verdict import (
    RuledScenario,
    judged_runs,
    judged_scenario,
    reasons_of_scenario,
    rule_scenario,
)
from harness.judge.shutdowns import judge_shutdowns
from harness.judge.taken_over import costs_judged_before, reused_sentences
from harness.judge.unseen_waits import waits_not_seen
from harness.model.arms import Role
from harness.model.candidate_kind import CandidateKind
from harness.model.costs import Cost
from harness.model.declaration import Declaration
from harness.model.findings import Contrast
from harness.model.options import record_of
from harness.model.power import Power
from harness.model.proof import Coverage, Proof
from harness.model.request import Request
from harness.model.runs import Evidence, RunKey, RunResult, Verdict
from harness.model.spares import counting, in_place, is_spare, replaced
from harness.model.verdict import (
    SCHEMA,
    CellName,
    CellOutcome,
    Check,
    Effect,
    FileDigest,
    JudgedRun,
    Reason,
    ReasonSource,
    VerdictRecord,
)

_UNTESTED = (Effect.UNSUPPORTED, Effect.NOT_RUN, Effect.CONTROL_UNDECIDED, Effect.CANDIDATE_UNDECIDED)
_EVIDENCE = (Effect.SUPPORTS, Effect.IMPROVES)
NOT_ROLLED = (
    "Nodes of base and of the candidate never ran in one cluster, and the way back to base on the candidate's disks "
    "was not tried: `harness rollout` tests both."
)
_NOTHING = "No scenario has a result that this host could decide."


def decide(
    declaration: Declaration,
    results: Sequence[RunResult],
    proof: Proof | None,
    contrasts: Sequence[Contrast] = (),
    *,
    request: Request | None = None,
    coverage: Coverage | None = None,
    evidence: Sequence[FileDigest] = (),
    logged: Mapping[str, Evidence] = MappingProxyType({}),
    logged_off: Mapping[str, Evidence] = MappingProxyType({}),
    not_compared: str = "",
    not_read: Sequence[str] = (),
    power: Power | None = None,
    power_measured: str = "",
    not_measured: str = "",
) -> VerdictRecord:
    """Judge scenarios and claims, the jar itself, its figures and its logs: HOLD beats INCONCLUSIVE beats SHIP.

    What was declared and has no result, or was claimed and could not be tested, is INCONCLUSIVE by name. Results of
    what was not declared, such as repeats that an earlier plan left in the folder, do not count. `evidence` are the
    files that are judged, which are only shown. `logged` are log lines that claims expect, by claim, `logged_off`
    those that are logged with the flag off as well, and not by base; `not_compared` says why the logs of these results
    were not compared, in a sentence, `not_read` what of them was not; `power` is what the suite was seen to notice;
    `power_measured` says when that was seen, `not_measured` of a SHIP that nobody knows it by today's rules.
    Commands that run a cell again are made from `request`, or from the command that was given.
    """
    request = request or record_of(Request, declaration.argv)
    case = _case_of(declaration, results, proof)
    logs = (
        *reasons_of_flag(declaration, logged_off),
        *reasons_of_logs(
            declaration.compared,
            declaration.flag_key,
            contrasts,
            proof,
            _cells(declaration, case.ruled),
            not_compared,
            off=off.name if (off := declaration.arm(Role.OFF)) else "",
        ),
    )
    reasons = _all_reasons(case, logs, logged, coverage)
    verdict = worst(reason.weight for reason in reasons)
    runs = {run.key: run for each in case.ruled.values() for run in judged_runs(each, case.shown, case.again)}
    counting = [run for run in runs.values() if run.key not in case.again]
    changed = proof.changed_methods if proof else ()
    not_reached = sentences.unreached(coverage, changed)
    unasked = _unasked(counting)
    tested = [name for name, each in case.ruled.items() if each.ruling.effect not in _UNTESTED]
    noticeable = would_show(power, tested, case.costs)
    record = VerdictRecord(
        schema=SCHEMA,
        verdict=verdict,
        sentence=sentences.headline(
            verdict, rests_on(verdict, reasons), declaration, case.rows, changed, noticeable, power_measured
        ),
        against=against(
            verdict,
            declaration,
            case.rows,
            not_shown_by_runs(proof) or mostly_excused(proof) or not_reached,
            _worse_in(reasons, case.ruled),
            is_blocked=any(map(is_blocker, reasons)),
            asked_again=sum(is_spare(declaration, result.key) for result in case.shown),
        ),
        reasons=reasons,
        kafka_version=declaration.kafka_version,
        started_at=declaration.started_at,
        argv=declaration.argv,
        host=declaration.host,
        repeats=declaration.repeats,
        arms=declaration.arms,
        scenarios=tuple(judged_scenario(declaration, request, each, counting) for each in case.ruled.values()),
        claims=judged_claims(declaration, case.ruled, proof, logged, case.results, logged_off),
        runs=tuple(runs[result.key] for result in case.shown),
        contrasts=tuple(contrasts),
        proof=proof,
        coverage=coverage,
        evidence=tuple(evidence),
        not_tested=(
            *_untested(reasons, case.ruled),
            *unasked,
            *_figures_not_judged(case),
            *not_read,
            *_unreached(declaration, coverage, not_reached),
            *untested(proof),
            *_not_asked_of_a_ship(verdict, not_measured),
        ),
        timings=declaration.timings,
        cpu_seconds=declaration.cpu_seconds,
        kind=declaration.kind,
        would_show=noticeable,
        would_show_measured=power_measured if noticeable else "",
        costs=case.costs,
        reused=reused_sentences(case.results, proof, coverage),
        remarks=_remarks(case),
        not_fixed=not_fixed(declaration, case.ruled.values(), proof),
    )
    return record if declaration.candidate else of_stock(record, declaration, unasked)


@dataclass(frozen=True, slots=True)
class _Case:
    """What was declared and proved, what scenarios show of it, and what the candidate costs.

    `shown` are all results, of which those in `again` have a spare in their place; `results` are those that count, one
    for each declared repeat. Those of `another_round` count for costs alone. `lost` are costs that the candidate has in
    no scenario, though base has them.
    """

    declaration: Declaration
    proof: Proof | None
    shown: Sequence[RunResult]
    again: Collection[RunKey]
    another_round: Collection[RunKey]
    results: Sequence[RunResult]
    ruled: Mapping[str, RuledScenario]
    costs: tuple[Cost, ...]
    lost: Sequence[Cost]

    @property
    def rows(self) -> sentences.Rows:
        """The scenarios with what they come to."""
        return [(name, each.ruling) for name, each in self.ruled.items()]


def _case_of(declaration: Declaration, results: Sequence[RunResult], proof: Proof | None) -> _Case:
    more = another_round(declaration, counting(declaration, results))
    shown = counting(declaration, results, more)
    again = replaced(declaration, shown)
    shown = _beside_base(declaration, shown, {*again, *more})
    results = in_place(declaration, shown)
    ruled = {each.name: rule_scenario(declaration, each, results, shown) for each in declaration.scenarios}
    first = [run for run in shown if run.key in again]
    costs = _costs(declaration, [*results, *that_ended_alike(shown, more)], again, first)
    lost = () if declaration.is_of_two_releases else lacking(costs)
    return _Case(declaration, proof, shown, again, more, results, ruled, costs, lost)


def _all_reasons(
    case: _Case, logs: Iterable[Reason], logged: Mapping[str, Evidence], coverage: Coverage | None
) -> tuple[Reason, ...]:
    """Return all reasons, whatever they weigh, those of the jar first; `logs` are those of its logs."""
    declaration = case.declaration
    found = (
        *reasons_of_proof(case.proof),
        *reasons_of_costs(declaration, case.results, case.costs, case.again),
        *reasons_of_metrics(declaration, case.results),
        *reasons_of_standstill(declaration, case.results),
        *reasons_of_lacking(case.lost),
        *reasons_of_what_was_asked_again(declaration, case.shown, case.again),
        *reasons_of_failed_stops(declaration, case.shown),
        *logs,
        *_reasons_of_scenarios(declaration, case.ruled),
        *_absent_arms(declaration),
        *reasons_of_claims(declaration, case.ruled, case.proof, logged, case.results),
    )
    return (*found, *_lack_of_evidence(case, coverage, found))


def _remarks(case: _Case) -> tuple[str, ...]:
    """Return what a reader is told beside the verdict: what ran twice, and what is otherwise without being worse."""
    return (
        *asked_again(case.again, case.shown, case.declaration.repeats),
        *of_another_round(case.declaration, case.shown, case.another_round),
        *in_some_rounds(case.declaration, case.results, case.costs, case.again),
        *of_what_was_replaced(case.declaration, case.shown, case.again),
        *other_metrics(case.declaration, case.results),
        *refusals_in_other_words(case.declaration, case.results),
        *failed_stops(case.declaration, case.shown),
    )


def _not_asked_of_a_ship(verdict: Verdict, not_measured: str) -> tuple[str, ...]:
    """Return what a SHIP does not rest on: a rollout, and, where nobody knows it, what the suite would notice."""
    return tuple(filter(None, [NOT_ROLLED, not_measured])) if verdict is Verdict.SHIP else ()


def _figures_not_judged(case: _Case) -> tuple[str, ...]:
    """Return which figures, steps and waits could not be judged, and why."""
    return (
        *sentences.costs_not_judged([cost for cost in case.costs if cost not in case.lost]),
        *in_too_few(case.costs, shipped_limits()),
        *steps_not_read(case.declaration, case.results),
        *waits_not_seen(case.results),
        *costs_judged_before(case.results),
    )


def _beside_base(
    declaration: Declaration, results: Sequence[RunResult], but_for: Collection[RunKey]
) -> list[RunResult]:
    """Return the results, held against base's in what clients got and how nodes end, `but_for` some."""
    telling = [result for result in results if result.key not in but_for]
    judged = judge_shutdowns(declaration, judge_acknowledgements(declaration, telling))
    by_key = {result.key: result for result in judged}
    return [by_key.get(result.key, result) for result in results]


def _costs(
    declaration: Declaration, results: Sequence[RunResult], again: Collection[RunKey], first: Sequence[RunResult]
) -> tuple[Cost, ...]:
    """Return what the candidate costs beside base; what every node of another release costs is no fault."""
    found = costs_by_shipped_limits(declaration, results, again, first)
    return found if declaration.is_of_two_releases else (*costs_everywhere(found, shipped_limits()), *found)


def _worse_in(reasons: Iterable[Reason], ruled: Collection[str]) -> frozenset[str]:
    """Return the scenarios whose logs or figures speak against the candidate; all, where a reason is of none alone."""
    sources = (ReasonSource.LOGS, ReasonSource.FIGURES)
    found = [each for each in reasons if each.source in sources and each.weight not in (None, Verdict.SHIP)]
    return frozenset(ruled) if any(each.cell is None for each in found) else frozenset(_scenarios_of(found))


def _scenarios_of(reasons: Iterable[Reason]) -> Iterable[str]:
    return (each.cell.scenario for each in reasons if each.cell)


def _cells(declaration: Declaration, ruled: Mapping[str, RuledScenario]) -> Mapping[CellName, CellOutcome]:
    """Return what each scenario showed on each arm."""
    cells = {CellName(name, arm.name): each.cell(arm.role) for name, each in ruled.items() for arm in declaration.arms}
    return {name: cell for name, cell in cells.items() if cell}


def _reasons_of_scenarios(declaration: Declaration, ruled: Mapping[str, RuledScenario]) -> Iterable[Reason]:
    """Return what the scenarios show, those first that prove something."""
    proving_first = sorted(ruled.values(), key=lambda each: not each.discriminates)
    return (reason for each in proving_first for reason in reasons_of_scenario(declaration, each))


def _lack_of_evidence(case: _Case, coverage: Coverage | None, found: Sequence[Reason]) -> tuple[Reason, ...]:
    """Return that nothing was tested, or nothing shown although nothing went wrong; nothing where that is not so."""
    lack = ""
    if not any(reason.weight for reason in found):
        lack = _NOTHING
    elif worst(reason.weight for reason in found) is Verdict.SHIP and not _discriminates(case.ruled):
        if not case.declaration.kafkas:  # of whole Kafkas more changes than what coverage is about
            lack = sentences.nothing_changed_ran(coverage, case.proof)
        if not lack and _needs_evidence(case.declaration, case.ruled):
            lack = sentences.nothing_discriminates(case.declaration)
    return (Reason(ReasonSource.NOTHING, Verdict.INCONCLUSIVE, None, lack),) if lack else ()


def _discriminates(ruled: Mapping[str, RuledScenario]) -> bool:
    """Return whether a jar that does nothing would look otherwise in some scenario."""
    return any(each.ruling.discriminates and each.ruling.effect in _EVIDENCE for each in ruled.values())


def _needs_evidence(declaration: Declaration, ruled: Mapping[str, RuledScenario]) -> bool:
    """Return whether it matters that a jar that does nothing would look the same.

    It does to claims. Without them the question is whether anything is worse, and one scenario is too few to say so.
    """
    asked = [each for each in ruled.values() if each.ruling.effect is not Effect.UNSUPPORTED]
    return declaration.has_claims or len(asked) == 1


def _absent_arms(declaration: Declaration) -> Iterable[Reason]:
    for role in Role:
        if declaration.needs(role) and declaration.arm(role) is None:
            yield Reason(ReasonSource.ARM, Verdict.INCONCLUSIVE, None, sentences.absent_arm(role))


def _unasked(runs: Sequence[JudgedRun]) -> tuple[str, ...]:
    """Return which questions some runs did not come to; what follows a failure that is claimed is no gap."""
    gaps = (sentences.unasked(run) for run in runs if run.unasked and run.check is not Check.EXPECTED_FAILURE)
    return tuple(dict.fromkeys(gaps))


def _unreached(declaration: Declaration, coverage: Coverage | None, not_reached: str) -> tuple[str, ...]:
    """Return which changed methods no scenario entered; of an unknown jar also that nobody was to measure it."""
    if coverage is None and declaration.kind is CandidateKind.UNKNOWN:
        return ("No run measured which of the candidate's changed methods the scenarios run.",)
    return tuple(filter(None, [not_reached]))


def _untested(reasons: Sequence[Reason], ruled: Mapping[str, RuledScenario]) -> tuple[str, ...]:
    """Return what could not be tested: arms, claims and the proof, then scenarios in their order."""
    gaps = [each for source in GAPS for each in reasons if each.source is source and not is_blocker(each)]
    effects = {each.cell.scenario: each for each in reasons if each.source is ReasonSource.EFFECT and each.cell}
    unasked = [effects[name] for name, each in ruled.items() if each.ruling.effect in _UNTESTED]
    return tuple(each.sentence for each in (*gaps, *unasked))
