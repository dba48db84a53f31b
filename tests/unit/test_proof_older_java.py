"""Calls that Java 8 cannot answer, in a jar whose base runs on it: on class facts made by hand."""

from dataclasses import replace

import pytest
from test_proof_blocking import call, facts, method

from harness.model.proof import Severity
from harness.proof.dropin.class_changes import CompiledBaseline
from harness.proof.dropin.older_java import compare_older_java

BATCH, STATE = "org/apache/kafka/raft/internals/BatchBuilder", "org/apache/kafka/raft/FollowerState"
BUFFER = "java/nio/ByteBuffer"
OLD = call(BUFFER, "limit", "(I)Ljava/nio/Buffer;")
NEW = call(BUFFER, "limit", f"(I)L{BUFFER};")
SIZE = facts(STATE, method("size"))


def jar(*calls, state=SIZE):
    return {BATCH: facts(BATCH, method("build", *calls)), STATE: state}


BASE = jar(OLD)
BY_ECJ = jar(NEW, state=facts(STATE, replace(method("size"), code="ecj's")))
PATCHED_BY_ECJ = {**BY_ECJ, BATCH: facts(BATCH, replace(method("build", NEW), code="patched"))}


def found(candidate, base=BASE, builder="", more=()):
    baselines = [CompiledBaseline("base", base), *more]
    return [*compare_older_java(base, candidate, baselines, builder)]


def test_a_call_that_java_8_does_not_have_fails_and_says_what_dies_and_how_to_compile():
    (failed,) = found(jar(NEW))
    assert (failed.rule, failed.severity) == ("newer-java", Severity.FAIL)
    assert failed.detail == (
        "org.apache.kafka.raft.internals.BatchBuilder.build calls java.nio.ByteBuffer.limit(I)Ljava/nio/ByteBuffer;, "
        "which Java 8 does not have: on it they die of NoSuchMethodError; compile it with javac --release 8"
    )


@pytest.mark.parametrize("name", ["flip", "clear", "position", "rewind", "mark", "reset"])
@pytest.mark.parametrize("kind", ["Long", "MappedByte"])
def test_so_it_is_with_every_method_of_a_buffer_that_java_9_gave_a_type_of_its_own(name, kind):
    owner = f"java/nio/{kind}Buffer"
    assert [each.rule for each in found(jar(call(owner, name, f"()L{owner};")))] == ["newer-java"]
    assert found(jar(call(owner, name, "()Ljava/nio/Buffer;"))) == []


@pytest.mark.parametrize(
    "use",
    [
        call(BUFFER, "limit", "()I"),
        call(BUFFER, "slice", f"()L{BUFFER};"),
        call(BUFFER, "duplicate", f"()L{BUFFER};"),
        call(BUFFER, "putInt", f"(II)L{BUFFER};"),
        call("org/apache/kafka/raft/Buffer", "flip", f"()L{BUFFER};"),
    ],
)
def test_what_java_8_has_says_nothing(use):
    assert found(jar(use)) == []


def test_a_base_that_needs_a_newer_java_or_does_not_run_on_java_8_itself_loses_nothing():
    newer = {name: replace(each, major=61) for name, each in BASE.items()}
    assert found(jar(NEW), newer) == []
    assert found(jar(NEW, NEW), jar(NEW)) == []


def test_of_a_class_that_java_8_cannot_even_load_another_rule_speaks():
    assert found({name: replace(each, major=65) for name, each in jar(NEW).items()}) == []


def test_where_a_compiler_of_the_harness_made_it_so_it_is_a_warning_that_names_it():
    (built,) = found(jar(NEW), builder="ecj 3.46 on Java 21")
    (given,) = found(PATCHED_BY_ECJ, more=[CompiledBaseline("ecj 3.46 on Java 21", BY_ECJ)])
    for each in (built, given):
        assert each.severity is Severity.WARNING
        assert each.detail.endswith("; ecj 3.46 on Java 21 compiled it against a newer class library")


def test_a_jar_that_is_not_like_that_compilers_fails_beside_its_baseline_too():
    (failed,) = found(jar(NEW), more=[CompiledBaseline("ecj 3.46 on Java 21", BY_ECJ)])
    assert failed.severity is Severity.FAIL
