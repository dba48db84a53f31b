"""The log diff on a real standalone cluster: the same result as on this machine, also when an executor is killed."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import psutil
import pyspark
import pytest

from harness.base.processes import mortal
from harness.logs import log_diff
from harness.logs.read.event_counts import WHOLE_LOG
from harness.logs.read.layout import KAFKA_DEFAULT
from harness.logs.read.spark import session
from harness.model.node_logs import NodeLogs
from harness.rundir.parts import LogsFolder

pytestmark = pytest.mark.live
JARS = Path(pyspark.__file__).parent / "jars" / "*"
LINES = 30_000  # of each file: several seconds of work for two executors


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def daemon(home: Path, folder: Path, name: str, *arguments: str) -> subprocess.Popen:
    """Start a master or a worker on loopback; it dies with the tests."""
    environment = {
        "PATH": os.environ["PATH"],
        "JAVA_HOME": str(home),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_SCALA_VERSION": "2.13",  # else it looks for a source tree to find out
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder),
        "JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={folder}",  # executors that are killed leave libraries there
    }
    command = [str(home / "bin" / "java"), "-cp", str(JARS), f"org.apache.spark.deploy.{name}", *arguments]
    with (folder / f"{arguments[1]}-{len(list(folder.iterdir()))}.log").open("wb") as log:
        return subprocess.Popen(mortal(command), env=environment, cwd=folder, stdout=log, stderr=log)


def wait_for(condition, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the cluster did not come up"
        time.sleep(0.2)


@pytest.fixture(scope="module")
def master(java_home, tmp_path_factory):
    """Yield the address of a master with two workers of one core each."""
    folder = tmp_path_factory.mktemp("cluster")
    port, page = free_port(), free_port()
    address = f"spark://127.0.0.1:{port}"
    started = [
        daemon(
            java_home, folder, "master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page)
        )
    ]
    state = f"http://127.0.0.1:{page}/json/"

    def alive(workers: int) -> bool:
        try:
            with urllib.request.urlopen(state, timeout=5) as answer:
                return f'"aliveworkers" : {workers}' in answer.read().decode()
        except OSError:
            return False

    try:
        wait_for(lambda: alive(0))
        started += [
            daemon(java_home, folder, "worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g", address)
            for _ in range(2)
        ]
        wait_for(lambda: alive(2))
        yield address
    finally:
        for process in started:
            for child in [*psutil.Process(process.pid).children(recursive=True), process]:
                child.kill()
            process.wait()


def executors() -> list[psutil.Process]:
    """Return the JVMs that run tasks, below the daemons of this process."""
    children = psutil.Process().children(recursive=True)
    return [each for each in children if "CoarseGrainedExecutorBackend" in " ".join(_command(each))]


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@pytest.fixture
def nodes(tmp_path) -> list[NodeLogs]:
    """Return two arms' logs, large enough that an executor can be killed while they are read."""
    found = []
    for arm, word in (("a", "Leader"), ("b", "Follower")):
        for number in range(4):
            path = tmp_path / f"{arm}{number}.log"
            with path.open("w") as log:
                for line in range(LINES):
                    text = f"{word} of {line} in {'x' * (line % 40)}" if line % 7 else f"only {chr(97 + line % 26)}"
                    log.write(f"[2026-11-21 14:28:{line % 60:02},949] INFO {text} (a.B)\n")
            found.append(NodeLogs("logs", arm, 1, number, "node", (path.name,), KAFKA_DEFAULT, (WHOLE_LOG,)))
    return found


def results(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def compare(spark, root: Path, nodes: list[NodeLogs], out: str) -> dict[str, bytes]:
    (root / out).mkdir()
    logs = LogsFolder(root / out)
    log_diff.compare(log_diff.read_nodes(spark, root, nodes, logs), [("a", "b")], logs)
    return results(root / out)


@pytest.fixture
def here(toolbox, tmp_path, nodes) -> dict[str, bytes]:
    """Return what the diff of this machine says."""
    with session(tmp_path, toolbox) as spark:
        return compare(spark, tmp_path, nodes, "here")


def test_a_cluster_says_what_this_machine_says_also_when_an_executor_is_killed_at_work(
    master, toolbox, tmp_path, nodes, here
):
    with session(tmp_path, toolbox, master) as spark:
        assert compare(spark, tmp_path, nodes, "cluster") == here
        before = {each.pid for each in executors()}
        assert len(before) == 2
        spark.conf.set("spark.sql.files.maxPartitionBytes", "200k")
        killer = subprocess.Popen(  # from outside, while this process waits for Spark
            [sys.executable, "-c", f"import os, time; time.sleep(1); os.kill({executors()[0].pid}, 9)"]
        )
        assert compare(spark, tmp_path, nodes, "killed") == here
        assert killer.wait() == 0
        assert {each.pid for each in executors()} != before
    wait_for(lambda: not executors())
    assert not list(tmp_path.glob("spark-*"))


def test_spark_submit_runs_the_same_command(master, java_home, tmp_path, nodes, here):
    for node in nodes:
        (tmp_path / node.arm).mkdir(exist_ok=True)
        shutil.copy(tmp_path / node.files[0], tmp_path / node.arm)
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    main = Path(sys.modules["harness"].__file__).parent / "__main__.py"
    done = subprocess.run(
        [submit, "--master", master, "--conf", "spark.driver.host=127.0.0.1", main, "diff", "a", "b", "--out", "out"],
        cwd=tmp_path,
        env={
            **os.environ,
            "JAVA_HOME": str(java_home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "out" / "findings.json").read_text().count('"template"') == here["findings.json"].count(
        b'"template"'
    )
