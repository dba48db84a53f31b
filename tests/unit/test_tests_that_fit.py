"""Tests of upstream's that use what no other jar can miss, and has changed, say nothing of a jar."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.proof import (
    DID_NOT_RUN,
    Difference,
    FailedTest,
    Severity,
    TestClass,
    TestScope,
    TestsProof,
    TestSuite,
)
from harness.stages.tests_that_fit import fitted

STATE = "org.apache.kafka.raft.LeaderState"
RAN = (TestClass(TestSuite.UPSTREAM, "a.BTest", 9, 1, 0, 0.1),)
CONSTRUCTOR = f"{STATE}.<init>(Lorg/apache/kafka/common/utils/Time;I[J)V"
LACKS = f"'void {STATE}.<init>(org.apache.kafka.common.utils.Time, int, long[])'"


def gone(where, severity=Severity.WARNING, rule="member-removed", detail="it is gone"):
    return Difference(rule, severity, where, detail)


def changed(where, how, severity=Severity.WARNING, rule="api-binary"):
    return gone(where, severity, rule, f"{where}: {how}")


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
        (f"{STATE}.epoch: I", "java.lang.NoSuchFieldError: epoch\n\tat a.BTest.a(BTest.java:7)", "LeaderState.epoch"),
    ],
)
def test_a_test_that_dies_for_want_of_what_no_other_jar_can_miss_does_not_count_and_is_a_gap(where, trace, named):
    assert_excused(gone(where), failed(trace), named)


def test_so_does_a_test_of_the_release_that_the_jar_names():
    lacks = failed(f"java.lang.NoSuchMethodError: {LACKS}\n\tat a.BTest.a(BTest.java:7)")
    assert_excused(gone(CONSTRUCTOR), replace(lacks, suite=TestSuite.RELEASE), "LeaderState(Time, int, long[])")
    (series,) = seen(gone(CONSTRUCTOR), replace(lacks, suite=TestSuite.SERIES)).failed
    assert series.blocks


def assert_excused(difference, failure, named):
    tests = seen(difference, failure)
    (excused,) = tests.failed
    assert not excused.blocks
    assert excused.excuse == f"it depends on {named}, which changed and which no other jar uses"
    why = f"they depend on {named}, which changed and which no other jar uses."
    assert tests.gap == f"1 of 9 tests do not apply to the jar: {why}"


IN_ONE = f"(a.BTest and {STATE} are in unnamed module of loader 'app')"
LEAVES = f"java.lang.NoClassDefFoundError: {STATE.replace('.', '/')}"
LESS_OPEN = f"java.lang.IllegalAccessError: class a.BTest tried to access private method 'int {STATE}.at(int, long[])'"
LACKS_ABSTRACT = (
    "java.lang.AbstractMethodError: Receiver class a.MockChannel does not define or inherit an implementation of the "
    "resolved method 'abstract int at(int, long[])' of interface org.apache.kafka.raft.LeaderState."
)
ADDED = changed(f"{STATE}.at(int, long[])", "method added to interface", rule="api-source")


@pytest.mark.parametrize(
    ("difference", "said", "named"),
    [
        (gone(STATE, rule="class-missing"), LEAVES, "LeaderState"),
        (gone(f"{STATE}$Part", rule="class-missing"), f"{LEAVES}$Part", "LeaderState.Part"),
        (changed(STATE, "class removed"), LEAVES, "LeaderState"),
        (
            changed(STATE, "class no longer public"),
            f"java.lang.IllegalAccessError: failed to access class {STATE} from class a.BTest {IN_ONE}",
            "LeaderState",
        ),
        (gone(f"{STATE}.at(I[J)I"), f"{LESS_OPEN} {IN_ONE}", "LeaderState.at(int, long[])"),
        (
            changed(f"{STATE}.at(int, long[])", "method less accessible"),
            f"{LESS_OPEN} {IN_ONE}",
            "LeaderState.at(int, long[])",
        ),
        (
            changed(f"{STATE}.LeaderState(int)", "constructor less accessible"),
            f"java.lang.IllegalAccessError: class a.B tried to access method 'void {STATE}.<init>(int)' {IN_ONE}",
            "LeaderState(int)",
        ),
        (
            gone(f"{STATE}.epoch: I"),
            f"java.lang.IllegalAccessError: class a.BTest tried to access private field {STATE}.epoch {IN_ONE}",
            "LeaderState.epoch",
        ),
        (
            changed(f"{STATE}.at(int)", "method now static"),
            f"java.lang.IncompatibleClassChangeError: Expecting non-static method 'int {STATE}.at(int)'",
            "LeaderState.at(int)",
        ),
        (
            changed(f"{STATE}.at()", "method no longer static"),
            f"java.lang.IncompatibleClassChangeError: Expected static method 'int {STATE}.at()'",
            "LeaderState.at()",
        ),
        (
            changed(f"{STATE}.epoch", "field now static"),
            f"java.lang.IncompatibleClassChangeError: Expected non-static field {STATE}.epoch",
            "LeaderState.epoch",
        ),
        (ADDED, LACKS_ABSTRACT, "LeaderState.at(int, long[])"),
        (
            changed(f"{STATE}.at(int, long[])", "method abstract added to class", rule="api-source"),
            LACKS_ABSTRACT.replace("of interface", "of abstract class"),
            "LeaderState.at(int, long[])",
        ),
    ],
)
def test_so_does_none_that_was_compiled_against_what_is_renamed_less_open_static_or_newly_abstract(
    difference, said, named
):
    failure = failed(f"{said}\n\tat a.BTest.a(BTest.java:7)")
    assert_excused(difference, failure, named)
    of_others = replace(difference, severity=Severity.FAIL)
    assert seen(of_others, failure).failed == (failure,), "others can miss it"
    of_another = failed(failure.trace.replace("LeaderState", "OtherState"))
    assert seen(difference, of_another).failed == (of_another,)


def test_a_test_that_did_not_run_is_excused_by_what_was_said_of_its_own_class_alone():
    others = failed(f"JUnit Jupiter > CTest > b() :: FAILED\n{LEAVES}\n", message=f"{DID_NOT_RUN}exit 1")
    own = failed("", message=f"{DID_NOT_RUN}no test is found in its class: {LEAVES}")
    class_gone = gone(STATE, rule="class-missing")
    assert seen(class_gone, others).failed == (others,)
    assert_excused(class_gone, own, "LeaderState")


def test_a_method_that_a_class_of_another_jar_lacks_too_is_missed():
    failure = failed(LACKS_ABSTRACT)
    lacked = gone(f"{STATE}.at(I[J)I", Severity.FAIL, "linkage-broken")
    tests = TestsProof(TestScope.ALL, RAN, failed=(failure,))
    assert fitted(tests, [ADDED, lacked]) == tests


@pytest.mark.parametrize(
    ("difference", "failure"),
    [
        (changed(f"{STATE}.at(int, long[])", "method new default", rule="api-source"), failed(LACKS_ABSTRACT)),
        (
            replace(ADDED, where="org.apache.kafka.common.X.at()", detail=": method added to interface"),  # published
            failed("AbstractMethodError: A method 'abstract int at()' of interface org.apache.kafka.common.X."),
        ),
        (gone(STATE, rule="class-missing"), failed(f"java.lang.ClassNotFoundException: {STATE}")),  # by the jar itself
        (gone(STATE, rule="class-missing"), failed(f"NoClassDefFoundError: Could not initialize class {STATE}")),
        (gone(STATE, rule="class-missing"), failed(f"{LEAVES}$Part")),
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
        "One. 5 of 9 tests do not apply to the jar: they depend on LeaderState.m0(), LeaderState.m1(),"
    )
    assert "LeaderState.m2() and 2 more, which changed" in tests.gap


@given(where=st.text(), trace=st.text())
def test_whatever_a_jar_calls_its_members_nothing_breaks(where, trace):
    seen(gone(where), failed(trace, message=where))
