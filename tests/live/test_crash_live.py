"""kill -9 at random moments, then --resume: the same verdict, and nothing left of what was killed.

`HARNESS_CRASHES` is how often the harness is killed (the nightly asks for many), `HARNESS_CRASH_SEED` the seed.
"""

import json
import os
import random
import shutil
import signal
import time
from pathlib import Path

import psutil
import pytest
from host_state import processes_of

from harness.base.files import PARTIAL
from harness.base.locks import MARKER, SCRATCH
from harness.base.waiting import wait_until
from harness.cluster import node as node_module
from harness.cluster.cluster import Cluster
from harness.cluster.node import NodeState
from harness.cluster.topology import Topology
from harness.model.events import NodeChanged
from harness.rundir.journal import read_journal
from harness.toolbox.toolbox import local_toolbox

pytestmark = [pytest.mark.live, pytest.mark.clusters]

CRASHES = int(os.environ.get("HARNESS_CRASHES", "3"))
SEED = int(os.environ.get("HARNESS_CRASH_SEED", "1"))
# Short, medium and long lives, in seconds: the build, the middle of a run, the log diff and what follows it.
LIVES = ((0.5, 8.0), (6.0, 20.0), (12.0, 30.0))
QUICK = ("--scenarios", str(Path(__file__).parent / "scenarios"), "--scenario", "comes-up", "--arms", "base,on")
VERIFY = ("verify", *QUICK, "--builder", "ecj", "--no-coverage", "--tests", "none", "--fresh", "--out", "run")
RESUME = ("verify", "--resume", "run")
EXPECTED = {"stock": ("PASSED", ""), "patched-on": ("PASSED", "")}


def left_behind(folder):
    """Return the files and folders that a harness must not leave."""
    scratch = [*(folder / "tmp").iterdir(), *local_toolbox().cache.glob(f"*/{SCRATCH}*")]
    return scratch + [path for path in (folder / "run").rglob("*") if path.name.startswith((PARTIAL, MARKER, "spark-"))]


def ports_of(run_dir):
    """Return every port that a node of any run was given."""
    entries = [entry for path in run_dir.glob("runs/*/*/*/journal.jsonl") for entry in read_journal(path)]
    changes = [entry.event for entry in entries if isinstance(entry.event, NodeChanged)]
    addresses = {address for change in changes for address in (change.broker, change.controller) if address}
    return {int(address.rpartition(":")[2]) for address in addresses}


def outcomes(run_dir):
    runs = json.loads((run_dir / "verdict.json").read_text())["runs"]
    return {run["arm"]: (run["outcome"], run["expectation"]) for run in runs}


def go_on(start_harness, run_dir):
    """Start the harness where it was cut short, or from the beginning."""
    return start_harness(*(RESUME if (run_dir / "request.json").exists() else VERIFY))


def must_be_as_expected(process, told, run_dir):
    assert process.returncode == 3, told
    assert outcomes(run_dir) == EXPECTED, told
    assert left_behind(run_dir.parent) == []


def test_a_harness_that_is_killed_at_any_moment_is_gone_on_with_to_the_same_verdict(start_harness, tmp_path):
    chance, run_dir, moments = random.Random(SEED), tmp_path / "run", []
    while len(moments) < CRASHES:
        process = go_on(start_harness, run_dir)
        time.sleep(chance.uniform(*LIVES[len(moments) % len(LIVES)]))
        process.send_signal(signal.SIGKILL)
        told = process.communicate()[0]
        if process.returncode != -signal.SIGKILL:  # it was quicker: that is a verdict, and the next begins anew
            must_be_as_expected(process, told, run_dir)
            shutil.rmtree(run_dir)
            continue
        moments.append(told.strip().rpartition("\n")[2] or "nothing said yet")
        assert wait_until(lambda: not processes_of(tmp_path), 20), (moments, processes_of(tmp_path))
    last = go_on(start_harness, run_dir)
    told, _ = last.communicate(timeout=600)
    print(*moments, sep="\n")
    must_be_as_expected(last, told, run_dir)
    assert not processes_of(tmp_path)
    listening = {each.laddr.port for each in psutil.net_connections("tcp") if each.status == psutil.CONN_LISTEN}
    assert not listening & ports_of(run_dir)


def interrupted(process, moment, ending, after_seconds):
    """Send a signal some time after the harness has printed `moment`; return what it prints until its end."""
    assert any(moment in line for line in process.stdout), "the moment never came"
    time.sleep(after_seconds)
    process.send_signal(ending)
    began = time.monotonic()
    printed, _ = process.communicate(timeout=30)
    assert time.monotonic() - began < 10
    assert (process.returncode, "Traceback" in printed) == (130, False), printed
    return printed


def test_asked_to_end_while_it_builds_it_leaves_nothing(start_harness, tmp_path):
    printed = interrupted(start_harness(*VERIFY), "building", signal.SIGINT, 0)
    assert not (tmp_path / "run").exists()
    assert "--resume" not in printed
    assert not processes_of(tmp_path)


def test_asked_to_end_in_the_middle_of_runs_it_says_how_to_resume_and_no_node_is_left(start_harness, tmp_path):
    printed = interrupted(start_harness(*VERIFY), "runs on live clusters", signal.SIGTERM, 6)
    assert "harness verify --resume run" in printed
    assert not processes_of(tmp_path)
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("seconds", [0.5, *(pytest.param(each, marks=pytest.mark.whole) for each in (1.2, 2.0))])
def test_asked_to_end_while_it_compares_logs_it_says_how_to_resume_and_no_spark_is_left(
    start_harness, tmp_path, shipped_verification, seconds
):
    shutil.copytree(shipped_verification[0], tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "logs")
    printed = interrupted(start_harness(*RESUME), "comparing node logs", signal.SIGINT, seconds)
    assert "harness verify --resume run" in printed
    assert not processes_of(tmp_path)
    # Spark's folder may stay for the next start to sweep: its JVM wrote there to the last moment.
    assert [path for path in left_behind(tmp_path) if not path.name.startswith("spark-")] == []


def test_a_node_that_does_not_stop_in_time_leaves_its_threads(node_parts, stock, tmp_path, monkeypatch):
    monkeypatch.setattr(node_module, "STOP_TIMEOUT_SECONDS", 0.01)  # no JVM ends as quickly
    launch = node_parts.launch({})
    with Cluster(Topology(1, 0), tmp_path, launch, stock, node_parts.template, lambda _: None) as cluster:
        (node,) = cluster.nodes.values()
        cluster.start([0])
        assert wait_until(lambda: cluster.look() or node.state is NodeState.READY, 90)
        assert not node.stop()
    (dump,) = node.thread_dumps
    assert dump.read_text().startswith("Full thread dump OpenJDK")
    assert '"kafka-0-raft-io-thread"' in dump.read_text()


def test_two_harnesses_do_not_work_on_one_run_directory(start_harness, tmp_path):
    first = start_harness(*VERIFY)
    assert wait_until((tmp_path / "run" / "request.json").exists, 60)
    second = start_harness(*RESUME)
    told, _ = second.communicate(timeout=60)
    assert second.returncode == 2
    assert f"run is in use by process {first.pid}" in told
    first.send_signal(signal.SIGTERM)
    assert first.wait(30) == 130
