"""The proof in a sentence: what was promised and holds, and what is only shown."""

from dataclasses import replace

import pytest

from harness.model.proof import Answer, AuditAnswer, Proof, TestScope, TestsProof
from harness.proof.proof_summary import describe_answers, headline

HOLDS, NOT, UNTESTED = Answer.HOLDS, Answer.DOES_NOT_HOLD, Answer.UNTESTED


def answers(*given):
    return [AuditAnswer(f"q{at}", answer, "", claim) for at, (answer, claim) in enumerate(given, 1)]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([], "there were no questions"),
        ([(HOLDS, "c")], "1 of 1 promised questions hold"),
        (
            [(HOLDS, "c"), (HOLDS, "c"), (HOLDS, "")],
            "2 of 2 promised questions hold; of 1 that no claim promises all hold",
        ),
        (
            [(HOLDS, "c"), (NOT, "c"), (UNTESTED, "c")],
            "1 of 3 promised questions hold, 1 refuted (q2), 1 untested (q3)",
        ),
        (
            [(HOLDS, "c"), (NOT, ""), (NOT, ""), (HOLDS, "")],
            "1 of 1 promised questions hold; of 3 that no claim promises 2 do not hold and are only shown (q2, q3)",
        ),
        ([(UNTESTED, "")], "of 1 that no claim promises 1 are untested (q1)"),
    ],
)
def test_promises_that_hold_are_counted_apart_from_what_is_only_shown(given, sentence):
    assert describe_answers(answers(*given)) == sentence


def test_the_headline_says_which_kafka_the_jar_was_held_against_where_that_is_not_bases():
    tests = TestsProof(TestScope.RELATED)
    in_base = Proof("jar", "a", "b", ("one-rule",), (), tests, ())
    assert headline(in_base) == "Drop-in check passed (1 rule)."
    assert headline(replace(in_base, kafka="3.9.2")) == (
        "Drop-in check passed within Kafka 3.9.2, the candidate's own (1 rule)."
    )
    assert headline(replace(in_base, candidate="a", kafka="3.9.2")) == (
        "The raft jar is the one of Kafka 3.9.2 itself, so there is nothing that might not fit."
    )
