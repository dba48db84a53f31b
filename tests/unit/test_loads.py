"""What clients were promised is compared with what is there."""

import time
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cluster.topology import Topology
from harness.model.clients import ClientReport, broken_promises
from harness.scenario.loads import group
from harness.scenario.loads.compacted import stale_keys
from harness.scenario.loads.group import Group, GroupPosition
from harness.scenario.loads.readback import StoredRecord
from harness.scenario.loads.topics import Placement, spread
from harness.scenario.loads.transactions import TransactionLedger, compare_transactions
from harness.scenario.pauses import Pauses
from harness.scenario.world import ActionFailed

GOOD = ClientReport("orders", "records", 100, 0, 0, 1.0)
LOST = ClientReport("orders", "records", 100, 2, 0, 1.0)
NOT_PROMISED = ClientReport("clicks", "records", 100, 2, 0, 1.0, binding=False)
REWOUND = ClientReport("group", "deliveries", 100, 0, 0, 1.0, violations=("3 records came again",))


def test_a_loss_counts_against_the_build_only_where_the_record_was_promised():
    assert broken_promises([GOOD, NOT_PROMISED]) == []
    assert broken_promises([LOST, REWOUND]) == [
        "2 of 100 acknowledged orders are not found at the end",
        "group: 3 records came again",
    ]


def record(key, value, offset):
    return StoredRecord(0, offset, key.encode(), str(value).encode())


def test_a_key_is_stale_if_its_last_record_is_older_than_what_was_acknowledged():
    stored = [record("a", 1, 0), record("a", 5, 4), record("b", 2, 1)]
    assert stale_keys({"a": 5, "b": 2}, stored) == []
    assert stale_keys({"a": 4}, stored) == []
    assert stale_keys({"a": 6, "b": 2, "c": 1}, stored) == ["a", "c"]


def test_a_transaction_is_there_wholly_or_not_at_all():
    ended = TransactionLedger(3, committed=[0, 1], aborted=[4], unknown=[5, 6])
    assert compare_transactions(ended, [0, 0, 0, 1, 1, 1, 5, 5, 5]) == ([], 0, ())
    assert compare_transactions(ended, [0, 0, 0, 1, 1])[0] == [1]
    twice = (1, ("1 committed transactions have records twice",))
    assert compare_transactions(ended, [0, 0, 0, 0, 1, 1, 1])[1:] == twice
    assert compare_transactions(ended, [0, 0, 0, 1, 1, 1, 4])[2] == ("1 aborted transactions can be read",)
    assert compare_transactions(ended, [0, 0, 0, 1, 1, 1, 6])[2] == ("1 transactions can be read in part",)


@given(st.lists(st.integers(1, 5), max_size=20))
def test_a_group_that_reads_on_and_commits_misses_nothing_and_repeats_nothing(batches):
    position, at = GroupPosition(), 0
    for batch in batches:
        for _ in range(batch):
            position.deliver(0, at)
            at += 1
        position.committed_to(position.commit())
    assert (position.rewound, position.again, position.skipped, position.short_of({0: at})) == (0, 0, 0, 0)


def test_a_delivery_below_the_committed_offset_is_a_rewind_one_above_it_only_a_repeat():
    position = GroupPosition()
    for offset in range(5):
        position.deliver(0, offset)
    position.committed_to({0: 3})
    position.deliver(0, 3)
    assert (position.rewound, position.again) == (0, 1)
    position.deliver(0, 2)
    assert (position.rewound, position.again) == (1, 2)


def test_what_was_jumped_over_is_gone_and_what_was_not_reached_is_only_left_to_read():
    position = GroupPosition()
    position.deliver(0, 0)
    position.deliver(0, 3)
    assert (position.skipped, position.short_of({0: 4})) == (2, 0)
    assert (position.skipped, position.short_of({0: 6, 1: 2})) == (2, 4)


def test_a_pause_is_seen_while_it_lasts_and_after_it_ended(monkeypatch):
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    pauses = Pauses((0, 1))
    pauses.begin()
    now = 102.0
    assert pauses.longest_after(101.0) == 2.0
    pauses.answered(0)
    assert not pauses.all_answered_since(101.0)
    pauses.answered(1)
    assert pauses.all_answered_since(101.0)
    now = 102.3
    assert pauses.longest_after(101.0) == 2.0
    assert pauses.longest_after(102.1) == 0.0, "what ended before does not count, what is short is not shown"
    assert pauses.longest == 2.0
    pauses.begin()
    assert pauses.longest == 0.0, "what was before a new beginning is forgotten"


def test_partitions_are_spread_so_that_each_broker_leads_one():
    assert spread((3, 4, 5, 6), 4, 3) == [(3, 4, 5), (4, 5, 6), (5, 6, 3), (6, 3, 4)]


def test_a_single_partition_lies_on_every_voter_and_on_no_observer_that_may_be_lost():
    assert Placement.ONE_ON_VOTERS.on(Topology(3, 1)) == [(0, 1, 2)]


def test_where_voters_are_no_brokers_a_single_partition_lies_on_the_brokers():
    assert Placement.ONE_ON_VOTERS.on(Topology(3, 3, combined=False)) == [(3, 4, 5)]


def test_with_a_partition_for_each_broker_every_broker_leads_one():
    assert Placement.ONE_PER_BROKER.on(Topology(3, 1)) == [(0, 1, 2), (1, 2, 3), (2, 3, 0), (3, 0, 1)]


@pytest.mark.parametrize(
    ("fills", "topic"), [(False, "orders"), (True, "others")], ids=["leaves gaps", "another topic"]
)
def test_a_group_reads_no_topic_in_which_gaps_would_pass_for_lost_records(fills, topic):
    world = SimpleNamespace(clients=[SimpleNamespace(topic=topic, fills_offsets=fills)])
    with pytest.raises(ActionFailed, match="no load writes nothing but records to “orders”"):
        Group("orders").start(world)


def test_a_group_reads_as_many_partitions_as_its_topic_has(monkeypatch):
    monkeypatch.setattr(group, "partitions_of", lambda _world, _topic: 7)
    monkeypatch.setattr(group.GroupClient, "start", lambda _client: None)
    writer = SimpleNamespace(topic="orders", fills_offsets=True)
    world = SimpleNamespace(clients=[writer], cluster=SimpleNamespace(client_brokers=()))
    assert Group("orders").start(world)._partitions == 7
