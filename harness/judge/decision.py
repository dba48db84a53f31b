"""The verdict over the jar's proof, its logs, and all scenarios and claims of a verification; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from harness.judge import logs, measures, proved, sentences
from harness.judge.cells import CellOutcome, fold_repeats, missing_cell
from harness.judge.table import Effect, Inertness, Ruling, rule, weight_of_effect, weight_of_inertness
from harness.model.arms import Role
from harness.model.claims import Claim
from harness.model.declaration import Declaration
from harness.model.findings import Contrast
from harness.model.proof import ClaimChain, Proof
from harness.model.runs import RunResult, Verdict

_Rulings = dict[str, list[tuple[Claim | None, Ruling]]]
_NOTHING = "Nothing was asked: no scenario has a result that this host could decide."
_WORST_FIRST = (Verdict.HOLD, Verdict.INCONCLUSIVE, Verdict.SHIP)


class ClaimStatus(StrEnum):
    """What the runs say of a claim."""

    HELD = "held"
    REFUTED = "refuted"
    UNTESTED = "untested"


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim with what the runs say of it and why, in a sentence."""

    claim: Claim
    status: ClaimStatus
    why: str


@dataclass(frozen=True, slots=True)
class JudgedScenario:
    """One row of the matrix; `ruling` is the weightiest where several claims name the scenario.

    `effect_says` tells in a sentence what base/on means; `flag_says` what base/off means, if notable.
    """

    name: str
    ruling: Ruling
    effect_says: str
    flag_says: str

    def says_for(self, verdict: Verdict) -> tuple[str, ...]:
        """Return the sentences that weigh `verdict`."""
        effect, flag = weight_of_effect(self.ruling.effect), weight_of_inertness(self.ruling.inertness)
        told = ((effect, self.effect_says), (flag, self.flag_says))
        return tuple(sentence for weight, sentence in told if weight is verdict)

    @property
    def discriminates(self) -> bool:
        """Whether the base arm is refuted for the named reason; a scenario that does not proves nothing."""
        return self.ruling.discriminates

    def cell(self, role: Role) -> CellOutcome | None:
        """Return the judged cell of a role; None for an `off` that cannot exist."""
        match role:
            case Role.BASE:
                return self.ruling.base
            case Role.OFF:
                return self.ruling.off
            case Role.ON:
                return self.ruling.on
            case _:
                assert_never(role)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict, what it rests on (weightiest first) and the strongest reason against it."""

    verdict: Verdict
    sentence: str
    reasons: tuple[str, ...]
    against: str
    scenarios: tuple[JudgedScenario, ...]
    claims: tuple[JudgedClaim, ...]
    not_tested: tuple[str, ...]


def decide(
    asked: Declaration, results: Sequence[RunResult], proof: Proof | None, contrasts: Sequence[Contrast] = ()
) -> Judgement:
    """Judge scenarios and claims, the jar itself, its figures and its logs: HOLD beats INCONCLUSIVE beats SHIP.

    What was declared and has no result, or was claimed and could not be asked, is INCONCLUSIVE by name. Results of
    what was not declared, such as repeats that an earlier plan left in the folder, do not count.
    """
    results = [result for result in results if asked.declares(result)]
    rulings = {s.name: _rulings(asked, s.name, results) for s in asked.scenarios}
    rows = tuple(_row(asked, name, ruled) for name, ruled in rulings.items())
    claims = (
        *(_judge_claim(asked, claim, rulings, proof) for claim in asked.claims),
        *(_settled(*each) for each in proved.settled_without_clusters(proof)),
    )
    blockers = (
        *proved.blockers(proof),
        *measures.blockers(_base(asked), _candidates(asked), results),
        *logs.blockers(_base(asked), asked.flag_key, contrasts, proof),
    )
    gaps = (*_absent_arms(asked), *_gaps_in_claims(asked, rulings), *proved.gaps(proof))
    besides = [*([Verdict.HOLD] if blockers else []), *([Verdict.INCONCLUSIVE] if gaps else [])]
    verdict = _worst([*(row.ruling.verdict for row in rows), *besides])
    reasons = (*blockers, *_reasons(verdict, rows, gaps))
    return Judgement(
        verdict,
        sentences.headline(verdict, reasons, _candidate_runs(results), _leaves_defects(rows)),
        reasons,
        sentences.against(verdict, asked, [(row.name, row.ruling) for row in rows]),
        rows,
        claims,
        (*gaps, *_not_asked(rows), *proved.untested(proof)),
    )


def _base(asked: Declaration) -> str:
    arm = asked.arm(Role.BASE)
    return arm.name if arm else ""


def _candidates(asked: Declaration) -> list[str]:
    return [arm.name for arm in asked.arms if arm.role is not Role.BASE]


def _rulings(asked: Declaration, scenario: str, results: Sequence[RunResult]) -> list[tuple[Claim | None, Ruling]]:
    """Return one ruling per claim about the scenario, or a single one without a claim."""
    cells = {role: _cell(asked, scenario, role, results) for role in Role}
    off = cells[Role.OFF] if asked.flag_known else None
    about = [claim for claim in asked.claims if claim.scenario == scenario]
    claims: list[Claim | None] = [*about] or [None]
    return [(claim, rule(claim.expected if claim else None, cells[Role.BASE], off, cells[Role.ON])) for claim in claims]


def _cell(asked: Declaration, scenario: str, role: Role, results: Sequence[RunResult]) -> CellOutcome:
    arm = asked.arm(role)
    if arm is None:
        return missing_cell(asked.repeats, f"no arm plays the role {role}")
    return fold_repeats([r for r in results if (r.scenario, r.arm) == (scenario, arm.name)], asked.repeats)


def _row(asked: Declaration, name: str, rulings: list[tuple[Claim | None, Ruling]]) -> JudgedScenario:
    claim, ruling = min(rulings, key=lambda pair: _rank(pair[1].verdict))
    return JudgedScenario(
        name, ruling, sentences.effect(asked, name, claim, ruling), sentences.flag(asked, name, ruling)
    )


def _rank(verdict: Verdict | None) -> int:
    return len(_WORST_FIRST) if verdict is None else _WORST_FIRST.index(verdict)


def _worst(verdicts: Sequence[Verdict | None]) -> Verdict:
    """Return the weightiest verdict; when nothing could be asked, that is INCONCLUSIVE and never SHIP."""
    return next((verdict for verdict in _WORST_FIRST if verdict in verdicts), Verdict.INCONCLUSIVE)


def _settled(chain: ClaimChain, status: str, why: str) -> JudgedClaim:
    """Return the judgement of a claim that source and tests settle, and no scenario is asked about."""
    return JudgedClaim(Claim(chain.claim, chain.says, "", {}, chain.source), ClaimStatus(status), why)


def _judge_claim(asked: Declaration, claim: Claim, rulings: _Rulings, proof: Proof | None) -> JudgedClaim:
    by_source = proved.refuted_by_source(claim, proof)
    if by_source:
        return JudgedClaim(claim, ClaimStatus.REFUTED, by_source)
    ruling = _ruling_on(claim, rulings)
    if ruling is None:
        return JudgedClaim(claim, ClaimStatus.UNTESTED, f"The scenario {claim.scenario} was not run.")
    status = _status(claim, ruling)
    if status is ClaimStatus.HELD and _lacks_flag(asked, claim):
        return JudgedClaim(claim, ClaimStatus.UNTESTED, sentences.claim_without_flag(claim, asked.flag_key))
    by_flag = status is ClaimStatus.REFUTED and weight_of_effect(ruling.effect) is not Verdict.HOLD
    why = sentences.flag(asked, claim.scenario, ruling) if by_flag else ""
    return JudgedClaim(claim, status, why or sentences.effect(asked, claim.scenario, claim, ruling))


def _status(claim: Claim, ruling: Ruling) -> ClaimStatus:
    if Role.OFF in claim.expected and ruling.inertness is Inertness.NOT_INERT:
        return ClaimStatus.REFUTED
    match ruling.effect:
        case Effect.SUPPORTS | Effect.IMPROVES | Effect.SAME | Effect.NOT_FIXED:
            return ClaimStatus.HELD
        case Effect.CLAIM_REFUTED | Effect.REGRESSION | Effect.UNSTABLE:
            return ClaimStatus.REFUTED
        case Effect.BLIND | Effect.CONTROL_UNDECIDED | Effect.CANDIDATE_UNDECIDED | Effect.NOT_RUN | Effect.NOT_ASKED:
            return ClaimStatus.UNTESTED
        case _:
            assert_never(ruling.effect)


def _reasons(verdict: Verdict, rows: Iterable[JudgedScenario], gaps: Sequence[str]) -> tuple[str, ...]:
    """Return what the verdict rests on; what is lighter than the verdict is told by the rows."""
    proving_first = sorted(rows, key=lambda row: not row.discriminates)
    weighty = [says for row in proving_first for says in row.says_for(verdict)]
    named_gaps = gaps if verdict is not Verdict.SHIP else ()
    ordered = (*weighty, *named_gaps) if verdict is Verdict.HOLD else (*named_gaps, *weighty)
    return ordered if ordered or verdict is Verdict.HOLD else (_NOTHING,)


def _absent_arms(asked: Declaration) -> tuple[str, ...]:
    needed = [role for role in Role if role is not Role.OFF or asked.flag_known]
    return tuple(sentences.absent_arm(role) for role in needed if asked.arm(role) is None)


def _gaps_in_claims(asked: Declaration, rulings: _Rulings) -> tuple[str, ...]:
    """Return what of the claims could not be asked at all, however well the rest went."""
    gaps = []
    for claim in asked.claims:
        ruling = _ruling_on(claim, rulings)
        if ruling is None:
            gaps.append(sentences.unrun_claim(claim))
        elif ruling.effect is Effect.NOT_ASKED:
            gaps.append(sentences.unsupported_claim(claim, ruling))
        elif _lacks_flag(asked, claim):
            gaps.append(sentences.claim_without_flag(claim, asked.flag_key))
    return tuple(gaps)


def _ruling_on(claim: Claim, rulings: _Rulings) -> Ruling | None:
    return next((ruled for one, ruled in rulings.get(claim.scenario, []) if one == claim), None)


def _lacks_flag(asked: Declaration, claim: Claim) -> bool:
    """Return whether a claim speaks of the flag switched off although the candidate has no such flag."""
    return Role.OFF in claim.expected and not asked.flag_known


def _not_asked(rows: Iterable[JudgedScenario]) -> tuple[str, ...]:
    silent = (Effect.NOT_ASKED, Effect.NOT_RUN, Effect.CONTROL_UNDECIDED, Effect.CANDIDATE_UNDECIDED)
    return tuple(row.effect_says for row in rows if row.ruling.effect in silent)


def _candidate_runs(results: Iterable[RunResult]) -> int:
    return sum(result.role is Role.ON for result in results)


def _leaves_defects(rows: Iterable[JudgedScenario]) -> bool:
    return any(row.ruling.effect is Effect.NOT_FIXED for row in rows)
