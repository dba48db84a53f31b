"""Statements that an alert may wait for."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.proof.bytecode import LogStatement
from harness.proof.dropin.log_statements import compare_errors, compare_statements

ENDED = LogStatement("org/apache/kafka/raft/A", "ERROR", "The log of {} cannot be read")


def said(base, candidate):
    return [(each.where, each.detail) for each in compare_statements(base, candidate)]


def test_a_statement_that_is_gone_is_named_with_its_class():
    assert said([ENDED], []) == [("A", "ERROR “The log of {} cannot be read”: it is gone")]


def test_one_that_is_quieter_is_named_with_both_levels():
    quieter = LogStatement(ENDED.owner, "DEBUG", ENDED.text)
    assert said([ENDED], [quieter]) == [("A", "ERROR “The log of {} cannot be read”: at DEBUG now")]


@pytest.mark.parametrize(
    "instead",
    [
        LogStatement("org/apache/kafka/raft/Another", "ERROR", ENDED.text),  # it moved
        LogStatement(ENDED.owner, "FATAL", ENDED.text),  # louder
        LogStatement(ENDED.owner, "ERROR", "The log of node {} cannot be read"),  # in like words
    ],
)
def test_one_that_moved_or_is_louder_or_in_other_words_is_not(instead):
    assert said([ENDED], [instead]) == []


def test_what_is_quieter_than_info_nobody_waits_for():
    assert said([LogStatement("A", "DEBUG", "polled")], []) == []


def test_it_is_named_by_the_same_class_whatever_the_order_of_statements():
    several = [LogStatement(name, "ERROR", ENDED.text) for name in "ACB"]
    assert said(several, []) == said(several[::-1], [])


def test_of_two_statements_of_one_text_the_louder_counts():
    both = [ENDED, LogStatement("B", "INFO", ENDED.text)]
    assert said(both, [ENDED]) == []
    assert len(said(both, both[1:])) == 1


statements = st.builds(
    LogStatement,
    st.sampled_from("AB"),
    st.sampled_from(["DEBUG", "INFO", "WARN", "ERROR"]),
    st.text("ab{} ", min_size=1),
)


@given(st.lists(statements), st.lists(statements))
def test_more_statements_are_never_missed(base, more):
    assert said(base, base + more) == []


BROKEN = LogStatement("org/apache/kafka/raft/B", "ERROR", "Nobody answered the vote of {}")


def errors(base, candidate):
    return [(each.where, each.candidate) for each in compare_errors(base, candidate)]


def test_an_error_that_base_has_no_words_for_is_named_with_its_class_and_text():
    assert errors([ENDED], [ENDED, BROKEN]) == [("org.apache.kafka.raft.B", BROKEN.text)]
    assert errors([ENDED, BROKEN], [ENDED, BROKEN]) == []


@pytest.mark.parametrize(
    ("base", "candidate"),
    [
        ([ENDED], [replace(BROKEN, level="WARN"), ENDED]),
        ([replace(BROKEN, level="INFO")], [BROKEN]),
        ([replace(BROKEN, owner="org/apache/kafka/raft/C")], [BROKEN]),
        ([ENDED], [replace(ENDED, owner=BROKEN.owner, text="The log of node {} cannot be read")]),
        ([replace(ENDED, owner=f"{BROKEN.owner}$Inner")], [BROKEN]),
    ],
    ids=["a warning", "base says it quieter", "moved", "like words", "in place of another of its class"],
)
def test_a_warning_or_what_base_may_have_in_other_words_is_no_new_error(base, candidate):
    assert errors(base, candidate) == []
