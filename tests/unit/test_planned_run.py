"""Whose server properties hold: what a scenario declares, and the user's own for everything else."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from still_cluster import STOCK, run_still, take_place_of_live_ones

from harness.cluster.address import Address
from harness.engine.planned_run import PlannedRun
from harness.engine.sealing import inputs_of
from harness.kafka.release_lines import line_of
from harness.model.arms import Role
from harness.model.events import Noted
from harness.model.runs import Outcome, RunKey
from harness.model.setup import Profile
from harness.scenario.actions.change_partitions import CreatePartition, create_partition
from harness.scenario.loads import compacted, ledger, records, transactions
from harness.scenario.loads.compacted import write_compacted
from harness.scenario.loads.ledger import keep_ledger
from harness.scenario.loads.records import produce
from harness.scenario.loads.transactions import commit_transactions
from harness.scenario.plan import Scenario, kraft
from harness.scenario.refs import fixed
from harness.scenario.registry import load_all
from harness.scenario.steps import Do

KEY = "auto.leader.rebalance.enable"
SCENARIOS = load_all()
DECLARES = Scenario(
    "s",
    "?",
    kraft(controllers=1, observers=0),
    ("suite",),
    60.0,
    lambda *_: None,
    __file__,
    properties={KEY: "false", "a": "1"},
)


def cell(**overlay):
    parts = SimpleNamespace(profile=Profile.FAST, line=line_of("3.9.1"))
    given = {key.replace("_", "."): value for key, value in overlay.items()}
    return PlannedRun(RunKey("s", "stock", 1), DECLARES, Role.BASE, parts, STOCK, given)


def test_what_a_scenario_declares_stays_and_the_users_properties_hold_for_everything_else():
    found = cell(auto_leader_rebalance_enable="true", log_retention_ms="1000")
    assert found.properties == {KEY: "false", "a": "1", "log.retention.ms": "1000"}
    assert found.settings_in_force[KEY] == "false"
    settings = {KEY: "by the arm"}
    assert replace(found, install=replace(STOCK, settings=settings)).settings[KEY] == "by the arm"


def test_a_run_says_which_of_its_own_it_keeps():
    assert cell(auto_leader_rebalance_enable="true", a="1 ", b="3").kept == (
        "it keeps its own auto.leader.rebalance.enable=false, on which its question rests; --config says true",
    )


def test_another_overlay_is_another_plan_where_it_changes_what_the_run_gets_and_only_there():
    same = [cell(), cell(auto_leader_rebalance_enable="true"), cell(auto_leader_rebalance_enable="x")]
    other = [cell(b="3"), cell(b="4")]
    assert len({inputs_of(each).plan for each in same}) == 1
    assert len({inputs_of(each).plan for each in (*same, *other)}) == 3


def test_the_journal_says_once_what_was_kept(tmp_path, monkeypatch):
    take_place_of_live_ones(monkeypatch)
    monkeypatch.setattr(PlannedRun, "kept", ("it keeps its own x=1",))
    result, events, _ = run_still(DECLARES, tmp_path)
    assert result.outcome is Outcome.PASSED
    assert [each for each in events if isinstance(each, Noted)] == [Noted("it keeps its own x=1")]


class AWorld:
    """Makes topics, and remembers how."""

    def __init__(self):
        self.made = {}
        topology = SimpleNamespace(combined=False, voter_ids=(), broker_ids=(0, 1, 2))
        self.cluster = SimpleNamespace(topology=topology, client_brokers=[Address("h", 1)], is_closed=False)
        self.folder = SimpleNamespace(ledger=lambda topic: topic)
        self.watched, self.is_over = {}, lambda: True

    def views(self, _topic):
        return ["seen"]

    def create_topic(self, name, _replicas, settings):
        self.made[name] = settings


@pytest.fixture
def clientless(monkeypatch):
    """Have loads make their topics, and no clients."""
    for module, client in (
        (records, "RecordsClient"),
        (ledger, "LedgerClient"),
        (transactions, "TransactionsClient"),
        (compacted, "CompactedClient"),
    ):
        monkeypatch.setattr(module, client, lambda *_: None)
        monkeypatch.setattr(module, "begin_to_write", lambda *_: None)


@pytest.mark.parametrize(
    ("load", "in_sync", "cleanup"),
    [
        (produce("t"), "2", "delete"),
        (keep_ledger("t"), "2", "delete"),
        (commit_transactions("t"), "2", "delete"),
        (write_compacted("t"), "2", "compact"),
    ],
)
@pytest.mark.usefixtures("clientless")
def test_a_topic_whose_records_are_counted_says_itself_what_it_may_lose(load, in_sync, cleanup):
    world = AWorld()
    load.start(world)
    made = world.made["t"]
    assert (made["min.insync.replicas"], made["cleanup.policy"]) == (in_sync, cleanup)
    assert made["unclean.leader.election.enable"] == "false"
    for topic, settings in world.made.items():
        assert {"min.insync.replicas", "unclean.leader.election.enable"} <= settings.keys(), topic


def test_a_partition_of_a_plan_does_so_but_for_what_the_plan_says():
    made = {}
    for least in ({}, {"min_insync_replicas": "2"}):
        world = AWorld()
        create_partition("t", fixed(0, "one"), **least).perform(world)
        made[world.made["t"]["min.insync.replicas"]] = world.made["t"]["unclean.leader.election.enable"]
    assert made == {"1": "false", "2": "false"}


def test_what_is_to_be_lost_unflushed_is_flushed_by_nobodys_setting():
    steps = (step.action for step in SCENARIOS["lost-data"].plan().everything if isinstance(step, Do))
    (made,) = (each for each in steps if isinstance(each, CreatePartition) and each.topic == "unflushed")
    assert set(made.settings) == {"flush.messages", "flush.ms"}


@pytest.mark.parametrize("name", [name for name, each in SCENARIOS.items() if "topic-ids" in each.suites])
def test_incidents_of_topic_ids_are_told_on_clusters_without_unclean_elections(name):
    """Their topics are made by a tool that says nothing of it."""
    assert SCENARIOS[name].properties["unclean.leader.election.enable"] == "false"
