"""Which Kafkas are compared for an operator, and what is still compared where no node of one can be asked."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from whole_kafka import whole_kafka

from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.building.jars import write_jar
from harness.cli.common import console
from harness.kafka.class_path import RAFT_CLIENT
from harness.kafka.distribution import Distribution
from harness.model.arms import Arm, Build, Flag, Kafka, Role
from harness.model.declaration import Declaration
from harness.model.kafka_inventory import Boot, KafkaInventory
from harness.model.request import Request
from harness.rundir.directory import RunDirectory
from harness.stages import upgrade_notes as stage
from harness.toolbox.java import JavaRuntime
from harness.toolbox.toolbox import Toolbox
from harness.upgrade import inventory
from harness.upgrade.inventory import Bench
from harness.upgrade.kept_boots import kept_boots

KAFKA_4 = b"\xca\xfe\xba\xbe\0\0\0\x3d"  # of Java 17
TODAY = datetime.now(UTC).date()
KAFKAS = ("2.8.2", "3.9.1")
INVENTORIES = tuple(KafkaInventory(1, each, f"Kafka {each}", each, gaps=("no Streams",)) for each in KAFKAS)


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


@pytest.fixture
def bench(tmp_path):
    """Return a bench that notes what it reports, in `bench.report.said`."""
    return Bench(Host("21", tmp_path / "cache"), None, Said())


class Said:
    def __init__(self):
        self.said = []

    def __call__(self, text):
        self.said.append(text)


def test_a_kafka_that_prints_no_names_is_none_without_requests(bench, monkeypatch, tmp_path):
    monkeypatch.setattr(inventory, "compiled_probe", lambda *_: tmp_path)
    monkeypatch.setattr(inventory, "answer_of", lambda *_, **__: "a line of its own\n")
    with pytest.raises(HarnessError, match=r"Kafka 4\.2\.1 does not name its requests"):
        inventory.read_names(distribution("4.2.1", tmp_path), bench)


@pytest.fixture
def starts(monkeypatch):
    """Return the rounds of boots that were asked for; each shows one more thread."""
    rounds = []

    def boots(pair, number, _):
        rounds.append(number)
        boot = Boot(2.0, 3.0, 2.0, 100.0, 300.0, 90 + len(rounds))
        return tuple(replace(each, boots=(boot,), booted_on=TODAY.isoformat()) for _, each in pair)

    monkeypatch.setattr(stage, "with_boots", boots)
    return rounds


def threads(inventories):
    return [each.boots[0].threads for each in inventories]


def test_what_nodes_of_the_same_jars_showed_is_taken_over_unless_it_is_to_be_fresh(bench, starts):
    assert threads(stage.booted(KAFKAS, INVENTORIES, 3, bench, fresh=False)) == [91, 91]
    renamed = tuple(replace(each, description="elsewhere", gaps=()) for each in INVENTORIES)
    again = stage.booted(KAFKAS, renamed, 3, bench, fresh=False)
    assert (threads(again), [each.description for each in again]) == ([91, 91], ["elsewhere"] * 2)
    assert "taken over" in bench.report.said[-1]
    assert threads(stage.booted(KAFKAS, INVENTORIES, 3, bench, fresh=True)) == [92, 92]
    assert threads(stage.booted(KAFKAS, INVENTORIES, 3, bench, fresh=False)) == [92, 92]


@pytest.mark.parametrize(
    ("inventories", "rounds", "java"),
    [(INVENTORIES[::-1], 3, "21"), (INVENTORIES, 5, "21"), (INVENTORIES, 3, "17"), (INVENTORIES[:1] * 2, 3, "21")],
)
def test_another_order_number_java_or_jar_is_started(bench, starts, inventories, rounds, java):
    stage.booted(KAFKAS, INVENTORIES, 3, bench, fresh=False)
    other = replace(bench, toolbox=Host(java, bench.toolbox.cache))
    assert threads(stage.booted(KAFKAS, inventories, rounds, other, fresh=False)) == [92, 92]


def test_a_host_of_last_week_may_be_another(bench, starts):
    kept = kept_boots(INVENTORIES, 3, bench)
    for days in (6, 7):
        day = (TODAY - timedelta(days=days)).isoformat()
        kept.write(tuple(replace(each, boots=(), booted_on=day) for each in INVENTORIES))
        stage.booted(KAFKAS, INVENTORIES, 3, bench, fresh=False)
        assert starts == ([3] if days == 7 else [])


def test_where_no_node_can_be_asked_the_rest_is_compared_and_the_gap_is_said(bench, tmp_path):
    kafkas = [distribution(each, tmp_path) for each in ("2.8.2", "3.9.1")]
    found = stage.booted(kafkas, INVENTORIES, 3, bench, fresh=False)
    gap = "No node was asked for metrics, protocol, features, start, memory and CPU: Nodes of Kafka 2.8 cannot be run"
    assert [each.gaps[0].startswith(gap) for each in found] == [True, True]
    assert [each.gaps[1:] for each in found] == [("no Streams",)] * 2
    assert bench.report.said[-1] == found[0].gaps[0]
    assert not kept_boots(INVENTORIES, 3, bench).exists


def arm(role, version):
    kafka = Kafka(version, "", f"kafka-raft-{version}.jar", {f"kafka-clients-{version}.jar": "a" * 64})
    return Arm(role, role, Build(role, version, "x.jar", "b" * 64, "release", Flag("", False), kafka=kafka), "absent")


@pytest.fixture
def noted(monkeypatch, tmp_path):
    """Return a function that notes the upgrade of a verification: the Kafkas and files that were compared, if any."""
    compared = []
    monkeypatch.setattr(stage, "kafka_of", lambda build, *_: build.kafka.version)
    monkeypatch.setattr(stage, "upgrade_notes", lambda *given, fresh: compared.append((*given, fresh)))

    def note(*versions, **options):
        directory = RunDirectory(tmp_path / "run")
        arms = tuple(map(arm, (Role.BASE, Role.ON), versions))
        directory.declaration.write(Declaration(2, versions[0], arms, (), 1))
        directory.request.write(Request(**options))
        stage.note_upgrade(directory, None, Reporter(console()))
        return [(given[0], given[1], given[4], given[-1]) for given in compared]

    return note


def test_the_users_own_server_properties_are_searched_for_what_changes(noted, tmp_path):
    own = tmp_path / "server.properties"
    own.write_text("num.io.threads=4\n")
    assert noted("3.9.1", "4.2.1", config=own) == [("3.9.1", "4.2.1", {str(own): "num.io.threads=4\n"}, False)]


def test_a_verification_that_is_to_be_fresh_starts_nodes_for_the_notes_again(noted):
    assert noted("3.9.1", "4.2.1", fresh=True) == [("3.9.1", "4.2.1", {}, True)]


def test_of_two_raft_jars_in_one_kafka_nothing_is_noted(noted):
    assert noted("3.9.1", "3.9.1") == []


def test_own_properties_that_are_gone_by_then_cost_the_notes_and_nothing_else(noted, tmp_path, capsys):
    assert noted("3.9.1", "4.2.1", config=tmp_path / "gone") == []
    said = " ".join(capsys.readouterr().out.split())
    assert "what changes for an operator is not known: --config" in said


def test_what_the_host_refuses_costs_the_notes_and_nothing_else(noted, monkeypatch, capsys):
    def refused(*_given, **_more):
        raise PermissionError(13, "Permission denied", "bin/x.sh")

    monkeypatch.setattr(stage, "upgrade_notes", refused)
    assert noted("3.9.1", "4.2.1") == []
    assert "what changes for an operator is not known" in " ".join(capsys.readouterr().out.split())


def test_the_raft_jar_that_is_rolled_is_the_one_whose_keys_and_lines_are_compared(monkeypatch):
    kafka = Distribution("3.9.1", (Path("a.jar"), Path("kafka-raft-3.9.1.jar")), Path("kafka-raft-3.9.1.jar"), "Kafka")
    monkeypatch.setattr(stage, "kafka_of", lambda *_: kafka)
    of = arm(Role.ON, "3.9.1").build
    given = replace(of, jar="builds/patched/p.jar", kafka=replace(of.kafka, jars={of.kafka.raft_jar: "c" * 64}))
    directory = RunDirectory(Path("run"))
    assert stage._as_built(directory, of, Request(), None) == kafka
    patched = stage._as_built(directory, given, Request(), None)
    assert (patched.raft_jar, patched.others) == (Path("run/builds/patched/p.jar"), (Path("a.jar"),))
    assert patched.description.endswith("with the raft jar of on")
