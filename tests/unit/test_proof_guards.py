"""What threads share and is not guarded any more: on class facts made by hand."""

from dataclasses import replace

import pytest
from test_proof_blocking import call, facts, method

from harness.model.proof import NO_RUN_SHOWS, Severity
from harness.proof.bytecode import FieldFacts
from harness.proof.dropin import rules
from harness.proof.dropin.guards import compare_guards

STATE = "org/apache/kafka/raft/LeaderState"
PRIVATE, FINAL, SYNCHRONIZED, VOLATILE, SYNTHETIC = 0x2, 0x10, 0x20, 0x40, 0x1000
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


def private(name, *uses):
    return replace(method(name, *uses), access=PRIVATE)


def lost(*names):
    return [("no-longer-synchronized", Severity.WARNING, f"{STATE.replace('/', '.')}.{name}()V") for name in names]


HELPER, LAMBDA = call(STATE, "helper"), call(STATE, "lambda$append$0")


@pytest.mark.parametrize(
    ("base", "candidate", "named"),
    [
        ([method("append", LOCK)], [method("append")], ["append"]),
        ([method("append", HELPER), private("helper", LOCK)], [method("append")], ["append"]),
        (
            [method("append", HELPER), private("helper", LOCK)],
            [method("append", HELPER), private("helper")],
            ["helper"],
        ),
        (
            [method("append", LOCK, HELPER), method("helper", LOCK)],
            [method("append", HELPER), method("helper", LOCK)],
            ["append"],
        ),
        (
            [method("append", LAMBDA), replace(private("lambda$append$0", LOCK), access=PRIVATE | SYNTHETIC)],
            [method("append", LAMBDA), replace(private("lambda$append$0"), access=PRIVATE | SYNTHETIC)],
            ["append"],
        ),
        ([replace(method("append"), operations=("op 194",))], [method("append")], ["append"]),
        (
            [method("append", LOCK, HELPER), private("helper", LOCK)],
            [method("append", LOCK, HELPER), private("helper"), method("drain", HELPER)],
            ["helper"],
        ),
    ],
    ids=[
        "a lock",
        "a helper's, which is gone",
        "a helper's",
        "one of two",
        "a lambda's",
        "a block",
        "a caller has none",
    ],
)
def test_a_method_that_takes_no_lock_any_more_is_a_warning(base, candidate, named):
    assert found(with_methods(*base), with_methods(*candidate)) == lost(*named)


def test_a_long_chain_of_private_callers_is_walked_to_its_end():
    def chain(*of_the_last):
        steps = [private(f"m{at}", *([call(STATE, f"m{at - 1}")] if at else [])) for at in range(3000)]
        return with_methods(*steps, method("append", *of_the_last, call(STATE, "m2999")))

    assert found(chain(LOCK), chain(LOCK)) == []
    assert found(chain(LOCK), chain()) == lost("append")


WITH_LOCK = call(STATE, "withLock", "(Ljava/lang/Runnable;)V")


@pytest.mark.parametrize(
    "candidate",
    [
        [method("append", call("java/util/concurrent/locks/ReentrantLock", "lockInterruptibly"))],
        [method("append", HELPER), method("helper", LOCK)],
        [method("append", HELPER), private("helper", call(STATE, "deeper")), private("deeper", LOCK)],
        [method("append", LAMBDA), replace(private("lambda$append$0", LOCK), access=PRIVATE | SYNTHETIC)],
        [method("append", WITH_LOCK), replace(method("withLock", LOCK), descriptor=WITH_LOCK.descriptor)],
        [method("append", call("a/LockUtils", "inLock", "(Ljava/util/concurrent/locks/Lock;)V"))],
        [private("append"), method("drain", LOCK, call(STATE, "append"))],
        [private("append"), private("inner", call(STATE, "append")), method("drain", LOCK, call(STATE, "inner"))],
        [private("append"), method("<init>", call(STATE, "append"))],
        [method("other")],
    ],
    ids=[
        "interruptibly",
        "delegates",
        "deeper",
        "lambda",
        "runs it locked",
        "gives the lock",
        "its caller holds it",
        "a caller's caller",
        "only the constructor",
        "gone",
    ],
)
def test_a_lock_that_another_method_takes_for_it_is_not_lost(candidate):
    assert found(with_methods(method("append", LOCK)), with_methods(*candidate)) == []


def test_a_lock_is_followed_into_what_is_nested_beside_the_class():
    nested = facts(f"{STATE}$Guard", method("run", LOCK))
    candidate = {**with_methods(method("append", call(f"{STATE}$Guard", "run"))), nested.name: nested}
    assert found(with_methods(method("append", LOCK)), candidate) == []


def test_a_constructor_that_gives_up_a_lock_says_nothing_for_nobody_else_knows_the_object():
    assert found(with_methods(method("<init>", LOCK)), with_methods(method("<init>"))) == []
    handed = call("a/Timer", "<init>", "(Ljava/util/concurrent/locks/Lock;)V")
    assert found(with_methods(method("append", LOCK)), with_methods(method("append", handed))) == lost("append")
