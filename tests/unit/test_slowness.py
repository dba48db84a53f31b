"""How much a host held nodes back, and whose doing it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scenario.slowness import HostInterval, Slowness, blame_of_others, slowness_of

RAFT = (3, "kafka-3-raft-io")


def seconds(count=10, **measured):
    return [HostInterval(float(at), 1.0, 2, **measured) for at in range(count)]


def test_a_quiet_host_stretches_nothing():
    quiet = slowness_of(seconds(waits={RAFT: 0.1}, own=0.3, others=0.8))
    assert (quiet.factor, quiet.is_starved, quiet.is_hopeless) == (1.0, False, False)


def test_many_short_waits_count_as_one_long_one_does():
    short = [HostInterval(float(at), 0.1, 2, waits={RAFT: 0.08}, own=0.02, others=0.17) for at in range(100)]
    found = slowness_of(short)
    assert found.is_starved
    assert found.reason == (
        "processor: node 3 (kafka-3-raft-io) waited for a processor for 80% of 10 s, while its cluster used 0.2 of 2 "
        "processors and other processes used 1.7"
    )


def test_a_thread_that_runs_eighteen_times_slower_is_starved():
    assert slowness_of(seconds(waits={RAFT: 17 / 18}, own=0.1, others=1.9)).is_hopeless


def test_a_cluster_that_keeps_the_processors_busy_itself_is_not_excused():
    spinning = slowness_of(seconds(waits={RAFT: 0.75}, own=1.8, others=0.2))
    assert (spinning.is_starved, spinning.factor) == (False, 1.0)


def test_a_cluster_that_needs_little_is_excused_by_others_who_take_much():
    assert slowness_of(seconds(waits={RAFT: 0.75}, own=0.3, others=1.7)).is_starved


@given(st.floats(0, 64), st.floats(0, 64), st.floats(0, 64))
def test_the_more_a_cluster_uses_the_less_is_the_hosts_doing(own, more, others):
    assert 0 <= blame_of_others(own + more, others) <= blame_of_others(own, others) <= 1


@pytest.mark.parametrize(
    ("measured", "resource"),
    [
        ({"io": 0.7}, "disk: everything on this host waited for it for 70% of 10 s"),
        ({"memory": 0.7}, "memory: everything on this host waited for it for 70% of 10 s"),
        ({"available": 2**20}, "memory: only 1 MiB were left on this host"),
        ({"throttled": 0.7, "own": 0.4}, "processor: the quota of the harness's cgroup throttled everything for 70%"),
        ({"slowdown": 7.0}, "processor: 7.0 times slower than before the first run"),
    ],
)
def test_the_resource_that_held_nodes_back_is_named(measured, resource):
    found = slowness_of(seconds(**measured))
    assert found.is_starved
    assert found.reason.startswith(resource)


def test_nodes_that_flood_the_disk_themselves_are_not_excused():
    assert not slowness_of(seconds(io=0.9, written=80e6)).is_starved


def test_nodes_that_wait_for_a_disk_which_answers_as_usual_ask_it_too_often():
    forced = seconds(io=0.9, written=1e6, answer=0.003)
    assert (slowness_of(forced).share, slowness_of(seconds(io=0.9, answer=0.05)).share) == (0.0, 0.0)


def test_a_disk_that_takes_long_to_answer_is_the_hosts():
    assert slowness_of(seconds(io=0.9, written=1e6, answer=0.5)).is_starved
    assert slowness_of(seconds(io=0.9, answer=0.1)).share == pytest.approx(0.45)


@given(st.floats(0, 1), st.floats(0, 100), st.floats(1, 100))
def test_the_longer_a_disk_takes_the_more_is_the_hosts_doing(io, answer, times):
    quicker, slower = (slowness_of(seconds(io=io, answer=each)).share for each in (answer, answer * times))
    assert quicker <= slower <= slowness_of(seconds(io=io)).share + 1e-9


def test_nodes_that_use_up_a_quota_beyond_their_need_are_not_excused():
    assert not slowness_of(seconds(throttled=0.9, own=1.0)).is_starved


def test_a_moment_says_nothing():
    assert slowness_of([]) == Slowness()
    assert slowness_of([HostInterval(1.0, 0.3, waits={RAFT: 0.3}, others=2.0)]) == Slowness()


@given(st.floats(0, 1))
def test_bounds_grow_with_slowness_and_not_for_ever(share):
    assert 1.0 <= Slowness(share).factor <= 3.0
    assert Slowness(share).factor >= Slowness(share / 2).factor
