"""A container's process as a process of this host, and what a container gets to see."""

import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from harness.base.errors import HarnessError
from harness.base.waiting import wait_until
from harness.cluster.cluster import Cluster
from harness.cluster.runtime import opening
from harness.cluster.runtime.base import end_at_once
from harness.cluster.runtime.container_process import ContainerProcess
from harness.cluster.runtime.container_runtime import named_paths
from harness.cluster.runtime.opening import cannot_give
from harness.model.setup import NodeRuntime
from harness.scenario.capabilities.base import capabilities
from harness.scenario.registry import load_all


@pytest.fixture
def child():
    process = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.wait()
    process.stdin.close()


def test_a_containers_process_runs_until_its_engine_says_how_it_ended(child):
    asked = []
    process = ContainerProcess(child.pid, lambda: asked.append(child.wait()) or 3)
    assert process.poll() is None
    child.stdin.close()
    assert wait_until(lambda: process.poll() is not None, 5)
    assert (process.poll(), process.poll(), len(asked)) == (3, 3, 1)
    process.terminate()  # nothing to a process that has ended


@pytest.mark.parametrize(("status", "code"), [(137, -9), (143, -15), (128, 128), (1, 1), (0, 0)])
def test_an_end_by_a_signal_reads_as_that_of_a_child(child, status, code):
    process = ContainerProcess(child.pid, lambda: status)
    end_at_once(process, "Node 1")
    assert process.poll() == code
    assert child.wait() == -signal.SIGKILL


def test_a_process_that_has_ended_since_it_was_last_asked_takes_no_signal_and_raises_nothing(child):
    process = ContainerProcess(child.pid, lambda: 137)
    child.kill()
    child.wait()
    process.send_signal(signal.SIGQUIT)
    assert process.poll() == -9


def test_a_process_that_is_not_here_is_a_sentence(child):
    child.kill()
    child.wait()
    with pytest.raises(HarnessError, match=r"is not on this host, or ended at once \(exit 127\)"):
        ContainerProcess(child.pid, lambda: 127)


def test_a_container_sees_what_its_command_names_and_the_rest_of_nothing(tmp_path):
    java, jar, other, known = (tmp_path / name for name in ("jdk/bin/java", "a.jar", "b.jar", "nodes"))
    java.parent.mkdir(parents=True)
    known.mkdir()
    for file in (java, jar, other, known / "server.properties"):
        file.touch()
    flags = [f"-Dlog=file:{known}/server.properties", f"-javaagent:{jar}=to={tmp_path}/gone", "-cp", f"{jar}:{other}"]
    found = named_paths([str(java), *flags, "kafka.Kafka", f"{known}/server.properties"], known)
    assert found == [tmp_path / "jdk", jar, other]


def test_programs_of_the_system_are_those_of_the_image(tmp_path):
    assert named_paths(["/usr/bin/sleep", "300"], tmp_path) == named_paths(["/bin/sleep", "300"], tmp_path) == []


def test_networks_and_clocks_are_not_to_be_had_in_containers():
    load_all()  # registers what capabilities there are
    assert cannot_give(NodeRuntime.CONTAINER, ("old_topic_tool", "fake_clock")).startswith("a container's image has no")
    assert "Leave --runtime out" in cannot_give(NodeRuntime.CONTAINER, ("network_namespaces",))
    assert cannot_give(NodeRuntime.CONTAINER, ("old_topic_tool",)) == ""
    assert opening._NOT_IN_CONTAINERS.keys() <= capabilities().keys(), "a capability has another name now"
    assert cannot_give(NodeRuntime.PROCESS, ("network_namespaces", "fake_clock")) == ""


class Endless:
    """A process that hangs in the kernel: signals change nothing."""

    def __init__(self, pid):
        self.pid, self.sent = pid, []

    def poll(self):
        return None

    def send_signal(self, number):
        self.sent.append(number)


def test_a_process_that_does_not_end_is_a_sentence_and_no_endless_wait(child):
    endless = Endless(child.pid)
    with pytest.raises(HarnessError, match=rf"Node 1 \(process {child.pid}, state \w+\) did not end within 0 s"):
        end_at_once(endless, "Node 1", within=0)
    assert endless.sent == [signal.SIGKILL]
    child.kill()
    child.wait()
    with pytest.raises(HarnessError, match="in no state that can be read"):
        end_at_once(Endless(child.pid), "ZooKeeper", within=0)


def test_a_node_that_does_not_end_keeps_no_other_from_being_ended():
    ended = []

    def endless():
        raise HarnessError("Node 1 did not end.")

    nodes = {number: SimpleNamespace(kill=lambda number=number: ended.append(number)) for number in range(3)}
    nodes[1].kill = endless
    parts = {name: SimpleNamespace(close=lambda name=name: ended.append(name)) for name in ("mode", "runtime")}
    cluster = SimpleNamespace(nodes=nodes, _owns_runtime=True, **parts)
    with pytest.raises(HarnessError, match="Node 1 did not end"):
        Cluster.close(cluster)
    assert set(ended) == {0, 2, "mode", "runtime"}
    assert ended[-1] == "runtime"
