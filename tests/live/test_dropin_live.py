"""The drop-in proof on real jars: sound ones pass, and every way of breaking one is caught by its rule."""

import shutil
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from harness.audit.claims_file import load_claims
from harness.base.errors import HarnessError
from harness.base.paths import data_root
from harness.building.build_comparison import unpatched_jar
from harness.building.builders.base import BuildHost, compilers_at_hand
from harness.building.builders.ecj import Ecj, ecj_of
from harness.building.compiling import Builder
from harness.building.jars import classes_in, resources_of, write_jar
from harness.building.raft_builds import source_files
from harness.kafka.distribution import Distribution, distribution_of
from harness.kafka.lock import read_lock
from harness.kafka.maven import MavenSources
from harness.kafka.patching import apply_series, load_series
from harness.model.proof import Severity
from harness.proof.bytecode import read_classes, read_statements
from harness.proof.dropin import BaselineJar, DropIn, ProofTools, Subject, named_classes, prepare_tools, prove_dropin
from harness.proof.dropin.rules import ALL
from harness.rundir.directory import RunDirectory
from harness.toolbox.downloads import Downloads
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox

pytestmark = pytest.mark.live

VERSION = "3.9.1"
SERIES = data_root() / "patches" / VERSION / "dynamic-bootstrap"
RAFT = "org/apache/kafka/raft"
QUEUE = "internals/BlockingMessageQueue.java"
SIX_ARGUMENTS = """    public QuorumConfig(
        int requestTimeoutMs,
        int retryBackoffMs,
        int electionTimeoutMs,
        int electionBackoffMaxMs,
        int fetchTimeoutMs,
        int appendLingerMs
    ) {"""
ELECTION_THEN_BACKOFF = """            abstractConfig.getInt(QUORUM_ELECTION_TIMEOUT_MS_CONFIG),
            abstractConfig.getInt(QUORUM_ELECTION_BACKOFF_MAX_MS_CONFIG),
"""

# What is edited in the patched sources (file, old, new), and the failing rules that must tell; no other may.
FORMATTED = "Nobody answers since {} ms, {}% of {}"

EDITS: Mapping[str, tuple[str, str, str, set[str]]] = {
    "the six-argument constructor is removed": (
        "QuorumConfig.java",
        SIX_ARGUMENTS,
        SIX_ARGUMENTS.replace("    public QuorumConfig(\n", "    private QuorumConfig(\n"),
        {"member-removed", "api-binary"},
    ),
    "the flag is off by default": (
        "QuorumConfig.java",
        "DEFAULT_QUORUM_DYNAMIC_BOOTSTRAP_SERVERS_ENABLE = true",
        "DEFAULT_QUORUM_DYNAMIC_BOOTSTRAP_SERVERS_ENABLE = false",
        {"default-changed"},
    ),
    "another default is changed": (
        "QuorumConfig.java",
        "DEFAULT_QUORUM_FETCH_TIMEOUT_MS = 2_000",
        "DEFAULT_QUORUM_FETCH_TIMEOUT_MS = 3_000",
        {"default-changed", "constant-changed"},
    ),
    "a validator is dropped": (
        "QuorumConfig.java",
        "DEFAULT_QUORUM_REQUEST_TIMEOUT_MS, null, MEDIUM",
        "DEFAULT_QUORUM_REQUEST_TIMEOUT_MS, ConfigDef.Range.atLeast(1), MEDIUM",
        {"config-changed"},
    ),
    "two keys with equal defaults are swapped": (
        "QuorumConfig.java",
        ELECTION_THEN_BACKOFF,
        "".join(reversed(ELECTION_THEN_BACKOFF.splitlines(keepends=True))),
        {"config-read-otherwise"},
    ),
    "a key is ignored": (
        "QuorumConfig.java",
        "abstractConfig.getInt(QUORUM_LINGER_MS_CONFIG)",
        "DEFAULT_QUORUM_LINGER_MS",
        {"config-read-otherwise"},
    ),
    "a validator that describes itself alike refuses IPv6": (
        "QuorumConfig.java",
        "port = Utils.getPort(bootstrapServer);",
        'port = bootstrapServer.startsWith("[") ? null : Utils.getPort(bootstrapServer);',
        {"config-changed"},
    ),
    "a key is described in other words": (
        "QuorumConfig.java",
        '_DOC = "Map of id/endpoint',
        '_DOC = "A map of id/endpoint',
        set(),
    ),
    "an unnamed class calls less": (QUEUE, "        size.incrementAndGet();\n", "", {"unnamed-class-calls"}),
    "a file is not synced": (
        "FileQuorumStateStore.java",
        "fileOutputStream.getFD().sync();",
        "",
        {"unnamed-class-calls", "no-longer-durable"},
    ),
    "an unnamed class declares more": (
        QUEUE,
        "    @Override\n    public void wakeup()",
        "    public int size() {\n        return size.get();\n    }\n\n    @Override\n    public void wakeup()",
        {"unnamed-class-api"},
    ),
    "an anonymous class gets a name that is private": (
        QUEUE,
        "WAKEUP_MESSAGE = new RaftMessage() {",
        "WAKEUP_MESSAGE = new Wakeup();\n    private static final class Wakeup implements RaftMessage {",
        {"unnamed-class-calls"},
    ),
    "an unnamed class only computes otherwise": (QUEUE, "size.get() == 0", "size.get() <= 0", {"unnamed-class-code"}),
    "a type that another jar implements gets an abstract method": (
        "ReplicatedLog.java",
        "    int lastFetchedEpoch();\n",
        "    int lastFetchedEpoch();\n\n    int fetchedEpochs();\n",
        {"unnamed-class-api", "linkage-broken"},
    ),
    "a type that another jar implements gets a default method": (
        "ReplicatedLog.java",
        "    int lastFetchedEpoch();\n",
        "    int lastFetchedEpoch();\n\n    default int fetchedEpochs() {\n        return 0;\n    }\n",
        {"unnamed-class-api"},
    ),
    "a generated message class is changed": (
        "generated/QuorumStateData.java",
        "this.leaderId = -1;",
        "this.leaderId = 0;",
        {"generated-changed"},
    ),
}


@pytest.fixture(scope="module")
def downloads(toolbox: Toolbox) -> Downloads:
    return toolbox.downloads


@pytest.fixture(scope="module")
def sources(downloads: Downloads) -> MavenSources:
    return MavenSources(VERSION, downloads.fetch(read_lock(VERSION).one(Purpose.SOURCES)))


@pytest.fixture(scope="module")
def ecj(toolbox: Toolbox) -> Ecj:
    return ecj_of(toolbox)


@pytest.fixture(scope="module")
def builders(toolbox: Toolbox) -> list[Builder]:
    return [*reversed(compilers_at_hand(BuildHost(toolbox, 8, lambda _: None)))]


@pytest.fixture(scope="module")
def tools(ecj: Ecj, toolbox: Toolbox, kafka: Distribution) -> ProofTools:
    return prepare_tools(ecj, toolbox, kafka)


@pytest.fixture(scope="module")
def subject(toolbox: Toolbox, builders: list[Builder], kafka: Distribution, sources: MavenSources) -> Subject:
    claims = load_claims(SERIES / "claims.toml")
    made = ((each.label, unpatched_jar(each, kafka, sources.jar, 8, toolbox.cache)) for each in builders)
    baselines = tuple(BaselineJar(label, jar) for label, jar in made)
    return Subject(named_classes(load_series(SERIES)), claims.flag, claims.flag_default, baselines)


@pytest.fixture(scope="module")
def tree(sources: MavenSources, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return apply_series(sources.checkout(tmp_path_factory.mktemp("patched") / "tree"), load_series(SERIES)).path


@pytest.fixture(scope="module")
def patched(ecj: Ecj, tree: Path, kafka: Distribution, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ecj, tree, kafka, tmp_path_factory.mktemp("sound"))


def build(builder: Builder, tree: Path, kafka: Distribution, folder: Path) -> Path:
    made = builder.compile(tree, source_files(tree), kafka.others, folder / "classes", 8)
    assert made.succeeded, made.output
    jar = folder / f"kafka-raft-{VERSION}.jar"
    write_jar({**resources_of(kafka.raft_jar), **classes_in(folder / "classes")}, jar)
    return jar


def compiled(
    builder: Builder, texts: Mapping[str, str], kafka: Distribution, folder: Path, target: int = 8
) -> dict[str, bytes]:
    """Return the classes of a few sources, as entries of a jar."""
    for name, text in texts.items():
        path = folder / "sources" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    made = builder.compile(folder / "sources", [*texts], kafka.jars, folder / "made", target)
    assert made.succeeded, made.output
    return classes_in(folder / "made")


def entries_of(jar: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(jar) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(jar: Path, folder: Path, change: Callable[[dict[str, bytes]], object]) -> Path:
    entries = entries_of(jar)
    change(entries)
    made = folder / f"kafka-raft-{VERSION}.jar"
    write_jar(entries, made)
    return made


def failing(proved: DropIn) -> set[str]:
    return {each.rule for each in proved.differences if each.blocks}


def rules_of(proved: DropIn, severity: Severity) -> set[str]:
    return {each.rule for each in proved.differences if each.severity is severity}


@pytest.mark.parametrize("compiler", ["ecj", "javac"])
def test_a_sound_patched_jar_gives_notes_alone(compiler, builders, tree, kafka, tools, subject, tmp_path):
    builder = next((each for each in builders if each.label.startswith(compiler)), None)
    if builder is None:
        pytest.skip(f"this host has no {compiler}")
    proved = prove_dropin(tools, kafka.raft_jar, build(builder, tree, kafka, tmp_path), subject)
    warned = {"newer-java"} if compiler == "ecj" else set()  # it has no class library of Java 8
    assert failing(proved) == set(), proved.differences
    assert rules_of(proved, Severity.WARNING) == warned, proved.differences
    assert rules_of(proved, Severity.NOTE) == {"named-class-changed", "config-added"}
    assert proved.looked_at == tuple(rule.name for rule in ALL)
    assert builder.label in proved.notes[0]


def test_base_differs_in_nothing_from_itself(kafka, tools):
    assert prove_dropin(tools, kafka.raft_jar, kafka.raft_jar, Subject()).differences == ()


def test_without_a_baseline_from_its_own_compiler_a_javac_jar_gives_warnings_and_does_not_fail(
    builders, tree, kafka, tools, subject, tmp_path
):
    if len(builders) < 2:
        pytest.skip("this host has no javac")
    jar = build(builders[1], tree, kafka, tmp_path)
    proved = prove_dropin(tools, kafka.raft_jar, jar, replace(subject, baselines=()))
    assert failing(proved) == set(), proved.differences
    assert "unnamed-class-code" in rules_of(proved, Severity.WARNING)


def test_the_methods_that_a_javac_jar_changes_are_named_with_and_without_a_baseline_of_its_compiler(
    builders, tree, kafka, tools, subject, tmp_path
):
    if len(builders) < 2:
        pytest.skip("this host has no javac")
    jar = build(builders[1], tree, kafka, tmp_path)
    known, unknown = (
        prove_dropin(tools, kafka.raft_jar, jar, replace(subject, baselines=baselines))
        for baselines in (subject.baselines, ())
    )
    assert known.changed_methods == unknown.changed_methods != ()
    assert "no baseline was compiled by the candidate's compiler" in unknown.notes[1]


def test_where_no_class_may_change_every_change_of_an_api_fails(patched, kafka, tools, subject):
    proved = prove_dropin(tools, kafka.raft_jar, patched, replace(subject, named=frozenset()))
    assert failing(proved) == {"unnamed-class-api", "unnamed-class-calls"}


def test_where_nothing_says_which_classes_may_change_the_sound_jar_passes_and_its_changes_are_described(
    patched, kafka, tools, subject
):
    proved = prove_dropin(tools, kafka.raft_jar, patched, replace(subject, named=None))
    assert failing(proved) == set(), proved.differences
    assert rules_of(proved, Severity.WARNING) == {"newer-java"}, proved.differences
    described = {each.where: each.detail for each in proved.differences}
    assert "methods added updateBootstrapServers" in described["org.apache.kafka.raft.RequestManager"]
    changed = "methods changed appendAsFollower, appendAsLeader, handleFetchSnapshotResponse;"
    assert changed in described["org.apache.kafka.raft.KafkaRaftClient"], "one more lambda renumbers others, no more"


@pytest.mark.parametrize("edit", EDITS, ids=lambda name: name.replace(" ", "-"))
def test_an_edit_of_the_sources_is_caught_by_its_rule(edit, ecj, tree, kafka, tools, subject, tmp_path):
    file, old, new, expected = EDITS[edit]
    shutil.copytree(tree, tmp_path / "tree", ignore=shutil.ignore_patterns(".git"))
    path = next((tmp_path / "tree/raft/src").glob(f"*/java/{RAFT}/{file}"))
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    proved = prove_dropin(tools, kafka.raft_jar, build(ecj, tmp_path / "tree", kafka, tmp_path), subject)
    assert failing(proved) == expected, proved.differences


def test_an_error_that_is_formatted_is_known_by_its_own_words(ecj, tree, kafka, tools, subject, tmp_path):
    shutil.copytree(tree, tmp_path / "tree", ignore=shutil.ignore_patterns(".git"))
    path = tmp_path / f"tree/raft/src/main/java/{RAFT}/KafkaRaftClient.java"
    old = 'logger.info("Become candidate due to fetch timeout");'
    assert path.read_text().count(old) == 1
    new = 'logger.error(String.format("Nobody answers since %d ms, %5.1f%% of %s", 1L, 2.0, "it"));'
    path.write_text(path.read_text().replace(old, f"{old} {new}"))
    proved = prove_dropin(tools, kafka.raft_jar, build(ecj, tmp_path / "tree", kafka, tmp_path), subject)
    (added,) = [each for each in proved.differences if each.rule == "log-error-added"]
    assert (added.where, added.candidate) == (f"{RAFT.replace('/', '.')}.KafkaRaftClient", FORMATTED)


def test_a_class_that_other_jars_use_is_missed_by_name_and_by_them(patched, kafka, tools, subject, tmp_path):
    jar = rewritten(patched, tmp_path, lambda entries: entries.pop(f"{RAFT}/Batch.class"))
    proved = prove_dropin(tools, kafka.raft_jar, jar, subject)
    assert {"class-missing", "linkage-broken", "api-binary", "reference-unresolved"} <= failing(proved)
    broken = [each.detail for each in proved.differences if each.rule == "linkage-broken"]
    assert any("of kafka-metadata-3.9.1.jar uses org.apache.kafka.raft.Batch" in says for says in broken)


def test_a_jar_for_java_21_is_caught_and_the_java_named(patched, kafka, tools, subject, tmp_path):
    def for_java_21(entries: dict[str, bytes]) -> None:
        for name in filter(lambda name: name.endswith(".class"), entries):
            entries[name] = entries[name][:6] + struct.pack(">H", 65) + entries[name][8:]

    proved = prove_dropin(tools, kafka.raft_jar, rewritten(patched, tmp_path, for_java_21), subject)
    assert failing(proved) == {"bytecode-level"}
    assert "compiled for Java 21, base's for Java 8 at most" in proved.differences[0].detail


def test_a_jar_for_a_java_that_nobody_has_is_a_difference_and_no_crash(patched, kafka, tools, subject, tmp_path):
    def for_java_25(entries: dict[str, bytes]) -> None:
        name = f"{RAFT}/QuorumConfig.class"
        entries[name] = entries[name][:6] + struct.pack(">H", 69) + entries[name][8:]

    proved = prove_dropin(tools, kafka.raft_jar, rewritten(patched, tmp_path, for_java_25), subject)
    assert {"bytecode-level", "config-unreadable", "loading-broken"} <= failing(proved)


def test_a_class_that_calls_what_its_neighbour_lacks_is_caught(patched, kafka, tools, subject, tmp_path):
    name = f"{RAFT}/QuorumConfig.class"
    jar = rewritten(patched, tmp_path, lambda entries: entries.update({name: entries_of(kafka.raft_jar)[name]}))
    proved = prove_dropin(tools, kafka.raft_jar, jar, subject)
    unresolved = [each.where for each in proved.differences if each.rule == "reference-unresolved"]
    assert "org.apache.kafka.raft.QuorumConfig.dynamicBootstrapServersEnabled()Z" in unresolved


def test_a_class_that_another_jar_has_is_caught_whatever_it_does(kafka, tools, tmp_path):
    name = "org/apache/kafka/server/fault/ProcessTerminatingFaultHandler.class"
    owner = next(jar for jar in kafka.others if jar.name.startswith("kafka-server-common-"))
    jar = rewritten(kafka.raft_jar, tmp_path, lambda entries: entries.update({name: entries_of(owner)[name]}))
    proved = prove_dropin(tools, kafka.raft_jar, jar, Subject())
    (hides,) = [each for each in proved.differences if each.rule == "class-hides"]
    assert hides.blocks
    assert f"ProcessTerminatingFaultHandler of {owner.name} is in this jar too" in hides.detail


def test_a_default_and_a_key_of_any_class_with_a_configuration_are_watched(ecj, toolbox, tmp_path):
    newest = distribution_of(None, "4.3.1", toolbox)
    source = toolbox.downloads.fetch(read_lock("4.3.1").one(Purpose.SOURCES))
    log_dir = "            .define(METADATA_LOG_DIR_CONFIG, STRING, null, null, HIGH, METADATA_LOG_DIR_DOC)\n"
    text = entries_of(source)[f"{RAFT}/MetadataLogConfig.java"].decode()
    for old, new in (("TimeUnit.HOURS.toMillis(1)", "TimeUnit.HOURS.toMillis(2)"), (log_dir, "")):
        assert text.count(old) == 1
        text = text.replace(old, new)
    made = compiled(ecj, {f"{RAFT}/MetadataLogConfig.java": text}, newest, tmp_path, 17)
    jar = rewritten(newest.raft_jar, tmp_path, lambda entries: entries.update(made))
    proved = prove_dropin(prepare_tools(ecj, toolbox, newest), newest.raft_jar, jar, Subject())
    assert {(each.rule, each.where) for each in proved.differences if each.blocks} == {
        ("default-changed", "metadata.log.max.snapshot.interval.ms"),
        ("config-removed", "metadata.log.dir"),
    }


def test_resources_and_the_manifest_are_watched(patched, kafka, tools, subject, tmp_path):
    def change(entries: dict[str, bytes]) -> None:
        schema = entries["common/message/QuorumStateData.json"]
        entries["common/message/QuorumStateData.json"] = schema.replace(b'"LeaderId"', b'"Leader"')
        entries["LICENSE"] = b"mine"
        entries["META-INF/MANIFEST.MF"] = b"Manifest-Version: 1.0\r\nMulti-Release: true\r\n\r\n"
        entries[f"META-INF/versions/21/{RAFT}/Batch.class"] = entries[f"{RAFT}/Batch.class"]
        entries["META-INF/A.SF"] = b""
        del entries["NOTICE"], entries["kafka/kafka-version.properties"]

    proved = prove_dropin(tools, kafka.raft_jar, rewritten(patched, tmp_path, change), subject)
    assert failing(proved) == {"entry-versioned", "manifest-loading", "resource-changed"}
    assert {"text-changed", "entry-missing"} <= rules_of(proved, Severity.WARNING), "kafka-clients has the latter alike"
    assert "signature-changed" in rules_of(proved, Severity.NOTE)


def test_what_nobody_can_notice_does_not_fail(patched, kafka, tools, subject, tmp_path):
    def change(entries: dict[str, bytes]) -> None:
        name = b"module-info"
        pool = struct.pack(">HBH", 3, 1, len(name)) + name + struct.pack(">BH", 7, 1)
        module = b"\xca\xfe\xba\xbe" + struct.pack(">HH", 0, 53) + pool + struct.pack(">7H", 0x8000, 2, 0, 0, 0, 0, 0)
        entries["module-info.class"] = entries["META-INF/versions/11/module-info.class"] = module
        entries["META-INF/VENDOR.SF"] = entries["META-INF/VENDOR.RSA"] = b""
        entries["META-INF/maven/a/pom.properties"] = b"version=3.9.1"
        del entries["LICENSE"], entries["common/message/QuorumStateData.json"], entries["META-INF/MANIFEST.MF"]

    proved = prove_dropin(tools, kafka.raft_jar, rewritten(patched, tmp_path, change), subject)
    assert failing(proved) == set(), proved.differences
    assert {"signature-changed", "entry-versioned"} <= rules_of(proved, Severity.NOTE)
    of_the_compiler = {"newer-java"}  # it has no Java 8 to compile against
    assert rules_of(proved, Severity.WARNING) - of_the_compiler == {"entry-added", "entry-missing", "text-changed"}


@pytest.mark.parametrize("content", [b"", b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbe\0\0\0\x34\xff\xff" + b"\x07" * 400])
def test_a_class_file_that_is_none_is_told_in_a_sentence(content, patched, tools, tmp_path):
    jar = rewritten(patched, tmp_path, lambda entries: entries.update({f"{RAFT}/Batch.class": content}))
    with pytest.raises(HarnessError, match=r"Batch\.class in .* is not a class file that can be read"):
        read_classes(tools.bytecode, jar)


def test_the_same_sources_by_two_compilers_read_alike_but_for_instructions(builders, subject, tools):
    if len(builders) < 2:
        pytest.skip("this host has no javac")
    by_ecj, by_javac = (read_classes(tools.bytecode, each.jar) for each in subject.baselines)
    config = f"{RAFT}/QuorumConfig"
    assert by_ecj[config].fields == by_javac[config].fields
    assert {m.name for m in by_ecj[config].methods} >= {"requestTimeoutMs", "<init>"}


LOGGING = """package a; import org.slf4j.Logger; class Logging {
    Logger kept() { return null; }
    void byMethod(java.util.Map m) { if (m.containsKey("node.id")) kept().info("Node starts"); }
    static void byParameter(Logger log, java.util.Map m) { if (m.containsKey("some.key")) log.error("It {} broke", m); }
}"""


def test_a_statement_has_its_own_text_whatever_was_loaded_before_its_logger(ecj, kafka, tools, tmp_path):
    write_jar(compiled(ecj, {"a/Logging.java": LOGGING}, kafka, tmp_path / "x"), jar := tmp_path / "x.jar")
    (found,) = read_statements(tools.bytecode, [jar])
    assert {(each.level, each.text) for each in found} == {("INFO", "Node starts"), ("ERROR", "It {} broke")}


OUTER = """package a; class Outer {
    private int leader, voted, epoch;
    class Inner { int first() { return %s; } int last() { return epoch; } }
}"""


def test_what_another_class_of_the_nest_reads_is_what_it_does_whatever_its_accessor_is_called(
    ecj, kafka, tools, tmp_path
):
    """Before Java 11 the Inner calls access$0 of Outer, and one more field gives later ones other numbers."""

    def methods(read):
        classes = compiled(ecj, {"a/Outer.java": OUTER % read}, kafka, tmp_path / read.replace(" ", ""))
        write_jar(classes, jar := tmp_path / f"{len(read)}.jar")
        return {each.name: each.code for each in read_classes(tools.bytecode, jar)["a/Outer$Inner"].methods}

    base, other, more = methods("leader"), methods("voted"), methods("leader + voted")
    assert base["first"] != other["first"]
    assert base["last"] == other["last"] == more["last"]


@pytest.mark.whole
def test_a_folder_with_the_locked_releases_jars_has_the_baselines_of_its_compiler(ecj, kafka, tmp_path):
    libraries = tmp_path / "kafka" / "libs"
    libraries.mkdir(parents=True)
    for jar in kafka.jars:
        (libraries / jar.name).symlink_to(jar)
    words = ["--base-dist", "kafka", "--builder", "ecj", "--tests", "none", "--fresh", "--out", "run"]
    command = [sys.executable, "-m", "harness", "prove", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    proof = RunDirectory(tmp_path / "run").proof("patched").proof.read()
    assert proof.notes[0].startswith(f"closest baseline: {ecj.label}, with ")
    assert [each.where for each in proof.differences if each.rule.startswith("unnamed-class")] == []
