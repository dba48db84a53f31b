"""Having the leader record where a voter listens: until the voter set shows it, or why that did not come."""

import uuid
from types import SimpleNamespace

import pytest

from harness.cluster import registering
from harness.cluster.address import Address
from harness.cluster.probes import Quorum
from harness.cluster.protocol import Unreachable
from harness.cluster.voter_changes import Answer
from harness.scenario.actions.register_endpoint import register_endpoint, register_wrong_endpoint
from harness.scenario.refs import fixed
from harness.scenario.world import ActionFailed

HERE, OLD = Address("h", 8201), Address("h", 8101)


class Registry:
    """A quorum that records what it is told, from the second time on."""

    is_closed = False

    def __init__(self, monkeypatch, error=""):
        self.known, self.told, self.error = OLD, [], error
        self.id, self.wire, self.controllers, self.endpoints = uuid.UUID(int=9), None, {0: Address("l", 1)}, {1: HERE}
        config = SimpleNamespace(announced={"CONTROLLER": HERE})
        self.nodes = {1: SimpleNamespace(id=1, directory=uuid.UUID(int=1), config=config)}
        monkeypatch.setattr(registering, "update_voter", self.update)
        monkeypatch.setattr(registering, "_RETRY_SECONDS", 0.001)

    def quorum(self):
        return Quorum(0, 5, endpoints={1: self.known})

    def update(self, _wire, leader, _cluster, epoch, voter, listeners):
        if self.error:
            raise Unreachable(self.error)
        self.told.append((leader, epoch, voter[0], listeners["CONTROLLER"]))
        if len(self.told) > 1:
            self.known = listeners["CONTROLLER"]
        return Answer("none")


@pytest.mark.parametrize(("port", "named"), [(0, HERE), (9, Address("h", 9))])
def test_the_leader_is_told_until_the_voter_set_shows_where_a_voter_listens_or_what_was_asked_for(
    monkeypatch, port, named
):
    registry = Registry(monkeypatch)
    assert registering.register_endpoint(registry, 1, 5.0, port) == ""
    assert registry.told == [(Address("l", 1), 5, 1, named)] * 2


def test_what_stood_in_the_way_is_told(monkeypatch):
    registry = Registry(monkeypatch, error="l:1: it refuses connections")
    assert registering.register_endpoint(registry, 1, 0.01) == "l:1: it refuses connections"
    monkeypatch.setattr("harness.scenario.actions.register_endpoint._WITHIN_SECONDS", 0.01)
    with pytest.raises(ActionFailed, match="was not registered: l:1"):
        register_endpoint(fixed(1, "the voter")).perform(SimpleNamespace(cluster=registry))


def test_a_wrong_endpoint_is_one_of_a_port_that_nobody_has(monkeypatch):
    registry, action = Registry(monkeypatch), register_wrong_endpoint(fixed(1, "the voter"))
    action.perform(SimpleNamespace(cluster=registry))
    assert registry.known == Address("h", 9)
    assert action.description == ("register a wrong endpoint (port 9) of the voter with the leader (UpdateRaftVoter)")
