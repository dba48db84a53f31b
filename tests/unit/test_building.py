"""Builds without a JVM: jars written the same way twice, given jars looked at, compilers chosen."""

import html
import re
import shutil
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
import sample_run
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.base.java_failures import failure_in
from harness.base.json import from_json
from harness.building import compiling, raft_builds
from harness.building.builders import base
from harness.building.builders.base import (
    BuilderKind,
    BuildHost,
    builders,
    compilers_at_hand,
    host_compiler,
    open_builder,
)
from harness.building.builders.ecj import Ecj
from harness.building.builders.javac import Javac, jdk_homes
from harness.building.compiling import Compilation, first_errors
from harness.building.configdef import Probe, parse_keys, prepare_probe, read_keys
from harness.building.given import check_raft_jar, other_release, version_note
from harness.building.jars import classes_in, resources_of, write_jar
from harness.building.java_programs import QUICK
from harness.building.pair import source_of
from harness.building.raft_builds import (
    Bench,
    Toolchain,
    build_series,
    changed_resources,
    given_jar,
    keep_sources,
    release_build,
    source_files,
)
from harness.judge.decision import decide
from harness.kafka.distribution import Distribution
from harness.kafka.maven import MavenSources
from harness.kafka.patching import load_series
from harness.kafka.repository import commit_all, create_repository
from harness.kafka.tree import SourceTree
from harness.model.arms import Arm, Build, Flag, Kafka, Role
from harness.report.html import render_html
from harness.rundir.directory import RunDirectory
from harness.rundir.parts import BuildFolder
from harness.toolbox.java import JavaRuntime
from harness.toolbox.toolbox import Toolbox

CLIENT = "org/apache/kafka/raft/KafkaRaftClient.class"
RELEASE: Mapping[str, bytes] = {
    "META-INF/MANIFEST.MF": b"Manifest-Version: 1.0\n\n",
    "LICENSE": b"free\n",
    "kafka/kafka-version.properties": b"commitId=f7\nversion=3.9.1\n",
    "common/message/QuorumStateData.json": b"{}\n",
    CLIENT: b"as released",
}
SOURCES = {
    "common/message/QuorumStateData.json": "{}\n",
    "org/apache/kafka/raft/KafkaRaftClient.java": "class KafkaRaftClient {}\n",
    "org/apache/kafka/raft/generated/Data.java": "class Data {}\n",
}
RUNTIME = JavaRuntime(Path("/java"), "21.0.8")


class Compiler:
    """A builder that turns each source file into a class of the same content, or fails as told."""

    label = "compiler 1"
    note = "mind this"

    def __init__(self, complaint: str = "") -> None:
        self.complaint = complaint

    def compile(
        self, root: Path, sources: Sequence[str], class_path: Sequence[Path], out: Path, target: int
    ) -> Compilation:
        for source in sources:
            package = source.split("/java/", 1)[1].removesuffix(".java")
            made = out / f"{package}.class"
            made.parent.mkdir(parents=True, exist_ok=True)
            made.write_bytes((root / source).read_bytes())
        return Compilation(not self.complaint, ("compile", "a file"), self.complaint)


@pytest.fixture
def release(tmp_path: Path) -> Distribution:
    raft, other = tmp_path / "kafka-raft-3.9.1.jar", tmp_path / "kafka-clients-3.9.1.jar"
    write_jar(RELEASE, raft)
    write_jar({"x": b""}, other)
    return Distribution("3.9.1", (other, raft), raft, "a release")


@pytest.fixture
def sources(tmp_path: Path) -> MavenSources:
    with zipfile.ZipFile(tmp_path / "sources.jar", "w") as jar:
        for name, text in SOURCES.items():
            jar.writestr(name, text)
    return MavenSources("3.9.1", tmp_path / "sources.jar")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A bench that finds the flag unknown in every jar: asking one needs a JVM, which the live tests start."""
    monkeypatch.setattr(raft_builds, "read_flag", lambda probe, jar, class_path, key: Flag(key, False))
    return Bench(RunDirectory(tmp_path / "run"), Probe(tmp_path, RUNTIME), "some.key", Kafka("3.9.1"))


def tools(release: Distribution, sources: MavenSources, complaint: str = "") -> Toolchain:
    return Toolchain(Compiler(complaint), release, sources.jar, 8)


def jar_of(path: Path, entries: Mapping[str, bytes]) -> Path:
    write_jar(entries, path)
    return path


@given(st.dictionaries(st.text("abc/.", min_size=1, max_size=6), st.binary(max_size=20)))
def test_the_same_entries_give_the_same_bytes_in_any_order(entries):
    with tempfile.TemporaryDirectory() as folder:
        one, two = Path(folder) / "one", Path(folder) / "two"
        write_jar(entries, one)
        write_jar(dict(reversed(entries.items())), two)
        assert one.read_bytes() == two.read_bytes()


def test_the_manifest_comes_first_and_no_entry_has_the_time(tmp_path):
    jar = jar_of(tmp_path / "a.jar", {"A": b"1", "META-INF/MANIFEST.MF": b"2", "LICENSE": b"3"})
    with zipfile.ZipFile(jar) as archive:
        assert archive.namelist() == ["META-INF/MANIFEST.MF", "A", "LICENSE"]
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_resources_are_everything_but_classes(tmp_path):
    jar = jar_of(tmp_path / "a.jar", RELEASE)
    assert resources_of(jar) == {name: content for name, content in RELEASE.items() if name != CLIENT}


def test_classes_are_found_by_their_entry_names(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "B.class").write_bytes(b"b")
    (tmp_path / "a" / "B.txt").write_bytes(b"no")
    assert classes_in(tmp_path) == {"a/B.class": b"b"}


def test_a_build_holds_new_classes_and_the_releases_resources(bench, release, sources):
    made = build_series(bench, tools(release, sources), "patched", sources, None)
    with zipfile.ZipFile(bench.directory.path / made.jar) as jar:
        content = {name: jar.read(name) for name in jar.namelist()}
    assert content == {
        **RELEASE,
        CLIENT: b"class KafkaRaftClient {}\n",
        "org/apache/kafka/raft/generated/Data.class": b"class Data {}\n",
    }
    assert (made.jar, made.builder, made.series) == ("builds/patched/kafka-raft-3.9.1.jar", "compiler 1", ())
    assert made.note == "released sources of kafka-raft 3.9.1; mind this"


@pytest.fixture
def checkout(sources, tmp_path):
    """Return a repository with the tag `mine`, as a clone of Kafka: it has no generated classes."""
    tree = sources.checkout(tmp_path / "kafka")
    for folder in (".git", "raft/src/generated"):
        shutil.rmtree(tree.path / folder)
    (tree.path / "gradle.properties").write_text("version=3.9.1\n")
    repository = create_repository(tree.path)
    commit_all(repository, "as in a checkout of Kafka")
    repository.git.tag("mine")
    return tree.path


def said_on_the_page_of(build: Build) -> str:
    """Return what the report's page says was tested, where a build is the candidate."""
    arms = (sample_run.ARMS[0], Arm("patched-on", Role.ON, build, "absent"))
    page = render_html(decide(replace(sample_run.declaration(), arms=arms), [], None), {})
    (section,) = re.findall('<section id="tested".*?</section>', page, re.DOTALL)
    return html.unescape(re.sub("<[^>]+>", "", section))


def test_the_page_says_of_a_build_whether_its_sources_are_the_released_ones_or_a_ref_of_which_repository(
    bench, release, sources, checkout
):
    chain = tools(release, sources)
    released, from_git = (
        build_series(bench, chain, name, source_of(git, chain), None)
        for name, git in (("patched", ""), ("git", f"{checkout}@mine"))
    )
    assert "released sources of kafka-raft 3.9.1" in said_on_the_page_of(released)
    assert f"mine of {checkout}" in said_on_the_page_of(from_git)
    assert "released sources" not in said_on_the_page_of(from_git)


def test_a_build_leaves_a_record_that_reads_back(bench, release, sources):
    made = build_series(bench, tools(release, sources), "patched", sources, None)
    folder = bench.directory.path / "builds" / "patched"
    assert from_json(Build, (folder / "build.json").read_text()) == made
    kept = ["build.json", "build.log", "kafka-raft-3.9.1.jar", "sources"]
    assert sorted(path.name for path in folder.iterdir()) == kept
    assert "compile 'a file'" in (folder / "build.log").read_text()


def test_a_build_keeps_the_patched_java_sources_and_nothing_else_of_the_tree(bench, release, sources):
    build_series(bench, tools(release, sources), "patched", sources, None)
    kept = bench.directory.path / "builds" / "patched" / "sources"
    files = [path.relative_to(kept).as_posix() for path in kept.rglob("*") if path.is_file()]
    assert files == ["raft/src/main/java/org/apache/kafka/raft/KafkaRaftClient.java"]


def test_sources_that_are_no_kafka_checkout_are_named(tmp_path):
    with pytest.raises(HarnessError, match="has no raft/src/main/java"):
        keep_sources(tmp_path, BuildFolder(tmp_path / "kept"))


def test_the_same_sources_give_the_same_jar(bench, release, sources):
    digests = {build_series(bench, tools(release, sources), name, sources, None).jar_sha256 for name in ("one", "two")}
    assert len(digests) == 1


def test_a_patched_build_names_its_patches(bench, release, sources, tmp_path):
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "series").write_text("0001.patch\n")
    (folder / "0001.patch").write_text(
        "Description: more\n---\n--- /dev/null\n+++ b/raft/src/main/java/New.java\n@@ -0,0 +1 @@\n+class New {}\n"
    )
    made = build_series(bench, tools(release, sources), "patched", sources, load_series(folder))
    assert made.series == ("0001.patch",)
    assert "applied 0001.patch: more" in (bench.directory.path / "builds/patched/build.log").read_text()
    with zipfile.ZipFile(bench.directory.path / made.jar) as jar:
        assert "New.class" in jar.namelist()


def test_a_compile_error_names_the_first_errors_and_the_log(bench, release, sources):
    output = "raft/A.java:7: error: no such thing\n  x\nraft/B.java:9: error: nor that\n"
    with pytest.raises(HarnessError) as caught:
        build_series(bench, tools(release, sources, output), "patched", sources, None)
    log = bench.directory.path / "builds" / "patched" / "build.log"
    assert "raft/A.java:7: error: no such thing\nraft/B.java:9: error: nor that" in caught.value.message
    assert str(log) in caught.value.hint
    assert output in log.read_text()
    assert not log.with_name("build.json").exists()


class Elsewhere:
    """A source that is another version, or whose schema differs."""

    def __init__(self, version: str, schema: str) -> None:
        self.version, self.schema = version, schema

    def checkout(self, into: Path) -> SourceTree:
        for place, text in {
            "raft/src/main/resources/common/message/QuorumStateData.json": self.schema,
            "raft/src/main/java/A.java": "class A {}\n",
        }.items():
            (into / place).parent.mkdir(parents=True, exist_ok=True)
            (into / place).write_text(text)
        return SourceTree(into, self.version, "c0ffee", "a checkout")


def test_the_remedy_for_bases_sources_of_another_line_names_bases_release(bench, release, sources):
    chain = replace(tools(release, sources), kafka_option="--base-kafka")
    with pytest.raises(HarnessError, match=r"that they are built for: --base-kafka 4\.2\.1\."):
        build_series(bench, chain, "x", Elsewhere("4.2.2-SNAPSHOT", "{}\n"), None)


@pytest.mark.parametrize(
    ("version", "remedy"),
    [
        ("3.8.0", r"Choose sources of 3\.9\.1's line: no release of theirs is locked"),
        ("4.2.2-SNAPSHOT", r"Name the release of their line that they are built for: --kafka 4\.2\.1\."),
    ],
)
def test_sources_of_another_line_than_the_class_path_are_refused_with_what_can_be_done(
    bench, release, sources, version, remedy
):
    with pytest.raises(HarnessError) as caught:
        build_series(bench, tools(release, sources), "x", Elsewhere(version, "{}\n"), None)
    assert caught.value.message == f"The sources (a checkout) are Kafka {version}, but the class path is 3.9.1."
    assert re.match(remedy, caught.value.hint)


@pytest.mark.parametrize(
    ("version", "note"),
    [
        ("3.9.3-SNAPSHOT", "is of Kafka 3.9.3-SNAPSHOT, the nodes run 3.9.1: another release of the same line"),
        ("3.9.1-acme", "calls itself 3.9.1-acme, which is a build of Kafka 3.9.1"),
    ],
)
def test_sources_of_a_branch_are_built_against_a_release_of_its_line_and_the_build_says_so(
    bench, release, sources, version, note
):
    made = build_series(bench, tools(release, sources), "x", Elsewhere(version, "{}\n"), None)
    assert made.note == f"a checkout; the checkout {note}; mind this"


def test_a_checkout_without_generated_classes_gets_the_released_ones(bench, release, sources):
    made = build_series(bench, tools(release, sources), "x", Elsewhere("3.9.1", "{}\n"), None)
    with zipfile.ZipFile(bench.directory.path / made.jar) as jar:
        assert {"A.class", "org/apache/kafka/raft/generated/Data.class"} <= set(jar.namelist())


def test_a_changed_schema_needs_kafkas_own_build(bench, release, sources):
    with pytest.raises(HarnessError, match=r"change common/message/QuorumStateData\.json.*Gradle.*--jar"):
        build_series(bench, tools(release, sources), "x", Elsewhere("3.9.1", '{"new": 1}\n'), None)


def test_an_added_resource_counts_as_changed(tmp_path):
    (tmp_path / "raft/src/main/resources").mkdir(parents=True)
    (tmp_path / "raft/src/main/resources/New.json").write_text("{}")
    assert changed_resources(tmp_path, {}) == ["New.json"]


def test_source_files_are_listed_in_one_order(tmp_path):
    for name in ("raft/src/main/java/b/B.java", "raft/src/main/java/A.java", "raft/src/test/java/T.java"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert source_files(tmp_path) == ["raft/src/main/java/A.java", "raft/src/main/java/b/B.java"]


def test_the_release_is_taken_as_it_is(bench, release):
    made = release_build(bench, "stock", release)
    assert (bench.directory.path / made.jar).read_bytes() == release.raft_jar.read_bytes()
    assert (made.builder, made.flag) == ("release", Flag("some.key", False))


def test_a_given_jar_is_copied_and_kept(bench, release, tmp_path):
    path = jar_of(tmp_path / "mine.jar", {**RELEASE, CLIENT: b"mine"})
    made = given_jar(bench, "jar", path, release)
    assert (bench.directory.path / made.jar).read_bytes() == path.read_bytes()
    assert (made.jar, made.builder, made.note) == ("builds/jar/kafka-raft-3.9.1.jar", "given", "given: mine.jar")


def without(name: str) -> dict[str, bytes]:
    return {entry: content for entry, content in RELEASE.items() if entry != name}


def test_a_given_jar_of_thousands_of_classes_is_refused(tmp_path):
    path = jar_of(tmp_path / "mine.jar", {**RELEASE, **{f"a/C{number}.class": b"" for number in range(3000)}})
    with pytest.raises(HarnessError, match=r"has 300\d classes, far more than a raft jar"):
        check_raft_jar(path, "3.9.1")


def test_a_given_jar_without_the_raft_client_is_refused(tmp_path):
    with pytest.raises(HarnessError, match="is not a raft jar"):
        check_raft_jar(jar_of(tmp_path / "a.jar", without(CLIENT)), "3.9.1")


def test_a_given_jar_of_another_version_is_refused(tmp_path):
    with pytest.raises(HarnessError, match=r"is of Kafka 3\.9\.1, but the nodes run Kafka 3\.8\.0"):
        check_raft_jar(jar_of(tmp_path / "a.jar", RELEASE), "3.8.0")


def test_a_jar_of_another_line_than_the_kafka_that_was_named_leads_to_neither_release(tmp_path):
    with pytest.raises(HarnessError) as told:
        check_raft_jar(jar_of(tmp_path / "a.jar", RELEASE), "4.3.1", tmp_path)
    assert "--kafka" not in told.value.hint
    assert "name a Kafka of that line in place of this one, or another jar" in told.value.hint


def test_a_given_jar_without_a_version_file_is_known_by_its_name(tmp_path):
    entries = without("kafka/kafka-version.properties")
    check_raft_jar(jar_of(tmp_path / "kafka-raft-3.9.1.jar", entries), "3.9.1")
    with pytest.raises(HarnessError, match="names its Kafka version neither inside nor in its file name"):
        check_raft_jar(jar_of(tmp_path / "mine.jar", entries), "3.9.1")


@pytest.mark.parametrize("version", ["3.9.1-p1", "3.9.1.redhat-00003", "3.9.1-ccs", "3.9.1-SNAPSHOT", "3.9.1+acme.2"])
def test_a_vendors_build_of_the_release_is_a_jar_of_this_version_wherever_it_says_so(tmp_path, version):
    text = f"version={version}\n".encode()
    manifest = f"Manifest-Version: 1.0\r\nImplementation-Version: {version}\r\n\r\n".encode()
    unnamed = without("kafka/kafka-version.properties")
    jars = (
        jar_of(tmp_path / "inside.jar", {**RELEASE, "kafka/kafka-version.properties": text}),
        jar_of(tmp_path / "manifest.jar", {**unnamed, "META-INF/MANIFEST.MF": manifest}),
        jar_of(tmp_path / f"kafka-raft-{version}.jar", unnamed),
    )
    for jar in jars:
        check_raft_jar(jar, "3.9.1")
        assert version_note(jar, "3.9.1") == f"the jar calls itself {version}, which is a build of Kafka 3.9.1"
        assert other_release(jar, "3.9.1") == ""


def test_a_jar_of_another_release_of_the_line_is_taken_and_noted_in_its_build(bench, release, tmp_path):
    path = jar_of(tmp_path / "mine.jar", {**RELEASE, "kafka/kafka-version.properties": b"version=3.9.2-p1\n"})
    check_raft_jar(path, "3.9.1")
    assert other_release(path, "3.9.1") == "3.9.2"
    made = given_jar(bench, "jar", path, release)
    assert (made.jar, made.kafka_version) == ("builds/jar/kafka-raft-3.9.2-p1.jar", "3.9.1")
    assert made.note == (
        "given: mine.jar; the jar is of Kafka 3.9.2-p1, the nodes run 3.9.1: another release of the same line"
    )


@pytest.mark.parametrize("version", ["4.0.0", "3.10.1", "3.8.1", "7.9.1-ccs", "3.91.1", "13.9.1"])
def test_a_jar_of_another_line_is_refused_whoever_made_it(tmp_path, version):
    path = jar_of(tmp_path / "a.jar", {**RELEASE, "kafka/kafka-version.properties": f"version={version}".encode()})
    with pytest.raises(HarnessError, match=rf"is of Kafka {re.escape(version)}, but the nodes run Kafka 3\.9\.1"):
        check_raft_jar(path, "3.9.1")


def test_a_version_that_is_none_gives_way_to_the_files_name(tmp_path):
    entries = {**RELEASE, "kafka/kafka-version.properties": b"version=unknown\n"}
    check_raft_jar(jar_of(tmp_path / "kafka-raft-3.9.1.jar", entries), "3.9.1")


def test_the_control_of_an_unpacked_vendors_build_is_of_its_release(bench, release):
    assert release_build(bench, "base", replace(release, version="3.9.1-acme")).kafka_version == "3.9.1"


@pytest.mark.parametrize("keep", [0, 10, 200, -30])
def test_a_truncated_jar_is_refused(tmp_path, keep):
    path = jar_of(tmp_path / "a.jar", RELEASE)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(HarnessError, match="is not a jar"):
        check_raft_jar(path, "3.9.1")


def test_a_jar_with_a_damaged_class_is_refused(tmp_path):
    path = jar_of(tmp_path / "a.jar", RELEASE)
    path.write_bytes(path.read_bytes().replace(b"as released", b"as releaseD"))
    with pytest.raises(HarnessError, match=f"damaged at {CLIENT}"):
        check_raft_jar(path, "3.9.1")


def test_a_folder_or_nothing_is_no_jar(tmp_path):
    for path, why in ((tmp_path, "is a folder"), (tmp_path / "gone.jar", "does not exist")):
        with pytest.raises(HarnessError, match=why):
            check_raft_jar(path, "3.9.1")


def jdk(folder: Path, *programs: str) -> Path:
    """A Java home whose programs do nothing and succeed."""
    for name in programs:
        program = folder / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\nexit 0\n")
        program.chmod(0o755)
    (folder / "release").write_text('JAVA_VERSION="17.0.15"\n')
    return folder


def host_of(tmp_path: Path, java_home: Path | None = None) -> BuildHost:
    """A host whose toolbox has ecj in its cache and no network."""
    return BuildHost(Toolbox(tmp_path / "cache", tmp_path / "runtime", True, java_home), 8, lambda _: None)


def test_a_jdk_that_was_named_goes_before_those_of_the_environment(tmp_path, monkeypatch):
    homes = [jdk(tmp_path / name, "java", "javac") for name in ("named", "home", "path")]
    monkeypatch.setenv("JAVA_HOME", str(homes[1]))
    monkeypatch.setenv("PATH", str(homes[2] / "bin"))
    assert list(jdk_homes(homes[0])) == homes
    assert list(jdk_homes(None)) == homes[1:]


def test_a_runtime_without_a_compiler_is_no_jdk(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(jdk(tmp_path / "jre", "java")))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert list(jdk_homes(None)) == []


@pytest.fixture
def no_jdk(tmp_path, monkeypatch):
    """No JDK, and no container engine."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")


@pytest.mark.usefixtures("no_jdk")
def test_auto_takes_a_javac_that_compiles(tmp_path):
    home = jdk(tmp_path / "jdk", "java", "javac")
    host = host_of(tmp_path, home)
    with ExitStack() as held:
        assert open_builder("auto", host, held) == Javac(JavaRuntime(home, "17.0.15"))
    assert host_compiler("auto", host) == host_compiler("gradle-full", host) == Javac(JavaRuntime(home, "17.0.15"))


@pytest.mark.usefixtures("no_jdk")
def test_auto_falls_back_to_ecj_where_javac_does_not_work(tmp_path, monkeypatch):
    home = jdk(tmp_path / "jdk", "java", "javac")
    (home / "bin" / "javac").write_text("#!/bin/sh\nexit 1\n")
    monkeypatch.setenv("PATH", str(home / "bin"))
    there = Ecj(tmp_path / "ecj-3.46.100.jar", RUNTIME)
    monkeypatch.setattr("harness.building.builders.ecj.ecj_of", lambda _: there)
    chosen = host_compiler("auto", host_of(tmp_path))
    assert chosen == there
    assert compilers_at_hand(host_of(tmp_path)) == (there,)
    assert chosen.label == "ecj 3.46.100 on Java 21.0.8"
    assert "differ from javac's" in chosen.note
    with pytest.raises(HarnessError, match=f"do not compile for Java 8: {home}.*--builder ecj"):
        host_compiler("javac", host_of(tmp_path))


@pytest.mark.usefixtures("no_jdk")
def test_javac_is_missed_where_there_is_none(tmp_path):
    with pytest.raises(HarnessError, match="No JDK was found"):
        host_compiler("javac", host_of(tmp_path))


def test_an_unknown_builder_is_answered_with_the_known_ones(tmp_path):
    with pytest.raises(HarnessError, match=r"named 'maven'.*auto, ecj, gradle-container, gradle-full, javac"):
        host_compiler("maven", host_of(tmp_path))


@pytest.mark.usefixtures("no_jdk")
def test_a_builder_that_fails_is_named_before_another_is_taken_and_one_that_is_absent_is_not(tmp_path, monkeypatch):
    def broken(_host, _held):
        raise HarnessError("The image is gone.")

    said = []
    monkeypatch.setattr("harness.building.builders.ecj.ecj_of", lambda _: Ecj(tmp_path / "ecj-1.jar", RUNTIME))
    kinds = {"first": BuilderKind("first", broken, 0, in_container=True), **builders()}
    monkeypatch.setattr(base, "builders", lambda: kinds)
    with ExitStack() as held:
        open_builder("auto", replace(host_of(tmp_path), report=said.append), held)
    assert said == ["not built by first: The image is gone."]


def test_a_compiler_that_is_not_there_is_a_failed_compilation(tmp_path):
    made = Javac(JavaRuntime(tmp_path, "17")).compile(tmp_path, ["A.java"], (), tmp_path / "out", 8)
    assert not made.succeeded
    assert "does not start" in made.output


def test_the_jvm_of_a_compiler_does_not_compile_itself_for_longer_than_it_runs(tmp_path):
    javac, ecj = Javac(RUNTIME), Ecj(tmp_path / "ecj-1.jar", RUNTIME)
    commands = [each.compile(tmp_path, [], (), tmp_path / "out", 8).command for each in (javac, ecj)]
    assert [command[1:4] for command in commands] == [tuple(f"-J{option}" for option in QUICK), QUICK]


def test_a_compiler_that_hangs_is_a_failed_compilation(tmp_path, monkeypatch):
    home = jdk(tmp_path / "jdk", "java", "javac")
    (home / "bin" / "javac").write_text("#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setattr(compiling, "_TIMEOUT_SECONDS", 0.05)
    made = Javac(JavaRuntime(home, "17")).compile(tmp_path, ["A.java"], (), tmp_path / "out", 8)
    assert (made.succeeded, "did not end" in made.output) == (False, True)


def test_output_without_a_recognised_error_is_shown_from_its_end():
    assert first_errors("x" * 600 + "the reason") == "x" * 490 + "the reason"


def test_the_probes_answer_is_found_behind_what_a_jar_prints_itself():
    answer = 'hello [world]\n[{"name": "k", "type": "INT", "default": "1", "importance": "LOW"}]\n'
    assert [key.name for key in parse_keys(answer, Path("a.jar"))] == ["k"]
    with pytest.raises(HarnessError, match=r"configuration of a\.jar cannot be read"):
        parse_keys("hello", Path("a.jar"))


def test_the_innermost_cause_of_a_stack_trace_is_what_is_reported():
    trace = 'Exception in thread "main" java.lang.Error: a\n\tat x\nCaused by: java.lang.Error: b\n\tat y\n'
    assert failure_in(trace) == "java.lang.Error: b"
    assert failure_in("") == "it said nothing"


def test_what_a_jar_says_cannot_act_on_the_terminal(tmp_path):
    assert failure_in("Error: \x1b[2Jgone \u202eback") == "Error: \\x1b[2Jgone \\u202eback"
    path = jar_of(tmp_path / "a.jar", {**RELEASE, "x\x1b[31m\u202e": b"as it was"})
    path.write_bytes(path.read_bytes().replace(b"as it was", b"as it waS"))
    with pytest.raises(HarnessError) as caught:
        check_raft_jar(path, "3.9.1")
    assert r"damaged at x\x1b[31m\u202e" in str(caught.value)
    assert not set("\x1b\u202e") & set(str(caught.value))


def test_a_probe_that_two_harnesses_compile_at_once_is_there_for_both(tmp_path):
    class Probing(Compiler):
        """A compiler that is overtaken by another harness while it works."""

        def compile(
            self, root: Path, sources: Sequence[str], class_path: Sequence[Path], out: Path, target: int
        ) -> Compilation:
            for folder in (out, tmp_path / "probes" / out.name):
                folder.mkdir(parents=True)
                (folder / "ConfigProbe.class").write_bytes(b"a class")
            return Compilation(True, (), "")

    probe = prepare_probe(Probing(), RUNTIME, (), tmp_path)
    assert (probe.classes / "ConfigProbe.class").is_file()
    assert [path.name for path in (tmp_path / "probes").iterdir()] == [probe.classes.name]


def test_a_raft_jar_without_a_configuration_class_declares_no_key(tmp_path):
    jar = tmp_path / "kafka-raft-2.8.2.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("org/apache/kafka/raft/RaftConfig.class", b"")
    assert read_keys(Probe(tmp_path, RUNTIME), jar, ()) == ()
