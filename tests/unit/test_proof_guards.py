"""What threads share and is not guarded any more: on class facts made by hand."""

from dataclasses import replace

import pytest
from test_proof_blocking import call, facts, method

from harness.model.proof import NO_RUN_SHOWS, Severity
from harness.proof.bytecode import FieldFacts
from harness.proof.dropin import rules
from harness.proof.dropin.guards import compare_guards

STATE = "org/apache/kafka/raft/LeaderState"
PRIVATE, FINAL, SYNCHRONIZED, VOLATILE = 0x2, 0x10, 0x20, 0x40
LOCK = call("java/util/concurrent/locks/ReentrantLock", "lock")


def with_field(access, name="resigned", descriptor="Z"):
    return {STATE: replace(facts(STATE), fields=(FieldFacts(name, descriptor, access, ""),))}


def with_methods(*methods):
    return {STATE: facts(STATE, *methods)}


def synchronized(name="size", *uses):
    return replace(method(name, *uses), access=1 | SYNCHRONIZED)


def found(base, candidate):
    assert list(compare_guards(base, base)) == []
    return [(each.rule, each.severity, each.where) for each in compare_guards(base, candidate)]


def test_a_field_that_is_not_volatile_any_more_is_a_warning():
    warned = ("no-longer-volatile", Severity.WARNING, "org.apache.kafka.raft.LeaderState.resigned")
    assert found(with_field(PRIVATE | VOLATILE), with_field(PRIVATE)) == [warned]


@pytest.mark.parametrize(
    "candidate",
    [
        with_field(PRIVATE | FINAL),
        with_field(PRIVATE | VOLATILE),
        with_field(PRIVATE, name="hasResigned"),
        with_field(PRIVATE, descriptor="Ljava/util/concurrent/atomic/AtomicBoolean;"),
        {},
    ],
)
def test_a_field_that_is_final_now_or_gone_or_another_says_nothing(candidate):
    assert found(with_field(PRIVATE | VOLATILE), candidate) == []
    assert found(with_field(PRIVATE), candidate) == []


def test_a_method_that_is_not_synchronized_any_more_is_a_warning():
    warned = ("no-longer-synchronized", Severity.WARNING, "org.apache.kafka.raft.LeaderState.size()V")
    assert found(with_methods(synchronized()), with_methods(method("size"))) == [warned]
    unguarded = with_methods(method("size", call(STATE, "other")), method("other"))
    assert found(with_methods(synchronized()), unguarded) == [warned]


@pytest.mark.parametrize(
    "methods",
    [
        [synchronized()],
        [replace(method("size"), operations=("op 194",))],
        [method("size", LOCK)],
        [method("size", call(STATE, "other")), synchronized("other")],
        [method("count")],
    ],
    ids=["synchronized", "a block", "a lock", "a helper's", "gone"],
)
def test_a_method_that_takes_a_lock_otherwise_or_is_gone_says_nothing(methods):
    assert found(with_methods(synchronized()), with_methods(*methods)) == []


def test_the_rules_that_no_run_shows_are_rules():
    assert {rule.name for rule in rules.ALL} >= NO_RUN_SHOWS


def test_a_method_that_became_abstract_is_in_nobody_and_needs_no_lock():
    abstract = replace(method("size"), code="")
    assert found(with_methods(synchronized()), with_methods(abstract)) == []
