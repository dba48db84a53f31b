"""Java homes and distributions: what is taken for one, and what is refused."""

import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.base import archives
from harness.base.errors import HarnessError
from harness.building.jars import write_jar
from harness.building.java_programs import compiled_program
from harness.kafka.class_path import RAFT_CLIENT
from harness.kafka.distribution import distribution_at, unpacked_distribution, version_in_properties
from harness.model.request import Request
from harness.stages.inputs import read_sides
from harness.toolbox.java import runtime_at, version_in
from harness.toolbox.toolbox import Toolbox, local_toolbox


@pytest.fixture
def kafka(tmp_path: Path) -> Path:
    folder = tmp_path / "kafka"
    version = {"kafka/kafka-version.properties": b"commitId=1\nversion=3.9.1-acme\n"}
    for name in ("kafka-raft-3.9.1.jar", "kafka-clients-3.9.1.jar", "kafka-raft-3.9.1-sources.jar"):
        write_jar(version, folder / "libs" / name)
    (folder / "libs" / "notes.txt").touch()
    for name in ("kafka-clients-3.9.1-src.jar", "kafka_2.13-3.9.1-scaladoc.jar"):
        write_jar({}, folder / "libs" / name)
    (folder / "libs" / "._kafka-clients-3.9.1.jar").write_bytes(b"what macOS packs beside a file, and no jar")
    return folder


def test_an_unpacked_kafka_is_its_jars_and_the_version_inside(kafka):
    found = unpacked_distribution(kafka)
    assert [jar.name for jar in found.jars] == ["kafka-clients-3.9.1.jar", "kafka-raft-3.9.1.jar"]
    assert (found.version, found.raft_jar.name) == ("3.9.1-acme", "kafka-raft-3.9.1.jar")


@pytest.mark.parametrize("entry", ["{}", "META-INF/versions/17/{}"])
def test_a_jar_that_has_any_class_of_the_raft_module_too_is_refused(kafka, entry):
    """A hotfix beside it would run in place of the jar under test, and nobody would see."""
    name = "org/apache/kafka/raft/LeaderState.class"
    version = {"kafka/kafka-version.properties": b"version=3.9.1-acme\n"}
    write_jar({**version, name: b"class", RAFT_CLIENT: b"class"}, kafka / "libs" / "kafka-raft-3.9.1.jar")
    assert unpacked_distribution(kafka)
    write_jar({entry.format(name): b"other"}, kafka / "libs" / "zz-hotfix.jar")
    with pytest.raises(HarnessError, match=f"zz-hotfix.jar holds {name}, as kafka-raft-3.9.1.jar does"):
        unpacked_distribution(kafka)


@pytest.mark.parametrize("place", ["share/java/kafka", "."])
def test_its_jars_may_lie_where_confluent_has_them_or_in_the_named_folder_itself(kafka, tmp_path, place):
    folder = tmp_path / "other"
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    (kafka / "libs").rename(folder / place)
    found = unpacked_distribution(folder)
    assert {jar.parent for jar in found.jars} == {folder / place}
    assert len(found.jars) == 2


@pytest.mark.parametrize("within", ["kafka_2.13-3.9.1/libs", "confluent-7.9.1/share/java/kafka"])
def test_the_jars_of_an_archive_are_found_in_either_place(kafka, tmp_path, within):
    with tarfile.open(tmp_path / "kafka.tgz", "w:gz") as archive:
        for jar in sorted((kafka / "libs").iterdir()):
            archive.add(jar, f"{within}/{jar.name}")
    for _ in range(2):  # unpacked, and found as it was unpacked
        found = distribution_at(tmp_path / "kafka.tgz", tmp_path / "cache")
        assert [jar.name for jar in found.jars] == ["kafka-clients-3.9.1.jar", "kafka-raft-3.9.1.jar"]


def test_of_an_archive_that_is_no_whole_kafka_nothing_is_kept(kafka, tmp_path):
    with tarfile.open(tmp_path / "kafka.tgz", "w:gz") as archive:
        archive.add(kafka / "libs", "kafka/libs")
    toolbox = Toolbox(tmp_path / "cache", tmp_path, offline=True)
    with pytest.raises(HarnessError, match=r"kafka\.tgz is not a whole Kafka"):
        read_sides(Request(dist=tmp_path / "kafka.tgz"), toolbox)
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("entry", [RAFT_CLIENT, f"META-INF/versions/11/{RAFT_CLIENT}"])
def test_a_second_jar_with_the_raft_client_is_refused_since_it_would_run_instead(kafka, entry):
    write_jar({entry: b""}, kafka / "libs" / "acme-patches.jar")
    with pytest.raises(HarnessError, match=r"acme-patches\.jar holds .*KafkaRaftClient\.class, as kafka-raft-3\.9\.1"):
        unpacked_distribution(kafka)


def test_a_raft_client_that_no_jvm_would_load_does_no_harm(kafka):
    write_jar({f"shaded/{RAFT_CLIENT}": b""}, kafka / "libs" / "acme-shaded.jar")
    write_jar({RAFT_CLIENT: b""}, kafka / "libs" / "kafka-raft-3.9.1.jar")
    write_jar({RAFT_CLIENT: b""}, kafka / "libs" / "kafka-raft-3.9.1-test.jar")
    assert len(unpacked_distribution(kafka).jars) == 3


def test_a_distribution_may_hold_jars_larger_than_those_that_are_unpacked(kafka, monkeypatch):
    write_jar({"librocksdb.so": b"x" * 100_000}, kafka / "libs" / "rocksdbjni.jar")
    for limits in ("_OF_ARCHIVES", "_OF_LIBRARIES"):
        monkeypatch.setattr(archives, limits, archives._Limits(10, 50_000))
    assert len(unpacked_distribution(kafka).jars) == 3


def test_a_version_is_read_from_the_name_where_the_jar_has_none(kafka):
    write_jar({"x": b""}, kafka / "libs" / "kafka-raft-3.9.1.jar")
    assert unpacked_distribution(kafka).version == "3.9.1"


def test_a_folder_without_libs_is_no_kafka(tmp_path):
    with pytest.raises(HarnessError, match=r"is not an unpacked Kafka.*libs cannot be read"):
        unpacked_distribution(tmp_path)


def test_two_raft_jars_leave_it_open_which_runs(kafka):
    write_jar({"x": b""}, kafka / "libs" / "kafka-raft-3.9.0.jar")
    with pytest.raises(HarnessError, match=r"has 2 raft jars: kafka-raft-3.9.0.jar, kafka-raft-3.9.1.jar\."):
        unpacked_distribution(kafka)


def test_a_kafka_without_raft_is_refused(kafka):
    (kafka / "libs" / "kafka-raft-3.9.1.jar").unlink()
    with pytest.raises(HarnessError, match="lacks kafka-raft-"):
        unpacked_distribution(kafka)


def test_properties_without_a_version_have_none():
    assert version_in_properties("commitId=1\nsubversion=2\n") == ""


def test_the_bundled_runtime_can_run_kafka():
    runtime = local_toolbox().java()
    assert runtime.java.is_file()
    assert int(runtime.version.split(".")[0]) >= 17


def test_a_folder_without_java_is_refused(tmp_path):
    with pytest.raises(HarnessError, match=r"is not a Java home.*--java-home"):
        runtime_at(tmp_path)


def home(folder: Path, script: str) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return folder


def test_a_version_is_asked_for_where_no_file_shows_it(tmp_path):
    runtime = runtime_at(home(tmp_path, "echo 'openjdk version \"17.0.15\" 2025-04-15' >&2"))
    assert runtime.version == "17.0.15"


def test_a_java_that_fails_is_refused(tmp_path):
    with pytest.raises(HarnessError, match=r"printed no version \(exit 3\): broken"):
        runtime_at(home(tmp_path, "echo broken >&2; exit 3"))


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('IMPLEMENTOR="x"\nJAVA_VERSION="21.0.8"\nJAVA_VERSION_DATE="2025"', "21.0.8"),
        ('openjdk version "1.8.0_402"', "1.8.0_402"),
        ("nothing", ""),
    ],
)
def test_versions_are_read_from_either_form(text, version):
    assert version_in(text) == version


def test_a_program_whose_classes_were_cleaned_away_is_compiled_again(tmp_path):
    made = []

    class Compiler:
        label = "javac"

        def compile(self, _root, _sources, _class_path, folder, _target):
            made.append(folder)
            folder.mkdir(parents=True)
            (folder / "Probe.class").write_bytes(b"class")
            return SimpleNamespace(succeeded=True, output="")

    (tmp_path / "Probe.java").write_text("class Probe {}")
    asked = (Compiler(), tmp_path, ["Probe.java"], (), tmp_path / "cache")
    folder = compiled_program(*asked)
    assert compiled_program(*asked) == folder
    assert len(made) == 1
    (folder / "Probe.class").unlink()
    assert (compiled_program(*asked) / "Probe.class").is_file()
    assert len(made) == 2
