"""The verbs of the incident and of the gaps, on clusters that answer as the test says."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from kio.schema.errors import ErrorCode
from kio.schema.incremental_alter_configs.v1 import request as schemas

from harness.cluster import log_levels, partitions, probes
from harness.cluster.address import Address
from harness.cluster.formatting import kafka_uuid, new_uuid
from harness.cluster.probes import ClusterMetadata, Quorum
from harness.cluster.protocol import Unreachable
from harness.cluster.quorum_description import Description
from harness.cluster.topology import Topology
from harness.cluster.voter_changes import Answer
from harness.scenario.actions.append_in_vain import append_in_vain
from harness.scenario.actions.count_right_addresses import count_right_addresses
from harness.scenario.actions.log_at import log_connections
from harness.scenario.actions.move_voters import move_voters
from harness.scenario.actions.remove_in_vain import remove_in_vain
from harness.scenario.conditions import knows_the_living as living
from harness.scenario.conditions.membership import only_vote
from harness.scenario.refs import fixed
from harness.scenario.world import ActionFailed

OBSERVER = fixed(3, "the observer")
BROKERS = {3: Address("h", 13), 4: Address("h", 14)}


def led(*voters):
    return Quorum(voters[0] if voters else -1, 4, 9, dict.fromkeys(voters, 10))


def at(port):
    return Address("h", port)


@pytest.mark.parametrize(("voters", "holds"), [((5, 6), True), ((5,), False), ((5, 6, 0), False), ((), False)])
def test_only_the_named_voters_vote(voters, holds):
    world = SimpleNamespace(quorum=lambda: led(*voters))
    assert only_vote(fixed(5, "a"), fixed(6, "b")).sample(world).ok is holds


@pytest.fixture
def broker(monkeypatch):
    """A broker that lists brokers and describes the quorum as the test says."""
    said = SimpleNamespace(brokers=BROKERS, answer=Answer("none"), leader=5, voters=frozenset({5, 6}))
    monkeypatch.setattr(probes, "metadata", lambda *_: ClusterMetadata(said.brokers, {}))
    monkeypatch.setattr(living, "describe", lambda *_: Description(said.answer, said.leader, voters=said.voters))
    return said


def knows(brokers=BROKERS):
    world = SimpleNamespace(cluster=SimpleNamespace(wire=None, brokers=brokers), quorum=lambda: led(5, 6))
    return living.knows_the_living(OBSERVER).sample(world)


def test_a_broker_knows_the_living_that_lists_who_runs_and_names_the_leader_and_its_voters(broker):
    assert knows().ok


@pytest.mark.parametrize(
    ("what", "wrong"),
    [
        ("brokers", {**BROKERS, 7: Address("h", 17)}),
        ("brokers", {3: BROKERS[3]}),
        ("answer", Answer("not_controller")),
        ("leader", 6),
        ("voters", frozenset({0, 5, 6})),
    ],
)
def test_a_broker_that_lists_others_or_another_quorum_does_not(broker, what, wrong):
    setattr(broker, what, wrong)
    assert not knows().ok


def test_a_broker_that_is_down_knows_nobody(broker):
    assert not knows(brokers={4: BROKERS[4]}).ok


def test_only_an_address_at_which_a_running_controller_listens_is_right():
    notes = []
    cluster = SimpleNamespace(
        nodes={3: SimpleNamespace(config=SimpleNamespace(voters={0: at(1), 1: at(2), 2: at(3)}))},
        voters=[SimpleNamespace(id=node, is_running=node != 2) for node in range(3)],
        reached_at=lambda node: {0: at(1), 1: at(22), 2: at(3)}[node],
    )
    count_right_addresses(OBSERVER).perform(SimpleNamespace(cluster=cluster, note=lambda *said: notes.append(said)))
    assert notes == [("1 of the 3 configured addresses are right, of node 0", 3)]


def test_every_voter_is_down_before_the_first_one_starts_elsewhere():
    did = []
    cluster = SimpleNamespace(
        topology=Topology(2, 1),
        nodes={node: SimpleNamespace(kill=lambda node=node: did.append(node)) for node in range(3)},
        start_elsewhere=did.append,
    )
    move_voters().perform(SimpleNamespace(cluster=cluster))
    assert did == [0, 1, (0, 1)]


@pytest.fixture
def levels(monkeypatch):
    """A broker that answers so when it is asked to log otherwise; what it was asked is in `asked`."""
    said = SimpleNamespace(code=ErrorCode.none, message=None, asked=[])

    def answer(_address, request, **_):
        said.asked.append(request)
        return SimpleNamespace(responses=[SimpleNamespace(error_code=said.code, error_message=said.message)])

    monkeypatch.setattr(log_levels, "ask", answer)
    return said


def log_on(brokers=BROKERS):
    wire = SimpleNamespace(schemas=lambda *_: schemas)
    log_connections(OBSERVER).perform(SimpleNamespace(cluster=SimpleNamespace(wire=wire, brokers=brokers)))


def test_the_level_of_one_logger_is_set_on_the_broker_itself(levels):
    log_on()
    (resource,) = levels.asked[0].resources
    (config,) = resource.configs
    assert (int(resource.resource_type), resource.resource_name) == (8, "3")
    assert (config.name, config.value) == ("org.apache.kafka.clients.NetworkClient", "DEBUG")


def test_a_level_that_stays_as_it_was_is_told(levels):
    levels.code, levels.message = ErrorCode.invalid_config, "no such logger"
    with pytest.raises(ActionFailed, match=r"keeps the level .* invalid_config: no such logger"):
        log_on()
    with pytest.raises(ActionFailed, match="is no broker that runs"):
        log_on(brokers={})


@pytest.fixture
def controller(monkeypatch):
    """A controller that answers a request for topics so, or not at all; what it was asked is in `asked`."""
    said = SimpleNamespace(answer=None, asked=[], cause=TimeoutError())

    def create(_wire, address, topics, _config, _timeout):
        said.asked.append((address, topics))
        if said.answer is None:
            raise Unreachable("no answer within 0.5 s") from said.cause
        return said.answer

    monkeypatch.setattr(partitions, "create_topics", create)
    return said


WIRE = SimpleNamespace(schemas=lambda _name, _address: None)


def append():
    world = SimpleNamespace(cluster=SimpleNamespace(wire=WIRE, controllers={1: at(21)}))
    append_in_vain(fixed(1, "the leader"), topics=2).perform(world)


def test_a_leader_that_never_answers_has_appended_in_vain(controller):
    append()
    assert controller.asked == [(at(21), {"in-vain-0": [(1,)], "in-vain-1": [(1,)]})]


def test_a_leader_that_takes_no_question_has_appended_nothing(controller):
    controller.cause = ConnectionRefusedError()
    with pytest.raises(ActionFailed, match="the leader was not asked: no answer"):
        append()


@pytest.mark.parametrize(("answer", "told"), [("", "the topics are there"), ("not_controller", "not_controller")])
def test_a_leader_that_answers_has_a_majority_or_did_nothing(controller, answer, told):
    controller.answer = answer
    with pytest.raises(ActionFailed, match=f"answered: {told}"):
        append()


@pytest.mark.parametrize("answer", [None, Answer("none"), Answer("voter_not_found", "nobody")])
def test_a_leader_is_removed_in_vain_where_it_does_not_answer(monkeypatch, answer):
    asked = []

    def remove(_wire, address, cluster, voter, _timeout):
        asked.append((address, cluster, voter))
        if answer is None:
            raise Unreachable("no answer within 1 s") from TimeoutError()
        return answer

    monkeypatch.setattr("harness.scenario.actions.remove_in_vain.remove_voter", remove)
    cluster = SimpleNamespace(
        wire=WIRE, id=new_uuid(), controllers={1: at(21)}, nodes={1: SimpleNamespace(directory=7)}
    )
    told = nullcontext() if answer is None else pytest.raises(ActionFailed, match=f"the leader answered: {answer}")
    with told:
        remove_in_vain(fixed(1, "the leader")).perform(SimpleNamespace(cluster=cluster))
    assert asked == [(at(21), kafka_uuid(cluster.id), (1, 7))]
