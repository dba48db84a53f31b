"""Locks: read strictly, written the same way every time."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base import paths as resources
from harness.base.errors import HarnessError
from harness.kafka.lock import (
    checked_version,
    lock_folder_for_writing,
    locked_versions,
    read_lock,
    user_locks,
    write_lock,
)
from harness.toolbox.lockfile import Artifact, Lock, Purpose, format_lock, parse_lock, shipped_locks
from harness.toolbox.tools import tools_lock

RAFT = Artifact("org.apache.kafka:kafka-raft:jar:3.9.1", "ab" * 32, 288166, Purpose.RUNTIME)
SOURCES = Artifact("org.apache.kafka:kafka-raft:jar:sources:3.9.1", "cd" * 32, 7, Purpose.SOURCES)

names = st.text("ab1_", min_size=1, max_size=4) | st.sampled_from(["org.apache.kafka", "kafka-raft", "3.9.1"])
artifacts = st.builds(
    Artifact,
    st.builds("{}:{}:jar:{}".format, names, names, names),
    st.binary(min_size=32, max_size=32).map(bytes.hex),
    st.integers(1, 2**40),
    st.sampled_from(Purpose),
)


def pinned(artifact: Artifact) -> tuple[Purpose, str]:
    """Return what a lock pins once: an artifact for a purpose, in one version."""
    return artifact.purpose, artifact.coordinate.rpartition(":")[0]


@given(st.lists(artifacts, min_size=1, max_size=4, unique_by=pinned))
def test_what_was_written_is_what_is_read(some):
    lock = Lock("3.9.1", tuple(some))
    read = parse_lock(format_lock(lock).encode(), "here", "3.9.1")
    assert set(read.artifacts) == set(lock.artifacts)
    assert format_lock(read) == format_lock(lock)


@given(st.lists(artifacts, min_size=2, max_size=4, unique_by=pinned))
def test_the_order_of_artifacts_does_not_show_in_the_file(some):
    assert format_lock(Lock("3.9.1", tuple(some))) == format_lock(Lock("3.9.1", tuple(reversed(some))))


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_no_content_makes_reading_fail_with_anything_but_a_sentence(content):
    with pytest.raises(HarnessError, match="is not a lock"):
        parse_lock(content, "here", "3.9.1")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("ab" * 32, "AB" * 32, "sha256"),
        ("288166", "0", "size"),
        ("288166", '"many"', "size"),
        ('"runtime"', '"fun"', "fun"),
        ("kafka-raft:jar", "../../etc:jar", "coordinate"),
        ("kafka-raft:jar", "kafka..raft:jar", "coordinate"),
        ('purpose = "runtime"', 'purpose = "runtime"\nurl = "elsewhere"', "url"),
        ('version = "3.9.1"', 'version = "3.9.2"', "version"),
    ],
)
def test_a_malformed_lock_is_refused_with_what_is_wrong(old, new, complaint):
    text = format_lock(Lock("3.9.1", (RAFT,)))
    assert old in text
    with pytest.raises(HarnessError, match=complaint):
        parse_lock(text.replace(old, new, 1).encode(), "here", "3.9.1")


def test_a_coordinate_listed_twice_is_refused():
    text = format_lock(Lock("3.9.1", (RAFT, RAFT)))
    with pytest.raises(HarnessError, match="twice"):
        parse_lock(text.encode(), "here", "3.9.1")


def test_an_unknown_version_is_answered_with_the_versions_there_are(tmp_path: Path):
    write_lock(Lock("3.9.1", (RAFT,)), tmp_path)
    write_lock(Lock("3.8.0", (RAFT,)), tmp_path)
    with pytest.raises(HarnessError, match=r"3\.8\.0, 3\.9\.1.*`harness lock 3\.9\.2` writes one"):
        read_lock("3.9.2", [tmp_path])


def test_the_first_folder_that_has_a_lock_wins(tmp_path: Path):
    write_lock(Lock("3.9.1", (SOURCES,)), tmp_path / "mine")
    write_lock(Lock("3.9.1", (RAFT,)), tmp_path / "theirs")
    assert read_lock("3.9.1", [tmp_path / "mine", tmp_path / "theirs"]).artifacts == (SOURCES,)


@pytest.mark.parametrize("version", ["../3.9.1", "3", "", "3.9.1/../../x", "3..9", "latest"])
def test_what_is_no_version_never_becomes_a_file_name(version):
    with pytest.raises(HarnessError, match="not a Kafka version"):
        checked_version(version)


@pytest.mark.parametrize(
    "version", ["3.9.1", "4.0.0-rc1", "3.9.1-acme.2", "2.8.2", "3.9.1+acme.2", "3.9.1_acme", "3.9.1p1", "3.9"]
)
def test_releases_candidates_and_vendor_builds_are_versions(version):
    assert checked_version(version) == version


def test_paths_are_those_of_a_maven_repository():
    assert RAFT.path == "org/apache/kafka/kafka-raft/3.9.1/kafka-raft-3.9.1.jar"
    assert SOURCES.path == "org/apache/kafka/kafka-raft/3.9.1/kafka-raft-3.9.1-sources.jar"


def test_a_purpose_with_several_artifacts_has_no_single_one():
    assert Lock("3.9.1", (RAFT, SOURCES)).one(Purpose.SOURCES) == SOURCES
    with pytest.raises(HarnessError, match="has 0 artifacts for compiler"):
        Lock("3.9.1", (RAFT, SOURCES)).one(Purpose.COMPILER)


def test_the_shipped_lock_has_a_broker_a_log_binding_and_sources():
    lock = read_lock("3.9.1")
    runtime = {artifact.name for artifact in lock.of(Purpose.RUNTIME)}
    assert {
        "kafka_2.13-3.9.1.jar",
        "kafka-raft-3.9.1.jar",
        "slf4j-reload4j-1.7.36.jar",
        "reload4j-1.2.25.jar",
    } <= runtime
    assert lock.one(Purpose.SOURCES).name == "kafka-raft-3.9.1-sources.jar"
    assert (shipped_locks() / "3.9.1.lock").read_text() == format_lock(lock)


def test_the_harnesss_own_tools_are_pinned_apart_from_every_kafka():
    tools = tools_lock()
    assert tools.one(Purpose.COMPILER).name.startswith("ecj-")
    assert (shipped_locks() / "tools.lock").read_text() == format_lock(tools)
    assert {each.purpose for each in tools.artifacts}.isdisjoint(each.purpose for each in read_lock("3.9.1").artifacts)
    assert "tools" not in locked_versions()


def test_a_tools_lock_is_of_no_version():
    text = format_lock(Lock("", (RAFT,)))
    assert parse_lock(text.encode(), "here") == Lock("", (RAFT,))
    with pytest.raises(HarnessError, match="`harness lock tools`"):
        parse_lock(format_lock(Lock("3.9.1", (RAFT,))).encode(), "here")


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return user_locks()


def test_a_users_own_locks_are_found_after_the_shipped_ones(mine, tmp_path):
    assert mine == tmp_path / "data" / "kafka-patch-harness" / "locks"
    assert "9.9.9" not in locked_versions()
    write_lock(Lock("9.9.9", (RAFT,)), mine)
    write_lock(Lock("3.9.1", (RAFT,)), mine)
    assert read_lock("9.9.9").artifacts == (RAFT,)
    assert len(read_lock("3.9.1").artifacts) > 1
    assert {"3.9.1", "9.9.9"} <= set(locked_versions())


def test_in_a_checkout_a_new_lock_goes_beside_the_shipped_ones(mine):
    assert lock_folder_for_writing() == shipped_locks()


def test_an_installed_harness_writes_locks_where_it_reads_them_again(mine, tmp_path, monkeypatch):
    installed = tmp_path / "lib" / "site-packages" / "harness" / "_data"
    (installed / "builds" / "locks").mkdir(parents=True)
    monkeypatch.setattr(resources, "_INSTALLED", installed)
    assert shipped_locks() == installed / "builds" / "locks"
    assert lock_folder_for_writing() == mine
    write_lock(Lock("9.9.9", (RAFT,)), lock_folder_for_writing())
    assert read_lock("9.9.9").artifacts == (RAFT,)


@pytest.mark.parametrize(
    ("package", "folder"),
    [("clone/harness", "clone"), ("lib/site-packages/harness", "lib/site-packages/builds/locks")],
    ids=["a clone without the folder", "an installation without data"],
)
def test_where_no_clones_locks_can_be_written_the_users_folder_is(mine, tmp_path, monkeypatch, package, folder):
    (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path / package)
    monkeypatch.setattr(resources, "_INSTALLED", tmp_path / package / "_data")
    assert lock_folder_for_writing() == mine
