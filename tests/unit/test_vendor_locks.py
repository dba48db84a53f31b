"""A vendor's release that is locked: every stage finds that lock, and where there is none that of Apache's release."""

import gzip
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.audit.claims_file import ClaimSet
from harness.kafka.distribution import Distribution
from harness.kafka.lock import locked_as, user_locks, write_lock
from harness.kafka.release_lines import line_of
from harness.logs.log_diff import libraries
from harness.logs.read.library import formatted
from harness.logs.read.statements import Library, Statement
from harness.model.arms import Arm, Build, Flag, Kafka, Role
from harness.model.request import Request
from harness.model.setup import Setup
from harness.rundir.directory import RunDirectory
from harness.stages import proof_case, rollout_inputs
from harness.toolbox.lockfile import Artifact, Lock, Purpose

VENDORS, ITS_RELEASE = "3.9.1-acme", "3.9.1"
RAFT = "kafka-raft-3.9.1-acme.jar"
STATEMENT = Statement("a/A.java", 1, "INFO", ("acme was here",), "a.A")


def build(version=VENDORS, place=""):
    jars = {RAFT: "a" * 64}
    return Build("kafka", "3.9.1", RAFT, "a" * 64, "release", Flag("", False), kafka=Kafka(version, place, RAFT, jars))


@pytest.fixture
def locked(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    pins = {"raft": Purpose.RUNTIME, "tools": Purpose.COMMANDS, "tests": Purpose.TESTS, "sources": Purpose.SOURCES}
    made = {name: Artifact(f"acme:kafka-{name}:jar:{VENDORS}", "a" * 64, 1, purpose) for name, purpose in pins.items()}
    write_lock(Lock(VENDORS, tuple(made.values())), user_locks())
    folder = user_locks().parent / "statements"
    folder.mkdir()
    (folder / f"{VENDORS}.json.gz").write_bytes(
        gzip.compress(formatted(VENDORS, (), Library((STATEMENT,), ())).encode())
    )


@pytest.fixture
def toolbox():
    downloads = SimpleNamespace(
        fetch=lambda each: Path(each.name), fetch_all=lambda all_: tuple(Path(each.name) for each in all_)
    )
    return SimpleNamespace(downloads=downloads, cache=Path("cache"), node_java=lambda: Path("java"))


def kafka_of(*_):
    return Distribution(VENDORS, (Path(RAFT),), Path(RAFT), "acme's")


@pytest.mark.usefixtures("locked")
def test_a_build_is_locked_as_its_own_version_or_else_as_the_release_that_it_is_of():
    assert locked_as(build()) == locked_as(build(place="/opt/kafka")) == VENDORS
    assert locked_as(build("3.9.1-unlocked")) == locked_as(build("")) == ITS_RELEASE


@pytest.mark.usefixtures("locked")
def test_the_runbooks_commands_are_those_of_the_vendors_lock(toolbox, monkeypatch):
    monkeypatch.setattr(rollout_inputs, "kafka_of", kafka_of)
    parts = SimpleNamespace(java=Path("java"), line=line_of(ITS_RELEASE))
    tools = rollout_inputs._tools(Request(), build(), parts, toolbox)
    assert [path.name for path in tools.class_path] == [f"kafka-tools-{VENDORS}.jar", RAFT]


@pytest.mark.usefixtures("locked")
def test_a_proof_runs_the_tests_of_the_vendors_lock_and_compares_with_its_sources(toolbox, tmp_path, monkeypatch):
    replaced = {"kafka_of": kafka_of, "locked_distribution": kafka_of}
    for name in ("ecj_of", "compilers_at_hand", "BuildHost", "prepare_tools", "_other_release", "_later_releases"):
        replaced[name] = lambda *_: None
    replaced["claims_upheld"] = lambda *_: ClaimSet("kafka-raft", "", "", ())
    for name, value in replaced.items():
        monkeypatch.setattr(proof_case, name, value)
    read = {"declaration": SimpleNamespace(binding=False), "setup": Setup(""), "request": Request()}
    records = {name: SimpleNamespace(read=lambda value=value: value) for name, value in read.items()}
    directory = SimpleNamespace(path=tmp_path, **records)
    reporter = SimpleNamespace(report=None)
    found = proof_case.proof_case(directory, build(), build(), toolbox, reporter)
    assert [path.name for path in found.tests] == [f"kafka-tests-{VENDORS}.jar"]
    assert found.release is not None
    assert found.release.sources.name == f"kafka-sources-{VENDORS}.jar"


@pytest.mark.usefixtures("locked")
def test_log_lines_are_traced_to_the_statements_of_the_vendors_lock(tmp_path):
    arms = (Arm("kafka", Role.BASE, build(), "absent"), Arm("other", Role.ON, build("3.9.1-unlocked"), "absent"))
    found = libraries(RunDirectory(tmp_path), arms)
    assert found["kafka"].statements == (STATEMENT,)
    assert len(found["other"].statements) > 100
