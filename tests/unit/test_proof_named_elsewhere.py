"""What can be missed of a class: what another jar names it for, or what Kafka publishes."""

import zipfile

import pytest
from test_tests_that_fit import CONSTRUCTOR, LACKS, RAN, failed

from harness.model.proof import Difference, Severity, TestScope, TestsProof
from harness.proof.dropin.named_elsewhere import named_by, weighed
from harness.stages.tests_that_fit import fitted

STATE, NESTED = "org/apache/kafka/raft/LeaderState", "org/apache/kafka/raft/LeaderState$ReplicaState"
PUBLISHED = "org/apache/kafka/common/Node"
CLASSES = (STATE, NESTED, PUBLISHED, "org/apache/kafka/raft/internals/BatchBuilder")
SIZE = f"{STATE.replace('/', '.')}.size()I"


@pytest.fixture
def other(tmp_path):
    """Write another jar with one entry."""

    def write(content=b"", entry="a/B.class"):
        path = tmp_path / "other.jar"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a/Unrelated.class", b"org/apache/kafka/raft/LeaderStates\x01org.apache.kafka.raft")
            archive.writestr(entry, content)
        return path

    return write


def weight(jar, where=SIZE, rule="member-removed"):
    (found,) = weighed([Difference(rule, Severity.FAIL, where, "it is gone")], CLASSES, [jar])
    return found.severity


@pytest.mark.parametrize("rule", ["member-removed", "class-missing", "api-binary"])
@pytest.mark.parametrize("of", ["", ".size()I", ".<init>(Lorg/apache/kafka/common/Node;)V", "$ReplicaState.epoch: I"])
def test_what_is_gone_of_an_internal_class_that_no_other_jar_names_is_shown_and_does_not_fail(other, rule, of):
    difference = Difference(rule, Severity.FAIL, f"{STATE.replace('/', '.')}{of}", "it is gone")
    (found,) = weighed([difference], CLASSES, [other()])
    assert (found.severity, found.where) == (Severity.WARNING, difference.where)
    assert found.detail == "it is gone; no other jar of this Kafka names its class"


@pytest.mark.parametrize(
    ("content", "entry"),
    [
        (b"\x01\x00\x21org/apache/kafka/raft/LeaderState\x07", "a/B.class"),  # used, extended or implemented
        (b"(Lorg/apache/kafka/raft/LeaderState;)V", "a/B.class"),  # taken or returned
        (b"org/apache/kafka/raft/LeaderState$ReplicaState", "a/B.class"),
        (b"org.apache.kafka.raft.LeaderState", "a/B.class"),  # loaded by its name
        (b"org.apache.kafka.raft.LeaderState\n", "META-INF/services/a.B"),
    ],
)
def test_what_is_gone_of_a_class_that_another_jar_names_fails(other, content, entry):
    assert weight(other(content, entry)) is Severity.FAIL
    assert weight(other(content, entry), f"{NESTED.replace('/', '.')}.epoch: I") is Severity.FAIL


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_shaded_jar_is_read_through_whatever_its_size_and_whatever_it_has_twice(tmp_path):
    path = tmp_path / "shaded.jar"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(20_001):
            archive.writestr(f"a/{number}.txt", b"")
        archive.writestr("META-INF/services/a.B", b"org.apache.kafka.raft.LeaderState\n")
        archive.writestr("META-INF/services/a.B", b"a.C\n")
        archive.writestr("a/B.class", b"")
        archive.writestr("a/B.class", b"")
    assert weight(path) is Severity.FAIL


def test_a_class_of_a_longer_name_or_in_a_package_below_is_another_class(other):
    jar = other(b"org/apache/kafka/raft/internals/LeaderState\x01org/apache/kafka/raft/LeaderStateOfMine")
    assert weight(jar) is Severity.WARNING
    assert named_by([jar], frozenset(["org/apache/kafka/raft/internals/LeaderState", STATE])) == {
        "org/apache/kafka/raft/internals/LeaderState"
    }


def test_what_kafka_publishes_fails_whoever_names_it(other):
    assert weight(other(), "org.apache.kafka.common.Node.id()I") is Severity.FAIL
    assert weight(other(), "org.apache.kafka.common.Node", "class-missing") is Severity.FAIL


@pytest.mark.parametrize("rule", ["linkage-broken", "constant-changed", "unnamed-class-api", "loading-broken"])
def test_no_other_rule_weighs_by_who_names_the_class(other, rule):
    assert weight(other(), rule=rule) is Severity.FAIL


def test_a_test_that_dies_for_want_of_a_public_member_that_nobody_names_does_not_count(other):
    gone = Difference("member-removed", Severity.FAIL, CONSTRUCTOR, "it is gone")
    tests = TestsProof(TestScope.ALL, RAN, failed=(failed(f"java.lang.NoSuchMethodError: {LACKS}"),))
    (of_nobody,) = fitted(tests, weighed([gone], CLASSES, [other()])).failed
    (of_another,) = fitted(tests, weighed([gone], CLASSES, [other(STATE.encode())])).failed
    assert (of_nobody.blocks, of_another.blocks) == (False, True)
