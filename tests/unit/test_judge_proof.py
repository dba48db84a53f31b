"""What the proof of the jar settles without a cluster: claims by their source and their tests."""

from dataclasses import replace

import pytest
from test_judge import FIX, SOUND, H, R, decide, declare, ran

from harness.judge.proof_verdict import reasons_of_proof, settled_without_clusters
from harness.model.proof import Answer, AuditAnswer, ClaimChain, ClaimedTest, TestScope, TestsProof, TestStanding
from harness.model.runs import Verdict
from harness.model.verdict import ClaimStatus

PASSED, FAILED, NOT_RUN, SAYS_NOTHING = (
    TestStanding.PASSED,
    TestStanding.FAILED,
    TestStanding.NOT_RUN,
    TestStanding.SAYS_NOTHING,
)


def settled(answers=(), tests=()):
    """The status and the sentence of a claim that rests on these answers of the source and these tests."""
    audit = tuple(AuditAnswer(f"q{n}", answer, f"detail {n}", "it") for n, answer in enumerate(answers))
    chain = ClaimChain(
        "it",
        "It is so.",
        "Its.java",
        tuple(answer.question for answer in audit),
        tuple(ClaimedTest(f"Test#m{n}", standing) for n, standing in enumerate(tests)),
        "",
        "",
    )
    ((_, status, why),) = settled_without_clusters(replace(SOUND, audit=audit, chains=(chain,)))
    return status, why


@pytest.mark.parametrize(
    ("answers", "tests", "why"),
    [
        (1, 0, "One source check holds."),
        (2, 0, "2 source checks hold."),
        (0, 1, "One test passes."),
        (0, 2, "2 tests pass."),
        (1, 1, "One source check holds and one test passes."),
        (3, 2, "3 source checks hold and 2 tests pass."),
    ],
)
def test_a_claim_that_everything_bears_out_is_held_by_how_much_does(answers, tests, why):
    assert settled([Answer.HOLDS] * answers, [PASSED] * tests) == (ClaimStatus.HELD, why)


@pytest.mark.parametrize(
    ("answers", "tests", "why"),
    [
        ([Answer.HOLDS, Answer.DOES_NOT_HOLD], [PASSED], "detail 1"),
        ([Answer.DOES_NOT_HOLD], [FAILED], "detail 0"),
        ([Answer.HOLDS], [PASSED, FAILED], "The test Test#m1 fails."),
        ([], [FAILED], "The test Test#m0 fails."),
        ([Answer.UNTESTED], [FAILED], "The test Test#m0 fails."),
    ],
)
def test_a_claim_is_refuted_by_the_first_answer_or_test_against_it(answers, tests, why):
    assert settled(answers, tests) == (ClaimStatus.REFUTED, why)


@pytest.mark.parametrize(
    ("answers", "tests", "why"),
    [
        ([Answer.UNTESTED], [], "detail 0"),
        ([Answer.HOLDS, Answer.UNTESTED, Answer.UNTESTED], [PASSED], "detail 1 detail 2"),
        ([], [NOT_RUN, PASSED], "One test was not run."),
        ([], [SAYS_NOTHING], "One test says nothing: the candidate fails it, and so does base, or it is excused."),
        ([Answer.UNTESTED], [NOT_RUN, NOT_RUN], "detail 0 2 tests were not run."),
        ([], [], ""),
    ],
)
def test_a_claim_of_which_something_is_open_is_untested_and_says_what(answers, tests, why):
    assert settled(answers, tests) == (ClaimStatus.UNTESTED, why)


def test_without_a_proof_nothing_is_settled_and_that_is_a_gap():
    assert settled_without_clusters(None) == ()
    (gap,) = reasons_of_proof(None)
    assert gap.sentence == "The jar was not proved to be a drop-in: `harness prove` was not run on it."
    assert (gap.weight, gap.cell) == (Verdict.INCONCLUSIVE, None)


def test_a_claim_with_a_scenario_is_refuted_by_its_failing_test_too():
    chain = ClaimChain(FIX.id, FIX.text, "", (), (ClaimedTest("Test#m", FAILED),), "turn2", "")
    record = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, R, H), replace(SOUND, chains=(chain,)))
    assert (record.claims[0].status, record.claims[0].why) == (ClaimStatus.REFUTED, "The test Test#m fails.")


def test_what_settles_a_claim_without_a_scenario_is_named_with_its_source():
    chain = ClaimChain("it", "It is so.", "Its.java", (), (ClaimedTest("Test#m", PASSED),), "", "a line")
    record = decide(declare("turn1"), ran("turn1", H, H, H), replace(SOUND, chains=(chain,)))
    (claim,) = record.claims
    assert (claim.id, claim.text, claim.scenario, claim.source) == ("it", "It is so.", "", "Its.java")
    assert (claim.expected, claim.expected_log, claim.logged) == ({}, "a line", None)


@pytest.mark.parametrize(
    ("answers", "tests", "scope", "is_gap"),
    [
        ([Answer.UNTESTED], [], TestScope.RELATED, True),
        ([Answer.UNTESTED], [NOT_RUN], TestScope.RELATED, True),
        ([], [NOT_RUN], TestScope.RELATED, True),
        ([Answer.UNTESTED], [NOT_RUN], TestScope.NONE, True),
        ([], [NOT_RUN], TestScope.NONE, False),
        ([Answer.UNTESTED, Answer.HOLDS], [], TestScope.RELATED, False),
        ([Answer.UNTESTED], [PASSED], TestScope.RELATED, False),
    ],
)
def test_a_promise_of_which_nothing_was_shown_is_a_gap_unless_the_user_left_its_tests_out(
    answers, tests, scope, is_gap
):
    audit = tuple(AuditAnswer(f"q{n}", answer, f"detail {n}", "it") for n, answer in enumerate(answers))
    named = tuple(ClaimedTest(f"Test#m{n}", standing) for n, standing in enumerate(tests))
    chain = ClaimChain("it", "It is so.", "", tuple(answer.question for answer in audit), named, "", "")
    proof = replace(SOUND, audit=audit, chains=(chain,), tests=TestsProof(scope))
    record = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, R, H), proof)
    assert record.verdict is (Verdict.INCONCLUSIVE if is_gap else Verdict.SHIP)
    assert ("The claim it is untested" in record.sentence) is is_gap


def test_what_of_a_promise_could_not_be_asked_is_no_gap_where_something_was_shown_and_stands_under_not_tested():
    audit = (
        AuditAnswer("only-on-change", Answer.UNTESTED, "There are no sources.", "it"),
        AuditAnswer("is-quiet", Answer.HOLDS, "It is logged at INFO.", "it"),
    )
    chain = ClaimChain("it", "It is so.", "", ("only-on-change", "is-quiet"), (ClaimedTest("Test#m", PASSED),), "", "")
    proof = replace(SOUND, audit=audit, chains=(chain,))
    record = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, R, H), proof)
    (promised,) = (claim for claim in record.claims if claim.id == "it")
    assert (promised.status, record.verdict) == (ClaimStatus.UNTESTED, Verdict.SHIP)
    assert "only-on-change: There are no sources." in record.not_tested
