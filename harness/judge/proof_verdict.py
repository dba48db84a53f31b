"""What the proof of the candidate's jar weighs in the verdict; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harness.base.text import counted
from harness.model.claims import Claim
from harness.model.proof import (
    NO_RUN_SHOWS,
    Answer,
    AuditAnswer,
    ClaimChain,
    ClaimedTest,
    Proof,
    TestScope,
    TestStanding,
)
from harness.model.runs import Verdict
from harness.model.verdict import ClaimStatus, Reason, ReasonSource

# Tests that show nothing of a claim, as it is said of one and of several.
_MUTE = {
    TestStanding.NOT_RUN: ("One test was not run.", "{} tests were not run."),
    TestStanding.SAYS_NOTHING: (
        "One test says nothing: the candidate fails it, and so does base, or it is excused.",
        "{} tests say nothing: the candidate fails them, and so does base, or they are excused.",
    ),
}


def reasons_of_proof(proof: Proof | None) -> tuple[Reason, ...]:
    """Return why the jar is no drop-in, worst first, and what keeps the verdict from being SHIP.

    That is a jar that nobody has proved, tests that did not run, and simulations without a clear answer.
    """
    if proof is None:
        return (
            _reason(Verdict.INCONCLUSIVE, "The jar was not proved to be a drop-in: `harness prove` was not run on it."),
        )
    against = (_reason(Verdict.HOLD, f"Not a drop-in: {each}") for each in proof.blockers)
    missing = proof.tests.missing
    gap = (_reason(Verdict.INCONCLUSIVE, f"No test was run on the jar: {missing}"),) if missing else ()
    doubts = proof.simulation.doubts if proof.simulation else ()
    return (*against, *gap, *(_reason(Verdict.INCONCLUSIVE, each) for each in doubts))


def _reason(weight: Verdict, sentence: str) -> Reason:
    return Reason(ReasonSource.PROOF, weight, None, sentence)


def not_shown_by_runs(proof: Proof | None) -> str:
    """Return in a sentence what the jar may be worse in that neither tests nor runs show; empty where it is nothing."""
    found = [each for each in (proof.differences if proof else ()) if each.rule in NO_RUN_SHOWS and not each.waived]
    if not found:
        return ""
    more = f" The proof has {counted(len(found) - 1, 'more such warning')}." if len(found) > 1 else ""
    return f"Neither tests nor runs can show what the proof warns about: {found[0].detail}.{more}"


def mostly_excused(proof: Proof | None) -> str:
    """Return in a sentence that most of the tests say nothing of the jar, since it fails them and is excused."""
    tests = proof.tests if proof else None
    excused = sum(bool(failed.excuse) for failed in tests.failed) if tests else 0
    if not tests or 2 * excused <= tests.count:
        return ""
    return f"{excused} of {counted(tests.count, 'test')} say nothing about the jar: it fails them, which is excused."


def untested(proof: Proof | None) -> tuple[str, ...]:
    """Return what the proof could not test; shown, and no obstacle."""
    if proof is None:
        return ()
    silent = [f"{a.question}: {a.detail}" for a in proof.audit if a.answer is Answer.UNTESTED]
    skipped = "Upstream's tests were not run on the jar: --tests none." if proof.tests.scope is TestScope.NONE else ""
    return tuple(filter(None, (proof.tests.gap, skipped, *silent)))


def settled_without_clusters(proof: Proof | None) -> tuple[tuple[ClaimChain, ClaimStatus, str], ...]:
    """Return the claims without a scenario, each with its status and why."""
    if proof is None:
        return ()
    return tuple((chain, *_status(chain, proof)) for chain in proof.chains if not chain.scenario)


def _status(chain: ClaimChain, proof: Proof) -> tuple[ClaimStatus, str]:
    answers = [answer for answer in proof.audit if answer.question in chain.queries]
    failed = [test.name for test in chain.tests if test.standing is TestStanding.FAILED]
    broken = [answer.detail for answer in answers if answer.answer is Answer.DOES_NOT_HOLD]
    if broken or failed:
        return ClaimStatus.REFUTED, (broken or [f"The test {failed[0]} fails."])[0]
    silent = [answer for answer in answers if answer.answer is Answer.UNTESTED]
    mute = [test for test in chain.tests if test.standing in _MUTE]
    if silent or mute or not (answers or chain.tests):
        return ClaimStatus.UNTESTED, _gap(silent, mute)
    return ClaimStatus.HELD, _held(len(answers), len(chain.tests))


def unshown(proof: Proof | None) -> tuple[str, ...]:
    """Return the claims without a scenario of which nothing at all was shown, each in a sentence.

    Tests that the user left out are no gap: that was wanted.
    """
    if proof is None:
        return ()
    left_out = proof.tests.scope is TestScope.NONE
    chains = (each for each in proof.chains if not each.scenario and (each.queries or not left_out))
    return tuple(
        f"The claim {chain.claim} is untested: {_status(chain, proof)[1]}"
        for chain in chains
        if not _anything_shown(chain, proof)
    )


def _anything_shown(chain: ClaimChain, proof: Proof) -> bool:
    """Whether an answer or a test says anything of a claim, for or against it."""
    answered = any(a.question in chain.queries and a.answer is not Answer.UNTESTED for a in proof.audit)
    return answered or any(test.standing not in _MUTE for test in chain.tests)


def _held(answers: int, tests: int) -> str:
    source = "one source check holds" if answers == 1 else f"{answers} source checks hold"
    passed = "one test passes" if tests == 1 else f"{tests} tests pass"
    found = " and ".join(([source] if answers else []) + ([passed] if tests else []))
    return f"{found[0].upper()}{found[1:]}."


def _gap(silent: Sequence[AuditAnswer], mute: Sequence[ClaimedTest]) -> str:
    missing = Counter(test.standing for test in mute)
    return " ".join(
        (*(answer.detail for answer in silent), *(_MUTE[each][many > 1].format(many) for each, many in missing.items()))
    )


def refuted_by_source(claim: Claim, proof: Proof | None) -> str:
    """Return the sentence with which source or tests refute a claim; empty when they do not."""
    chains = [chain for chain in proof.chains if chain.claim == claim.id] if proof else []
    answers = proof.audit if proof else ()
    broken = [answer.detail for answer in answers if answer.claim == claim.id and answer.blocks]
    failed = [test.name for chain in chains for test in chain.tests if test.standing is TestStanding.FAILED]
    return next(iter([*broken, *(f"The test {name} fails." for name in failed)]), "")
