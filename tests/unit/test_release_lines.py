"""Release lines: one file says everything in which a line differs, and a new line costs a file of the user's."""

import itertools
import re
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.base.paths import data_root
from harness.base.waiting import wait_until
from harness.building.builders.ecj import Ecj
from harness.cli import app as cli
from harness.cluster.address import Address
from harness.cluster.config import LOG_PATTERN, NodeConfig, logging_text
from harness.cluster.formatting import new_uuid
from harness.cluster.install import Install, NodeKafka, copied_to
from harness.cluster.node import Launch, Node
from harness.cluster.protocol import Wire
from harness.kafka.lock import locked_versions, read_lock
from harness.kafka.release_lines import Mode, check_java, check_mode, line_of
from harness.logs.read.library import library
from harness.model.setup import Profile
from harness.scenario.bounds import RecoveryBound, in_force, seconds_of
from harness.toolbox.java import JavaRuntime
from harness.toolbox.lockfile import shipped_locks

SHIPPED = data_root() / "builds" / "lines"


@pytest.fixture
def users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's own folder of release lines."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "data" / "kafka-patch-harness" / "lines"
    folder.mkdir(parents=True)
    return folder


def describe(folder: Path, name: str, *changes: tuple[str, str]) -> Path:
    """Describe a release line that is 3.9's with some text exchanged."""
    text = (SHIPPED / "3.9.toml").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / f"{name}.toml"
    path.write_text(text)
    return path


def test_a_version_belongs_to_the_line_that_it_begins_with(users):
    assert line_of("3.9.1").name == line_of("3.9.0-rc1").name == line_of("3.9").name == "3.9"
    with pytest.raises(HarnessError):
        line_of("3.90.1")


def test_of_two_lines_that_a_version_begins_with_the_longer_name_counts(users):
    describe(users, "3.9.7", ("class_files = 8", "class_files = 11"))
    assert (line_of("3.9.7").class_files, line_of("3.9.70").class_files) == (11, 8)


def test_a_line_of_the_users_own_is_a_file_in_a_folder_of_the_users(users):
    describe(users, "5.0", ("kafka.Kafka", "org.example.Main"))
    assert line_of("5.0.1").main_classes.node == "org.example.Main"


def test_a_shipped_line_is_not_overruled(users):
    describe(users, "3.9", ("class_files = 8", "class_files = 11"))
    assert line_of("3.9.1").class_files == 8


def test_a_version_of_no_known_line_is_reported_in_one_sentence_with_what_to_do(users):
    with pytest.raises(HarnessError) as caught:
        line_of("5.0.0")
    assert caught.value.message.startswith(
        "Kafka 5.0.0 is of a release line that is not described here; described: 2.8, 3.9, 4.0, 4.1, 4.2, 4.3. "
        "Until it is, its jars can be "
    )
    assert "`harness diff A B` compares its logs" in caught.value.message
    assert f"Describe it in {users / '5.0.toml'}, " in caught.value.hint


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("class_files = 8", "class_files = '8'", r"class_files: expected int"),
        ("class_files = 8\n", "", r"expected the fields of Line"),
        ("class_files = 8", "class_files = 8\nmore = 1", r"expected the fields of Line"),
        ("metadata = [12, 12]", "metadata = [12]", r"requests\.metadata: expected 2 values"),
        ("[jvm]", "[jvm", "line"),
    ],
)
def test_a_malformed_line_is_refused_with_its_place(users, old, new, complaint):
    path = describe(users, "5.0", (old, new))
    with pytest.raises(HarnessError, match=rf"^{re.escape(str(path))} does not describe a release line.*{complaint}"):
        line_of("5.0.0")


LOG4J_2 = (
    ('file = "log4j.properties"', 'file = "log4j2.properties"'),
    ('option = "-Dlog4j.configuration=file:{file}"', 'option = "-Dlog4j2.configurationFile={file}"'),
    ("log4j.rootLogger=INFO, file", "rootLogger.level=INFO"),
)


def test_nodes_of_another_line_are_started_as_its_file_says(users, tmp_path):
    describe(users, "5.0", ("kafka.Kafka", "org.example.Main"), ('"-Xmx1g"', '"-Xmx3g"'), *LOG4J_2)
    java = tmp_path / "java"
    java.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{tmp_path}/words\nexec sleep 60\n')
    java.chmod(0o755)
    launch = Launch(java, (), Profile.PRODUCTION, line_of("5.0.1"), None, {}, "127.0.0.1")
    install = Install("stock", Path("raft.jar"), "0" * 64, "absent")
    where = NodeConfig(0, Address("127.0.0.1", 1), None, {})
    node = Node(where, new_uuid(), tmp_path / "0", launch, install, Wire({}), lambda _: None)
    node.start()
    try:
        assert wait_until(lambda: (tmp_path / "words").exists() and "Main" in (tmp_path / "words").read_text(), 10)
    finally:
        node.kill()
    words, logging = (tmp_path / "words").read_text().splitlines(), tmp_path / "0" / "log4j2.properties"
    assert {"-Xms1g", "-Xmx3g", f"-Dlog4j2.configurationFile={logging}", "org.example.Main"} <= set(words)
    assert logging.read_text().startswith("rootLogger.level=INFO\n")
    assert f"ConversionPattern={LOG_PATTERN}\n" in logging.read_text()


def test_a_node_on_which_another_kafka_is_installed_starts_from_that_one_alone_and_from_the_clusters_again(tmp_path):
    java = tmp_path / "java"
    java.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{tmp_path}/words\nexec sleep 60\n')
    java.chmod(0o755)
    launch = Launch(java, (Path("old.jar"),), Profile.FAST, line_of("3.9.2"), Path("old.jsa"), {}, "127.0.0.1")
    base = Install("base", tmp_path / "base.jar", "b" * 64, "absent", file="kafka-raft-3.9.2.jar")
    kafka = NodeKafka((Path("new.jar"),), line_of("4.3.1"), Path("new.jsa"), tmp_path / "reporter")
    candidate = replace(base, jar=tmp_path / "new-raft.jar", kafka=kafka, file="kafka-raft-4.3.1.jar")
    wire = Wire(line_of("3.9.2").requests)
    where = NodeConfig(0, Address("127.0.0.1", 1), None, {})
    node = Node(where, new_uuid(), tmp_path / "0", launch, base, wire, lambda _: None)

    def started_on(install):
        install.jar.write_text(install.name)
        node.install = copied_to(install, node.folder / "libs")
        (tmp_path / "words").unlink(missing_ok=True)
        node.start()
        assert wait_until(lambda: (tmp_path / "words").exists() and "Kafka" in (tmp_path / "words").read_text(), 10)
        node.kill()
        return (tmp_path / "words").read_text()

    words = started_on(candidate)
    assert f"new.jar:{tmp_path}/0/libs/kafka-raft-4.3.1.jar:{tmp_path}/reporter\n" in words
    assert "-XX:SharedArchiveFile=new.jsa" in words
    assert f"-Dlog4j2.configurationFile={tmp_path}/0/log4j2.xml" in words
    assert "old" not in words
    words = started_on(base)
    assert f"old.jar:{tmp_path}/0/libs/kafka-raft-3.9.2.jar\n" in words
    assert "log4j.properties" in words
    assert "new" not in words
    assert [jar.name for jar in (node.folder / "libs").iterdir()] == ["kafka-raft-3.9.2.jar"]


def test_for_ever_is_computed_from_the_lines_own_time_outs(users):
    describe(
        users, "5.0", ('"controller.quorum.fetch.timeout.ms" = 2000', '"controller.quorum.fetch.timeout.ms" = 12000')
    )
    usual, slow = (in_force({}, line_of(version).timeouts) for version in ("3.9.1", "5.0.0"))
    assert (seconds_of(RecoveryBound(3), usual), seconds_of(RecoveryBound(3), slow)) == (15, 29)
    assert in_force({"controller.quorum.fetch.timeout.ms": "no number"}, line_of("3.9.1").timeouts) == usual


def test_a_compiler_gets_the_java_of_the_line(users, tmp_path):
    describe(users, "5.0", ("class_files = 8", "class_files = 11"))
    ecj = Ecj(tmp_path / "ecj-1.jar", JavaRuntime(tmp_path, "21"))
    made = ecj.compile(tmp_path, ["A.java"], (), tmp_path / "out", line_of("5.0.0").class_files)
    assert ("-target", "11") in itertools.pairwise(made.command)


@pytest.mark.parametrize("version", locked_versions([shipped_locks()]))
def test_a_shipped_lock_is_of_a_described_line_and_has_everything_of_its_version(version):
    lock = read_lock(version, [shipped_locks()])
    line = line_of(version, [SHIPPED])
    pinned = {artifact.coordinate for artifact in lock.artifacts}
    of_path = {each.split(":")[1]: each.rpartition(":")[2] for each in pinned}
    asked = (*line.lock.beside_broker, *line.lock.sources, *line.lock.commands, *line.lock.tests)
    assert {each.format_map({**of_path, "version": version}) for each in asked} <= pinned
    kafkas = [each for each in pinned if each.startswith("org.apache.kafka:")]
    assert [each for each in kafkas if not each.endswith(f":{version}")] == []
    assert library(version).statements


@pytest.mark.parametrize(
    "line", [line_of(path.stem, [SHIPPED]) for path in SHIPPED.glob("*.toml")], ids=lambda it: it.name
)
def test_a_shipped_line_logs_in_the_layout_that_the_log_diff_reads_and_says_what_nodes_start_on(line):
    assert LOG_PATTERN in logging_text(line)
    assert line.java <= line.class_files
    assert set(line.timeouts) == set(line_of("3.9.1").timeouts)
    asked = set(line_of("3.9.1").requests)
    assert set(line.requests) == asked if Mode.KRAFT in line.modes else set(line.requests) < asked


@pytest.mark.parametrize(
    ("version", "java", "fits"),
    [
        ("3.9.1", "1.8.0_402", True),
        ("4.0.2", "11.0.21", False),
        ("4.0.2", "1.8.0_402", False),
        ("4.0.2", "17.0.15", True),
        ("4.3.1", "21-ea", True),
        ("4.3.1", "of my own", True),
    ],
)
def test_a_java_too_old_for_the_line_is_refused_in_a_sentence(version, java, fits):
    runtime = JavaRuntime(Path("/opt/java"), java)
    if fits:
        check_java(line_of(version), runtime)
        return
    with pytest.raises(HarnessError) as caught:
        check_java(line_of(version), runtime)
    assert caught.value.message == f"Kafka 4.0 needs Java 17 or newer, and /opt/java is Java {java}."


def test_a_line_is_asked_only_for_a_mode_in_which_its_nodes_are_started():
    check_mode(line_of("3.9.1"), Mode.KRAFT)
    with pytest.raises(
        HarnessError,
        match=r"Nodes of Kafka 2\.8 cannot be run in mode kraft: the harness starts them in mode zookeeper",
    ):
        check_mode(line_of("2.8.2"), Mode.KRAFT)
    with pytest.raises(
        HarnessError, match=r"4\.0 cannot be run in mode zookeeper: the harness starts them in mode kraft"
    ) as caught:
        check_mode(line_of("4.0.2"), Mode.ZOOKEEPER)
    assert "Name a Kafka of a line that has mode zookeeper" in caught.value.hint


def test_a_verification_of_a_line_whose_nodes_are_not_started_is_refused_before_anything_is_made(
    users, tmp_path, monkeypatch, capsys
):
    out = tmp_path / "out"
    jar = tmp_path / "kafka-raft-2.8.2.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("org/apache/kafka/raft/KafkaRaftClient.class", b"")
    words = ["harness", "verify", "--kafka", "2.8.2", "--jar", str(jar), "--claims", "none", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", words)
    monkeypatch.setattr("harness.stages.build.build_pair", lambda *_: pytest.fail("it was built"))
    assert cli._run() == 2
    assert "Nodes of Kafka 2.8 cannot be run in mode kraft" in capsys.readouterr().err


def test_a_lock_of_an_unknown_line_is_refused_before_anything_is_downloaded(users, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["harness", "lock", "5.0.0"])
    monkeypatch.setattr("harness.kafka.resolving.resolve_lock", lambda *_: pytest.fail("it was resolved"))
    assert cli._run() == 2
    assert "Kafka 5.0.0 is of a release line that is not described here" in capsys.readouterr().err
