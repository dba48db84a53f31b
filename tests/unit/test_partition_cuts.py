"""Records offered to one broker, what it makes of them, and the plans that split a network around a partition."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.index import load_entity_module
from kio.static.constants import EntityType
from log_bytes import batch

from harness.cluster import partitions, probes, producing
from harness.cluster.address import Address
from harness.cluster.metadata_log.batches import read_batches
from harness.cluster.partitions import PartitionView
from harness.cluster.producing import batch_of, offer_record
from harness.cluster.protocol import Unreachable
from harness.cluster.runtime.network import host_name
from harness.cluster.topology import ZOOKEEPER, Topology, describe_topology
from harness.kafka.release_lines import Mode, line_of
from harness.scenario import kraft, zookeeper
from harness.scenario.accounts import Account, Offered
from harness.scenario.actions import offer as offer_module
from harness.scenario.actions.cut import Cut, Heal
from harness.scenario.actions.degrade import Degrade
from harness.scenario.actions.kill import Kill
from harness.scenario.actions.offer import offer
from harness.scenario.bounds import in_force
from harness.scenario.conditions.features import has_feature
from harness.scenario.conditions.keeps_up import keeps_up
from harness.scenario.conditions.offered_records import refused, took
from harness.scenario.conditions.partition_leaders import has_no_partition_leader, in_sync, led_by
from harness.scenario.loads.ledger import KeepLedger
from harness.scenario.parties import hosts_of
from harness.scenario.partition_cuts import ELIGIBLE
from harness.scenario.plan import ClusterRef
from harness.scenario.refs import fixed
from harness.scenario.registry import load_all
from harness.scenario.steps import Background, Do, Expect, OnlyIf, described
from harness.scenario.world import World

OLD, NEW = fixed(1, "the old leader"), fixed(2, "the new leader")
CUTS = [
    "follower-cuts",
    "leader-cuts",
    "isr-of-one",
    "controller-cuts",
    "lost-data",
    "zookeeper-cuts",
    "zookeeper-controller-cuts",
]


@given(st.binary(min_size=1, max_size=200), st.integers(0, 2**40))
def test_a_record_that_is_offered_is_a_whole_batch_of_one_by_the_harnesss_own_reader(key, at):
    made = batch_of(key, at)
    # A producer names no epoch (-1): the leader writes its own in its place, which no checksum covers.
    found = read_batches(made[:12] + bytes(4) + made[16:])
    assert (len(found.batches), found.size, found.damage) == (1, len(made), "")
    assert key in made


def test_it_is_the_batch_that_kafka_would_write():
    theirs = batch(0, 0, [b""])
    ours = batch_of(b"7", 1700000000000)
    assert len(ours) == len(theirs) + 1  # the key
    assert ours[21:57] == theirs[21:57]  # attributes, times, no producer


class Wire:
    def schemas(self, name, _address, _timeout=1.0):
        return load_entity_module(name, 9, EntityType.request)


def test_an_offer_names_acks_and_patience_and_its_answer_is_the_partitions(monkeypatch):
    asked = []
    partition = SimpleNamespace(error_code=SimpleNamespace(name="not_enough_replicas"))
    answer = SimpleNamespace(responses=(SimpleNamespace(partition_responses=(partition,)),))
    monkeypatch.setattr(producing, "ask", lambda _at, request, timeout: asked.append((request, timeout)) or answer)
    assert offer_record(Wire(), Address("h", 1), "bar", b"7", "all", 1.5) == "not_enough_replicas"
    ((request, timeout),) = asked
    assert (request.acks, request.timeout.total_seconds(), timeout) == (-1, 1.5, 3.5)
    assert b"7" in request.topic_data[0].partition_data[0].records


class Split(SimpleNamespace):
    """A world with two brokers, each of which answers offers as a test says."""

    def __init__(self, monkeypatch, answers, alive=(1, 2)):
        self.asked, self.notes, self.accounts, self.offered = [], [], {}, {}
        brokers = {each: Address("h", each) for each in alive}
        super().__init__(cluster=SimpleNamespace(brokers=brokers, wire=None), as_client=lambda work: work())

        def answer(_wire, address, _topic, key, acks, _patience):
            self.asked.append((address.port, key, acks))
            found = answers.pop(0)
            if found is Unreachable:
                raise Unreachable("cut")
            return found

        monkeypatch.setattr(offer_module, "offer_record", answer)

    def account(self, topic):
        return self.accounts.setdefault(topic, Account())

    def note(self, text, node):
        self.notes.append((text, node))


def test_records_are_offered_to_one_broker_until_it_refuses_and_a_refused_number_is_used_up(monkeypatch):
    world = Split(monkeypatch, ["none", "none", "request_timed_out", "none"])
    offer("bar", OLD, 5, acks="1").perform(world)
    offer("bar", NEW, 1).perform(world)
    assert world.asked == [(1, b"0", "1"), (1, b"1", "1"), (1, b"2", "1"), (2, b"3", "all")]
    assert world.accounts["bar"] == Account(4, {0, 1, 3})
    assert world.notes[0] == (
        "of 5 records for “bar” with acks=1, broker 1 took 2, then answered request_timed_out",
        1,
    )
    assert world.offered == {"bar": Offered(2, 1)}


@pytest.mark.parametrize(("answers", "alive"), [([Unreachable], (1, 2)), ([], (2,))])
def test_a_broker_that_does_not_answer_has_taken_nothing(monkeypatch, answers, alive):
    world = Split(monkeypatch, answers, alive)
    offer("bar", OLD, 5).perform(world)
    assert refused("bar", "unreachable").sample(world).ok
    assert not world.accounts["bar"].acknowledged


def test_acks_that_acknowledge_nothing_are_no_offer():
    with pytest.raises(ValueError, match='acks="0" is acknowledged by nobody: write 1 or all'):
        offer("bar", OLD, 1, acks="0")


@pytest.mark.parametrize(
    ("offered", "is_taken", "is_refused"),
    [
        (Offered(1, 5), True, False),
        (Offered(1, 4, "request_timed_out"), False, False),
        (Offered(1, 0, "request_timed_out"), False, True),
        (Offered(1, 0, "not_leader_or_follower"), False, False),
        (None, False, False),
    ],
)
def test_what_was_offered_is_taken_whole_or_refused_whole_and_by_the_right_error(offered, is_taken, is_refused):
    world = SimpleNamespace(offered={"bar": offered} if offered else {})
    assert took("bar", 5).sample(world).ok is is_taken
    assert refused("bar", "request_timed_out").sample(world).ok is is_refused


@pytest.mark.parametrize(
    "condition",
    [
        led_by("bar", NEW, told_by=(NEW,)),
        in_sync("bar", NEW, told_by=(NEW,)),
        has_no_partition_leader("bar", told_by=(OLD,)),
    ],
)
def test_a_condition_by_some_accounts_asks_these_brokers_alone(condition):
    views = {1: PartitionView(-1, 3, (1, 2), (1, 2)), 2: PartitionView(2, 4, (1, 2), (2,))}
    world = SimpleNamespace(views=lambda _topic, told_by: [views[each] for each in told_by])
    assert condition.sample(world).ok
    assert "by the account of the" in condition.description


def test_the_views_of_brokers_that_are_asked_for_are_those_that_are_had(monkeypatch):
    monkeypatch.setattr(partitions, "view_of", lambda _wire, address, _topic: address.port)
    cluster = SimpleNamespace(wire=None, brokers={each: Address("h", each) for each in (1, 2)})
    world = World(cluster, None, {}, "", [], lambda _: 0, lambda: False, None)
    assert (world.views("bar"), world.views("bar", [2])) == ([1, 2], [2])
    with pytest.raises(Unreachable):
        world.views("bar", [3])


def test_before_a_fault_with_every_broker_down_what_was_known_of_partitions_stays():
    cluster = SimpleNamespace(wire=None, brokers={}, quorum=lambda: SimpleNamespace(leader=-1))
    world = World(cluster, None, {}, "", [], lambda _: 0, lambda: False, None)
    world.watched["bar"] = "as it was"
    world.remember_leader()
    assert world.watched == {"bar": "as it was"}


def test_a_follower_keeps_up_while_its_disk_ends_where_the_leaders_does(tmp_path):
    nodes = {each: SimpleNamespace(data_dir=tmp_path / str(each)) for each in (1, 2)}
    world = SimpleNamespace(cluster=SimpleNamespace(nodes=nodes))
    for node, values in ((1, [b"a", b"b"]), (2, [b"a"])):
        (tmp_path / str(node) / "bar-0").mkdir(parents=True)
        (tmp_path / str(node) / "bar-0" / "0.log").write_bytes(batch(0, 1, values))
    behind = keeps_up("bar", NEW, OLD).sample(world)
    assert (behind.ok, behind.problem) == (False, "0 of 1")
    (tmp_path / "2" / "bar-0" / "0.log").write_bytes(batch(0, 1, [b"a", b"b"]))
    assert keeps_up("bar", NEW, OLD).sample(world).ok


@pytest.mark.parametrize(
    ("topology", "hosts"),
    [
        (kraft(controllers=3, observers=2, combined=False, network=True), ("node 0", "node 1", "node 2")),
        (zookeeper(brokers=3, network=True), (host_name(ZOOKEEPER),)),
    ],
)
def test_the_coordinator_is_every_controller_or_zookeeper(topology, hosts):
    world = SimpleNamespace(cluster=SimpleNamespace(topology=topology))
    assert hosts_of(ClusterRef(topology).coordinator, world) == hosts


def test_brokers_in_zookeeper_mode_may_have_hosts_of_their_own_and_zookeeper_has_one_too():
    topology = zookeeper(brokers=2, network=True)
    assert topology == Topology(0, 2, combined=False, network=True, mode=Mode.ZOOKEEPER)
    assert topology.host_ids == (0, 1, ZOOKEEPER)
    assert describe_topology(topology) == "2 brokers, and ZooKeeper, each on a host of its own"


@pytest.mark.parametrize("name", CUTS)
def test_every_split_is_healed_and_what_was_lost_is_counted_exactly(name):
    scenario = load_all()[name]
    settings = in_force(scenario.properties, line_of("3.9.1").timeouts)
    words = [text for kind, text in described(scenario.plan().everything, settings) if kind == "do"]
    cuts = [at for at, text in enumerate(words) if text.startswith("cut ")]
    heals = [at for at, text in enumerate(words) if text.startswith("heal every")]
    counts = [at for at, text in enumerate(words) if text.startswith("count ")]
    assert cuts[-1] < heals[-1] < counts[-1]
    assert "faults" in scenario.suites
    assert scenario.properties["auto.leader.rebalance.enable"] == "false"


def steps_of(name):
    """Return a plan's steps, those of stretches for some clusters in their place."""
    return [step for outer in load_all()[name].plan().steps for step in getattr(outer, "steps", (outer,))]


@pytest.mark.parametrize("name", CUTS)
def test_each_count_is_followed_by_what_theory_allows(name):
    steps = steps_of(name)
    counted = [
        at for at, step in enumerate(steps) if isinstance(step, Do) and "that are gone" in step.action.description
    ]
    assert counted
    assert all(isinstance(steps[at + 1], Expect) and steps[at + 1].condition.name == "lost" for at in counted)


def test_acks_1_is_lost_in_both_modes_where_the_leader_is_deposed_and_nowhere_else():
    named = {
        step.named
        for name in CUTS
        for step in steps_of(name)
        if isinstance(step, Expect) and step.condition.name == "lost" and step.condition.records
    }
    assert named == {
        "leader_cut_from_coordinator_lost_30",
        "leader_cut_from_whole_cluster_lost_30",
        "isr_of_one_min_2_lost_1",
        "unclean_min_1_lost_16",
        "unclean_min_2_lost_1",
        "one_ack_lost_15",
        "unflushed_lost_20",
        "same_disk_lost_35",
        "new_disk_lost_35",
    }


@pytest.mark.parametrize(
    ("level", "expected"), [(1, "eligible_one_leads"), (0, "nobody_leads"), (None, "nobody_leads")]
)
def test_who_left_an_isr_that_was_too_small_leads_where_the_cluster_keeps_account_of_it(monkeypatch, level, expected):
    features = {} if level is None else {ELIGIBLE: level}
    monkeypatch.setattr(probes, "finalised_features", lambda _address: features)
    world = SimpleNamespace(cluster=SimpleNamespace(brokers={1: Address("h", 1)}))
    branches = [step for step in load_all()["isr-of-one"].plan().steps if isinstance(step, OnlyIf)]
    taken = [step.named for each in branches if each.condition.sample(world).ok for step in each.steps if named(step)]
    assert taken[0] == f"isr_of_one_min_2_{expected}"
    assert taken[-1] == f"isr_of_one_min_2_lost_{1 if level else 0}"


def named(step):
    return isinstance(step, Expect)


def test_where_no_broker_answers_nobody_can_tell_which_features_there_are(monkeypatch):
    def silent(_address):
        raise Unreachable("cut")

    monkeypatch.setattr(probes, "finalised_features", silent)
    found = has_feature(ELIGIBLE).sample(SimpleNamespace(cluster=SimpleNamespace(brokers={1: Address("h", 1)})))
    assert (found.ok, found.testable) == (False, False)


@pytest.mark.parametrize("name", [*CUTS, "elections", "zookeeper-elections", "unclean-elections"])
def test_replicas_of_every_topic_that_was_counted_are_compared(name):
    steps = steps_of(name)
    counted = {step.condition.topic for step in steps if named(step) and step.condition.name == "lost"}
    compared = {step.condition.topic for step in steps if named(step) and step.condition.name == "replicas_agree"}
    assert counted
    assert counted <= compared


@pytest.mark.parametrize(
    ("name", "gives_up"),
    [
        ("controller-cuts", "old_controller_gave_up"),
        ("partitions", "isolated_leader_gives_up"),
        ("partitions", "leader_gives_up"),
    ],
)
def test_a_leader_that_is_cut_off_gives_up_before_it_is_healed_and_another_one_leads(name, gives_up):
    steps = steps_of(name)
    (at,) = (at for at, each in enumerate(steps) if named(each) and each.named == gives_up)
    does = [(number, each.action) for number, each in enumerate(steps) if isinstance(each, Do)]
    cut_at, cut_off = max((number, each) for number, each in does if number < at and isinstance(each, Cut))
    healed_at = min(number for number, each in does if number > cut_at and isinstance(each, Heal))
    assert cut_at < at < healed_at
    assert steps[at].condition.node == cut_off.one
    meanwhile = [each.condition.name for each in steps[cut_at:healed_at] if named(each)]
    assert "has_new_leader" in meanwhile


def disturbed():
    """Return the scenarios that cut links, make them bad or kill nodes, and ask of faults or elections for it."""
    asked = [each for each in load_all().values() if {*each.suites} & {"faults", "elections"}]
    harms = (Cut, Degrade, Kill)
    return [
        each.name
        for each in asked
        if "gaps" not in each.suites
        and any(isinstance(step, Do) and isinstance(step.action, harms) for step in steps_of(each.name))
    ]


@pytest.mark.parametrize("name", [*disturbed(), "chaos-17"])
def test_every_topic_that_a_client_wrote_to_beside_faults_is_whole_and_the_same_in_the_end(name):
    steps = steps_of(name)
    written = {each.load.topic for each in steps if isinstance(each, Background)}
    last = max((at for at, each in enumerate(steps) if isinstance(each, Do)), default=0)
    for asked in ("isr_is_whole", "replicas_agree"):
        assert written <= {
            each.condition.topic for each in steps[last:] if named(each) and each.condition.name == asked
        }


@pytest.mark.parametrize("name", [*sorted({*CUTS} - {"lost-data"}), "bad-network", "partitions"])
def test_a_ledger_is_kept_beside_every_cut(name):
    loads = [step.load for step in load_all()[name].plan().steps if isinstance(step, Background)]
    assert any(isinstance(load, KeepLedger) and load.promise.acks == "all" for load in loads)
