"""Nodes run what the harness judges: nothing else of a Kafka's folder or archive gets onto the class path."""

import tarfile
import zipfile

import pytest
from whole_kafka import whole_kafka

from harness.base.errors import HarnessError
from harness.kafka.class_path import RAFT_CLIENT
from harness.kafka.distribution import distribution_at


def archive(path, **entries):
    with zipfile.ZipFile(path, "w") as made:
        for name, content in entries.items():
            made.writestr(name.replace("__", "/"), content)
    return path


def manifest(*lines):
    return {"META-INF__MANIFEST.MF": "Manifest-Version: 1.0\r\n" + "".join(f"{line}\r\n" for line in lines) + "\r\n"}


@pytest.fixture
def kafka(tmp_path):
    whole_kafka(tmp_path / "kafka")
    return tmp_path / "kafka"


@pytest.fixture
def packed(tmp_path):
    def pack(folder):
        with tarfile.open(tmp_path / "kafka.tgz", "w:gz") as made:
            made.add(folder, "kafka_2.13-3.9.1")
        return tmp_path / "kafka.tgz"

    return pack


def refusal(place, tmp_path):
    with pytest.raises(HarnessError) as refused:
        distribution_at(place, tmp_path / "cache")
    return refused.value.message


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_jar_that_was_put_aside_under_another_name_is_refused(kafka, packed, tmp_path, is_packed):
    archive(kafka / "libs" / "kafka-raft-3.9.1.bak", **{RAFT_CLIENT.replace("/", "__"): b""})
    said = refusal(packed(kafka) if is_packed else kafka, tmp_path)
    assert "holds kafka-raft-3.9.1.bak, which is no jar by its name" in said


def test_a_folder_of_classes_in_libs_is_refused(kafka, tmp_path):
    (kafka / "libs" / "00-hotfix" / "org").mkdir(parents=True)
    assert "holds 00-hotfix, which is no jar by its name" in refusal(kafka, tmp_path)


@pytest.mark.parametrize("name", ["acme-hotfix-tests.jar", "acme-raft-sources.jar"])
def test_classes_that_kafkas_start_script_takes_and_the_harness_would_not_are_refused(kafka, tmp_path, name):
    archive(kafka / "libs" / name, **{RAFT_CLIENT.replace("/", "__"): b""})
    assert f"holds {name}, whose classes Kafka's start script takes" in refusal(kafka, tmp_path)


def test_what_has_no_classes_may_lie_in_libs(kafka, packed, tmp_path):
    (kafka / "libs" / "empty").mkdir()
    (kafka / "libs" / "kafka-raft-3.9.1.jar.asc").write_text("-----BEGIN PGP SIGNATURE-----")
    archive(kafka / "libs" / ".hidden", x=b"")
    archive(kafka / "libs" / "kafka-raft-3.9.1-sources.jar", x=b"")
    names = {jar.name for jar in distribution_at(kafka, tmp_path / "cache").jars}
    assert names == {jar.name for jar in distribution_at(packed(kafka), tmp_path / "cache").jars}
    assert not names & {"empty", ".hidden"}


@pytest.mark.parametrize("entry", ["../hotfix/r.jar", "file:../hotfix/r.jar", "../hotfix/"])
def test_a_manifest_that_leads_to_other_classes_is_refused(kafka, packed, tmp_path, entry):
    (kafka / "hotfix").mkdir()
    archive(kafka / "hotfix" / "r.jar", **{RAFT_CLIENT.replace("/", "__"): b""})
    archive(kafka / "libs" / "acme-1.0.jar", **manifest(f"Class-Path: {entry}"))
    sentence = f"acme-1.0.jar leads to {entry} by the Class-Path of its manifest"
    assert sentence in refusal(kafka, tmp_path)
    assert sentence in refusal(packed(kafka), tmp_path)


@pytest.mark.parametrize(
    "lines",
    [
        ("Class-Path: other-1.0.jar",),
        ("Class-Path: not-there.jar", "X: y"),
        ("Name: Class-Path: x",),
        ("Class-Path: http://[::1/x.jar",),
    ],
    ids=["another of its jars", "nothing", "no Class-Path", "no URL"],
)
def test_a_manifest_that_leads_to_nothing_else_does_no_harm(kafka, tmp_path, lines):
    archive(kafka / "libs" / "other-1.0.jar", x=b"")
    archive(kafka / "libs" / "acme-1.0.jar", **manifest(*lines))
    assert "acme-1.0.jar" in {jar.name for jar in distribution_at(kafka, tmp_path / "cache").jars}


def test_a_raft_jar_that_brings_classes_of_another_jar_is_refused(kafka, tmp_path):
    archive(kafka / "libs" / "slf4j-api-1.7.36.jar", **{"org__slf4j__LoggerFactory.class": b""})
    with zipfile.ZipFile(kafka / "libs" / "kafka-raft-3.9.1.jar", "a") as raft:
        raft.writestr("META-INF/versions/17/org/slf4j/LoggerFactory.class", b"")
        raft.writestr("module-info.class", b"")
    said = refusal(kafka, tmp_path)
    assert "slf4j-api-1.7.36.jar holds org/slf4j/LoggerFactory.class, as kafka-raft-3.9.1.jar does" in said


def test_a_link_to_a_file_that_is_no_jar_by_its_name_is_refused(kafka, tmp_path):
    archive(tmp_path / "3f2a", x=b"")
    (kafka / "libs" / "zstd-jni-1.5.jar").symlink_to(tmp_path / "3f2a")
    assert "zstd-jni-1.5.jar is a link to 3f2a, which is no jar by its name" in refusal(kafka, tmp_path)
