"""What runs, source and tests say of each claim, and which claims could not be tested; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import assert_never

from harness.base.extend import extended
from harness.judge import proof_verdict, sentences
from harness.judge.costs.stated import broken_limits, unmeasured_limits
from harness.judge.scenario_verdict import RuledScenario
from harness.judge.table import Ruling, weight_of_effect
from harness.model.arms import Role
from harness.model.claims import Claim
from harness.model.declaration import Declaration
from harness.model.proof import EXPECTED_LEVEL, ClaimChain, Proof
from harness.model.runs import Evidence, RunResult, Verdict
from harness.model.verdict import (
    CellName,
    ClaimStatus,
    Effect,
    Inertness,
    JudgedClaim,
    Reason,
    ReasonSource,
)

Ruled = Mapping[str, RuledScenario]


def judged_claims(
    declaration: Declaration,
    ruled: Ruled,
    proof: Proof | None,
    logged: Mapping[str, Evidence],
    runs: Sequence[RunResult] = (),
    logged_off: Mapping[str, Evidence] = MappingProxyType({}),
) -> tuple[JudgedClaim, ...]:
    """Return every claim with its status: those with a scenario, then those that source and tests settle.

    `ruled` are the scenarios by name, `logged` log lines that claims expect, by claim, `logged_off` those that
    show with the flag off that it is not inert; `runs` have the figures that claims limit.
    """
    chains = {chain.claim: chain for chain in proof.chains} if proof else {}
    verdicts = [
        *((claim, *_judge(declaration, claim, ruled, proof, runs, logged_off)) for claim in declaration.claims),
        *((_claim(chain), status, why) for chain, status, why in proof_verdict.settled_without_clusters(proof)),
    ]
    return tuple(
        extended(
            JudgedClaim,
            claim,
            status=status,
            why=why,
            expected_log=chains[claim.id].evidence if claim.id in chains else "",
            logged=logged.get(claim.id),
            logged_off=logged_off.get(claim.id),
            expected_level=chains[claim.id].level if claim.id in chains else EXPECTED_LEVEL,
        )
        for claim, status, why in verdicts
    )


def reasons_of_claims(
    declaration: Declaration,
    ruled: Ruled,
    proof: Proof | None,
    logged: Mapping[str, Evidence],
    runs: Sequence[RunResult] = (),
) -> tuple[Reason, ...]:
    """Return what of the claims could not be tested at all or is without its log line, however well the rest went.

    A figure that a claim limits and that a run which passed did not measure is such a gap.
    """
    expected = {chain.claim: chain.evidence for chain in proof.chains} if proof else {}
    missing = {claim: pattern for claim, pattern in expected.items() if claim not in logged}
    gaps = (
        (claim, _gap(declaration, claim, ruled) or _unlogged(declaration, claim, ruled, missing.get(claim.id, "")))
        for claim in declaration.claims
    )
    reasons = [(sentence, CellName(claim.scenario, "")) for claim, sentence in gaps if sentence]
    reasons += [
        (sentences.unmeasured_limit(claim, figure), CellName(claim.scenario, ""))
        for claim in declaration.claims
        for figure in unmeasured_limits(claim, runs)
    ]
    without_scenario = [(sentence, None) for sentence in proof_verdict.unshown(proof)]
    return tuple(
        Reason(ReasonSource.CLAIM, Verdict.INCONCLUSIVE, cell, sentence)
        for sentence, cell in (*reasons, *without_scenario)
    )


def reasons_of_flag(declaration: Declaration, logged_off: Mapping[str, Evidence]) -> tuple[Reason, ...]:
    """Return that the flag is not inert, since the candidate logs with it off what a claim expects with it on.

    Scenarios may end alike although the change is at work; no run's outcome shows it, so it is of the logs.
    """
    arm = sentences.arm_name(declaration, Role.OFF)
    return tuple(
        Reason(
            ReasonSource.LOGS,
            Verdict.HOLD,
            CellName(claim.scenario, arm),
            sentences.logged_with_flag_off(declaration, claim, logged_off[claim.id]),
        )
        for claim in declaration.claims
        if claim.id in logged_off
    )


def _claim(chain: ClaimChain) -> Claim:
    """Return a claim without a scenario."""
    return Claim(chain.claim, chain.text, "", {}, chain.source)


def _judge(
    declaration: Declaration,
    claim: Claim,
    ruled: Ruled,
    proof: Proof | None,
    runs: Sequence[RunResult],
    logged_off: Mapping[str, Evidence],
) -> tuple[ClaimStatus, str]:
    by_source = proof_verdict.refuted_by_source(claim, proof)
    if by_source:
        return ClaimStatus.REFUTED, by_source
    if broken := broken_limits(claim, runs):
        return ClaimStatus.REFUTED, f"{claim.scenario}: {'; '.join(broken)}."
    if Role.OFF in claim.expected and claim.id in logged_off:
        return ClaimStatus.REFUTED, sentences.logged_with_flag_off(declaration, claim, logged_off[claim.id])
    ruling = _ruling_on(claim, ruled)
    if ruling is None:
        return ClaimStatus.UNTESTED, f"The scenario {claim.scenario} was not run."
    status = _status(claim, ruling)
    if status is ClaimStatus.HELD and _lacks_flag(declaration, claim):
        return ClaimStatus.UNTESTED, sentences.claim_without_flag(claim, declaration.flag_key)
    by_flag = status is ClaimStatus.REFUTED and weight_of_effect(ruling.effect) is not Verdict.HOLD
    why = sentences.flag(declaration, claim.scenario, ruling) if by_flag else ""
    return status, why or sentences.effect(declaration, claim.scenario, claim, ruling)


def _status(claim: Claim, ruling: Ruling) -> ClaimStatus:
    if Role.OFF in claim.expected and ruling.inertness is Inertness.NOT_INERT:
        return ClaimStatus.REFUTED
    match ruling.effect:
        case Effect.SUPPORTS | Effect.IMPROVES | Effect.SAME | Effect.NOT_FIXED:
            return ClaimStatus.HELD
        case Effect.CLAIM_REFUTED | Effect.REGRESSION | Effect.UNSTABLE:
            return ClaimStatus.REFUTED
        case Effect.BLIND | Effect.CONTROL_UNDECIDED | Effect.CANDIDATE_UNDECIDED | Effect.NOT_RUN | Effect.UNSUPPORTED:
            return ClaimStatus.UNTESTED
        case _:
            assert_never(ruling.effect)


def _gap(declaration: Declaration, claim: Claim, ruled: Ruled) -> str:
    """Return why a claim could not be tested, empty when it was."""
    ruling = _ruling_on(claim, ruled)
    if ruling is None:
        return sentences.unrun_claim(claim)
    if ruling.effect is Effect.UNSUPPORTED:
        return sentences.unsupported_claim(claim, ruling)
    return sentences.claim_without_flag(claim, declaration.flag_key) if _lacks_flag(declaration, claim) else ""


def _unlogged(declaration: Declaration, claim: Claim, ruled: Ruled, pattern: str) -> str:
    """Return that the line which a claim expects was not logged, where the scenario went as claimed; else nothing."""
    ruling = _ruling_on(claim, ruled)
    as_claimed = ruling is not None and _status(claim, ruling) is ClaimStatus.HELD
    return sentences.unlogged_claim(declaration, claim, pattern) if pattern and as_claimed else ""


def _ruling_on(claim: Claim, ruled: Ruled) -> Ruling | None:
    scenario = ruled.get(claim.scenario)
    return next((ruling for one, ruling in scenario.rulings if one == claim), None) if scenario else None


def _lacks_flag(declaration: Declaration, claim: Claim) -> bool:
    """Return whether a claim speaks of the flag switched off although the candidate has no such flag."""
    return Role.OFF in claim.expected and not declaration.flag_known
