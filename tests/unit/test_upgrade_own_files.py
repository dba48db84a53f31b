"""Where an operator's own files name what changes."""

from dataclasses import replace

import pytest
from upgrade_sample import metric

from harness.model.operator_changes import SCHEMA, Area, Change, OperatorChanges, Weight
from harness.upgrade.metric_changes import metric_changes
from harness.upgrade.own_files import with_uses


def changed(area, subject, *, base="", by_default=False):
    return Change(area, Weight.BREAKS, subject, "somewhere", base, "", "It is gone.", 1, by_default)


def used_lines(change, text):
    (found,) = with_uses(OperatorChanges(SCHEMA, "a", "b", "", "", (change,)), {"mine": text}).changes
    return [use.line for use in found.used]


KEY = changed(Area.CONFIGURATION, "log.retention.hours")
OPTION = changed(Area.COMMANDS, "kafka-console-producer.sh --broker-list")
METRIC = changed(Area.METRICS, "kafka.server:type=ReplicaManager,name=IsrShrinksPerSec")
FAMILY = changed(
    Area.METRICS, "kafka.network:type=RequestMetrics,name=*,request=X", base="histogram: LocalTimeMs, TotalTimeMs"
)
ATTRIBUTES = changed(
    Area.METRICS,
    "kafka.server:type=socket-server-metrics,listener=*,networkProcessor=N",
    base="io-wait-ratio, io-waittime-total",
)
BEAN = changed(Area.METRICS, "kafka.server:type=raft-metrics", base="Kafka metrics")
SIZE = changed(Area.METRICS, "kafka.log:type=Log,name=Size", base="gauge")
SHORT = replace(changed(Area.COMMANDS, "kafka-storage.sh format --cluster-id"), other_names=("-t",))
NEEDED = replace(SHORT, by_default=True)
LINE = changed(Area.LOGS, "Error while fetching the partition {} from the leader")


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (KEY, "log.retention.hours=5"),
        (KEY, "  KEY: 'log.retention.hours'"),
        (OPTION, "/opt/kafka/bin/kafka-console-producer.sh --topic x --broker-list k:9092"),
        (OPTION, "kafka-console-producer --broker-list=k"),
        (METRIC, "expr: rate(kafka_server_replicamanager_isrshrinkspersec_total[5m]) > 0"),
        (METRIC, "expr: rate(kafka_server_replicamanager_isrshrinks_total[5m]) > 0"),
        (METRIC, "kafka_server_replica_manager_isr_shrinks_per_sec"),
        (METRIC, "kafka.server:name=IsrShrinksPerSec,type=ReplicaManager"),
        (KEY, "producer.override.log.retention.hours=5"),
        (KEY, "listener.name.internal.log.retention.hours=5"),
        (KEY, "eu->us.consumer.log.retention.hours=5"),
        (SHORT, "kafka-storage.sh format -t abc"),
        (SHORT, "kafka-storage.sh format --cluster-id abc"),
        (METRIC, '"kafka.server:type=ReplicaManager,name=IsrShrinksPerSec"'),
        (FAMILY, "kafka_network_requestmetrics_totaltimems{request='X'}"),
        (LINE, "pattern: 'Error while fetching the partition .*'"),
        (ATTRIBUTES, "rate(kafka_server_socket_server_metrics_io_waittime_total[5m])"),
        (ATTRIBUTES, '"kafka.server:type=socket-server-metrics,listener=*,networkProcessor=*", io-wait-ratio'),
        (BEAN, "kafka_server_raft_metrics_current_epoch"),
        (changed(Area.COMMANDS, "kafka-acls.sh"), "kafka-acls.sh --add"),
        (changed(Area.COMMANDS, "kafka.admin.AclCommand"), "kafka-run-class.sh kafka.admin.AclCommand --add"),
    ],
)
def test_a_line_that_names_what_changes_is_found(change, line):
    assert used_lines(change, f"first\n{line}\n") == [2]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (KEY, "my.log.retention.hours=5"),
        (KEY, "log.retention.hours.x=5"),
        (OPTION, "kafka-console-consumer.sh --broker-list k"),
        (OPTION, "kafka-console-producer.sh --broker-list-file k"),
        (METRIC, "kafka_server_replicamanager_isrexpandspersec"),
        (SIZE, "alert: ConsumerBacklogResized"),
        (SIZE, "catalog_size > 3"),
        (SIZE, "max.log.size=3"),
        (SHORT, "kafka-storage.sh format -x abc"),
        (NEEDED, "kafka-storage.sh format -t abc"),
        (LINE, "Error while fetching"),
        (ATTRIBUTES, "rate(kafka_server_socket_server_metrics_request_rate[5m])"),
        (KEY, "# log.retention.hours=5"),
        (changed(Area.CONFIGURATION, "log.retention.hours", by_default=True), "log.retention.hours=5"),
        (changed(Area.PROTOCOL, "Fetch"), "Fetch"),
    ],
)
def test_a_line_that_names_something_else_is_not(change, line):
    assert used_lines(change, line) == []


def test_a_comment_names_nothing_and_takes_no_line_with_it():
    assert used_lines(KEY, "# zookeeper is gone \\\nlog.retention.hours=5\n") == [2]
    files = {"a.properties": "! log.retention.hours=5\n", "a.sh": "! log.retention.hours=5\n"}
    (found,) = with_uses(OperatorChanges(SCHEMA, "a", "b", "", "", (KEY,)), files).changes
    assert [use.file for use in found.used] == ["a.sh"]


def test_a_call_over_several_lines_is_one():
    call = "x\nkafka-console-producer.sh \\\n  --topic t \\\n  --broker-list k\n"
    (found,) = with_uses(OperatorChanges(SCHEMA, "a", "b", "", "", (OPTION,)), {"mine": call}).changes
    assert [(use.line, use.text.split()) for use in found.used] == [
        (2, ["kafka-console-producer.sh", "--topic", "t", "--broker-list", "k"])
    ]


def test_a_call_without_an_option_that_is_required_now_is_found_and_one_with_it_is_not():
    required = changed(Area.COMMANDS, "kafka-topics.sh --bootstrap-server", by_default=True)
    assert used_lines(required, "kafka-topics.sh --list\nkafka-topics.sh --bootstrap-server k --list\n") == [1]


def test_an_attribute_that_became_a_word_is_found_by_its_own_name():
    old, new = (
        metric("kafka.server:type=x-metrics", "Kafka metrics", {"a-rate": kind}) for kind in ("Double", "String")
    )
    (change,) = metric_changes([old], [new])
    assert used_lines(change, "expr: kafka_server_x_metrics_a_rate > 1\nexpr: kafka_server_x_metrics_b > 1\n") == [1]


def test_what_files_name_comes_first_among_what_weighs_as_much():
    other = changed(Area.RUNTIME, "Java of a node")
    changes = OperatorChanges(SCHEMA, "a", "b", "", "", (other, KEY))
    assert [each.subject for each in with_uses(changes, {"mine": "log.retention.hours=1"}).changes] == [
        KEY.subject,
        other.subject,
    ]
