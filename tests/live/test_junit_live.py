"""JUnit for real: upstream's tests and the series' own on jars that were compiled here, good and broken."""

import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.paths import data_root
from harness.building.builders.ecj import ecj_of
from harness.building.compiling import Builder
from harness.building.configdef import prepare_probe
from harness.building.jars import write_jar
from harness.building.raft_builds import Bench, Toolchain, build_series
from harness.kafka.distribution import Distribution
from harness.kafka.lock import read_lock
from harness.kafka.maven import MavenSources
from harness.kafka.patching import load_series
from harness.kafka.release_lines import line_of
from harness.model.arms import Kafka
from harness.model.proof import TestScope, TestsProof, TestSuite
from harness.proof.junit import TestBench, run_tests
from harness.rundir.directory import RunDirectory
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox

pytestmark = pytest.mark.live

VERSION = "3.9.1"
SERIES = data_root() / "patches" / VERSION / "dynamic-bootstrap"
QUORUM_CONFIG = "org.apache.kafka.raft.QuorumConfig"
REQUEST_MANAGER_TESTS = frozenset({"org.apache.kafka.raft.RequestManager"})
ANOTHER_PARAMETER = """\
--- a/raft/src/main/java/org/apache/kafka/raft/QuorumConfig.java
+++ b/raft/src/main/java/org/apache/kafka/raft/QuorumConfig.java
@@ -144,3 +144,4 @@
-        int appendLingerMs
+        int appendLingerMs,
+        String another
     ) {
         this(
"""


@pytest.fixture(scope="module")
def builder(toolbox: Toolbox) -> Builder:
    return ecj_of(toolbox)


@pytest.fixture(scope="module")
def bench(toolbox: Toolbox, builder: Builder, kafka: Distribution) -> TestBench:
    jars = toolbox.downloads.fetch_all(read_lock(VERSION).of(Purpose.TESTS))
    return TestBench(line_of(VERSION), toolbox.java(), jars, kafka.others, builder, toolbox.cache)


@pytest.fixture(scope="module")
def build(
    toolbox: Toolbox,
    builder: Builder,
    kafka: Distribution,
    tmp_path_factory: pytest.TempPathFactory,
):
    """Build the series with more patches after it, and return the jar."""
    run_dir = tmp_path_factory.mktemp("run")
    sources = MavenSources(VERSION, toolbox.downloads.fetch(read_lock(VERSION).one(Purpose.SOURCES)))
    probe = prepare_probe(builder, toolbox.java(), kafka.others, toolbox.cache)

    def make(name: str, *more: Path) -> Path:
        folder = run_dir / f"series-{name}"
        folder.mkdir()
        patches = [shutil.copy(patch, folder) for patch in (*sorted(SERIES.glob("*.patch")), *more)]
        (folder / "series").write_text("".join(f"{Path(patch).name}\n" for patch in patches))
        tools = Toolchain(builder, kafka, sources.jar, 8)
        bench = Bench(RunDirectory(run_dir), probe, "", Kafka("3.9.1"))
        return run_dir / build_series(bench, tools, name, sources, load_series(folder)).jar

    return make


@pytest.fixture(scope="module")
def patched(build) -> Path:
    return build("patched")


@pytest.fixture
def prove(bench, kafka, tmp_path):
    def run(candidate: Path, scope: TestScope = TestScope.RELATED, **changes) -> TestsProof:
        asked = replace(bench, **changes)
        return run_tests(asked, candidate, kafka.raft_jar, scope, tmp_path / "junit", lambda done, total: None)

    return run


def without(jar: Path, entry: str, into: Path) -> Path:
    with zipfile.ZipFile(jar) as archive:
        entries = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/") and name != entry}
    write_jar(entries, into)
    return into


@pytest.mark.whole
def test_all_889_of_upstreams_tests_and_those_of_the_series_pass_on_the_shipped_patch(prove, patched, tmp_path):
    proof = prove(patched, TestScope.ALL, series_tests=SERIES / "tests")
    assert sum(each.tests for each in proof.classes if each.suite is TestSuite.UPSTREAM) == 889
    assert {each.name.rpartition(".")[2] for each in proof.classes if each.suite is TestSuite.SERIES} == {
        "DynamicBootstrapKafkaRaftClientTest",
        "DynamicBootstrapQuorumConfigTest",
        "DynamicBootstrapRequestManagerTest",
    }
    assert (proof.failed, proof.gap) == ((), "")
    assert all(path.name.startswith(("candidate-", "series-")) for path in (tmp_path / "junit").iterdir())


def test_related_to_one_class_is_a_subset_that_leaves_the_simulations_out(prove, kafka):
    proof = prove(kafka.raft_jar, changed=REQUEST_MANAGER_TESTS)
    assert [each.name for each in proof.classes] == ["org.apache.kafka.raft.RequestManagerTest"]
    assert (proof.count, proof.failed) == (9, ())


def test_a_patch_that_does_nothing_fails_the_series_tests_and_none_of_upstreams(prove, build, mutants):
    broken = build("nothing", mutants / "update-does-nothing.patch")
    proof = prove(broken, changed=REQUEST_MANAGER_TESTS, series_tests=SERIES / "tests")
    assert {each.suite for each in proof.failed} == {TestSuite.SERIES}
    assert "newServersReplaceAllOldOnes()" in {each.name for each in proof.failed}
    assert all(each.blocks and each.trace for each in proof.failed)


def test_a_jar_without_the_releases_constructor_fails_upstreams_tests_that_call_it(prove, build, tmp_path):
    (tmp_path / "another-parameter.patch").write_text(ANOTHER_PARAMETER)
    proof = prove(build("parameter", tmp_path / "another-parameter.patch"), changed=frozenset({QUORUM_CONFIG}))
    assert len(proof.failed) > 100
    assert all(each.fails_on_base is False for each in proof.failed)
    assert any("NoSuchMethodError" in each.trace and "QuorumConfig" in each.message for each in proof.failed)


def test_a_jar_that_lacks_a_class_fails_the_tests_that_need_it(prove, kafka, tmp_path):
    broken = without(kafka.raft_jar, "org/apache/kafka/raft/RequestManager.class", tmp_path / "kafka-raft.jar")
    proof = prove(broken, changed=REQUEST_MANAGER_TESTS)
    assert proof.count == 9
    assert sum(each.failures for each in proof.classes) == 9
    assert all(each.fails_on_base is False for each in proof.failed)


def test_a_jar_that_ends_the_jvm_is_no_pass(prove, kafka, builder, tmp_path):
    (tmp_path / "RequestManager.java").write_text(
        "package org.apache.kafka.raft; public class RequestManager { static { System.exit(0); } }"
    )
    assert builder.compile(tmp_path, ["RequestManager.java"], (), tmp_path / "classes", 8).succeeded
    entry = "org/apache/kafka/raft/RequestManager.class"
    with zipfile.ZipFile(kafka.raft_jar) as archive:
        entries = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    write_jar({**entries, entry: (tmp_path / "classes" / entry).read_bytes()}, tmp_path / "exits.jar")
    proof = prove(tmp_path / "exits.jar", changed=REQUEST_MANAGER_TESTS)
    (failed,) = proof.failed
    assert "9 tests" in failed.name
    assert "the test JVM ended with exit 0" in failed.message
    assert failed.blocks
