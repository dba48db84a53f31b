"""Whom an observer asks for the leader, and whether one that is lost has tried everybody: by what it logs."""

import time
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from harness.cluster.address import Address
from harness.cluster.probes import Quorum
from harness.cluster.watch import Look
from harness.scenario.asked_servers import lists_of_servers, unreachable
from harness.scenario.conditions.fetches_from_leader import fetches_from_leader
from harness.scenario.conditions.finds_leader import finds_leader
from harness.scenario.conditions.server_list import asks_as_configured, seldom_logs, seldom_replaces_servers
from harness.scenario.refs import fixed

OBSERVER = fixed(3, "the observer")
CONFIGURED = {0: Address("127.0.0.1", 8101), 1: Address("127.0.0.1", 8111)}
UNREACHABLE = (
    "WARN [RaftManager id=3] Connection to node {0} ({1}) could not be established. Node may not be available."
)
BY_NAME = UNREACHABLE.format(0, "controller-0.kafka.test/127.0.0.1:8101")
UPDATED = "INFO [RaftManager id=3] Updated bootstrap servers to: [{0}] (org.apache.kafka.raft.KafkaRaftClient)"
ANSWERED = (
    "DEBUG [RaftManager id=3] Received FETCH response from node {0} for request with header "
    "RequestHeader(apiKey=FETCH, apiVersion=17, clientId=raft-client-3, correlationId=9, headerVersion=2): "
)


def line(text, at=100.0):
    """Return a line as nodes log it (LOG_PATTERN, in UTC)."""
    stamp = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
    return f"[{stamp}] {text}".encode()


def refused(node, at=100.0):
    return line(UNREACHABLE.format(node, f"/{CONFIGURED[node]}"), at)


def world_of(*lines, offsets=(), leader=1, fault_at=90.0):
    """A cluster whose observer logged these lines, and whose leader saw it at these offsets, a second apart."""
    looks = [
        Look(at, Quorum(leader, 4, 9, {}, {3: offset}), {3: offset * 70}) for at, offset in enumerate(offsets, start=1)
    ]
    observer = SimpleNamespace(
        id=3,
        config=SimpleNamespace(voters=CONFIGURED),
        logged=lambda: iter(lines),
    )
    return SimpleNamespace(
        cluster=SimpleNamespace(nodes={3: observer}),
        quorum=lambda: Quorum(leader, 4),
        recent_looks=lambda _: looks,
        fault_at=fault_at,
    )


def test_an_address_that_cannot_be_reached_is_known_by_host_and_by_host_name():
    found = unreachable([line(BY_NAME), refused(1)], since=90)
    assert found == {Address("controller-0.kafka.test", 8101), *CONFIGURED.values()}


def test_what_could_not_be_reached_before_says_nothing():
    assert unreachable([refused(0, at=89.9), refused(1, at=90.0)], since=90.0) == {CONFIGURED[1]}


def test_each_list_of_servers_is_read_with_addresses_and_names_and_without_ids():
    lines = [
        line(UPDATED.format("127.0.0.1:8201 (id: 0 rack: null), h:8111 (id: -2 rack: null isFenced: false)")),
        line("INFO something else"),
        line(UPDATED.format("")),
    ]
    assert list(lists_of_servers(lines)) == [{Address("127.0.0.1", 8201), Address("h", 8111)}, set()]


def test_an_observer_that_does_not_follow_is_lost_once_it_warned_of_every_configured_address():
    lost = finds_leader(OBSERVER).sample(world_of(refused(0), refused(1), offsets=(7, 7, 7)))
    assert (lost.ok, lost.testable) == (False, True)
    assert lost.problem == "it warned that 2 of the 2 addresses of its configuration cannot be reached"


@pytest.mark.parametrize("lines", [(), (refused(0),), (refused(0), refused(1, at=80.0))])
def test_an_observer_that_has_not_asked_everybody_is_not_said_to_be_lost(lines):
    sample = finds_leader(OBSERVER).sample(world_of(*lines, offsets=(7, 7, 7)))
    assert (sample.ok, sample.testable) == (False, False)


def test_an_observer_with_another_list_need_not_ask_as_it_is_configured():
    replaced = line(UPDATED.format("127.0.0.1:8201 (id: 0 rack: null)"), at=50)
    assert finds_leader(OBSERVER).sample(world_of(replaced, offsets=(7, 7, 7))).testable


def test_an_observer_that_says_it_has_a_list_of_nobody_still_has_its_configured_one():
    nobody = line(UPDATED.format(""), at=50)
    assert not finds_leader(OBSERVER).sample(world_of(nobody, offsets=(7, 7, 7))).testable


def test_an_observer_that_follows_has_found_the_leader_whatever_it_warned_of():
    assert finds_leader(OBSERVER).sample(world_of(refused(0), offsets=(7, 8, 9))).ok


@pytest.mark.parametrize(("node", "at", "answered"), [(1, 95.0, True), (0, 95.0, False), (1, 85.0, False)])
def test_only_an_answer_of_the_present_leader_since_the_fault_counts(node, at, answered):
    sample = fetches_from_leader(OBSERVER).sample(world_of(line(ANSWERED.format(node), at)))
    assert (sample.ok, sample.testable) == (answered, True)


def test_without_a_leader_nobody_can_answer():
    assert not fetches_from_leader(OBSERVER).sample(world_of(line(ANSWERED.format(-1), 95), leader=-1)).testable


@pytest.mark.parametrize(("times", "is_seldom"), [(1, True), (2, False)])
def test_only_what_was_logged_lately_is_often(times, is_seldom):
    now = time.time()
    updated = UPDATED.format("127.0.0.1:8201 (id: 0 rack: null)")
    world = world_of(*[line(updated, now - 60)] * 9, *[line(updated, now - 5)] * times)
    assert seldom_replaces_servers(OBSERVER, most=1, lately="20s").sample(world).ok is is_seldom
    assert seldom_logs(OBSERVER, "something else", most=0, lately="20s").sample(world).ok


def test_a_list_with_the_configured_addresses_in_any_order_is_no_other():
    same = "127.0.0.1:8111 (id: 1 rack: null), 127.0.0.1:8101 (id: 0 rack: null)"
    assert asks_as_configured(OBSERVER).sample(world_of(line(UPDATED.format(same)))).ok
    assert asks_as_configured(OBSERVER).sample(world_of()).ok
    other = asks_as_configured(OBSERVER).sample(world_of(line(UPDATED.format("127.0.0.1:8201 (id: 0 rack: null)"))))
    assert (other.ok, other.problem) == (False, "127.0.0.1:8201")
