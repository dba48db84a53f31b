"""Upgrade notes of a real Kafka: its own classes, tools and nodes are asked, and nothing changes against itself."""

import pytest

from harness.base.progress import Reporter
from harness.cli.common import console
from harness.model.operator_changes import Area
from harness.rundir.parts import UpgradeFolder
from harness.stages.upgrade_notes import kafka_named, upgrade_notes
from harness.toolbox.toolbox import local_toolbox

pytestmark = [pytest.mark.live, pytest.mark.clusters, pytest.mark.whole]


@pytest.fixture(scope="module")
def notes(tmp_path_factory):
    """Return the folder of the notes of 3.9.1 against 3.9.1."""
    toolbox = local_toolbox()
    kafka, folder = kafka_named("3.9.1", toolbox), UpgradeFolder(tmp_path_factory.mktemp("notes"))
    upgrade_notes(kafka, kafka, folder, 3, {}, toolbox, Reporter(console()))
    return folder


def test_nothing_changes_between_a_kafka_and_itself(notes):
    found = notes.changes.read()
    assert found.gaps == ()
    assert [change for change in found.changes if change.area is not Area.FIGURES] == []


def test_everything_that_an_operator_meets_is_in_the_inventory(notes):
    kafka = notes.base.read()
    owners = {owner.owner.rpartition(".")[2]: {key.name: key for key in owner.keys} for owner in kafka.configuration}
    assert owners["AbstractKafkaConfig"]["num.io.threads"].default == "8"
    assert {
        "LogConfig#CONFIG",
        "ProducerConfig",
        "StreamsConfig",
        "DistributedConfig",
        "MirrorSourceConfig",
    } <= owners.keys()
    options = {command.name: {option.name for option in command.options} for command in kafka.commands}
    assert "--bootstrap-server" in options["kafka-topics.sh"]
    assert "--config" in options["kafka-storage.sh format"]
    metrics = {metric.name: metric for metric in kafka.metrics}
    assert metrics["kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions"].kind == "gauge"
    assert "current-leader" in metrics["kafka.server:type=raft-metrics"].attributes
    assert {api.listener for api in kafka.apis if api.name == "Fetch"} == {"broker", "controller"}
    assert {feature.name for feature in kafka.features} >= {"kraft.version", "metadata.version"}
    assert (kafka.java["a node"], kafka.logging) == (8, "log4j 1 (reload4j)")
    assert len(kafka.boots) == 3


def test_a_boot_costs_what_a_small_node_can_cost(notes):
    for boot in notes.base.read().boots:
        assert 1 < boot.ready_seconds < 60
        assert 1 < boot.ready_cpu_seconds < 60
        assert 5 < boot.live_heap_mb < boot.resident_mb < 2000
        assert boot.threads > 20
