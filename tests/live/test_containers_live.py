"""Builds in containers for real: an engine, images made here, Gradle in them, and everything that goes wrong."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.errors import HarnessError, NotOnThisHostError
from harness.base.waiting import wait_until
from harness.building.builders.base import BuildHost, open_builder
from harness.building.compiling import first_errors
from harness.building.containers.debian import make_image
from harness.building.containers.gradle import GradleFull, GradleModule, Workshop, open_workshop
from harness.building.containers.hostbind import bind_host, lent, write_skeleton
from harness.building.containers.why_failed import why_failed
from harness.building.jars import classes_in
from harness.building.raft_builds import source_files
from harness.containers import jobs
from harness.containers.engine import OWNER_LABEL, Engine, reach_engine, sweep
from harness.containers.images import (
    DEBIAN,
    HOST,
    MOUNTS_LABEL,
    Image,
    find_image,
    image_to_build_in,
    import_image,
    our_name,
    pull_image,
    remove_images,
)
from harness.containers.jobs import Job, Mount, run_job
from harness.kafka.distribution import Distribution, locked_distribution
from harness.kafka.git import GitSource
from harness.kafka.lock import read_lock
from harness.kafka.maven import MavenSources
from harness.kafka.repository import commit_all, create_repository
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox

pytestmark = pytest.mark.live

VERSION = "3.9.1"
MIB = 2**20
USER = f"{os.getuid()}:{os.getgid()}"


@pytest.fixture(autouse=True)
def sockets() -> Iterator[None]:
    """The client library leaves sockets of streams and of failed starts to the collector: let it have them here."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    try:
        held = reach_engine()
        with held as engine:
            yield engine
            assert containers(engine) == [], "a test left a container"
    except HarnessError as error:
        if os.environ.get("HARNESS_CI_ENGINE"):
            raise
        pytest.skip(f"no container engine: {error.message}")


@pytest.fixture(scope="module")
def image(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    """The image that builds take; where there is none, one that is made now and goes when the tests have run."""
    found = image_to_build_in(engine)
    if found:
        yield found
        return
    try:
        yield made_here(engine, tmp_path_factory.mktemp("image"))
    except HarnessError as error:
        if os.environ.get("HARNESS_CI_ENGINE"):
            raise
        pytest.skip(error.message)
    remove_images(engine)


def made_here(engine: Engine, scratch: Path) -> Image:
    """From the host's own Gradle where it has one, else of packages, which takes a minute or two."""
    try:
        return bind_host(engine, scratch)
    except HarnessError:
        return make_image(engine, lambda line: None)[0]


@pytest.fixture(scope="module")
def shop(engine: Engine, image: Image) -> Workshop:
    return open_workshop(engine, image, lambda line: None)


@pytest.fixture(scope="module")
def module(shop: Workshop, toolbox: Toolbox) -> GradleModule:
    return GradleModule(shop, toolbox.cache / "maven")


@pytest.fixture(scope="module")
def release(toolbox: Toolbox) -> Distribution:
    return locked_distribution(read_lock(VERSION), toolbox.downloads)


@pytest.fixture(scope="module")
def tree(toolbox: Toolbox, tmp_path_factory: pytest.TempPathFactory) -> Path:
    jar = toolbox.downloads.fetch(read_lock(VERSION).one(Purpose.SOURCES))
    return MavenSources(VERSION, jar).checkout(tmp_path_factory.mktemp("sources") / "tree").path


@pytest.fixture(scope="module")
def built(module: GradleModule, tree: Path, release: Distribution, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("built") / "classes"
    done = module.compile(tree, source_files(tree), release.others, out, 8)
    assert done.succeeded, done.output
    return out


def containers(engine: Engine) -> list[str]:
    return [each.id for each in engine.client.containers.list(all=True, filters={"label": OWNER_LABEL})]


def shell(image: Image, script: str, memory: int = 256 * MIB, timeout: float = 60) -> Job:
    return Job(image.id, ("sh", "-c", script), USER, memory, timeout, image.mounts)


def sentence_for(engine: Engine, job: Job) -> str:
    with run_job(engine, job, lambda line: None) as done:
        error = why_failed(done.ended, job.memory, job.timeout)
    assert error, done.ended
    return error.message


def one_class(folder: Path, text: str = "class A { }\n") -> list[str]:
    folder.mkdir(exist_ok=True)
    (folder / "A.java").write_text(text)
    return ["A.java"]


# What is built


def test_gradle_gives_the_classes_that_its_javac_gives_alone(built, engine, image, tree, release):
    flags = "-g -proc:none -nowarn -encoding UTF-8 --release 8 -Xlint:-options"
    job = shell(image, f"cd /sources && javac {flags} -cp '/jars/*' -d /tmp/out @/tmp/list", 1024 * MIB, 300)
    jars = (Mount(jar, f"/jars/{number}.jar") for number, jar in enumerate(release.others))
    listed = {"/tmp/list": "\n".join(source_files(tree)).encode()}
    job = replace(job, mounts=(*job.mounts, Mount(tree, "/sources"), *jars), files=listed)
    with run_job(engine, job, lambda line: None) as done:
        alone = {name.removeprefix("out/"): content for name, content in done.take("/tmp/out").items()}
    assert len(alone) == 123
    assert classes_in(built) == alone


def test_building_twice_gives_the_same_bytes(built, module, tree, release, tmp_path):
    assert module.compile(tree, source_files(tree), release.others, tmp_path / "out", 8).succeeded
    assert classes_in(tmp_path / "out") == classes_in(built)


def test_progress_is_told_while_it_builds_and_nothing_else(engine, image, toolbox, tmp_path):
    told: list[str] = []
    module = GradleModule(open_workshop(engine, image, told.append), toolbox.cache)
    assert module.compile(tmp_path, one_class(tmp_path), (), tmp_path / "out", 8).succeeded
    assert told[0] == "gradle :compileJava"
    assert all(line.startswith("gradle :") for line in told)


def test_auto_takes_the_container_and_names_it(engine, image, toolbox):
    with ExitStack() as held:
        builder = open_builder("auto", BuildHost(toolbox, 8, lambda line: None), held)
        assert builder.label.startswith("gradle ")
        assert "in a container, javac " in builder.label
        assert image.content[:19] in builder.note


def test_kafkas_own_way_of_building_gives_the_raft_modules_classes(shop, tmp_path):
    checkout = GitSource(str(small_kafka(tmp_path / "kafka")), "mine").checkout(tmp_path / "tree").path
    done = GradleFull(shop, tmp_path / "home").compile(checkout, [], (), tmp_path / "out", 8)
    assert done.succeeded, done.output
    assert done.command[0] == "./gradlew"
    assert sorted(classes_in(tmp_path / "out")) == ["org/apache/kafka/raft/KafkaRaftClient.class"]
    assert any((tmp_path / "home").iterdir()), "Gradle's home is kept for the next build"
    assert not (checkout / "raft/build").exists(), "the checkout is only read"


def small_kafka(folder: Path) -> Path:
    """A repository of two modules in which raft needs clients, as in Kafka's own; its gradlew is the image's Gradle."""
    files = {
        "settings.gradle": "include 'raft', 'clients'\n",
        "gradle.properties": f"version={VERSION}\n",
        "gradlew": '#!/bin/sh\nexec gradle --offline "$@"\n',
        "build.gradle": "subprojects { apply plugin: 'java' }\n"
        "project(':raft') { archivesBaseName = 'kafka-raft'\n dependencies { compile project(':clients') } }\n",
        "clients/src/main/java/org/apache/kafka/common/Node.java": "package org.apache.kafka.common;\n"
        "public class Node { }\n",
        "raft/src/main/java/org/apache/kafka/raft/KafkaRaftClient.java": "package org.apache.kafka.raft;\n"
        "class KafkaRaftClient { org.apache.kafka.common.Node node; }\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "gradlew").chmod(0o755)
    repository = create_repository(folder)
    commit_all(repository, "a small Kafka")
    repository.git.tag("mine")
    return folder


# What a container may


def test_a_container_has_no_network_and_cannot_write_what_it_was_given(engine, image, tmp_path):
    given = tmp_path / "given"
    given.mkdir()
    # by one pipe: two come in any order
    job = shell(image, "exec 2>&1; ls /sys/class/net; touch /given/new || touch /usr/new || echo nothing was written")
    with run_job(engine, replace(job, mounts=(*job.mounts, Mount(given, "/given"))), lambda line: None) as done:
        assert done.ended.output.splitlines()[0] == "lo"
        if find_image(engine, image.name).mounts:
            assert done.ended.output.endswith("nothing was written\n")
    assert list(given.iterdir()) == []


def test_output_is_heard_while_the_command_runs(engine, image):
    heard: list[float] = []
    with run_job(engine, shell(image, "echo one; sleep 1; echo two"), lambda line: heard.append(time.monotonic())):
        assert heard[1] - heard[0] > 0.7


def test_what_a_build_made_is_taken_only_up_to_a_size(engine, image, monkeypatch):
    monkeypatch.setattr(jobs, "_MOST_BYTES", MIB)
    job = shell(image, "head -c 3000000 /dev/zero > /tmp/large")
    with (
        run_job(engine, job, lambda line: None) as done,
        pytest.raises(HarnessError, match="/tmp/large in the container has more than"),
    ):
        done.take("/tmp/large")


# What goes wrong


def test_a_compile_error_comes_with_file_line_and_caret(module, tmp_path):
    done = module.compile(
        tmp_path, one_class(tmp_path, "class A {\n    Missing missing;\n}\n"), (), tmp_path / "out", 8
    )
    assert not done.succeeded
    assert first_errors(done.output) == "A.java:2: error: cannot find symbol\n    Missing missing;\n    ^"


def test_a_jar_that_is_not_in_the_repository_is_named(module, tmp_path, monkeypatch):
    monkeypatch.setattr("harness.building.containers.gradle.coordinate_of", lambda place: "org.example:gone:1.0")
    jar = tmp_path / "gone-1.0.jar"
    jar.write_bytes(b"")
    with pytest.raises(HarnessError, match=r"needs org\.example:gone:1\.0, which is not among the jars"):
        module.compile(tmp_path, one_class(tmp_path), (jar,), tmp_path / "out", 8)


def test_a_mount_that_is_missing_is_named_and_not_made(engine, image, tmp_path):
    job = shell(image, "true")
    missing = tmp_path / "cache" / "some.jar"
    with (
        pytest.raises(HarnessError, match=rf"{missing} is to be mounted .* and does not exist"),
        run_job(engine, replace(job, mounts=(Mount(missing, "/some.jar"),)), lambda line: None),
    ):
        pass
    assert not missing.parent.exists()


def test_out_of_memory_is_called_so(engine, image):
    eats = "a=x; while :; do a=$a$a; done"
    assert "ran out of memory (its limit is 0.1 GiB)" in sentence_for(engine, shell(image, eats, memory=64 * MIB))


def test_a_java_heap_that_is_too_small_is_out_of_memory_too(shop, toolbox, tmp_path, monkeypatch):
    monkeypatch.setattr("harness.building.containers.gradle._QUICK", "-Xmx8m")
    with pytest.raises(HarnessError, match="ran out of memory"):
        GradleModule(shop, toolbox.cache).compile(tmp_path, one_class(tmp_path), (), tmp_path / "out", 8)


def test_a_full_disk_is_called_so(engine, image):
    fills = "head -c 100000000 /dev/zero > /dev/shm/fill"  # 64 MB, as every container has
    assert "no space left on the disk" in sentence_for(engine, shell(image, fills))


def test_a_container_that_somebody_kills_is_not_called_out_of_memory(engine, image):
    def kill(line: str) -> None:
        engine.client.containers.get(containers(engine)[0]).kill()

    with run_job(engine, shell(image, "echo up; sleep 60"), kill) as done:
        error = why_failed(done.ended, 256 * MIB, 60)
    assert error
    assert "was killed from outside" in error.message


def test_a_build_that_does_not_end_is_ended(engine, image):
    assert "did not end within 1 s" in sentence_for(engine, shell(image, "sleep 60", timeout=1))


def test_a_container_is_gone_after_success_failure_and_interrupt(engine, image):
    for script in ("true", "false"):
        with run_job(engine, shell(image, script), lambda line: None):
            assert len(containers(engine)) == 1
        assert containers(engine) == []

    def interrupt(line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), run_job(engine, shell(image, "echo up; sleep 60"), interrupt):
        pass
    assert containers(engine) == []


CHILD = """
import sys
from pathlib import Path
from harness.containers.engine import reach_engine
from harness.containers.images import find_image
from harness.containers.jobs import Job, run_job
with reach_engine() as engine:
    image = find_image(engine, sys.argv[1])
    job = Job(image.id, ("sh", "-c", "echo up; sleep 300"), "0:0", 2**28, 600, image.mounts)
    with run_job(engine, job, lambda line: print(line, flush=True)):
        pass
"""


def test_the_next_start_removes_what_a_killed_harness_left_and_nothing_else(engine, image, toolbox):
    child = subprocess.Popen([sys.executable, "-c", CHILD, image.name], stdout=subprocess.PIPE, text=True)
    with child:
        assert child.stdout
        assert child.stdout.readline() == "up\n"
        assert sweep(engine) == [], "its owner lives"
        child.send_signal(signal.SIGKILL)
    (left,) = containers(engine)
    assert engine.client.containers.get(left).status == "running"
    told: list[str] = []
    with ExitStack() as held:
        open_builder("gradle-container", BuildHost(toolbox, 8, told.append), held)
        assert told == [f"removed the container {left[:12]}, which a harness that was killed had left"]
        assert containers(engine) == []


def test_a_socket_without_permission_is_told_from_one_without_an_engine():
    socket = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://")
    if os.getuid() != 0 or not Path(socket).is_socket():
        pytest.skip("only root can become somebody who may not")
    script = "import os; os.setgroups([]); os.setgid(65534); os.setuid(65534)\n" + (
        "from harness.containers.engine import reach_engine\n"
        "try:\n    reach_engine().__enter__()\nexcept Exception as error: print(error)\n"
    )
    imports_first = "import harness.containers.engine\n"
    done = subprocess.run([sys.executable, "-c", imports_first + script], capture_output=True, text=True, check=False)
    assert "You may not use the container engine" in done.stdout, done.stderr


def test_an_engine_that_is_not_there_is_said_to_be_missing(toolbox, monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(HarnessError, match="There is no container engine at"), reach_engine():
        pass
    with pytest.raises(NotOnThisHostError, match="There is no container engine at"), ExitStack() as held:
        open_builder("gradle-container", BuildHost(toolbox, 8, lambda line: None), held)


def test_an_image_that_is_not_there_is_not_pulled(engine, toolbox, monkeypatch):
    monkeypatch.setenv("HARNESS_BUILD_IMAGE", "nobody/has-this:1")
    with pytest.raises(HarnessError, match="has no image nobody/has-this:1"), ExitStack() as held:
        open_builder("gradle-container", BuildHost(toolbox, 8, lambda line: None), held)


def test_an_image_that_cannot_be_pulled_is_said_so(engine):
    with pytest.raises(HarnessError, match=r"127\.0\.0\.1:1/nobody:2 cannot be pulled"):
        pull_image(engine, "127.0.0.1:1/nobody:2", lambda line: None)


@pytest.fixture
def daemon(monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[bytes]]:
    """An engine of our own, which touches nothing of the host's network and may be ended."""
    program = shutil.which("dockerd", path="/usr/sbin:/usr/bin")
    if os.getuid() != 0 or program is None:
        pytest.skip("only root can start an engine, where one is installed")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # short: a socket's path has 107 bytes
        places = [f"--data-root={folder}/data", f"--exec-root={folder}/exec", f"--pidfile={folder}/pid"]
        quiet = ["--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-forward=false", "--ip-masq=false"]
        with Path(folder, "log").open("wb") as log:
            started = subprocess.Popen([program, *places, *quiet, f"--host=unix://{folder}/s"], stdout=log, stderr=log)
        monkeypatch.setenv("DOCKER_HOST", f"unix://{folder}/s")
        try:
            assert wait_until(lambda: b"API listen on" in Path(folder, "log").read_bytes(), 60, every=0.1)
            yield started
        finally:
            started.terminate()
            started.wait(60)


def test_an_engine_that_ends_in_the_middle_of_a_build_is_the_error_that_is_told(daemon, tmp_path):
    with reach_engine() as own:
        job = shell(skeleton(own, tmp_path), "echo up; exec sleep 60")
        with (
            pytest.raises(HarnessError, match="stopped in the middle of the build"),
            run_job(own, job, lambda line: daemon.terminate()),
        ):
            pass


def skeleton(engine: Engine, folder: Path) -> Image:
    """An image of the host's own shell, without the check that there is a Gradle too."""
    write_skeleton(Path("/"), folder / "skeleton.tar")
    return import_image(engine, folder / "skeleton.tar", HOST, {MOUNTS_LABEL: ":".join(lent(Path("/")))})


# Images


def test_the_hosts_own_files_are_an_image_at_once(daemon, tmp_path):
    with reach_engine() as own:
        assert image_to_build_in(own) is None
        older, image = skeleton(own, tmp_path), skeleton(own, tmp_path)
        assert older.content == image.content, "the same bytes"
        assert image_to_build_in(own) == find_image(own, image.name)
        with run_job(own, shell(image, "sort --version"), lambda line: None) as done:
            assert done.ended.exit_code == 0
        with pytest.raises(HarnessError, match="is gone"), run_job(own, shell(older, "true"), lambda line: None):
            pass
        assert remove_images(own) == [image.name]
        assert image_to_build_in(own) is None


@pytest.mark.whole
def test_an_image_of_packages_is_the_same_bytes_again(engine, image, monkeypatch, tmp_path):
    """Takes a minute or two: every package is installed, twice where no such image was there."""
    if shutil.which("mmdebstrap") is None:
        pytest.skip("this host has no mmdebstrap")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    older = find_image(engine, our_name(DEBIAN))
    made, differs = make_image(engine, lambda line: None)
    assert differs == [], "nothing is remembered yet"
    if older is None or older.packages != made.packages:
        older = made
        made, differs = make_image(engine, lambda line: None)
        assert differs == []
    assert made.content == older.content
    assert any(package.startswith("gradle=") for package in made.packages)
    with run_job(engine, shell(made, "find /etc/apt -name '*.list' -o -name '*.sources'"), lambda line: None) as done:
        assert done.ended.output == "", "no mirror's address, which may hold a password"
