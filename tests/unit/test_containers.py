"""Container builds without an engine: places and lists, ends told apart, owners, and texts that come in pieces."""

import os
import tarfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.base.processes import bare_environment, run
from harness.building.builders.base import BuildHost, open_builder
from harness.building.compiling import Builder, first_errors
from harness.building.containers.gradle import (
    GradleFull,
    Workshop,
    as_on_host,
    coordinate_of,
    in_copy_of,
    main_jar,
    order,
    place_of,
)
from harness.building.containers.hostbind import lent, write_skeleton
from harness.building.containers.why_failed import why_failed
from harness.containers.engine import Engine, why_unreachable
from harness.containers.failures import CommandEnd, refused
from harness.containers.images import Image
from harness.containers.line_stream import Lines
from harness.containers.owners import Owner, is_gone, parse_owner, this_process
from harness.kafka.lock import read_lock
from harness.toolbox.toolbox import Toolbox

GIB = 2**30
ME = Owner("machine", "pid:[1]", "boot", 10, 500)


def nobody(line: str) -> None:
    raise AssertionError(f"nobody wants to hear {line}")


def why(exit_code: int, output: str = "", *, oom: bool = False, late: bool = False) -> str:
    error = why_failed(CommandEnd(exit_code, oom, late, output), 2 * GIB, 600)
    return error.message if error else ""


# Where things lie


def test_every_locked_jar_keeps_its_coordinate(tmp_path):
    for artifact in read_lock("3.9.1").artifacts:
        group, name, *_, version = artifact.coordinate.split(":")
        place = place_of(tmp_path / artifact.path, tmp_path)
        assert (place, coordinate_of(place)) == (artifact.path, f"{group}:{name}:{version}")


def test_a_jar_from_elsewhere_gets_a_place_of_its_own(tmp_path):
    place = place_of(Path("/opt/kafka/libs/kafka-clients-3.9.1.jar"), tmp_path)
    assert place == "given/kafka-clients-3.9.1/0/kafka-clients-3.9.1-0.jar"
    assert coordinate_of(place) == "given:kafka-clients-3.9.1:0"


def test_the_order_is_our_script_and_its_lists():
    files = order(["a/A.java", "b/B.java"], ["org/x/y/1/y-1.jar"], 11)
    assert set(files) == {
        f"/order/{name}" for name in ("build.gradle", "settings.gradle", "sources", "dependencies", "target")
    }
    assert files["/order/sources"] == b"a/A.java\nb/B.java\n"
    assert files["/order/dependencies"] == b"org.x:y:1\n"
    assert files["/order/target"] == b"11\n"


def test_a_command_in_a_copy_is_passed_on_word_by_word(tmp_path):
    command = in_copy_of("/nothing", ["printf", "%s,", "$HOME; x", "b c"])
    script = command[2].replace("cp -R /nothing /tmp/build && cd /tmp/build", "true")
    done = run(["/bin/sh", "-c", script, *command[3:]], env=bare_environment(), timeout=10)
    assert done.stdout == "$HOME; x,b c,"


def test_paths_in_a_log_are_those_of_the_checkout():
    log = "/sources/raft/A.java:1: error: no\n/tmp/build/raft/B.java:2: error: nor that"
    assert as_on_host(log) == "raft/A.java:1: error: no\nraft/B.java:2: error: nor that"


def test_the_jar_of_classes_is_found_among_a_builds_jars():
    assert main_jar(["libs/r-3.jar", "libs/r-3-sources.jar", "libs/r-3-test.jar", "libs/x.txt"]) == "libs/r-3.jar"


@pytest.mark.parametrize(("names", "said"), [(["a.jar", "b.jar"], "made a.jar, b.jar"), ([], "made no jar")])
def test_it_is_said_when_it_is_not_clear_which_jar_is_meant(names, said):
    with pytest.raises(HarnessError, match=said):
        main_jar(names)


# How a command ended


def test_a_success_and_a_compile_error_are_no_trouble_of_the_containers():
    assert why(0) == ""
    assert why(1, "A.java:1: error: no such thing") == ""


@pytest.mark.parametrize(
    ("ended", "said"),
    [
        (why(137, oom=True), "ran out of memory (its limit is 2.0 GiB)"),
        (why(1, "Caused by: java.lang.OutOfMemoryError: Java heap space"), "ran out of memory (its limit is 2.0 GiB)"),
        (why(1, "* What went wrong:\nJava heap space\n"), "ran out of memory (its limit is 2.0 GiB)"),
        (why(137), "was killed from outside"),
        (why(143), "was killed from outside"),
        (why(137, late=True), "did not end within 600 s"),
        (why(1, "cp: error writing 'x': No space left on device"), "found no space left on the disk"),
        (
            why(1, "> Could not find org.x:y:1.2.\n  Searched in"),
            "needs org.x:y:1.2, which is not among the jars at hand",
        ),
        (
            why(1, "   > No cached version of org.x:y-z:1.2-beta available for offline mode."),
            "needs org.x:y-z:1.2-beta, which is not among the jars at hand",
        ),
    ],
)
def test_each_other_end_has_its_own_sentence(ended, said):
    assert ended == f"The build in the container {said}."


def test_an_engine_with_a_full_disk_is_distinguished_from_one_that_refuses():
    assert "no space left" in refused("write /var/lib/docker/x: no space left on device").message
    assert "refuses to run the build: invalid mount" in refused("invalid mount").message


def test_an_error_is_shown_with_its_code_and_caret_and_without_what_follows():
    output = (
        "warning: x\nA.java:2: error: cannot\n  Missing m;\n  ^\n  symbol: class\nB.java:3: error: no\nBUILD FAILED\n"
    )
    assert first_errors(output) == "A.java:2: error: cannot\n  Missing m;\n  ^\nB.java:3: error: no"


# Reaching the engine


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (PermissionError(13, "denied"), "You may not use the container engine at unix:///s: permission denied."),
        (FileNotFoundError(2, "none"), "There is no container engine at unix:///s: the socket does not exist."),
        (ConnectionRefusedError(111, "no"), "There is no container engine at unix:///s: nothing listens there."),
        (ValueError("bad address"), "The container engine at unix:///s does not answer: it failed."),
    ],
)
def test_why_an_engine_cannot_be_reached_is_found_deep_in_the_causes(cause, said):
    outer = RuntimeError("it failed")
    outer.__cause__ = OSError("aborted")
    outer.__cause__.__context__ = cause
    assert why_unreachable("unix:///s", outer) == said


def test_a_full_build_is_refused_offline_before_an_engine_is_asked(tmp_path):
    host = BuildHost(Toolbox(tmp_path, tmp_path, offline=True), 8, nobody)
    with pytest.raises(HarnessError, match="which --offline forbids"), ExitStack() as held:
        open_builder("gradle-full", host, held)


def test_a_full_build_of_sources_without_a_build_of_their_own_names_the_option(tmp_path):
    image = Image("image", "id", "sha256:0123", 1, (), ())
    builder: Builder = GradleFull(Workshop(Engine(None, ""), image, "4.4.1", "17", nobody), tmp_path / "home")
    with pytest.raises(HarnessError, match="Name a Kafka repository by --git"):
        builder.compile(tmp_path, [], (), tmp_path / "out", 8)


# Whose a container is


def test_this_process_is_not_gone_and_its_label_reads_back():
    me = this_process()
    assert me.pid == os.getpid()
    assert parse_owner(str(me)) == me
    assert not is_gone(me, me)


@pytest.mark.parametrize(
    ("owner", "gone"),
    [
        (ME, False),
        (replace(ME, pid=11), True),  # no such process
        (replace(ME, started=400), True),  # the number was given again
        (replace(ME, boot="earlier"), True),
        (replace(ME, machine="another", pid=11), False),  # cannot be seen from here
        (replace(ME, namespace="pid:[2]", boot="earlier"), False),
    ],
)
def test_an_owner_is_gone_only_when_that_can_be_known(owner, gone):
    assert is_gone(owner, ME, started={10: 500}.get) is gone


@given(st.text(max_size=30))
def test_a_label_that_somebody_else_wrote_is_no_owner_or_reads_as_one(text):
    owner = parse_owner(text)
    assert owner is None or parse_owner(str(owner)) == owner


# Logs


@given(st.lists(st.text("aä€\n\r", max_size=8)), st.integers(1, 5))
def test_lines_come_whole_however_the_bytes_are_cut(texts, size):
    content = "".join(texts).encode()
    heard: list[str] = []
    lines = Lines(heard.append)
    for begin in range(0, len(content), size):
        lines.feed(content[begin : begin + size])
    assert lines.text() == content.decode()
    assert heard == [line.rstrip("\r") for line in content.decode().split("\n")[:-1]]


def test_a_flood_keeps_its_beginning_and_says_so():
    lines = Lines(lambda line: None, most=5)
    lines.feed(b"one\ntwo\nthree\n")
    assert lines.text() == "one\nt\n… (the rest of the log was left out)\n"


# The host's own files


@pytest.fixture
def host(tmp_path: Path) -> Path:
    for folder in ("usr/bin", "usr/lib", "etc/java-17-openjdk", "etc/alternatives", "etc/ssl/certs", "etc/ssl/private"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "etc" / "shadow").touch()
    (tmp_path / "bin").symlink_to("usr/bin")
    (tmp_path / "lib").mkdir()
    return tmp_path


def test_of_the_host_only_programs_and_what_java_reads_are_lent(host):
    assert lent(host) == ["/etc/alternatives", "/etc/java-17-openjdk", "/etc/ssl/certs", "/lib", "/usr"]


def test_the_empty_image_has_folders_to_mount_on_and_the_hosts_links(host, tmp_path):
    write_skeleton(host, tmp_path / "a.tar")
    with tarfile.open(tmp_path / "a.tar") as tar:
        modes = {entry.name: entry.mode for entry in tar if entry.isdir()}
        links = {entry.name: entry.linkname for entry in tar if entry.issym()}
    assert (modes["tmp"], modes["usr"]) == (0o1777, 0o755)
    assert links == {"bin": "usr/bin"}
    write_skeleton(host, tmp_path / "b.tar")
    assert (tmp_path / "a.tar").read_bytes() == (tmp_path / "b.tar").read_bytes()
