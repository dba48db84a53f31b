"""`harness topic-ids` and whoever asks it first, as a user types it; the cluster is a metadata log, or nobody."""

import hashlib
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from disks_sample import X, Y, broker_disk

from harness.base.json import to_json
from harness.cli import app as cli
from harness.model.topic_repair import Backup, Choice, Part, SavedFile
from harness.rundir.directory import RunDirectory
from harness.stages import topic_ids
from harness.topicids.disks import read_data_directory
from harness.topicids.export import is_export, write_export
from harness.topicids.records import ClusterTopics, Topic
from harness.topicids.zookeeper_security import Login, ZooKeeperSecurity

LOG = Path(__file__).parent / "metadata-log" / "1"  # of Kafka 3.9.1; it holds no topics


@pytest.fixture
def harness(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["harness", *map(str, arguments)])
        code = cli._run()
        out, err = capsys.readouterr()
        return code, " ".join((out + err).split())

    return run


@pytest.fixture
def kraft(tmp_path):
    """Return the server.properties of a KRaft broker, whose metadata log knows no topics."""
    disk = broker_disk(tmp_path / "disk", 1, {"gone-0": X})
    shutil.copytree(LOG, disk / "__cluster_metadata-0")
    config = tmp_path / "server.properties"
    config.write_text(f"process.roles=broker\nnode.id=1\nlog.dirs={disk}\n")
    return config


def with_zookeeper(monkeypatch, tmp_path, topic_id: str, *replicas: int) -> Path:
    """Return the server.properties of broker 1, of whose only partition ZooKeeper has this id and these replicas."""
    monkeypatch.setattr(topic_ids, "cluster_of", lambda _: cluster_with(topic_id, *replicas))
    return properties_of(tmp_path)


def cluster_with(topic_id: str, *replicas: int) -> ClusterTopics:
    return ClusterTopics("ZooKeeper at zk:2181", True, "c1", {"t": Topic("t", topic_id, {0: replicas})})


def properties_of(tmp_path: Path) -> Path:
    config = tmp_path / "server.properties"
    config.write_text(
        f"broker.id=1\nzookeeper.connect=zk:2181\nlog.dirs={broker_disk(tmp_path / 'd', 1, {'t-0': X})}\n"
    )
    return config


@pytest.fixture
def mismatch(monkeypatch, tmp_path):
    return with_zookeeper(monkeypatch, tmp_path, Y, 1)


@pytest.fixture
def healthy(monkeypatch, tmp_path):
    return with_zookeeper(monkeypatch, tmp_path, X, 1)


@pytest.fixture
def undecided(monkeypatch, tmp_path):
    """Return that of a broker whose partition another one has too, whose disks nobody has seen."""
    return with_zookeeper(monkeypatch, tmp_path, X, 1, 2)


@pytest.mark.parametrize(
    "options", [("check", "--out", "checked"), ("check", "--export", "made/1.jsonl"), ("plan", "--out", "made/p.json")]
)
def test_no_folder_is_made_in_a_data_directory_which_its_broker_would_not_start_with(
    harness, mismatch, tmp_path, options
):
    command, option, name = options
    disk = tmp_path / "d"
    before = sorted(disk.rglob("*"))
    code, said = harness("topic-ids", command, "--config", mismatch, option, disk / name)
    assert (code, sorted(disk.rglob("*"))) == (2, before)
    assert f"would be a folder in the data directory {disk}: the broker would not start again." in " ".join(
        said.split()
    )


def test_doctor_checks_a_cluster_instead_of_the_host(harness, kraft):
    code, said = harness("doctor", "--cluster", kraft)
    assert code == 3
    assert X in said
    assert "Undecided: nothing was compared, no directory of a partition that the metadata log in" in said
    assert said.endswith("knows was found (orphan directory: 1).")


def test_a_rollout_stops_before_it_begins_where_a_broker_would_refuse_its_partitions(harness, mismatch, tmp_path):
    code, said = harness("rollout", "--cluster", mismatch)
    assert (code, (tmp_path / "out").exists()) == (1, False)
    assert "Mismatch: restart no broker. 1 directory of 1 topic has another id than ZooKeeper." in said
    assert said.endswith("The roll is stopped before its first restart. See what to do: harness topic-ids plan")


def test_a_rollout_stops_too_where_something_could_not_be_looked_at(harness, undecided, tmp_path):
    code, said = harness("rollout", "--cluster", undecided)
    assert (code, (tmp_path / "out").exists()) == (3, False)
    assert "The disks of broker 2 were not seen" in said
    assert "The roll is stopped before its first restart: name what could not be looked at" in said


def test_a_rollout_of_a_healthy_cluster_goes_on(harness, healthy):
    code, said = harness("rollout", "--cluster", healthy, "--kafka", "5.0.0")  # and ends at the next thing
    assert (code, "Healthy: 1 directory" in said, "5.0.0 is of a release line that is not described" in said) == (
        2,
        True,
        True,
    )


@pytest.mark.parametrize("named", [True, False])
def test_the_plan_of_a_roll_notes_whether_the_cluster_was_looked_at(harness, healthy, tmp_path, monkeypatch, named):
    monkeypatch.setattr("harness.cli.rollout._go_on", lambda _: 0)
    code, _ = harness("rollout", *(("--cluster", healthy) if named else ()), "--out", "roll")
    assert (code, RunDirectory(tmp_path / "roll").roll_plan.read().topic_ids_checked) == (0, named)


@pytest.mark.parametrize("command", ["doctor", "rollout"])
def test_how_zookeeper_is_to_be_talked_to_may_be_said_of_a_cluster(harness, monkeypatch, tmp_path, command):
    asked = []

    @contextmanager
    def connected(connect, security):
        asked.append((connect, security))
        yield None

    monkeypatch.setattr(topic_ids, "connected", connected)
    monkeypatch.setattr(topic_ids, "read_topics", lambda _: cluster_with(Y, 1))
    config, security = properties_of(tmp_path), tmp_path / "zk.toml"
    security.write_text('[sasl]\nusername = "kafka"\npassword = "secret"\n')
    code, said = harness(command, "--cluster", config, "--zookeeper-security", security)
    assert (code, "Mismatch: restart no broker." in said) == (1, True)
    assert asked == [("zk:2181", ZooKeeperSecurity(sasl=Login("kafka", "secret")))]


@pytest.mark.parametrize("command", ["doctor", "rollout"])
def test_a_security_of_no_cluster_is_a_mistake(harness, tmp_path, command):
    code, said = harness(command, "--zookeeper-security", "zk.toml")
    assert (code, said, (tmp_path / "out").exists()) == (
        2,
        "error: --zookeeper-security is about the ZooKeeper of --cluster, which is not given. Name a broker's "
        "server.properties by --cluster too.",
        False,
    )


def test_an_export_is_told_from_a_configuration(harness, kraft, tmp_path):
    export = tmp_path / "other.jsonl"
    write_export(export, [read_data_directory(broker_disk(tmp_path / "other", 2, {"gone-1": X}))])
    assert (is_export(export), is_export(kraft)) == (True, False)
    code, said = harness("doctor", "--cluster", kraft, "--cluster", export)
    assert (code, said.endswith("knows was found (orphan directory: 2).")) == (3, True)


def test_exports_alone_do_not_say_where_the_cluster_is(harness, tmp_path):
    export = tmp_path / "other.jsonl"
    write_export(export, [read_data_directory(broker_disk(tmp_path / "other", 2, {"gone-1": X}))])
    for command in ("doctor", "rollout"):
        assert harness(command, "--cluster", export) == (
            2,
            "error: Exports alone do not say where the cluster's own ids are. "
            "Name a broker's server.properties by --cluster too.",
        )


def test_a_file_that_is_not_there_is_a_sentence(harness):
    code, said = harness("doctor", "--cluster", "gone.properties")
    assert (code, said) == (
        2,
        "error: gone.properties cannot be read: No such file or directory. Name files that are there.",
    )


def test_an_export_says_what_it_could_not_look_at(harness, tmp_path):
    disk = broker_disk(tmp_path / "d", 1, {"t-0": X})
    assert harness("topic-ids", "check", "--data", disk, "--export", "e") == (0, "1 directory of broker 1: e")
    (disk / "meta.properties").unlink()
    code, said = harness("topic-ids", "check", "--data", disk, "--export", "e")
    assert (code, said.startswith(f"not looked at: {disk} names no broker"), said.endswith("unknown: e")) == (
        0,
        True,
        True,
    )


def test_a_kraft_cluster_is_checked_and_not_repaired(harness, kraft):
    code, said = harness("topic-ids", "plan", "--config", kraft)
    assert (code, said.startswith("error: Only a cluster with ZooKeeper is repaired")) == (2, True)


def test_a_repair_needs_a_plan_and_a_restore_a_backup(harness, tmp_path):
    code, said = harness("topic-ids", "repair", "plan.json", "--backup", "b")
    assert (code, said.startswith("error: There is no plan plan.json. Make one: harness topic-ids plan")) == (2, True)
    (tmp_path / "plan.json").write_text("{")
    assert harness("topic-ids", "repair", "plan.json", "--backup", "b")[1].startswith("error: plan.json is damaged.")
    code, said = harness("topic-ids", "restore", "b", "--apply")
    assert (code, said) == (2, "error: b is no backup of a repair: it has no backup.json. Nothing was changed.")


def test_a_path_of_a_backup_cannot_speak_to_the_terminal(harness, tmp_path):
    content = b"version: 0\n"
    (tmp_path / "b" / "files").mkdir(parents=True)
    (tmp_path / "b" / "files" / "x").write_bytes(content)
    saved = SavedFile("/\x1b[2J/t-0/partition.metadata", "files/x", hashlib.sha256(content).hexdigest(), 0, 0o644, 0, 0)
    part = Part("a" * 64, Choice.DELETE, 1, "zk:2181", "c1")
    (tmp_path / "b" / "backup.json").write_text(to_json(Backup(part, ("/\x1b[2J",), (saved,), ())))
    code, said = harness("topic-ids", "restore", "b")
    assert code == 0
    assert said.startswith("restore: /\\x1b[2J/t-0/partition.metadata")
