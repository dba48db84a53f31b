"""What the proof of the candidate's jar weighs in the verdict; pure."""

from __future__ import annotations

from harness.model import Claim
from harness.proof.records import Answer, Proof, TestScope

_MOST = 5


def blockers(proof: Proof | None) -> tuple[str, ...]:
    """Return why the jar is no drop-in, worst first; many are cut to a few and their number."""
    found = proof.blockers if proof else ()
    told = tuple(f"The jar is no sound drop-in: {each}" for each in found[:_MOST])
    return (*told, f"{len(found) - _MOST} more such reasons are in the proof.") if len(found) > _MOST else told


def gaps(proof: Proof | None) -> tuple[str, ...]:
    """Return what keeps the verdict from being SHIP: a jar that nobody has proved."""
    return () if proof else ("The jar was not proved to be a drop-in: `harness prove` was not run on it.",)


def untested(proof: Proof | None) -> tuple[str, ...]:
    """Return what of the proof could not be asked; shown, and no obstacle."""
    if proof is None:
        return ()
    silent = [f"{a.question}: {a.says}" for a in proof.audit if a.answer is Answer.UNTESTED]
    skipped = "Upstream's tests were not run on the jar: --tests none." if proof.tests.scope is TestScope.NONE else ""
    return tuple(filter(None, (proof.tests.gap, skipped, *silent)))


def refuted_by_source(claim: Claim, proof: Proof | None) -> str:
    """Return the sentence with which the source refutes a claim; empty when it does not."""
    answers = proof.audit if proof else ()
    return next((answer.says for answer in answers if answer.claim == claim.id and answer.blocks), "")
