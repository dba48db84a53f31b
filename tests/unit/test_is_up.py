"""Whether every started node is up."""

from types import SimpleNamespace

import pytest

from harness.cluster import probes
from harness.cluster.node import NodeState
from harness.scenario import is_up


def world(*states):
    nodes = {
        at: SimpleNamespace(id=at, state=state, config=SimpleNamespace(listeners=(f"node {at}",)))
        for at, state in enumerate(states)
    }
    running = [each for each in nodes.values() if each.state in (NodeState.STARTING, NodeState.READY)]
    brokers = {each.id: f"broker {each.id}" for each in running}
    return SimpleNamespace(cluster=SimpleNamespace(nodes=nodes, running=running, brokers=brokers, wire=None))


@pytest.fixture(autouse=True)
def every_broker_knows_all(monkeypatch):
    monkeypatch.setattr(probes, "metadata", lambda *_: SimpleNamespace(brokers={0: None, 1: None, 2: None}))
    monkeypatch.setattr(probes, "answers", lambda *_: True)


def test_all_are_up_where_each_is_ready_and_one_was_stopped_on_purpose():
    assert is_up().sample(world(NodeState.READY, NodeState.READY, NodeState.STOPPED)).ok


@pytest.mark.parametrize("state", [NodeState.STARTING, NodeState.DIED])
def test_they_are_not_while_one_starts_or_where_one_has_died_though_it_was_allowed_to(state):
    assert not is_up().sample(world(NodeState.READY, state)).ok


def test_they_are_not_while_a_node_that_was_ready_does_not_answer_on_one_of_its_listeners(monkeypatch):
    monkeypatch.setattr(probes, "answers", lambda address: address != "node 1")
    sample = is_up().sample(world(NodeState.READY, NodeState.READY))
    assert (sample.ok, "nodes [1] do not answer" in sample.problem) == (False, True)
