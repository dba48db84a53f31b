"""Whether a topic's ISR is whole again, by every broker's own account."""

from types import SimpleNamespace

import pytest

from harness.cluster.partitions import PartitionView
from harness.cluster.protocol import Unreachable
from harness.scenario.conditions import isr_is_whole as module
from harness.scenario.conditions.isr_is_whole import isr_is_whole

WHOLE = PartitionView(1, 3, (1, 2), (2, 1))


@pytest.fixture
def looked(monkeypatch):
    """Look at a topic of which each broker says what the test says."""

    def look(told):
        world = SimpleNamespace(cluster=SimpleNamespace(brokers={node: node for node in told}, wire=None))

        def views_of(_wire, broker, _topic):
            if isinstance(told[broker], Exception):
                raise told[broker]
            return told[broker]

        monkeypatch.setattr(module, "views_of", views_of)
        return isr_is_whole("t").sample(world)

    return look


def test_an_isr_is_whole_where_every_broker_says_so_of_every_partition(looked):
    found = looked({1: {0: WHOLE, 1: WHOLE}, 2: {0: WHOLE, 1: WHOLE}})
    assert (found.ok, found.problem) == (True, "")


@pytest.mark.parametrize(
    ("view", "said"),
    [
        (PartitionView(1, 3, (1, 2), (1,)), "t-1 by node 2 lacks [2]"),
        (PartitionView(-1, 3, (1, 2), (1, 2)), "t-1 by node 2 lacks a leader"),
    ],
)
def test_one_partition_that_one_broker_knows_to_be_under_replicated_or_without_leader_is_enough(looked, view, said):
    found = looked({1: {0: WHOLE, 1: WHOLE}, 2: {0: WHOLE, 1: view}})
    assert (found.ok, found.testable, found.problem) == (False, True, said)


@pytest.mark.parametrize(("views", "unknown"), [({}, [0, 1]), ({1: WHOLE}, [0])])
def test_a_broker_that_does_not_know_all_of_the_topic_is_named(looked, views, unknown):
    found = looked({1: {0: WHOLE, 1: WHOLE}, 2: views})
    assert (found.ok, found.problem) == (False, f"node 2 does not know partitions {unknown}")


def test_an_isr_of_a_topic_that_nobody_knows_is_not_whole(looked):
    assert not looked({1: {}, 2: {}}).ok


def test_nothing_is_said_where_a_broker_does_not_answer_or_none_runs(looked):
    assert not looked({1: {0: WHOLE}, 2: Unreachable("no answer")}).testable
    assert not looked({}).testable
