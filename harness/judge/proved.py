"""What the proof of the candidate's jar weighs in the verdict; pure."""

from __future__ import annotations

from harness.model.claims import Claim
from harness.model.proof import Answer, AuditAnswer, ClaimChain, Proof, TestScope, TestStanding

_MOST = 5


def blockers(proof: Proof | None) -> tuple[str, ...]:
    """Return why the jar is no drop-in, worst first; many are cut to a few and their number."""
    found = proof.blockers if proof else ()
    told = tuple(f"The jar is no sound drop-in: {each}" for each in found[:_MOST])
    return (*told, f"{len(found) - _MOST} more such reasons are in the proof.") if len(found) > _MOST else told


def gaps(proof: Proof | None) -> tuple[str, ...]:
    """Return what keeps the verdict from being SHIP: a jar that nobody has proved, tests that did not run."""
    if proof is None:
        return ("The jar was not proved to be a drop-in: `harness prove` was not run on it.",)
    return (f"No test was run on the jar: {proof.tests.missing}",) if proof.tests.missing else ()


def untested(proof: Proof | None) -> tuple[str, ...]:
    """Return what of the proof could not be asked; shown, and no obstacle."""
    if proof is None:
        return ()
    silent = [f"{a.question}: {a.says}" for a in proof.audit if a.answer is Answer.UNTESTED]
    skipped = "Upstream's tests were not run on the jar: --tests none." if proof.tests.scope is TestScope.NONE else ""
    return tuple(filter(None, (proof.tests.gap, skipped, *silent)))


def settled_without_clusters(proof: Proof | None) -> tuple[tuple[ClaimChain, str, str], ...]:
    """Return the claims that no scenario asks, each with its status (held, refuted, untested) and why."""
    if proof is None:
        return ()
    return tuple((chain, *_standing(chain, proof)) for chain in proof.chains if not chain.scenario)


def _standing(chain: ClaimChain, proof: Proof) -> tuple[str, str]:
    answers = [answer for answer in proof.audit if answer.question in chain.queries]
    failed = [test.name for test in chain.tests if test.standing is TestStanding.FAILED]
    broken = [answer.says for answer in answers if answer.answer is Answer.DOES_NOT_HOLD]
    if broken or failed:
        return "refuted", (broken or [f"The test {failed[0]} fails."])[0]
    silent = [answer for answer in answers if answer.answer is Answer.UNTESTED]
    not_run = [test for test in chain.tests if test.standing is TestStanding.NOT_RUN]
    if silent or not_run or not (answers or chain.tests):
        return "untested", _gap(silent, len(not_run))
    return "held", _held(len(answers), len(chain.tests))


def _held(answers: int, tests: int) -> str:
    source = "One question to the source holds" if answers == 1 else f"{answers} questions to the source hold"
    passed = "one test passes" if tests == 1 else f"{tests} tests pass"
    told = " and ".join(([source] if answers else []) + ([passed] if tests else []))
    return f"{told[0].upper()}{told[1:]}."


def _gap(silent: list[AuditAnswer], not_run: int) -> str:
    return " ".join((*(answer.says for answer in silent), *([f"{not_run} tests were not run."] if not_run else [])))


def refuted_by_source(claim: Claim, proof: Proof | None) -> str:
    """Return the sentence with which source or tests refute a claim; empty when they do not."""
    chains = [chain for chain in proof.chains if chain.claim == claim.id] if proof else []
    answers = proof.audit if proof else ()
    said = [answer.says for answer in answers if answer.claim == claim.id and answer.blocks]
    failed = [test.name for chain in chains for test in chain.tests if test.standing is TestStanding.FAILED]
    return next(iter([*said, *(f"The test {name} fails." for name in failed)]), "")
