"""At the end of a run every node is asked to stop, and it is noted which did not end by itself."""

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.base.waiting import wait_until
from harness.cluster import node as node_module
from harness.cluster.address import Address
from harness.cluster.config import NodeConfig
from harness.cluster.formatting import new_uuid
from harness.cluster.install import Install
from harness.cluster.node import Launch, Node, NodeState
from harness.cluster.protocol import Wire
from harness.cluster.topology import Topology
from harness.engine.executor import Run
from harness.engine.shutdown import end_nodes
from harness.kafka.release_lines import line_of
from harness.model.setup import Profile
from harness.scenario.monitors.host_not_starved import HostNotStarved
from harness.scenario.slowness import HostInterval

ENDS, IGNORES = "ready\nexec sleep 60", "trap '' TERM\nready\nexec sleep 60"
SLOWLY = "trap 'echo \"[x] INFO bye (y)\" >> server.log; exit 143' TERM\nready\nwhile :; do sleep 0.05; done"
CONTROLLER, BROKER = Address("127.0.0.1", 2), Address("127.0.0.1", 1)


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """Return a function that makes a cluster of nodes that run these shell scripts: three voters, then observers.

    A script calls `ready` when its traps are set; the cluster is there when all have.
    """
    monkeypatch.setattr(Node, "dump_threads", lambda _: None)

    def make(*scripts):
        nodes = [start(number, script) for number, script in enumerate(scripts)]
        made.extend(nodes)
        assert wait_until(lambda: all((tmp_path / f"ready{node.id}").exists() for node in nodes), 30)
        return SimpleNamespace(
            running=nodes, nodes={node.id: node for node in nodes}, topology=Topology(3, len(nodes) - 3)
        )

    def start(number, script):
        (tmp_path / f"ready{number}").unlink(missing_ok=True)
        java = tmp_path / f"java{number}"
        java.write_text(f"#!/bin/sh\nready() {{ : > {tmp_path}/ready{number}; }}\n{script}\n")
        java.chmod(0o755)
        launch = Launch(java, (), Profile.FAST, line_of("3.9.1"), None, {}, "127.0.0.1")
        config = NodeConfig(number, BROKER, CONTROLLER if number < 3 else None, {})
        install = Install("stock", Path("x.jar"), "", "")
        node = Node(config, new_uuid(), tmp_path / str(number), launch, install, Wire({}), lambda _: None)
        node.start()
        return node

    made = []
    yield make
    for node in made:
        node.kill()


def end(cluster, patience=2.0, slow=False, passed=True):
    found = end_nodes(cluster, passed, lambda: slow, patience)
    return [(each.node, each.node_role, each.ended) for each in found]


def test_every_node_that_ends_by_itself_is_noted_so(cluster):
    three = cluster(ENDS, IGNORES, ENDS, ENDS)
    found = end(three)
    assert (3, "observer", True) in found
    assert {each for each in found if each[1] == "voter"} == {(0, "voter", True), (2, "voter", True)}


def test_an_observer_that_ignores_the_signal_is_noted_and_killed(cluster):
    two = cluster(ENDS, ENDS, ENDS, IGNORES)
    assert (3, "observer", False) in end(two)
    assert two.running[3].state is NodeState.KILLED


def test_of_an_observer_that_is_late_in_a_run_that_failed_nothing_is_said(cluster):
    four = cluster(ENDS, ENDS, ENDS, IGNORES)
    noted = {node for node, _, _ in end(four, passed=False)}
    assert len(noted) >= 2, "two of three voters end by themselves, whichever these are"
    assert 3 not in noted
    assert four.running[3].state is NodeState.KILLED


def test_voters_have_their_whole_time_in_a_run_that_failed_too(cluster):
    late = "trap 'sleep 2; exit 143' TERM\nready\nwhile :; do sleep 0.05; done"
    noted = end(cluster(late, late, late), patience=10, passed=False)
    assert len(noted) >= 2, "two of three voters end by themselves, whichever these are"
    assert {each[1:] for each in noted} == {("voter", True)}
    assert sorted(end(cluster(IGNORES, IGNORES, IGNORES), passed=False)) == [(n, "voter", False) for n in range(3)]


def test_voters_that_ignore_the_signal_are_noted_while_they_have_a_majority(cluster):
    assert end(cluster(IGNORES, IGNORES, IGNORES)) == [(each, "voter", False) for each in range(3)]
    assert end(cluster(ENDS, IGNORES, IGNORES)) == [(0, "voter", True), (1, "voter", False), (2, "voter", False)]


def test_of_a_voter_that_is_left_alone_nothing_is_said(cluster):
    three = cluster(ENDS, ENDS, IGNORES)
    assert sorted(end(three, patience=60)) == [(0, "voter", True), (1, "voter", True)]
    assert three.running[2].state is NodeState.KILLED


def test_of_a_node_that_is_late_on_a_slow_host_nothing_is_said(cluster):
    assert (3, "observer", False) not in end(cluster(ENDS, ENDS, ENDS, IGNORES), slow=True)


def test_what_nodes_log_when_they_are_asked_to_stop_is_kept_apart(cluster):
    one = cluster(SLOWLY)
    log = one.running[0].log_file
    log.write_text("[x] INFO of the plan (y)\n[x] INFO half a li")
    with log.open("a") as stream:
        stream.write("ne (y)\n")
    one.topology = Topology(1, 0)
    assert end(one, patience=10) == [(0, "voter", True)]
    assert log.read_text() == "[x] INFO of the plan (y)\n[x] INFO half a line (y)\n"
    assert log.with_name("shutdown.log").read_text() == "[x] INFO bye (y)\n"


def test_a_node_that_ends_with_an_error_when_it_is_stopped_is_noted_so(cluster):
    fails = "trap 'exit 1' TERM\nready\nwhile :; do sleep 0.05; done"
    four = cluster(ENDS, fails, IGNORES, ENDS)
    for node in four.running:
        node.state = NodeState.READY
    found = end_nodes(four, True, lambda: False, 10)
    assert {each.node: (each.ended, each.failed) for each in found}[1] == (True, True)
    assert {each.failed for each in found if each.node != 1} == {False}


def test_a_node_is_known_to_be_stopped_while_it_starts(cluster):
    node, other = cluster(ENDS, ENDS).running
    other.state = NodeState.READY
    assert (node.terminate(), node.was_stopped_while_starting) == (True, True)
    assert (other.terminate(), other.was_stopped_while_starting) == (True, False)


def test_a_node_that_a_step_stops_and_that_ends_with_an_error_is_noted_so(cluster):
    carried_out = Run(SimpleNamespace(scenario=SimpleNamespace(topology=Topology(3, 1))), None, None, None)
    fails = {"id": 1, "is_voter": True, "state": NodeState.DIED, "stopping_seconds": 0.8, "ended_in_order": False}
    for asked, starting in ((True, False), (True, True), (False, False)):
        node = SimpleNamespace(**fails, was_asked_to_stop=asked, was_stopped_while_starting=starting)
        carried_out._note_shutdown(node)
    assert [(each.ended, each.failed) for each in carried_out.shutdowns] == [(True, True), (True, False)]


def test_a_node_that_is_killed_while_another_thread_waits_for_its_end_has_not_died_of_its_own(cluster):
    (node,) = cluster(IGNORES).running
    assert node.terminate()
    node.kill()
    assert node.finish_stopping()
    assert node.state is NodeState.KILLED


def test_who_waits_for_a_node_sees_its_kill_before_it_is_noted_and_takes_it_for_no_death(cluster, monkeypatch):
    (node,) = cluster(IGNORES).running
    assert node.terminate()
    seen = []

    def ended(process, _who):
        process.kill()
        process.wait()
        seen.append((node.finish_stopping(), node.state))

    monkeypatch.setattr(node_module, "end_at_once", ended)
    node.kill()
    assert seen == [(True, NodeState.STOPPING)]
    assert node.state is NodeState.KILLED


@pytest.mark.parametrize(
    ("split", "waited", "noted"), [(False, 0.0, [False]), (True, 0.0, []), (False, 0.1, [False]), (False, 0.95, [])]
)
def test_of_a_node_that_others_or_the_host_keep_from_stopping_it_is_not_said_that_it_did_not(split, waited, noted):
    carried_out = Run(SimpleNamespace(scenario=SimpleNamespace(topology=Topology(3, 1))), None, None, None)
    carried_out._runtime = SimpleNamespace(is_split=split)
    host = object.__new__(HostNotStarved)
    now = time.monotonic()
    host._intervals = [
        HostInterval(
            end=now - second, seconds=1.0, processors=2, waits={(3, "main, thread 1"): waited}, own=0.1, others=1.9
        )
        for second in range(20, -1, -1)
    ]
    carried_out._monitors = [host]
    asked = {
        "was_asked_to_stop": True,
        "was_stopped_while_starting": False,
        "stopping_seconds": 20.0,
        "ended_in_order": False,
    }
    hung = SimpleNamespace(id=3, is_voter=False, state=NodeState.KILLED, **asked)
    carried_out._note_shutdown(hung)
    assert [each.ended for each in carried_out.shutdowns] == noted
