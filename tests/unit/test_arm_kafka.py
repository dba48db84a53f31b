"""The Kafka of an arm is found again where run.json says, and only if every jar of it is still the same."""

import shutil
from dataclasses import replace

import pytest
from whole_kafka import whole_kafka

from harness.base.errors import HarnessError
from harness.base.json import from_json, to_json
from harness.building.jars import write_jar
from harness.kafka.distribution import as_declared, distribution_at
from harness.model.arms import Arm, Build, Flag, Role
from harness.model.request import Request
from harness.stages import arm_kafka
from harness.stages.arm_kafka import kafka_of, parts_of_arms
from harness.toolbox.toolbox import Toolbox


@pytest.fixture
def toolbox(tmp_path):
    return Toolbox(tmp_path / "cache", tmp_path, offline=True)


@pytest.fixture
def place(tmp_path):
    return whole_kafka(tmp_path / "kafka")


@pytest.fixture
def build(place, tmp_path):
    kafka = as_declared(distribution_at(place, tmp_path), place)
    return Build("base", "3.9.1", "builds/base/r.jar", "a" * 64, "release", Flag("", False), kafka=kafka)


def test_it_is_found_again_from_the_declaration_alone(build, place, toolbox):
    assert from_json(Build, to_json(build)) == build
    assert kafka_of(build, Request(), toolbox) == distribution_at(place, toolbox.cache)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda libs: write_jar({"y": b""}, libs / "jetty-9.4.jar"), "jetty-9.4.jar"),
        (lambda libs: (libs / "jetty-9.4.jar").unlink(), "jetty-9.4.jar"),
        (lambda libs: write_jar({"y": b""}, libs / "another.jar"), "another.jar"),
        (lambda libs: write_jar({"y": b""}, libs / "kafka-raft-3.9.1.jar"), "kafka-raft-3.9.1.jar"),
    ],
    ids=["changed", "gone", "added", "its own raft jar"],
)
def test_a_kafka_in_which_a_jar_is_another_is_not_gone_on_with(build, place, toolbox, change, named):
    change(place / "libs")
    with pytest.raises(HarnessError, match=rf"^{named} of .* is not the jar that run\.json declares for base"):
        kafka_of(build, Request(), toolbox)


def test_a_kafka_that_moved_is_missed_where_it_was(build, place, toolbox):
    shutil.move(place, place.with_name("elsewhere"))
    with pytest.raises(HarnessError, match="does not exist"):
        kafka_of(build, Request(), toolbox)


def test_a_folder_of_before_has_one_kafka_which_its_request_names(build, place, toolbox):
    before = replace(build, kafka=type(build.kafka)())
    assert kafka_of(before, Request(base_dist=place), toolbox) == distribution_at(place, toolbox.cache)


def test_what_nodes_are_made_of_is_prepared_once_for_all_arms_of_a_kafka(build, tmp_path, toolbox, monkeypatch):
    other = whole_kafka(tmp_path / "other", "3.9.2")
    newer = replace(build, name="kafka", kafka=as_declared(distribution_at(other, tmp_path), other))
    prepared = []
    monkeypatch.setattr(arm_kafka, "prepare_node_parts", lambda _, kafka, *__: prepared.append(kafka.version) or kafka)
    arms = [Arm("base", Role.BASE, build, ""), Arm("off", Role.OFF, build, ""), Arm("on", Role.ON, newer, "")]
    found = parts_of_arms(arms, Request(), toolbox, print)
    assert prepared == ["3.9.1", "3.9.2"]
    assert {name: kafka.version for name, kafka in found.items()} == {"base": "3.9.1", "off": "3.9.1", "on": "3.9.2"}
