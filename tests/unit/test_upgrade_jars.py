"""What is read of a Kafka's jars without running them: Java, logging, libraries, scripts, modules."""

import zipfile
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.kafka.class_path import RAFT_CLIENT
from harness.kafka.distribution import Distribution
from harness.kafka.modules_beside import MODULES_BESIDE
from harness.toolbox.downloads import Downloads
from harness.toolbox.lockfile import Artifact, Purpose
from harness.toolbox.toolbox import Toolbox
from harness.upgrade.commands import scripts_of
from harness.upgrade.jar_facts import OWN, digest_of, java_needed, libraries_of, logging_of
from harness.upgrade.modules import Modules, modules_of, scripts_folders, scripts_not_compared

JAVA_11 = b"\xca\xfe\xba\xbe\0\0\0\x37"
JAVA_17 = b"\xca\xfe\xba\xbe\0\0\0\x3d"
KAFKA = "kafka/Kafka.class"
CLIENT = "org/apache/kafka/clients/producer/KafkaProducer.class"


@pytest.fixture
def jar(tmp_path):
    """Return a function that writes a jar: its name, then its entries with their content."""

    def write(name, **entries):
        path = tmp_path / "libs" / name
        path.parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(path, "w") as archive:
            for entry, content in entries.items():
                archive.writestr(entry, content)
        return path

    return write


def distribution(*jars, is_locked=False):
    return Distribution("3.9.1", jars, jars[0], "Kafka 3.9.1", is_locked)


def test_a_node_and_clients_may_need_another_java(jar):
    jars = jar("kafka_2.13-4.2.0.jar", **{KAFKA: JAVA_17}), jar("kafka-clients-4.2.0.jar", **{CLIENT: JAVA_11})
    assert java_needed(jars) == {"a node": 17, "clients": 11}
    assert java_needed(jars[1:]) == {"clients": 11}


def test_the_first_of_two_jars_counts_as_on_a_class_path(jar):
    newer, older = jar("a.jar", **{KAFKA: JAVA_17}), jar("b.jar", **{KAFKA: JAVA_11})
    assert (java_needed((newer, older)), java_needed((older, newer))) == ({"a node": 17}, {"a node": 11})


def test_the_binding_on_the_class_path_says_which_library_logs(jar):
    bound = jar("log4j-slf4j-impl-2.24.3.jar", **{"org/apache/logging/slf4j/Log4jLoggerFactory.class": b""})
    assert logging_of((jar("a.jar", x=b""), bound)) == "log4j 2"
    assert logging_of((jar("a.jar", x=b""),)) == ""


def test_libraries_are_known_by_name_and_two_of_one_name_are_both_told(jar):
    names = ("kafka-clients-3.9.1.jar", "connect-api-3.9.1.jar", "jackson-core-2.16.2.jar", "odd.jar")
    jars = [jar(name, x=b"") for name in (*names, "metrics-core-2.2.0.jar", "metrics-core-4.1.12.1.jar")]
    known = {"jackson-core": "2.16.2", "metrics-core": "2.2.0, 4.1.12.1"}
    own = {"kafka-clients": OWN, "connect-api": OWN}
    assert libraries_of(jars, "3.9.1") == {**own, **known, "odd": "of unknown version"}


def test_a_kafkas_own_jars_are_told_when_they_go_and_a_plugin_of_a_like_name_is_a_library(jar):
    names = ("kafka-log4j-appender-3.9.1-acme.jar", "kafka-oauth-server-0.15.0.jar", "kafka-raft-3.9.1-p2.jar")
    found = libraries_of([jar(name, x=b"") for name in names], "3.9.1-acme")
    assert found == {"kafka-log4j-appender": OWN, "kafka-oauth-server": "0.15.0", "kafka-raft": OWN}


def test_a_vendors_version_is_one_version_and_a_number_in_a_name_is_none(jar):
    names = ("netty-handler-4.1.108.Final-redhat-00001.jar", "log4j-1.2-api-2.25.3.jar")
    assert libraries_of([jar(name, x=b"") for name in names], "3.9.1") == {
        "netty-handler": "4.1.108.Final-redhat-00001",
        "log4j-1.2-api": "2.25.3",
    }


def test_a_digest_is_that_of_names_and_contents_whatever_their_folder(jar, tmp_path):
    one, other = jar("a.jar", x=b"1"), jar("b.jar", x=b"2")
    known = digest_of((one, other), {})
    assert digest_of((other, one), {}) == known
    assert digest_of((one,), {}) != known
    assert digest_of((one, other), {"help": "x"}) != known
    other.write_bytes(one.read_bytes())
    assert digest_of((one, other), {}) != known


def test_scripts_of_a_kafka_without_bin_are_those_whose_class_is_there_where_it_moved_to(jar):
    classes = ("kafka/tools/JmxTool.class", "org/apache/kafka/tools/JmxTool.class", "org/acme/Other.class")
    tools = jar("kafka-tools-3.9.1.jar", **dict.fromkeys(classes, b""))
    assert scripts_of((tools,), None) == {"kafka-jmx.sh": "org.apache.kafka.tools.JmxTool"}


def test_two_classes_of_one_name_are_started_by_scripts_of_their_own(jar):
    older = jar("kafka_2.13-3.9.1.jar", **{"kafka/tools/MirrorMaker.class": b""})
    newer = jar("connect-mirror-3.9.1.jar", **{"org/apache/kafka/connect/mirror/MirrorMaker.class": b""})
    only_older = {"kafka-mirror-maker.sh": "kafka.tools.MirrorMaker"}
    assert scripts_of((older,), None) == only_older
    assert scripts_of((newer, older), None) == {
        "connect-mirror-maker.sh": "org.apache.kafka.connect.mirror.MirrorMaker",
        **only_older,
    }


def test_an_unpacked_kafka_has_all_its_modules_and_its_scripts(jar, tmp_path):
    raft, others = jar("kafka-raft-3.9.1.jar", **{RAFT_CLIENT: b""}), [*MODULES_BESIDE]
    kafka = distribution(raft, *(jar(f"{each}-3.9.1.jar", x=b"") for each in others))
    assert scripts_folders([kafka]) == (None,)
    (tmp_path / "bin").mkdir()
    assert scripts_folders([kafka]) == (tmp_path / "bin",)
    assert modules_of(kafka, Toolbox(tmp_path, tmp_path)) == Modules(kafka.jars)
    patched = kafka.with_raft_jar(tmp_path / "elsewhere" / "kafka-raft-3.9.1-p1.jar", "patched")
    assert scripts_folders([patched]) == (tmp_path / "bin",)
    assert (patched.others, len(patched.jars)) == (kafka.others, len(kafka.jars))


def test_a_module_that_an_unpacked_kafka_was_shipped_without_is_told_as_missing(jar, tmp_path):
    raft = jar("kafka-raft-3.9.1.jar", **{RAFT_CLIENT: b""})
    kafka = distribution(
        raft, jar("connect-runtime-3.9.1.jar", x=b""), jar("kafka-streams-scala_2.13-3.9.1.jar", x=b"")
    )
    missing = modules_of(kafka, Toolbox(tmp_path, tmp_path)).missing
    assert ("kafka-streams" in missing, "connect-runtime" in missing) == (True, False)


def test_scripts_are_found_out_in_one_way_where_only_one_kafka_has_bin_and_that_is_said(jar, tmp_path):
    unpacked = distribution(jar("kafka-raft-3.9.1.jar", **{RAFT_CLIENT: b""}))
    (tmp_path / "bin").mkdir()
    locked = Distribution("3.9.2", (), tmp_path / "kafka-raft-3.9.2.jar", "Kafka 3.9.2")
    assert scripts_folders([unpacked, locked]) == (None, None)
    (gap,) = scripts_not_compared([unpacked, locked])
    assert "of Kafka 3.9.2 only jars are there" in gap
    assert scripts_not_compared([unpacked, unpacked]) == scripts_not_compared([locked, locked]) == []


@pytest.fixture
def repository(monkeypatch):
    """Serve modules: only those of the set; what was asked for is in the list."""
    asked, to_be_had = [], {"connect-runtime", "kafka-tools"}

    def pin(module, version, present, downloads, *, alone):
        asked.append((module, alone))
        if module not in to_be_had:
            raise HarnessError(f"{module} is not to be had.")
        return (Artifact(f"org.apache.kafka:{module}:jar:{version}", "0" * 64, 1, Purpose.COMMANDS),)

    monkeypatch.setattr("harness.upgrade.modules.pin_module", pin)
    monkeypatch.setattr(Downloads, "fetch_all", lambda _, artifacts: tuple(Path(each.name) for each in artifacts))
    return asked, to_be_had


def test_modules_beside_a_lock_are_fetched_once_and_those_not_to_be_had_are_tried_again(jar, tmp_path, repository):
    asked, to_be_had = repository
    kafka, toolbox = (
        distribution(jar("kafka-raft-3.9.1.jar", **{RAFT_CLIENT: b""}), is_locked=True),
        Toolbox(tmp_path, tmp_path),
    )
    first = modules_of(kafka, toolbox)
    assert [path.name for path in first.jars] == [
        kafka.jars[0].name,
        "connect-runtime-3.9.1.jar",
        "kafka-tools-3.9.1.jar",
    ]
    assert "connect-file" in first.missing
    assert ("connect-runtime", False) in asked
    assert ("kafka-tools", True) in asked
    asked.clear()
    to_be_had.add("connect-file")
    assert "connect-file" not in modules_of(kafka, toolbox).missing
    assert {module for module, _ in asked} == set(first.missing)


def test_without_the_network_there_are_the_modules_that_were_fetched(jar, tmp_path, repository):
    kafka = distribution(jar("kafka-raft-3.9.1.jar", **{RAFT_CLIENT: b""}), is_locked=True)
    before = modules_of(kafka, Toolbox(tmp_path / "empty", tmp_path, offline=True))
    assert (before.jars, len(before.missing)) == (kafka.jars, 9)
    fetched = modules_of(kafka, Toolbox(tmp_path, tmp_path))
    assert modules_of(kafka, Toolbox(tmp_path, tmp_path, offline=True)) == fetched


def test_what_an_unpacked_kafka_lacks_is_not_fetched_and_changes_nothing_of_the_release(jar, tmp_path, repository):
    asked, _ = repository
    slim = distribution(jar("kafka-raft-3.9.1.jar", **{RAFT_CLIENT: b""}), jar("kafka-tools-3.9.1.jar", x=b""))
    toolbox = Toolbox(tmp_path, tmp_path)
    assert (modules_of(slim, toolbox).jars, asked) == (slim.jars, [])
    assert "kafka-tools" not in modules_of(slim, toolbox).missing
    released = modules_of(distribution(slim.jars[0], is_locked=True), toolbox)
    assert "kafka-tools-3.9.1.jar" in [path.name for path in released.jars]


def test_a_module_that_one_kafka_lacks_is_asked_of_neither_nor_what_it_brought():
    names = ("kafka-raft-3.9.1.jar", "connect-file-3.9.1.jar", "connect-api-3.9.1.jar", "connect-json-3.9.1.jar")
    modules = Modules(tuple(map(Path, names)))
    assert modules.without(()) == modules
    assert [path.name for path in modules.without(["connect-file"]).jars] == [names[0], *names[2:]]
    assert [path.name for path in modules.without(["connect-runtime"]).jars] == [names[0], names[1], names[3]]


def test_a_script_starts_kafkas_own_class_and_no_plugins_of_that_name(jar):
    own = jar("kafka-tools-3.9.1.jar", **{"org/apache/kafka/tools/TopicCommand.class": b""})
    plugin = jar("acme.jar", **{"com/acme/monitoring/repackaged/kafka/tools/TopicCommand.class": b""})
    for jars in ((own, plugin), (plugin, own)):
        assert scripts_of(jars, None) == {"kafka-topics.sh": "org.apache.kafka.tools.TopicCommand"}


def test_of_scripts_those_that_are_files_are_read_and_one_that_cannot_be_is_named(tmp_path, monkeypatch):
    (tmp_path / "kafka-a.sh").write_text('exec $(dirname $0)/kafka-run-class.sh org.apache.kafka.tools.A "$@"')
    (tmp_path / "kafka-b.sh").mkdir()
    (tmp_path / "kafka-c.sh").symlink_to(tmp_path / "gone")
    assert scripts_of((), tmp_path) == {"kafka-a.sh": "org.apache.kafka.tools.A"}

    def refused(path, *_args, **_more):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(HarnessError, match=r"kafka-a\.sh cannot be read: Permission denied"):
        scripts_of((), tmp_path)
