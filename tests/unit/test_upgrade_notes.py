"""Which Kafkas are compared for an operator, and what is still compared where no node of one can be asked."""

from pathlib import Path

import pytest
from whole_kafka import whole_kafka

from harness.base.errors import HarnessError
from harness.building.jars import write_jar
from harness.kafka.distribution import RAFT_CLIENT, Distribution
from harness.model.kafka_inventory import KafkaInventory
from harness.stages import upgrade_notes as stage
from harness.toolbox.java import JavaRuntime
from harness.toolbox.toolbox import Toolbox
from harness.upgrade.boots import with_boots
from harness.upgrade.inventory import Bench

KAFKA_4 = b"\xca\xfe\xba\xbe\0\0\0\x3d"  # of Java 17
INVENTORIES = tuple(KafkaInventory(1, each, f"Kafka {each}", each, gaps=("no Streams",)) for each in ("2.8.2", "3.9.1"))


def test_a_kafka_that_lacks_a_module_is_refused_as_a_verification_refuses_it(tmp_path):
    folder = whole_kafka(tmp_path)
    assert stage.kafka_named(str(folder), Toolbox(tmp_path, tmp_path)).version == "3.9.1"
    (folder / "libs" / "kafka-group-coordinator-3.9.1.jar").unlink()
    with pytest.raises(HarnessError, match=r"not a whole Kafka: its libs/ lacks kafka-group-coordinator-<version>"):
        stage.kafka_named(str(folder), Toolbox(tmp_path, tmp_path))


def distribution(version, folder):
    jar = folder / f"kafka-raft-{version}.jar"
    write_jar({RAFT_CLIENT: b"", "kafka/Kafka.class": KAFKA_4}, jar)
    return Distribution(version, (jar,), jar, f"Kafka {version}")


class Host:
    """A host whose Java is of a version."""

    def __init__(self, version, cache):
        self.version, self.cache = version, cache

    def node_java(self):
        return JavaRuntime(Path("/opt/java"), self.version)


def test_a_java_that_is_too_old_is_refused_and_one_that_names_no_number_is_believed(tmp_path):
    kafka = distribution("4.2.1", tmp_path)
    for version in ("17", "21.0.8", "of my own"):
        stage.check_java((kafka,), Host(version, tmp_path))
    with pytest.raises(HarnessError, match=r"Kafka 4\.2\.1 needs Java 17, and /opt/java is Java 1\.8\.0_402"):
        stage.check_java((kafka,), Host("1.8.0_402", tmp_path))


def test_where_no_node_can_be_asked_the_rest_is_compared_and_the_gap_is_said(tmp_path):
    reports = []
    kafkas = [distribution(each, tmp_path) for each in ("2.8.2", "3.9.1")]
    bench = Bench(Host("21", tmp_path), None, reports.append)
    found = stage.started(kafkas, INVENTORIES, 3, bench)
    gap = "No node was asked for metrics, protocol, features, start, memory and CPU: Nodes of Kafka 2.8 cannot be run"
    assert [each.gaps[0].startswith(gap) for each in found] == [True, True]
    assert [each.gaps[1:] for each in found] == [("no Streams",)] * 2
    assert reports == [found[0].gaps[0]]
    with pytest.raises(HarnessError, match="cannot be run in mode kraft"):
        with_boots(tuple(zip(kafkas, INVENTORIES, strict=True)), 3, bench)
