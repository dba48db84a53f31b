"""Wrong files, too little room, no network: each is told in a sentence or two, exits 2, and leaves nothing behind."""

import http.server
import os
import shutil
import ssl
import stat
import sys
import tarfile
import threading
import zipfile
from collections import namedtuple
from dataclasses import replace

import pytest
from whole_kafka import whole_kafka

from harness.base.archives import first_problem
from harness.base.errors import HarnessError
from harness.building.configdef import ConfigKey
from harness.building.jars import write_jar
from harness.cli import app as cli
from harness.cluster import host_accounts, loopback
from harness.cluster.security import make_secrets
from harness.kafka.class_path import RAFT_CLIENT
from harness.kafka.distribution import VERSION_ENTRY, Distribution, as_declared, distribution_at
from harness.kafka.release_lines import line_of
from harness.kafka.repository import commit_all, create_repository
from harness.model.arms import Build, Flag
from harness.model.request import Request
from harness.model.setup import Profile
from harness.model.sides import sides_of
from harness.stages import build, preflight
from harness.toolbox.lockfile import Artifact, Lock, Purpose

LONGEST = 700
HOURS = ConfigKey("log.retention.hours", "INT", "168", "HIGH")


@pytest.fixture
def harness(monkeypatch, capsys, tmp_path):
    """Return a function that runs a command line in an empty folder with an empty cache: what it said on stderr.

    It must end with 2 and a short text, and leave no run directory and no temporary folder.
    """
    (tmp_path / "tmp").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HARNESS_MAVEN_REPOSITORY", "http://127.0.0.1:1")  # a test that goes too far ends there
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["harness", *map(str, arguments)])
        assert cli._run() == 2
        out, err = capsys.readouterr()
        assert len(err) < LONGEST
        assert "Traceback" not in out + err
        assert "internal error" not in err
        assert list((tmp_path / "tmp").iterdir()) == []
        assert not (tmp_path / "out").exists()
        return " ".join(err.split())

    return run


def jar(path, entries=(), version="3.9.1"):
    """Write a jar with a raft client of a version, and more entries: (name or ZipInfo, content)."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(RAFT_CLIENT, b"\xca\xfe\xba\xbe" * 1000)
        archive.writestr(VERSION_ENTRY, f"version={version}\n")
        for entry, content in entries:
            archive.writestr(entry, content)
    return path


def link(name):
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


def cut_short(path):
    path.write_bytes(jar(path).read_bytes()[:500])


def damaged(path):
    content = jar(path).read_bytes()
    path.write_bytes(content.replace(b"\xca\xfe\xba\xbe" * 3, b"\xca\xfe\xba\xbf" * 3, 1))


def twice(path):
    with pytest.warns(UserWarning, match="Duplicate name"):
        jar(path, [(RAFT_CLIENT, b"another")])


def no_text(path):
    """Write a jar with a name that says it is UTF-8, and is not."""
    jar(path, [("n\u00e9", b"")])
    path.write_bytes(path.read_bytes().replace("n\u00e9".encode(), b"n\xff\xfe"))


JARS = {
    "no jar": (lambda path: path.write_text("these are notes\n"), "given.jar is not a jar"),
    "a folder": (
        lambda path: path.mkdir(),
        "given.jar is a folder. Name a kafka-raft jar; a whole Kafka is named by --dist",
    ),
    "absent": (lambda path: None, "given.jar does not exist"),
    "cut short": (cut_short, "given.jar is not a jar"),
    "damaged": (damaged, "given.jar is damaged at org/apache/kafka/raft/KafkaRaftClient.class"),
    "another module": (lambda path: zipfile.ZipFile(path, "w").close(), "given.jar is not a raft jar: it has no org/"),
    "another version": (lambda path: jar(path, version="3.8.1"), "is of Kafka 3.8.1, but the nodes run Kafka 3.9.1"),
    "a path upwards": (lambda path: jar(path, [("../../evil", b"")]), "'../../evil' points outside"),
    "an absolute path": (lambda path: jar(path, [("/etc/evil", b"")]), "'/etc/evil' points outside"),
    "a symbolic link": (lambda path: jar(path, [(link("evil"), b"/etc")]), "'evil' is a symbolic link"),
    "two of one name": (twice, "KafkaRaftClient.class' twice, and not the same"),
    "a name that is no text": (no_text, "given.jar is not a jar: 'utf-8' codec can't decode byte 0xff"),
    "control characters": (lambda path: jar(path, [("../\x1b[2J\u202e", b"")]), "x1b[2J"),
}


@pytest.mark.parametrize("option", ["--jar", "--base-jar"])
@pytest.mark.parametrize("kind", JARS)
def test_a_jar_that_cannot_be_used_is_refused_before_anything_is_downloaded(harness, tmp_path, kind, option):
    write, sentence = JARS[kind]
    write(tmp_path / "given.jar")
    shown = harness("verify", option, "given.jar")
    assert sentence in shown
    assert "\x1b" not in shown
    assert not (tmp_path / "cache" / "kafka-patch-harness").exists()


def test_an_archive_that_would_fill_the_disk_is_refused_by_its_own_list():
    bomb = zipfile.ZipInfo("zeroes")
    bomb.file_size = 2**40
    assert "it unpacks to" in first_problem([bomb])
    assert "entries (at most" in first_problem([zipfile.ZipInfo(str(n)) for n in range(20_001)])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("verify", "--scenario", "turn11"), "Did you mean turn1"),
        (("verify", "--suite", "bootstap"), "Did you mean bootstrap?"),
        (("verify", "--arms", "base,patched-om"), "No arm is named 'patched-om'. Did you mean patched-on"),
        (("verify", "--jar", "given.jar", "--arms", "patched-on"), "No arm is named 'patched-on'"),
        (("verify", "--git", "/src/kafka"), "/src/kafka names no ref"),
        (("verify", "--config", "nowhere.properties"), "nowhere.properties cannot be read"),
        (("verify", "--config", "."), "cannot be read as a properties file"),
        (("verify", "--java-home", "nowhere"), "is not a Java home"),
        (("verify", "--base-dist", "."), "is not an unpacked Kafka"),
        (("verify", "--kafka", "../../etc"), "'../../etc' is not a Kafka version"),
        (("verify", "--resume", "."), ". is no run directory: it has no request.json"),
        (("verify", "--resume", "nowhere"), "nowhere does not exist"),
        (("verify", "--resume", ".", "--repeats", "3"), "not --repeats. Leave the others out"),
    ],
)
def test_a_wrong_word_or_place_is_reported_before_anything_is_downloaded(harness, tmp_path, arguments, sentence):
    jar(tmp_path / "given.jar")
    assert sentence in harness(*arguments)
    assert not (tmp_path / "cache" / "kafka-patch-harness").exists()


@pytest.mark.parametrize(
    ("libs", "sentence"),
    [
        (lambda libs: libs.write_text("a file"), "cannot be read (Not a directory)"),
        (lambda libs: libs.mkdir(), "lacks kafka-raft-<version>.jar"),
        (lambda libs: (libs.mkdir(), (libs / "kafka-raft-3.9.1.jar").touch()), "kafka-raft-3.9.1.jar is not a jar"),
        (
            lambda libs: (libs.mkdir(), jar(libs / "kafka-raft-3.9.1.jar"), jar(libs / "x.jar")),
            "x.jar holds org/apache",
        ),
    ],
)
def test_a_distribution_that_cannot_be_used_is_reported_with_its_reason(harness, tmp_path, libs, sentence):
    (tmp_path / "kafka").mkdir()
    libs(tmp_path / "kafka" / "libs")
    assert sentence in harness("verify", "--base-dist", "kafka")
    assert sentence in harness("verify", "--dist", "kafka")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--base-kafka", "abc"), "'abc' is not a Kafka version"),
        (("--base-kafka", "3.9.1", "--kafka", "../3.9.2"), "'../3.9.2' is not a Kafka version"),
        (("--base-kafka", "3.9.1", "--kafka", "3.9.77"), "There is no lock for Kafka 3.9.77"),
        (
            ("--base-kafka", "17.0.1", "--kafka", "3.9.1"),
            "Kafka 17.0.1 is of a release line that is not described here",
        ),
        (("--base-kafka", "3.9.1", "--kafka", "3.9.1", "--series", "nobodys"), "No patch series is named 'nobodys'"),
        (("--base-series", "nobodys"), "No patch series is named 'nobodys'"),
        (("--dist", "cut.tgz"), "cut.tgz is not a whole tar archive"),
        (("--dist", "nowhere"), "nowhere does not exist"),
        (("--sources", "nowhere"), "--sources is the checkout that --jar was built from, and no --jar is given"),
        (("--jar", "x.jar", "--sources", "nowhere"), "nowhere has no raft/src/main/java"),
        (("--builder", "jvac"), "No builder is named 'jvac'. Did you mean javac?"),
        (("--scenario", "turn2", "--suite", "standrad"), "No suite is named 'standrad'. Did you mean standard?"),
        (("--dist", "whole", "--kafka", "3.9.2"), "whole is Kafka 3.9.1, not 3.9.2"),
        (("--base-git", "/src/kafka"), "/src/kafka names no ref"),
        (("--base-jar", "given.jar", "--base-git", "u@r"), "--base-jar is a finished jar, and --base-git builds one"),
    ],
)
def test_a_side_that_cannot_be_is_a_sentence_before_anything_is_downloaded(harness, tmp_path, arguments, sentence):
    whole_kafka(tmp_path / "whole")
    (tmp_path / "cut.tgz").write_bytes(b"\x1f\x8b no archive")
    jar(tmp_path / "given.jar")
    assert sentence in harness("verify", *arguments)
    assert not (tmp_path / "cache" / "kafka-patch-harness" / "maven").exists()
    assert not [*tmp_path.glob("out/*")]


def test_a_distribution_that_is_no_tar_archive_is_one_sentence_and_a_zip_has_its_remedy(harness, tmp_path):
    jar(tmp_path / "kafka.zip")
    (tmp_path / "empty.tgz").touch()
    assert "It is a zip: unpack it, and name the folder." in harness("verify", "--dist", "kafka.zip")
    assert "empty.tgz is not a whole tar archive: it begins as none does." in harness("verify", "--dist", "empty.tgz")


def test_a_rollout_of_a_kafka_onto_itself_is_refused_before_anything_is_made(harness, tmp_path):
    whole_kafka(tmp_path / "whole")
    for words in (("--base-kafka", "3.9.1", "--kafka", "3.9.1"), ("--base-dist", "whole", "--dist", "whole")):
        sentence = harness("rollout", *words)
        assert "There is nothing to roll: base and the candidate are both Kafka 3.9.1, no jar differs" in sentence
        assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize(
    "sides", [("--base-dist", "whole", "--dist", "toolless"), ("--base-dist", "toolless", "--jar", "raft.jar")]
)
def test_a_rollout_of_a_kafka_without_what_its_scripts_start_is_refused_before_anything_is_made(
    harness, tmp_path, sides
):
    whole_kafka(tmp_path / "toolless", "3.9.1-acme")
    classes = line_of("3.9.1").commands.values()
    libs = whole_kafka(tmp_path / "whole") / "libs"
    write_jar({f"{name.replace('.', '/')}.class": b"x" for name in classes}, libs / "kafka-tools-3.9.1.jar")
    jar(tmp_path / "raft.jar")
    sentence = harness("rollout", *sides)
    assert (
        "toolless lacks org.apache.kafka.tools.MetadataQuorumCommand, which kafka-metadata-quorum.sh starts" in sentence
    )
    assert "Put kafka-tools-<version>.jar of the same release into its libs/" in sentence
    assert not [*tmp_path.glob("out/*")]


def test_a_configuration_that_is_not_text_is_refused(harness, tmp_path):
    (tmp_path / "my.properties").write_bytes(b"a=\0\xfe\n")
    assert "my.properties cannot be read as a properties file" in harness("verify", "--config", "my.properties")
    (tmp_path / "my.properties").write_bytes(b"a=\\u12\n")
    assert "my.properties cannot be read as a properties file" in harness("verify", "--config", "my.properties")


@pytest.fixture
def nothing_to_build(tmp_path, monkeypatch):
    """Let both builds be there at once, in a whole Kafka at `kafka` whose server knows one key."""
    place = whole_kafka(tmp_path / "kafka")
    kafka = as_declared(distribution_at(place, tmp_path), place)
    stock = Build("base", "3.9.1", f"libs/{kafka.raft_jar}", "ab" * 32, "release", Flag("", False), kafka=kafka)
    monkeypatch.setattr(build, "build_pair", lambda *_: (stock, replace(stock, name="patched")))
    monkeypatch.setattr(build, "server_keys", lambda *_: {"log.retention.hours": HOURS})


@pytest.mark.usefixtures("nothing_to_build")
def test_a_configuration_with_a_slip_is_refused_with_the_key_that_was_meant_by_what_the_builds_know(harness, tmp_path):
    (tmp_path / "my.properties").write_text("log.retention.hourz=1\n")
    said = harness("build", "--base-dist", "kafka", "--config", "my.properties")
    assert "does not know: log.retention.hourz (did you mean log.retention.hours?)" in said


@pytest.mark.usefixtures("nothing_to_build")
def test_a_value_with_which_no_node_starts_is_refused_before_any_is_started(harness, tmp_path):
    (tmp_path / "my.properties").write_text("log.retention.hours=two\n")
    said = harness("build", "--base-dist", "kafka", "--config", "my.properties")
    assert "--config sets what Kafka refuses: log.retention.hours = two is no INT. Correct these values." in said


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("verify", "--kafka", ""), "--kafka is empty"),
        (("verify", "--base-kafka", "3.9.1", "--kafka="), "--kafka is empty"),
        (("verify", "--dist", ""), "--dist is empty"),
        (("upgrade-notes", "", "4.1.2"), "One word of the command is empty"),
    ],
)
def test_what_a_variable_left_empty_asks_no_other_question(harness, words, what):
    assert f"error: {what}. Give it a value or leave it out: a variable may not be set." in harness(*words)


def test_offline_no_address_of_the_network_is_asked(harness):
    for address in ("https://localhost:1/kafka@3.9.1", "ssh://me@localhost:1/kafka@3.9.1", "me@localhost:kafka@3.9.1"):
        said = harness("verify", "--offline", "--series", "none", "--git", address)
        assert "can only be read over the network, which --offline rules out" in said


def test_a_ref_that_is_not_there_is_told_before_anything_is_downloaded(harness, tmp_path):
    repository = create_repository(tmp_path / "sources")
    (tmp_path / "sources" / "x").write_text("x")
    commit_all(repository, "first")
    repository.git.tag("3.9.1")
    said = harness("verify", "--series", "none", "--git", f"{tmp_path / 'sources'}@3.9.l")
    assert "has no tag, branch or commit '3.9.l'. Like it are: 3.9.1." in said


def test_a_log_that_was_named_as_a_configuration_is_not_read_to_its_end(harness, tmp_path):
    with (tmp_path / "server.log").open("wb") as log:
        log.truncate(2 << 30)
    assert "it has more than 1 MiB" in harness("verify", "--config", "server.log")
    assert "has more than 1 MiB" in harness("verify", "--claims", "server.log")


def test_a_pipe_among_the_jars_of_a_kafka_is_not_waited_for(harness, tmp_path):
    place = whole_kafka(tmp_path / "kafka")
    os.mkfifo(place / "libs" / "x.jar")
    assert "x.jar is not a jar: it is no regular file" in harness("verify", "--dist", "kafka")


def test_an_archive_that_is_refused_is_named_and_nothing_of_it_is_kept(harness, tmp_path):
    place = whole_kafka(tmp_path / "kafka")
    shutil.copy(next((place / "libs").glob("kafka-raft-*.jar")), place / "libs" / "kafka-raft-3.9.0.jar")
    with tarfile.open(tmp_path / "kafka.tgz", "w:gz") as archive:
        archive.add(place, "kafka")
    said = harness("verify", "--dist", "kafka.tgz")
    assert "/kafka.tgz has 2 raft jars: kafka-raft-3.9.0.jar, kafka-raft-3.9.1.jar." in said
    assert not [*(tmp_path / "cache").rglob("*.jar")]


def test_folders_that_a_failed_command_made_go_with_it_and_others_stay(harness, tmp_path):
    (tmp_path / "mine").mkdir()
    harness("verify", "--jar", "nowhere.jar", "--out", "mine/deep/er/out")
    assert [*(tmp_path / "mine").iterdir()] == []


Memory = namedtuple("Memory", "available total")
Disk = namedtuple("Disk", "free")


def test_too_little_memory_is_reported_first_and_depends_on_how_many_clusters_there_are(harness, tmp_path, monkeypatch):
    monkeypatch.setattr("psutil.virtual_memory", lambda: Memory(3 * 2**30, 8 * 2**30))
    assert "too little memory: 3.0 GiB, and 4.0 GiB are needed. End other programs, or run fewer clusters" in harness(
        "verify", "--jar", "nowhere.jar"
    )
    assert "nowhere.jar does not exist" in harness("verify", "--jar", "nowhere.jar", "--jobs", "1")
    assert not (tmp_path / "cache" / "kafka-patch-harness").exists()


def test_tests_run_beside_two_clusters_where_there_is_memory_for_both(monkeypatch):
    for gib, has_room in ((5, False), (6, True)):
        monkeypatch.setattr("psutil.virtual_memory", lambda gib=gib: Memory(gib * 2**30, 8 * 2**30))
        assert preflight.has_room_beside(Request()) is has_room


def test_too_little_disk_is_reported_with_the_place(harness, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: Disk(2**30))
    shown = harness("verify")
    assert "too little room on the disk of" in shown
    assert "1.0 GiB, and 1.7 GiB are needed" in shown
    assert str(tmp_path / "cache") in shown


def test_the_production_profile_needs_more_memory_and_a_single_cluster_cannot_be_halved():
    many = preflight.memory(Request(jobs=3, profile=Profile.PRODUCTION))
    assert (many.gib, "--jobs 2" in many.instead) == (10.0, True)
    assert "another host" in preflight.memory(Request(jobs=1)).instead


def test_a_roll_needs_memory_for_the_nodes_of_one_cluster():
    eight = preflight.memory(Request(), rolled=8)
    assert (eight.gib, "--topology" in eight.instead) == (4.0, True)


@pytest.mark.parametrize(("limit", "left"), [("max\n", None), (f"{2**30}\n", 2**30 - 600 + 500), ("nonsense\n", None)])
def test_a_container_has_what_its_limit_leaves_it_without_the_page_cache(tmp_path, limit, left, monkeypatch):
    monkeypatch.setattr("psutil.virtual_memory", lambda: Memory(2**40, 2**40))
    (tmp_path / "memory.max").write_text(limit)
    (tmp_path / "memory.current").write_text("600\n")
    (tmp_path / "memory.stat").write_text("anon 100\ninactive_file 300\nactive_file 200\n")
    assert host_accounts.available_memory(tmp_path) == (2**40 if left is None else left)
    assert host_accounts.available_memory(tmp_path / "nowhere") == 2**40


def test_taken_ports_are_reported(harness, monkeypatch):
    monkeypatch.setattr(loopback, "_hold", lambda *_: None)
    assert "No free port on 127.0.0.1 between 15000 and 32767" in harness("verify")


def test_without_a_network_the_first_use_says_so_and_what_to_do(harness):
    shown = harness("verify")
    assert "could not be fetched from 127.0.0.1: the connection failed" in shown
    assert "Check the network, or name a mirror in HARNESS_MAVEN_REPOSITORY" in shown


def test_a_repository_whose_certificate_nobody_vouches_for_is_not_said_to_be_out_of_reach(
    harness, tmp_path, monkeypatch
):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(make_secrets(tmp_path / "secrets", ["127.0.0.1"]).pem)
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("HARNESS_MAVEN_REPOSITORY", f"https://127.0.0.1:{server.server_port}")
        shown = harness("verify")
        server.shutdown()
    assert "could not be fetched from 127.0.0.1: its certificate is not trusted (who signs it is to be" in shown


def test_offline_with_an_empty_cache_says_what_is_missing(harness):
    assert "is not in the cache" in harness("verify", "--offline")


class Impostor(http.server.BaseHTTPRequestHandler):
    """Serves the same bytes for whatever is asked."""

    def do_GET(self):
        body = b"PK\x05\x06" + b"\0" * 18
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_): ...


def test_a_repository_that_serves_another_file_is_not_believed(harness, tmp_path, monkeypatch):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Impostor)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        monkeypatch.setenv("HARNESS_MAVEN_REPOSITORY", f"http://127.0.0.1:{server.server_port}")
        shown = harness("verify")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert "is not the file that was locked: expected" in shown
    assert not list((tmp_path / "cache").rglob("*.jar"))


@pytest.mark.parametrize("command", ["run", "judge", "report", "diff"])
@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("run.json", None, "is no run directory: it has no run.json"),
        ("request.json", "{}", "Its build was cut short. Go on with: harness verify --resume half"),
        ("run.json", '{"schema": 2, "kafka_ver', "half/run.json is damaged. Not valid JSON"),
        ("run.json", "[" * 100_000, "half/run.json is damaged. Not valid JSON"),
        ("run.json", '{"schema": 2}', "half/run.json is damaged. At $: expected the fields of Declaration"),
        ("run.json", '{"schema": 9, "kafka_version": "3.9.1", "arms": [], "scenarios": [], "repeats": 1}', "schema 9"),
        ("run.json", '{"schema": 1, "kafka_version": "3.9.1"}', "Convert it: harness convert half"),
    ],
)
def test_a_folder_that_is_no_whole_run_directory_is_distinguished_from_one_that_was_cut_short(
    harness, tmp_path, command, file, content, sentence
):
    (tmp_path / "half").mkdir()
    if content is not None:
        (tmp_path / "half" / file).write_text(content)
    assert sentence in harness(command, "half")


def test_a_verdict_that_is_cut_is_reported_and_how_to_have_it_again(harness, tmp_path):
    (tmp_path / "half").mkdir()
    whole = '{"schema": 2, "kafka_version": "3.9.1", "arms": [], "scenarios": [], "repeats": 1}'
    (tmp_path / "half" / "run.json").write_text(whole)
    (tmp_path / "half" / "verdict.json").write_text("{")
    shown = harness("report", "half")
    assert "half/verdict.json is damaged. Not valid JSON: Expecting property name" in shown
    assert "Run `harness judge` again" in shown


def test_a_file_in_the_way_of_a_run_directory_is_reported(harness, tmp_path):
    (tmp_path / "file").touch()
    assert "file is there already, and no folder" in harness("verify", "--out", "file")


def test_a_wrong_arm_is_reported_with_those_that_there_are():
    given = sides_of(Request(jar="x.jar"), lambda _: "")
    with pytest.raises(
        HarnessError,
        match=r"No arm is named 'x'\. There are: base, base-off, jar, jar-off, jar-on, off, on, stock, stock-off",
    ):
        preflight.check_arms(["x"], given)
    preflight.check_arms(["base", "jar"], given)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("3.9.1", "9.9.9"), "There is no lock for Kafka 9.9.9"),
        (("3.9.1", "three"), "'three' is not a Kafka version"),
        (("3.9.1", "./nowhere"), "nowhere does not exist"),
        (("3.9.1", "3.9.1", "--mine", "absent.yml"), "--mine absent.yml cannot be read: No such file"),
        (("3.9.1", "3.9.1", "--mine", "image"), "--mine image is no text file"),
        (("3.9.1", "3.9.1", "--boots", "-1"), "Invalid value for '--boots'"),
        (("3.9.1",), "Missing argument 'CANDIDATE'"),
        (("3.9.1", "./half"), "half is not a whole Kafka: its libs/ lacks kafka-server-<version>.jar"),
    ],
)
def test_two_kafkas_of_which_one_cannot_be_had_are_not_compared(harness, tmp_path, arguments, says, monkeypatch):
    (tmp_path / "image").write_bytes(b"\x89PNG\0")
    (whole_kafka(tmp_path / "half") / "libs" / "kafka-server-3.9.1.jar").unlink()
    made = "harness.kafka.distribution.locked_distribution"
    monkeypatch.setattr(made, lambda lock, _: _kafka(tmp_path, lock.version))
    assert says in harness("upgrade-notes", *arguments)


def _kafka(folder, version):
    raft = jar(folder / f"kafka-raft-{version}.jar", version=version)
    return Distribution(version, (raft,), raft, f"Kafka {version}")


def _java_11(folder):
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").touch(mode=0o755)
    (folder / "release").write_text('JAVA_VERSION="11.0.2"\n')
    return folder


def test_a_release_whose_sources_are_not_to_be_had_is_not_locked(harness, tmp_path, monkeypatch):
    raft = Artifact("org.apache.kafka:kafka-raft:jar:3.9.9", "0" * 64, 1, Purpose.RUNTIME)
    monkeypatch.setattr("harness.kafka.resolving.resolve_lock", lambda version, *_: Lock(version, (raft,)))
    said = harness("lock", "3.9.9", "--out", tmp_path / "mine")
    assert "kafka-raft:jar:sources:3.9.9 could not be fetched from 127.0.0.1" in said
    assert [*(tmp_path / "mine").rglob("*")] == []


@pytest.mark.parametrize("kafkas", [("3.9.2", "4.3.1"), ("4.3.1", "3.9.2")])
def test_no_kafka_is_rolled_on_a_java_that_is_too_old_for_either_line(harness, tmp_path, kafkas):
    java = _java_11(tmp_path / "java")
    said = harness("rollout", "--base-kafka", kafkas[0], "--kafka", kafkas[1], "--java-home", java)
    assert f"Kafka 4.3 needs Java 17 or newer, and {java} is Java 11.0.2." in said
    assert not [*tmp_path.glob("out/*")]


def test_a_java_that_is_too_old_for_one_of_two_kafkas_is_named(harness, tmp_path, monkeypatch):
    _java_11(tmp_path / "java")
    whole_kafka(tmp_path)
    with zipfile.ZipFile(tmp_path / "libs" / "kafka_2.13-3.9.1.jar", "a") as archive:
        archive.writestr("kafka/Kafka.class", b"\xca\xfe\xba\xbe\0\0\0\x3d")
    said = harness("upgrade-notes", tmp_path, tmp_path, "--java-home", tmp_path / "java")
    assert f"Kafka 3.9.1 unpacked in {tmp_path} needs Java 17, and {tmp_path / 'java'} is Java 11.0.2." in said
