"""Tests of upstream's that use what no other jar can miss, and has changed, say nothing of a jar."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.proof import Difference, FailedTest, Severity, TestClass, TestScope, TestsProof, TestSuite
from harness.stages.tests_that_fit import fitted

STATE = "org.apache.kafka.raft.LeaderState"
RAN = (TestClass(TestSuite.UPSTREAM, "a.BTest", 9, 1, 0, 0.1),)
CONSTRUCTOR = f"{STATE}.<init>(Lorg/apache/kafka/common/utils/Time;I[J)V"
LACKS = f"'void {STATE}.<init>(org.apache.kafka.common.utils.Time, int, long[])'"


def gone(where, severity=Severity.WARNING, rule="member-removed"):
    return Difference(rule, severity, where, "it is gone")


def failed(trace, suite=TestSuite.UPSTREAM, message="m", **changes):
    return FailedTest(suite, "a.BTest", "a()", message, trace, False, **changes)


def seen(difference, failure):
    return fitted(TestsProof(TestScope.ALL, RAN, failed=(failure,)), [difference])


@pytest.mark.parametrize(
    ("where", "trace", "named"),
    [
        (
            CONSTRUCTOR,
            f"java.lang.NoSuchMethodError: {LACKS}\n\tat a.BTest.a(BTest.java:7)",
            "LeaderState(Time, int, long[])",
        ),
        (
            CONSTRUCTOR,
            f"a.Wrapped: x\nCaused by: java.lang.NoSuchMethodError: {LACKS}",
            "LeaderState(Time, int, long[])",
        ),
        (f"{STATE}$Part.size()I", f"java.lang.NoSuchMethodError: 'int {STATE}$Part.size()'", "LeaderState.Part.size()"),
        (
            f"{STATE}.epoch: I",
            f"java.lang.NoSuchFieldError: Class {STATE} does not have member field 'int epoch'",
            "LeaderState.epoch",
        ),
        (f"{STATE}.epoch: I", "java.lang.NoSuchFieldError: epoch", "LeaderState.epoch"),
    ],
)
def test_a_test_that_dies_for_want_of_what_no_other_jar_can_miss_does_not_count_and_is_a_gap(where, trace, named):
    tests = seen(gone(where), failed(trace))
    (excused,) = tests.failed
    assert not excused.blocks
    assert excused.excuse == f"it uses {named}, which changed and which no other jar can miss"
    why = f"they use {named}, which changed and which no other jar can miss."
    assert tests.gap == f"1 of 9 tests could not be asked of the jar: {why}"


@pytest.mark.parametrize(
    ("difference", "failure"),
    [
        (gone(CONSTRUCTOR, Severity.FAIL), failed(f"java.lang.NoSuchMethodError: {LACKS}")),  # others can use it
        (gone(CONSTRUCTOR, rule="class-missing"), failed(f"java.lang.NoSuchMethodError: {LACKS}")),
        (
            gone(CONSTRUCTOR),
            failed(f"java.lang.NoSuchMethodError: {LACKS.replace('int', 'long')}"),
        ),  # another constructor
        (gone(CONSTRUCTOR), failed(f"java.lang.NoSuchMethodError: {LACKS.replace('LeaderState', 'OtherLeaderState')}")),
        (gone(CONSTRUCTOR), failed("org.opentest4j.AssertionFailedError: expected: <1> but was: <2>")),
        (gone(CONSTRUCTOR), failed(f"java.lang.NoSuchMethodError: {LACKS}", TestSuite.SERIES)),
        (gone("odd"), failed("odd")),
    ],
)
def test_a_test_that_fails_otherwise_or_for_want_of_what_others_can_use_counts(difference, failure):
    assert seen(difference, failure) == TestsProof(TestScope.ALL, RAN, failed=(failure,))


def test_many_members_are_counted():
    names = [f"{STATE}.m{number}()V" for number in range(5)]
    failures = tuple(failed(f"NoSuchMethodError: 'void {name[:-1]}'") for name in names)
    tests = fitted(TestsProof(TestScope.ALL, RAN, failed=failures, gap="One."), map(gone, names))
    assert tests.gap.startswith(
        "One. 5 of 9 tests could not be asked of the jar: they use LeaderState.m0(), LeaderState.m1(),"
    )
    assert "LeaderState.m2() and 2 more, which changed" in tests.gap


@given(where=st.text(), trace=st.text())
def test_whatever_a_jar_calls_its_members_nothing_breaks(where, trace):
    seen(gone(where), failed(trace, message=where))
