"""Classes of other jars in the jar under test: the class path's order decides which one runs."""

from harness.proof.dropin.hiding import compare_hidden

RAFT, FAULT = "org/apache/kafka/raft/A.class", "org/apache/kafka/server/fault/FaultHandler.class"
OTHERS = {"kafka-clients.jar": [RAFT], "kafka-server-common.jar": [FAULT, "a/B.class", "a/C.class", "NOTICE"]}


def found(*added, others=OTHERS, base=(RAFT, "NOTICE")):
    return [(each.rule, each.detail) for each in compare_hidden(base, [*base, *added], others)]


def test_a_class_of_another_jar_fails_with_the_class_and_the_jar():
    assert found(FAULT) == [
        (
            "class-hides",
            "org.apache.kafka.server.fault.FaultHandler of kafka-server-common.jar is in this jar too: "
            "which one runs is up to the order of the class path",
        )
    ]


def test_a_fat_jar_is_one_sentence_a_jar_that_counts_the_classes():
    ((_, says),) = found(FAULT, "a/B.class", "a/C.class")
    assert says.startswith("a.B of kafka-server-common.jar, and 2 more of its classes, is in this jar too")


def test_a_class_that_two_other_jars_have_is_reported_once():
    assert len(found(FAULT, others={**OTHERS, "copy.jar": [FAULT]})) == 1


def test_what_base_has_too_what_nobody_has_and_what_is_no_class_hides_nothing():
    assert found() == []
    assert found("a/New.class", "a/B.txt") == []
    assert (
        found("module-info.class", others={"x.jar": ["module-info.class", "META-INF/versions/9/module-info.class"]})
        == []
    )


def test_a_class_that_the_other_jar_has_for_certain_java_versions_alone_is_hidden_too():
    assert [rule for rule, _ in found("a/V.class", others={"x.jar": ["META-INF/versions/11/a/V.class"]})] == [
        "class-hides"
    ]
