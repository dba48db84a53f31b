"""Elections of partitions' leaders on stock, in KRaft and in ZooKeeper mode; and ZooKeeper's own ways to go wrong."""

import time

import pytest

from harness.base.processes.leftovers import end_leftovers
from harness.base.waiting import wait_until
from harness.cluster.cluster import Cluster
from harness.cluster.node import NodeState
from harness.model.events import Noted
from harness.model.runs import Outcome
from harness.scenario import count_lost, election_moves, lost, zookeeper
from harness.scenario.plan import Scenario
from harness.scenario.registry import load_all

pytestmark = [pytest.mark.live, pytest.mark.clusters]

UP_SECONDS = 60.0
ONE = zookeeper(brokers=1)


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ("3.9.1", "elections"),
        ("2.8.2", "zookeeper-controller-lost"),
        pytest.param("3.9.1", "unclean-elections", marks=pytest.mark.whole),
        pytest.param("3.9.1", "zookeeper-elections", marks=pytest.mark.whole),
        pytest.param("2.8.2", "zookeeper-unclean-elections", marks=pytest.mark.whole),
    ],
)
def test_stock_elects_as_the_scenario_says(on_stock, version, name):
    result, events = on_stock(load_all()[name], version)
    assert result.outcome is Outcome.PASSED, result.summary
    notes = {event.text for event in events if isinstance(event, Noted)}
    if "unclean" in name:
        assert {f"15 of 35 acknowledged records of “{topic}” are gone" for topic in ("off", "on")} <= notes


def test_a_count_that_finds_a_loss_where_none_may_be_fails_the_run(on_stock):
    """Break it once: the same unclean election, of which nothing is expected to be lost."""

    def build(plan, _cluster, *_brokers):
        first, second, _ = election_moves.begin(plan)
        with plan.phase("unclean"):
            election_moves._leave_behind(plan, "on", first, second, unclean="true")
            plan.do(election_moves.start(second))
            plan.guard(election_moves.led_by("on", second), within="30s")
            plan.do(count_lost("on"))
            plan.expect(lost("on", 0), within="1s", named="nothing_is_lost")

    scenario = Scenario(
        "broken-on-purpose",
        "?",
        ONE.__class__(0, 3, combined=False, mode=ONE.mode),
        ("s",),
        240.0,
        build,
        __file__,
        properties=election_moves.IN_ZOOKEEPER,
    )
    result, _ = on_stock(scenario)
    assert (result.outcome, result.expectation) == (Outcome.FAILED, "nothing_is_lost")


@pytest.fixture
def one_broker(node_parts, stock, tmp_path):
    launch = node_parts.launch({**election_moves.IN_ZOOKEEPER, "offsets.topic.replication.factor": "1"})
    with Cluster(ONE, tmp_path / "nodes", launch, stock, None, lambda _: None) as cluster:
        cluster.start([0])
        yield cluster
    assert not end_leftovers(tmp_path / "nodes")


def is_ready(cluster) -> bool:
    cluster.look()
    return cluster.nodes[0].state is NodeState.READY


def test_a_killed_broker_is_started_when_its_session_has_ended_and_dies_of_it_before(one_broker):
    node = one_broker.nodes[0]
    assert wait_until(lambda: is_ready(one_broker), UP_SECONDS)
    assert one_broker.quorum().leader == 0
    node.kill()
    node.start()  # past the wait, as nobody should
    assert wait_until(lambda: node.exit_code is not None, UP_SECONDS)
    assert "NodeExists" in node.log_file.read_text()
    began = time.monotonic()
    one_broker.look()
    one_broker.start([0])
    assert time.monotonic() - began < 9
    assert wait_until(lambda: is_ready(one_broker), UP_SECONDS)
    assert wait_until(lambda: one_broker.quorum().leader == 0, 10)
    assert one_broker.quorum().epoch > 1
