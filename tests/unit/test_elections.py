"""Who leads a partition next, how that is told from a controller's log, and what plans say and do about it."""

from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError, KafkaException
from hypothesis import given
from hypothesis import strategies as st
from kio.index import load_entity_module
from kio.schema.errors import ErrorCode
from kio.static.constants import EntityType

from harness.cluster import partition_changes, partitions
from harness.cluster.address import Address
from harness.cluster.partition_changes import Election
from harness.cluster.partitions import PartitionView, view_of
from harness.cluster.probes import Quorum
from harness.cluster.protocol import Unreachable
from harness.cluster.voter_changes import Answer
from harness.scenario.accounts import Account
from harness.scenario.actions import change_partitions, write_records
from harness.scenario.actions.change_partitions import (
    add_partitions,
    create_partition,
    elect_preferred,
    elect_unclean,
    reassign,
)
from harness.scenario.actions.change_partitions import set_topic as change_topic
from harness.scenario.actions.let_pass import let_pass
from harness.scenario.actions.write_records import count_lost, write
from harness.scenario.conditions.lost_records import lost
from harness.scenario.conditions.partition_leaders import (
    elected_after_failure,
    elected_after_shutdown,
    has_no_partition_leader,
    has_truncated,
    in_sync,
    isr_order_differs,
    led_by,
    led_by_first_in_sync,
)
from harness.scenario.elections import NOBODY, Way, first_in_sync, first_of_isr, order_tells, way_of
from harness.scenario.loads.readback import StoredRecord
from harness.scenario.loads.topics import keeping
from harness.scenario.plan import Plan
from harness.scenario.refs import fixed
from harness.scenario.registry import load_all
from harness.scenario.steps import Bind, Expect, described
from harness.scenario.world import ActionFailed, TopicUnknown, World

FIRST, SECOND, THIRD = (fixed(number, f"broker {number}") for number in (1002, 1001, 1003))
# The article's bar-1: assigned 1002, 1001, 1003; in sync 1002, 1003, 1001.
BAR = PartitionView(1002, 4, (1002, 1001, 1003), (1002, 1003, 1001))
AT = 1_700_000_000.5  # 2023-11-14 22:13:20,500 UTC

replicas = st.lists(st.integers(0, 9), unique=True, max_size=6)


def test_when_the_leader_of_the_article_dies_the_next_of_the_assignment_leads_and_not_of_the_isr():
    alive = {1001, 1003}
    assert (first_in_sync(BAR.replicas, alive, BAR.isr), first_of_isr(alive, BAR.isr)) == (1001, 1003)
    assert order_tells(BAR, {1001, 1002, 1003})


def test_an_isr_in_the_assignments_order_tells_nothing():
    assert not order_tells(PartitionView(1, 0, (1, 2, 3), (1, 2, 3)), {1, 2, 3})


@given(replicas, st.sets(st.integers(0, 9)), st.data())
def test_who_leads_is_alive_and_in_sync_and_nobody_before_it_is(assignment, alive, data):
    isr = data.draw(st.permutations(assignment)) if assignment else []
    isr = isr[: data.draw(st.integers(0, len(isr)))]
    leader = first_in_sync(assignment, alive, isr)
    fit = [replica for replica in assignment if replica in alive and replica in isr]
    assert leader == (fit[0] if fit else NOBODY)
    assert (leader == NOBODY) == (first_of_isr(alive, isr) == NOBODY)


@given(replicas)
def test_the_order_of_an_isr_tells_nothing_where_it_is_the_assignments(assignment):
    leader = assignment[0] if assignment else NOBODY
    assert not order_tells(PartitionView(leader, 0, tuple(assignment), tuple(assignment)), set(assignment))


def logged(second: float, text: str) -> bytes:
    return f"[2023-11-14 22:13:{second:06.3f}] INFO {text} (x.Y)".replace(".", ",", 1).encode()


SHUTDOWN = "[QuorumController id=0] enterControlledShutdown[2]: changing 3 partition(s)"
FENCED = "[QuorumController id=0] handleBrokerFenced: changing 3 partition(s)"
ONLINE = "[Controller id=0 epoch=2] Changed partition {} from {} to OnlinePartition with state LeaderAndIsr(…"


@pytest.mark.parametrize(
    ("text", "way"),
    [
        (SHUTDOWN, Way.SHUTDOWN),
        (FENCED, Way.FAILURE),
        (ONLINE.format("bar-0", "OnlinePartition"), Way.SHUTDOWN),
        (ONLINE.format("bar-0", "OfflinePartition"), Way.FAILURE),
        (ONLINE.format("bar-0", "NewPartition"), None),
        (ONLINE.format("bar-01", "OfflinePartition"), None),
        ("Broker failure callback for 2", None),  # it stands beside either
    ],
)
def test_a_line_of_the_controller_says_how_the_leader_went(text, way):
    assert way_of([logged(21, text)], AT, "bar-0") is way


def test_the_first_line_since_the_fault_counts_whichever_node_wrote_it():
    lines = [logged(20.4, SHUTDOWN), logged(23, SHUTDOWN), logged(20.5, FENCED)]
    assert way_of(lines, AT, "bar-0") is Way.FAILURE
    assert way_of(lines[:1], AT, "bar-0") is None


@given(st.lists(st.binary(max_size=60)), st.floats(0, 2e9))
def test_whatever_a_log_holds_it_is_read(lines, since):
    assert way_of([*lines, b"[2023-13-14 22:13:20,500] " + FENCED.encode()], since + 1, "bar-0") is None


class Brokers(SimpleNamespace):
    """A world whose brokers see a partition as a test says."""

    def __init__(self, *views, alive=(1001, 1002, 1003), **more):
        addresses = {broker: Address("h", broker) for broker in alive}
        topology = SimpleNamespace(broker_ids=(1001, 1002, 1003))
        cluster = SimpleNamespace(brokers=addresses, topology=topology, is_closed=False, wire=None, nodes={})
        defaults = {"watched": {"bar": BAR}, "accounts": {}, "lost": {}, "notes": [], "fault_at": AT}
        super().__init__(cluster=cluster, seen=list(views), **{**defaults, **more})

    def account(self, topic):
        return self.accounts.setdefault(topic, Account())

    def views(self, topic, told_by=()):
        self.asked = list(told_by)
        if not self.seen:
            raise Unreachable(topic)
        return self.seen

    def create_topic(self, name, assignments, config):
        self.created = [*getattr(self, "created", []), (name, [tuple(each) for each in assignments], dict(config))]

    def note(self, text, _node=-1):
        self.notes.append(text)

    def is_over(self):
        return False

    def quorum(self):
        return Quorum(1002, 1)


def view(leader, isr=(1001, 1003)):
    return PartitionView(leader, 5, BAR.replicas, tuple(isr))


def test_the_first_in_sync_must_lead_at_every_broker():
    alive = (1001, 1003)
    assert led_by_first_in_sync("bar").sample(Brokers(view(1001), view(1001), alive=alive)).ok
    late = led_by_first_in_sync("bar").sample(Brokers(view(1001), view(1002), alive=alive))
    assert not late.ok
    assert (late.detail["expected"], late.detail["by_isr_order"]) == (1001, 1003)


def test_a_leader_by_the_isrs_order_is_not_the_expected_one():
    found = led_by_first_in_sync("bar").sample(Brokers(view(1003), alive=(1001, 1003)))
    assert not found.ok
    assert found.problem == "a broker says 1003 leads in epoch 5, of [1002, 1001, 1003] in sync [1001, 1003]"


@pytest.mark.parametrize(
    "condition", [led_by("bar", FIRST), has_no_partition_leader("bar"), led_by_first_in_sync("bar")]
)
def test_of_a_broker_that_does_not_answer_nobody_can_tell_who_leads(condition):
    found = condition.sample(Brokers())
    assert (found.ok, found.testable, found.problem) == (False, False, "bar")


def test_where_nobody_can_lead_nobody_is_expected_to_and_that_is_no_leader():
    assert not led_by_first_in_sync("bar").sample(Brokers(view(NOBODY), alive=())).ok


@pytest.mark.parametrize(
    ("condition", "so", "not_so"),
    [
        (led_by("bar", SECOND), view(1001), view(1003)),
        (has_no_partition_leader("bar"), view(NOBODY), view(1003)),
        (in_sync("bar", THIRD, SECOND), view(1001), view(1001, (1001,))),
        (isr_order_differs("bar"), BAR, view(1002, (1002, 1001, 1003))),
    ],
    ids=lambda it: getattr(it, "name", ""),
)
def test_a_condition_holds_where_all_brokers_say_so(condition, so, not_so):
    assert condition.sample(Brokers(so, so)).ok
    assert not condition.sample(Brokers(so, not_so)).ok
    assert not condition.sample(Brokers()).ok
    assert "bar" in condition.description


def test_the_way_is_read_from_the_logs_of_all_nodes(tmp_path):
    logs = [tmp_path / name for name in ("0", "1", "2")]
    logs[0].write_bytes(logged(21, FENCED) + b"\n")
    logs[1].write_bytes(logged(20, SHUTDOWN) + b"\n")  # before the fault
    world = Brokers(BAR)
    world.cluster.nodes = {at: SimpleNamespace(log_file=log) for at, log in enumerate(logs)}
    assert elected_after_failure("bar").sample(world).ok
    other = elected_after_shutdown("bar").sample(world)
    assert (other.ok, other.problem) == (False, "it says that the broker was lost")


def test_a_broker_has_truncated_when_its_log_says_so_of_that_partition():
    asked = []
    node = SimpleNamespace(data_dir="/d", has_logged=lambda words: asked.append(words) or True)
    world = Brokers(BAR)
    world.cluster.nodes = {1002: node}
    assert has_truncated(FIRST, "bar").sample(world).ok
    assert asked == ["partition=bar-0, dir=/d] Truncating to offset "]


def test_views_are_of_every_running_broker_or_of_none(monkeypatch):
    known = {1: BAR, 2: None}
    monkeypatch.setattr(partitions, "view_of", lambda _wire, address, _topic: known[address.port])
    cluster = SimpleNamespace(wire=None, brokers={number: Address("h", number) for number in known})
    world = World(cluster, None, {}, "", [], lambda _: 0, lambda: False, None)
    with pytest.raises(TopicUnknown, match=r"\[2\] do not know bar"):
        world.views("bar")
    assert led_by("bar", FIRST).sample(world).testable, "that one does not know it is something about the cluster"
    known[2] = BAR
    assert world.views("bar") == [BAR, BAR]


def test_before_a_fault_watched_partitions_are_looked_at(monkeypatch):
    cluster = SimpleNamespace(wire=None, brokers={1: Address("h", 1)}, quorum=lambda: Quorum(7, 1))
    world = World(cluster, None, {}, "", [], lambda _: 0, lambda: False, None)
    world.watched["bar"] = view(1003)
    monkeypatch.setattr(partitions, "view_of", lambda *_: BAR)
    world.remember_leader()
    assert (world.watched["bar"], world.leader_before.leader) == (BAR, 7)
    assert world.fault_at > AT


class Wire:
    """What a broker is sent, and the answer that it gives."""

    def schemas(self, name, _address, _timeout=1.0):
        versions = {"metadata": 12, "elect_leaders": 2, "create_partitions": 3, "incremental_alter_configs": 1}
        return load_entity_module(name, versions.get(name, 0), EntityType.request)


@pytest.fixture
def answering(monkeypatch):
    """Return a function that sets a node's answer, and the list of what it was asked."""
    asked = []

    def set_answer(answer):
        def ask(_address, request, timeout=1.0):
            asked.append(request)
            return answer

        for module in (partition_changes, partitions):
            monkeypatch.setattr(module, "ask", ask)
        return asked

    return set_answer


def said(code=ErrorCode.none, message=None, **more):
    return SimpleNamespace(error_code=code, error_message=message, **more)


def test_an_election_names_its_kind_and_its_answer_is_the_partitions(answering):
    refused = said(ErrorCode.preferred_leader_not_available, "it is down")
    result = SimpleNamespace(partition_result=(refused,))
    asked = answering(SimpleNamespace(error_code=ErrorCode.none, replica_election_results=(result,)))
    answer = partition_changes.elect(Wire(), Address("h", 1), "bar", Election.UNCLEAN)
    assert answer == Answer("preferred_leader_not_available", "it is down")
    assert (asked[0].election_type, asked[0].topic_partitions[0].topic) == (1, "bar")


def test_an_election_that_no_controller_takes_is_an_error_of_the_whole(answering):
    answering(SimpleNamespace(error_code=ErrorCode.not_controller, replica_election_results=()))
    assert partition_changes.elect(Wire(), Address("h", 1), "bar", Election.PREFERRED).code == "not_controller"


def test_a_partition_is_moved_others_are_added_and_a_topic_is_set(answering):
    asked = answering(said(responses=()))
    assert partition_changes.reassign(Wire(), Address("h", 1), "bar", [3, 1]).is_done
    assert asked[0].topics[0].partitions[0].replicas == (3, 1)
    asked = answering(SimpleNamespace(results=(said(ErrorCode.invalid_partitions, "it has six"),)))
    answer = partition_changes.add_partitions(Wire(), Address("h", 1), "bar", 6)
    assert str(answer) == "invalid_partitions: it has six"
    assert (asked[-1].topics[0].count, asked[-1].topics[0].assignments) == (6, None)
    asked = answering(SimpleNamespace(responses=(said(ErrorCode.invalid_config, "no such key"),)))
    answer = partition_changes.set_topic(Wire(), Address("h", 1), "bar", "x.y", "true")
    assert str(answer) == "invalid_config: no such key"
    change = asked[-1].resources[0].configs[0]
    assert (change.name, change.value, change.config_operation) == ("x.y", "true", 0)


def test_a_view_keeps_the_isrs_own_order_and_is_none_of_an_unknown_topic(answering):
    partition = SimpleNamespace(
        partition_index=0, leader_id=2, leader_epoch=7, replica_nodes=(2, 1, 3), isr_nodes=(2, 3, 1)
    )
    answering(SimpleNamespace(topics=(SimpleNamespace(partitions=(partition,)),)))
    assert view_of(Wire(), Address("h", 1), "bar") == PartitionView(2, 7, (2, 1, 3), (2, 3, 1))
    answering(SimpleNamespace(topics=(SimpleNamespace(partitions=()),)))
    assert view_of(Wire(), Address("h", 1), "bar") is None


def test_a_partition_is_made_on_its_brokers_in_order_and_looked_at_from_then_on():
    world = Brokers(BAR, watched={})
    create_partition("bar", FIRST, SECOND, unclean_leader_election_enable="true").perform(world)
    assert world.created == [
        ("__consumer_offsets", [(1001, 1002, 1003)], {**keeping(1), "cleanup.policy": "compact"}),
        ("bar", [(1002, 1001)], {**keeping(1), "unclean.leader.election.enable": "true"}),
    ]
    assert world.watched == {"bar": BAR}


@pytest.mark.parametrize(
    ("action", "name"),
    [
        (elect_preferred("bar"), "elect"),
        (elect_unclean("bar"), "elect"),
        (reassign("bar", THIRD, FIRST), "reassign"),
        (add_partitions("bar", 6), "add_partitions"),
        (change_topic("bar", "x.y", "1"), "set_topic"),
    ],
)
def test_brokers_are_asked_until_one_is_the_controller(monkeypatch, action, name):
    asked = []

    def answer(_wire, address, *words):
        asked.append((address.port, *words[1:]))
        if address.port == 1001:
            raise Unreachable("h:1001")
        return Answer("not_controller" if address.port == 1002 else "election_not_needed")

    monkeypatch.setattr(partition_changes, name, answer)
    action.perform(Brokers(BAR))
    assert [port for port, *_ in asked] == [1001, 1002, 1003]


def test_what_every_broker_refuses_ends_in_what_the_last_one_said(monkeypatch):
    monkeypatch.setattr(change_partitions, "_PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(partition_changes, "elect", lambda *_: Answer("unknown_topic_or_partition", "no bar"))
    with pytest.raises(ActionFailed, match="unknown_topic_or_partition: no bar"):
        elect_preferred("bar").perform(Brokers(BAR))


class Producer:
    """A producer whose records are acknowledged but for those that a test refuses."""

    refused = frozenset()
    partitions: list[int]

    def __init__(self, settings):
        self.settings = settings
        self.sent = []

    def produce(self, _topic, key, value, partition, on_delivery):
        self.sent.append((key, on_delivery))
        self.partitions.append(partition)

    def flush(self, _seconds):
        for key, on_delivery in self.sent:
            error = KafkaError(KafkaError.NOT_LEADER_FOR_PARTITION) if int(key) in self.refused else None
            on_delivery(error, SimpleNamespace(key=lambda key=key: key.encode()))


@pytest.fixture
def producer(monkeypatch):
    """Have records go to a topic of three partitions; return the class of producers."""
    monkeypatch.setattr(write_records, "Producer", Producer)
    monkeypatch.setattr(write_records, "partitions_of", lambda *_: 3)
    monkeypatch.setattr(Producer, "partitions", [], raising=False)
    return Producer


def test_records_go_to_every_partition_in_turn(producer):
    write("bar", 7).perform(Brokers(BAR))
    assert producer.partitions == [0, 1, 2, 0, 1, 2, 0]


def test_records_are_numbered_on_and_all_of_them_must_be_acknowledged(producer, monkeypatch):
    world = Brokers(BAR)
    write("bar", 20).perform(world)
    write("bar", 15, acks="1").perform(world)
    assert world.accounts == {"bar": Account(35, {*range(35)})}
    monkeypatch.setattr(Producer, "refused", {36})
    with pytest.raises(ActionFailed, match=r"1 of 2 records were acknowledged \(NOT_LEADER_FOR_PARTITION\)"):
        write("bar", 2).perform(world)
    assert world.accounts == {"bar": Account(37, {*range(36)})}  # a number that was refused is never given out again


def test_what_is_gone_is_counted_in_every_partition_and_noted(producer, monkeypatch):
    numbers = [*map(str, [*range(20), 35]), "", "k7"]  # and what somebody else has written
    stored = [StoredRecord(at % 3, at, number.encode(), b"x") for at, number in enumerate(numbers)]
    monkeypatch.setattr(write_records, "read_back", lambda _, partitions, *__: stored if partitions == 3 else [])
    world = Brokers(BAR, accounts={"bar": Account(35, {*range(35)})})
    assert not lost("bar", 15).sample(world).ok  # nobody has counted
    count_lost("bar").perform(world)
    assert world.notes == ["15 of 35 acknowledged records of “bar” are gone"]
    assert lost("bar", 15).sample(world).ok
    assert lost("bar", 0).sample(world).problem == "15 of 35 are gone"


@pytest.mark.parametrize("error", [TimeoutError("late"), KafkaException("gone")])
def test_a_topic_that_cannot_be_read_back_is_no_count(producer, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(write_records, "read_back", fail)
    with pytest.raises(ActionFailed):
        count_lost("bar").perform(Brokers(BAR))


def test_time_passes():
    let_pass("150ms").perform(Brokers(BAR))
    assert let_pass("3s").description == "let 3 s pass"


def test_brokers_are_named_by_descending_ids_the_controller_last():
    plan = Plan()
    plan.name_brokers("first", "second", "third")
    (step,) = plan.steps
    assert isinstance(step, Bind)
    assert step.resolve(Brokers(BAR)) == (1003, 1001, 1002)


def names(scenario):
    return [step.named for step in load_all()[scenario].plan().everything if isinstance(step, Expect)]


@pytest.mark.parametrize("name", ["elections", "unclean-elections"])
def test_both_modes_are_asked_the_same_but_for_what_a_setting_alone_does(name):
    here, there = names(name), names(f"zookeeper-{name}")
    differing = {*here} ^ {*there}
    assert differing <= {"out_of_sync_leads_by_request", "out_of_sync_leads_by_setting"}
    assert len(here) == len(there)


def test_no_leader_is_preferred_unasked_and_time_outs_are_short_in_every_scenario_of_elections():
    asked = [each for each in load_all().values() if "elections" in each.suites]
    assert len(asked) == 5
    assert {each.properties["auto.leader.rebalance.enable"] for each in asked} == {"false"}
    words = [text for each in asked for _, text in described(each.plan().everything, {})]
    assert "create the topic “on” on the first broker, the second broker, unclean.leader.election.enable=true" in words
