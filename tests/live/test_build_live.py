"""Builds for real: downloads, git, javac and ecj, and jars asked in a JVM for their own flag."""

import io
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from harness.audit.claims_file import load_claims
from harness.base import paths
from harness.base.errors import HarnessError
from harness.base.paths import data_root
from harness.base.progress import Reporter
from harness.building.builders.base import BuildHost, host_compiler
from harness.building.builders.javac import jdk_homes
from harness.building.compiling import Builder
from harness.building.configdef import prepare_probe, read_keys
from harness.building.jars import classes_in, resources_of, write_jar
from harness.building.raft_builds import Bench, Toolchain, build_series, given_jar, release_build
from harness.building.server_keys import server_keys
from harness.kafka.distribution import Distribution, locked_distribution, unpacked_distribution
from harness.kafka.git import GitSource
from harness.kafka.lock import read_lock
from harness.kafka.maven import MavenSources
from harness.kafka.patching import load_series
from harness.kafka.repository import commit_all, create_repository
from harness.model.arms import Build, Flag, Kafka, Role
from harness.model.candidate_kind import CandidateKind
from harness.model.request import Request
from harness.rundir.directory import RunDirectory
from harness.stages.build import build
from harness.stages.claims_draft import draft_claims_file
from harness.toolbox.downloads import Downloads
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox

pytestmark = pytest.mark.live

VERSION = "3.9.1"
SERIES = data_root() / "patches" / VERSION / "dynamic-bootstrap"
CLAIMED = load_claims(SERIES / "claims.toml")
PACKAGE = "raft/src/main/java/org/apache/kafka/raft"


@pytest.fixture(scope="module")
def downloads(toolbox: Toolbox) -> Downloads:
    return toolbox.downloads


@pytest.fixture(scope="module")
def release(downloads: Downloads) -> Distribution:
    return locked_distribution(read_lock(VERSION), downloads)


@pytest.fixture(scope="module")
def sources(downloads: Downloads) -> MavenSources:
    return MavenSources(VERSION, downloads.fetch(read_lock(VERSION).one(Purpose.SOURCES)))


@pytest.fixture(scope="module", params=["ecj", "javac"])
def builder(request: pytest.FixtureRequest, toolbox: Toolbox) -> Builder:
    if request.param == "javac" and not list(jdk_homes(None)):
        pytest.skip("this host has no JDK")
    return host_compiler(request.param, BuildHost(toolbox, 8, lambda _: None))


@pytest.fixture(scope="module")
def bench(toolbox: Toolbox, builder: Builder, release: Distribution, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    probe = prepare_probe(builder, toolbox.java(), release.others, toolbox.cache)
    return Bench(RunDirectory(tmp_path_factory.mktemp("run")), probe, CLAIMED.flag, Kafka(VERSION))


@pytest.fixture(scope="module")
def tools(builder: Builder, release: Distribution, sources: MavenSources) -> Toolchain:
    return Toolchain(builder, release, sources.jar, 8)


@pytest.fixture(scope="module")
def patched(bench: Bench, tools: Toolchain, sources: MavenSources) -> Build:
    return build_series(bench, tools, "patched", sources, load_series(SERIES))


@pytest.fixture(scope="module")
def unpatched(bench: Bench, tools: Toolchain, sources: MavenSources) -> Build:
    return build_series(bench, tools, "unpatched", sources, None)


def test_the_patched_jar_knows_the_flag_with_its_claimed_default(patched, tools):
    assert patched.flag == Flag(CLAIMED.flag, True, CLAIMED.flag_default)
    assert patched.builder == tools.builder.label


def asking(folder, request):
    RunDirectory(folder).request.write(request)
    return folder


def test_a_second_series_beside_the_first_is_built_when_it_is_named(toolbox, quiet, mutants, tmp_path, monkeypatch):
    for name in ("builds", "scenarios", "reports"):
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).symlink_to(data_root() / name)
    patches = tmp_path / "data" / "patches" / VERSION
    for name in (SERIES.name, "second"):
        shutil.copytree(SERIES, patches / name)
    shutil.copy(mutants / "logs-an-error.patch", patches / "second")
    with (patches / "second" / "series").open("a") as listed:
        listed.write("logs-an-error.patch\n")
    monkeypatch.setattr(paths, "_INSTALLED", tmp_path / "data")
    with pytest.raises(HarnessError, match="several patch series"):
        build(asking(tmp_path / "unclear", Request(builder="ecj")), toolbox, quiet)
    build(asking(tmp_path / "run", Request(series="second", builder="ecj")), toolbox, quiet)
    (on,) = (arm for arm in RunDirectory(tmp_path / "run").declaration.read().arms if arm.role is Role.ON)
    assert on.build.series[-1] == "logs-an-error.patch"
    assert len(on.build.series) == len(load_series(SERIES).patches) + 1


def kind_of(jar: Path, folder: Path, toolbox: Toolbox) -> tuple[CandidateKind, list[str], str]:
    """Return what a given jar is taken to be, its arms, and the line that says why."""
    stream = io.StringIO()
    build(asking(folder, Request(jar=jar, builder="ecj")), toolbox, Reporter(Console(file=stream, width=500)))
    declared = RunDirectory(folder).declaration.read()
    (line,) = (line.strip() for line in stream.getvalue().splitlines() if "the jar is" in line)
    return declared.kind, [arm.name for arm in declared.arms], line


def test_the_series_is_recognised_whoever_compiled_it(bench, patched, toolbox, tmp_path):
    kind, arms, _ = kind_of(bench.directory.path / patched.jar, tmp_path, toolbox)
    assert (kind, arms) == (CandidateKind.SERIES, ["stock", "jar-off", "jar-on"])


def test_the_release_and_a_jar_that_lacks_a_part_of_the_series_are_unknown(bench, patched, release, toolbox, tmp_path):
    kind, arms, line = kind_of(release.raft_jar, tmp_path / "stock", toolbox)
    assert (kind, arms) == (CandidateKind.UNKNOWN, ["stock", "jar"])
    assert f"(it lacks the key {CLAIMED.flag}): the question is whether anything is worse" in line
    part = tmp_path / f"kafka-raft-{VERSION}.jar"
    name = "org/apache/kafka/raft/RequestManager.class"
    with zipfile.ZipFile(bench.directory.path / patched.jar) as jar, zipfile.ZipFile(release.raft_jar) as stock:
        write_jar({each: (stock if each == name else jar).read(each) for each in jar.namelist()}, part)
    kind, _, line = kind_of(part, tmp_path / "part", toolbox)
    assert kind is CandidateKind.UNKNOWN
    assert "(it lacks RequestManager.bootstrapServers, RequestManager.updateBootstrapServers())" in line


def test_a_claims_file_is_drafted_from_what_the_jar_changes(bench, patched, toolbox, quiet, tmp_path):
    jar, file = bench.directory.path / patched.jar, tmp_path / "claims.toml"
    draft_claims_file(jar, None, VERSION, (), file, toolbox, quiet)
    drafted = load_claims(file)
    assert (drafted.flag, drafted.flag_default) == (CLAIMED.flag, "true")
    changed = [name.rpartition(".")[2] for name in drafted.classes]
    assert changed == ["KafkaRaftClient", "QuorumConfig", "RequestManager"]
    assert drafted.chains[0].evidence == "Updated bootstrap servers to: "
    with pytest.raises(HarnessError, match="changes no class, key or log statement"):
        draft_claims_file(jar, jar, VERSION, (), tmp_path / "other.toml", toolbox, quiet)


def test_the_same_series_gives_the_same_bytes_twice(bench, tools, sources, patched):
    again = build_series(bench, tools, "again", sources, load_series(SERIES))
    assert again.jar_sha256 == patched.jar_sha256


def test_unpatched_sources_give_the_releases_classes_by_name_and_its_resources(bench, unpatched, release):
    jar = bench.directory.path / unpatched.jar
    assert resources_of(jar) == resources_of(release.raft_jar)
    assert named_classes(jar) == named_classes(release.raft_jar)
    assert not unpatched.flag.known


def named_classes(jar: Path) -> set[str]:
    """Names of a jar's classes without the numbered ones, in which compilers differ."""
    with zipfile.ZipFile(jar) as archive:
        names = (name for name in archive.namelist() if name.endswith(".class"))
        return {name for name in names if not name.removesuffix(".class").rsplit("$", 1)[-1].isdigit()}


def test_classes_are_of_the_level_of_java_8(bench, unpatched):
    with zipfile.ZipFile(bench.directory.path / unpatched.jar) as jar:
        levels = {jar.read(name)[7] for name in jar.namelist() if name.endswith(".class")}
    assert levels == {52}


def as_a_clone(sources: MavenSources, folder: Path, added: Mapping[str, str]) -> Path:
    """Return a repository with the tag `mine`, as a clone of Kafka without generated classes, with files added."""
    tree = sources.checkout(folder).path
    for made in (".git", "raft/src/generated"):
        shutil.rmtree(tree / made)
    for name, text in {"gradle.properties": f"version={VERSION}\n", **added}.items():
        (tree / name).write_text(text)
    repository = create_repository(tree)
    commit_all(repository, "as in a checkout of Kafka")
    repository.git.tag("mine")
    return tree


def test_the_series_fits_a_git_checkout_and_gives_the_same_jar(bench, tools, sources, patched, tmp_path):
    clone = as_a_clone(sources, tmp_path / "kafka", {})
    from_git = build_series(bench, tools, "git", GitSource(str(clone), "mine"), load_series(SERIES))
    assert from_git.jar_sha256 == patched.jar_sha256


@pytest.mark.whole
def test_a_ref_that_does_not_compile_ends_with_file_and_line_and_leaves_its_log_and_no_build(sources, tmp_path):
    broken = f"{PACKAGE}/Broken.java"
    text = "package org.apache.kafka.raft;\nclass Broken { int x = ; }\n"
    clone = as_a_clone(sources, tmp_path / "kafka", {broken: text})
    words = ["--git", f"{clone}@mine", "--series", "none", "--builder", "ecj", "--tests", "none", "--out", "run"]
    command = [sys.executable, "-m", "harness", "prove", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 2, done.stdout + done.stderr
    assert f"{broken}:2: error: " in " ".join(done.stderr.split())
    directory = RunDirectory(tmp_path / "run")
    (log,) = (path for path in directory.path.glob("builds/*/build.log") if "error: " in path.read_text())
    assert f"{broken}:2: error: " in log.read_text()
    assert {path.name for path in log.parent.iterdir()} == {"build.log", "sources"}
    assert not directory.declaration.exists


def test_the_release_does_not_know_the_flag(bench, release):
    assert release_build(bench, "stock", release).flag == Flag(CLAIMED.flag, False)


def test_the_releases_own_keys_are_read_with_type_default_and_importance(bench, release):
    keys = {key.name: key for key in read_keys(bench.probe, release.raft_jar, release.others)}
    timeout = keys["controller.quorum.fetch.timeout.ms"]
    assert (timeout.type, timeout.default, timeout.importance) == ("INT", "2000", "HIGH")


def test_a_given_jar_is_asked_for_its_flag(bench, patched, release, tmp_path):
    handed = shutil.copy(bench.directory.path / patched.jar, tmp_path / "theirs.jar")
    assert given_jar(bench, "jar", Path(handed), release).flag == patched.flag


def test_a_given_jar_whose_configuration_cannot_be_loaded_is_refused(bench, release, tmp_path):
    with zipfile.ZipFile(release.raft_jar) as archive:
        entries = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    entries["org/apache/kafka/raft/QuorumConfig.class"] = b"\xca\xfe\xba\xbe nothing more"
    write_jar(entries, tmp_path / "broken.jar")
    with pytest.raises(HarnessError, match=r"configuration of .* cannot be read: .*UnsupportedClassVersionError"):
        given_jar(bench, "jar", tmp_path / "broken.jar", release)


def test_a_patch_that_does_not_compile_is_told_with_file_and_line(bench, tools, sources, tmp_path):
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "series").write_text("broken.patch\n")
    (folder / "broken.patch").write_text(
        "--- /dev/null\n+++ b/raft/src/main/java/Broken.java\n@@ -0,0 +1 @@\n+class Broken { Missing missing; }\n"
    )
    with pytest.raises(HarnessError, match=r"raft/src/main/java/Broken\.java:1: error: "):
        build_series(bench, tools, "broken", sources, load_series(folder))


def test_an_unpacked_kafka_is_the_control_as_well_as_the_locked_one(bench, release, tmp_path):
    (tmp_path / "kafka" / "libs").mkdir(parents=True)
    for jar in release.jars:
        (tmp_path / "kafka" / "libs" / jar.name).symlink_to(jar)
    unpacked = unpacked_distribution(tmp_path / "kafka")
    assert unpacked.version == VERSION
    locked = release_build(bench, "locked", release)
    assert replace(release_build(bench, "locked", unpacked), note="") == replace(locked, note="")


def test_a_compiler_writes_only_below_its_own_folder(builder, tmp_path):
    (tmp_path / "A.java").write_text("class A { class B {} }\n")
    assert builder.compile(tmp_path, ["A.java"], (), tmp_path / "out", 8).succeeded
    assert set(classes_in(tmp_path)) == {"out/A.class", "out/A$B.class"}


def test_a_whole_server_knows_its_own_keys_and_those_of_the_raft_jar(release: Distribution, toolbox: Toolbox):
    known = server_keys(release, release.raft_jar, "auto", toolbox, lambda _: None)
    assert {
        "log.retention.hours",
        "num.network.threads",
        "controller.quorum.voters",
        "log.cleaner.enable",
    } <= known.keys()
    assert not {"log.retention.hourz", "listener.name.internal.ssl.keystore.location"} & known.keys()
