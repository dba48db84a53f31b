"""What the mode of a cluster decides: configurations, disks, who leads, and what a broker's start waits for."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.base.processes import spawn
from harness.cluster.address import Address
from harness.cluster.cluster import Cluster
from harness.cluster.config import parse_properties, server_properties
from harness.cluster.install import Install
from harness.cluster.modes.zookeeper import InZooKeeper, controller_of, session_ms
from harness.cluster.modes.zookeeper_server import ZooKeeperServer, server_settings
from harness.cluster.node import Launch, NodeState
from harness.cluster.probes import Quorum
from harness.cluster.protocol import Unreachable
from harness.cluster.topology import Topology, describe_topology
from harness.engine.executor import monitors_of_every_run
from harness.kafka.release_lines import Mode, line_of
from harness.model.request import Request
from harness.model.setup import Profile
from harness.scenario import kraft, zookeeper
from harness.stages.inputs import read_inputs
from harness.stages.preflight import check_lines
from harness.toolbox.toolbox import local_toolbox

LAUNCH = Launch(Path("java"), (), Profile.FAST, line_of("3.9.1"), None, {}, "127.0.0.1")
STOCK = Install("stock", Path("x.jar"), "a" * 64, "absent")


@pytest.fixture
def brokers(tmp_path):
    with Cluster(zookeeper(brokers=3), tmp_path / "nodes", LAUNCH, STOCK, None, lambda _: None) as cluster:
        yield cluster


def test_a_broker_in_zookeeper_mode_has_an_id_and_a_zookeeper_and_nothing_of_a_quorum(brokers):
    node = brokers.nodes[1]
    said = parse_properties(server_properties(node.config, node.data_dir, {"zookeeper.connect": "elsewhere:1"}))
    assert said["broker.id"] == "1"
    assert said["zookeeper.connect"] == str(brokers.nodes[0].config.zookeeper)
    assert not [key for key in said if key.startswith(("controller.", "process.", "node."))]
    assert [*node.data_dir.iterdir()] == []  # the broker takes the cluster's id from ZooKeeper


def test_brokers_in_zookeeper_mode_are_no_observers_of_a_quorum(brokers):
    assert (brokers.voters, sorted(brokers.nodes)) == ([], [0, 1, 2])
    assert describe_topology(brokers.topology) == "3 brokers, and ZooKeeper"
    assert brokers.names()["broker 2 "] == "broker <a broker> "


def test_a_wiped_broker_has_an_empty_disk(brokers):
    (brokers.nodes[1].data_dir / "orders-0").mkdir()
    brokers.wipe(1, new_identity=False)
    assert [*brokers.nodes[1].data_dir.iterdir()] == []


def test_nodes_of_a_line_without_kraft_are_not_started_in_it(tmp_path):
    with pytest.raises(HarnessError, match=r"Kafka 3\.9 are not started in KRaft"):
        Cluster(kraft(controllers=1, observers=0), tmp_path, LAUNCH, STOCK, None, lambda _: None)


def test_monitors_of_a_metadata_quorum_do_not_watch_a_cluster_in_zookeeper_mode():
    watching = {make.name for make in monitors_of_every_run() if Mode.ZOOKEEPER in make.modes}
    assert {"metadata_logs", "quorum_progress"}.isdisjoint(watching)
    assert {"node_alive", "live_proof", "one_leader_per_epoch", "host_not_starved"} <= watching


@pytest.mark.parametrize(
    ("epoch", "controller", "seen"),
    [
        (b"5", b'{"version":2,"brokerid":1,"timestamp":"1"}', Quorum(1, 5, leaders=((5, 1),))),
        (b"5", None, Quorum(epoch=5)),
        (b"5", b"{}", Quorum()),
        (b"", b'{"brokerid":1}', Quorum()),
    ],
)
def test_the_controller_is_whom_zookeeper_names_in_its_epoch(epoch, controller, seen):
    assert controller_of(epoch, controller) == seen


@given(st.binary(), st.none() | st.binary())
def test_whatever_zookeeper_holds_somebody_leads_or_nobody_does(epoch, controller):
    assert controller_of(epoch, controller).leader >= -1


class Tree(SimpleNamespace):
    """A server whose tree answers what a test says, path by path, the last answer for ever."""

    def __init__(self, answers):
        super().__init__(answers=answers, tree=self, started=0, waited=[])

    def get(self, path):
        values = self.answers[path]
        value = values.pop(0) if len(values) > 1 else values[0]
        if value is Unreachable:
            raise Unreachable(path)
        return value

    def start(self):
        self.started += 1

    def await_gone(self, path, seconds):
        self.waited.append((path, seconds))
        return self.answers["gone"]


def test_a_controller_that_changes_while_it_is_read_is_read_again():
    tree = Tree({"/controller_epoch": [b"5", b"6", b"6"], "/controller": [b'{"brokerid":2}']})
    assert InZooKeeper(tree, 4000).quorum() == Quorum(2, 6, leaders=((6, 2),))


def test_nobody_leads_where_zookeeper_does_not_answer_or_has_no_epoch_yet():
    assert InZooKeeper(Tree({"/controller_epoch": [Unreachable]}), 4000).quorum() == Quorum()
    assert InZooKeeper(Tree({"/controller_epoch": [None], "/controller": [None]}), 4000).quorum() == Quorum()


def node(state):
    return SimpleNamespace(id=1, state=state)


@pytest.mark.parametrize("state", [NodeState.KILLED, NodeState.DIED])
def test_a_broker_that_took_no_leave_is_started_when_its_session_has_ended(state):
    tree = Tree({"gone": True})
    InZooKeeper(tree, 4000).before_start(node(state))
    assert tree.waited == [("/brokers/ids/1", 9.0)]
    assert tree.started == 1  # ZooKeeper is up before any broker


def test_a_broker_that_stopped_in_order_waits_for_nothing():
    tree = Tree({"gone": False})
    InZooKeeper(tree, 4000).before_start(node(NodeState.STOPPED))
    assert tree.waited == []


def test_a_session_that_does_not_end_is_told_with_what_would_come_of_it():
    with pytest.raises(Unreachable, match=r"session of broker 1.*9 s later.*is 4000.*NodeExistsException"):
        InZooKeeper(Tree({"gone": False}), 4000).before_start(node(NodeState.KILLED))


def test_the_session_is_what_the_properties_say_or_kafkas_default():
    assert (session_ms({}), session_ms({"zookeeper.session.timeout.ms": "4000"})) == (18_000, 4000)


def test_a_server_allows_sessions_as_short_as_a_second_and_opens_one_port():
    said = parse_properties(server_settings(Path("/data"), Address("127.0.0.1", 2181)))
    assert (said["clientPort"], said["clientPortAddress"]) == ("2181", "127.0.0.1")
    assert (int(said["tickTime"]) * 2, said["admin.enableServer"]) == (1000, "false")


def test_zookeeper_that_ends_by_itself_is_told_with_its_last_line(tmp_path):
    server = ZooKeeperServer(tmp_path, LAUNCH, Address("127.0.0.1", 1), spawn)
    server.check()  # it was not started
    server._process = SimpleNamespace(poll=lambda: 3)
    (tmp_path / "zookeeper").mkdir()
    (tmp_path / "zookeeper" / "server.log").write_text("one\nno room\n")
    with pytest.raises(HarnessError, match=r"ended by itself \(exit 3\). Its last line: no room"):
        server.check()


def test_a_topology_without_brokers_cannot_be():
    with pytest.raises(ValueError, match="0 brokers"):
        zookeeper(brokers=0)
    assert zookeeper(brokers=2) == Topology(0, 2, combined=False, mode=Mode.ZOOKEEPER)


def asked(**words):
    found = read_inputs(Request(claims="none", arms=("base",), **words), local_toolbox())
    return [each.name for each in found.scenarios], found.passed_over


def test_of_a_suite_what_a_line_has_no_mode_for_is_passed_over_by_name():
    scenarios, passed_over = asked(kafka_version="2.8.2", suite="elections")
    assert (len(scenarios), set(passed_over)) == (3, {"elections", "unclean-elections"})
    scenarios, passed_over = asked(kafka_version="4.3.1", suite="elections")
    assert (scenarios, len(passed_over)) == (["elections", "unclean-elections"], 3)
    assert asked(kafka_version="3.9.1", suite="elections")[1] == ()


@pytest.mark.parametrize(
    ("words", "mode"),
    [
        ({"kafka_version": "4.3.1", "scenarios": ("zookeeper-elections",)}, "zookeeper"),
        ({"kafka_version": "2.8.2", "suite": "standard"}, "kraft"),
    ],
)
def test_what_is_named_for_a_line_without_its_mode_is_refused_in_a_sentence(words, mode):
    found = read_inputs(Request(claims="none", arms=("base",), **words), local_toolbox())
    modes = {each.topology.mode for each in found.scenarios}
    with pytest.raises(HarnessError, match=f"cannot be run in mode {mode}"):
        check_lines(found.sides, local_toolbox(), modes)
