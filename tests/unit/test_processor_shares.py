"""Shares of a core: a node that spins for three seconds shows at its busiest, whatever it did before and after."""

import pytest

from harness.scenario.processor_shares import (
    Sample,
    busiest_by_phase,
    measures_of_cluster,
    measures_of_shares,
    measures_of_window,
    shares,
)


def life(*shares_of_a_second, role="observer", start=0.0):
    """Samples once a second of a process whose raft thread takes such shares (0 to 1), and the rest of it 0.1."""
    used, found = 0.0, [Sample(start, role, 0.0, 0.0)]
    for second, share in enumerate(shares_of_a_second, 1):
        used += share
        found.append(Sample(start + second, role, used + second * 0.1, used))
    return found


def test_three_busy_seconds_are_the_busiest_and_quiet_ones_the_typical():
    found = measures_of_shares([[life(*[0.01] * 20, 1, 1, 1, *[0.01] * 20)]])
    assert found["observer_raft_busiest_percent"] == 100
    assert found["observer_raft_typical_percent"] == 1
    assert found["observer_cpu_busiest_percent"] == 110
    assert found["observer_cpu_typical_percent"] == 11


def test_a_single_busy_second_is_a_third_of_it():
    assert measures_of_shares([[life(0, 0, 0, 0.9, 0, 0, 0)]])["observer_raft_busiest_percent"] == pytest.approx(30)


def test_a_process_that_ran_for_less_than_three_seconds_shows_nothing():
    assert measures_of_shares([[life(1, 1)]]) == {}


def test_a_window_in_which_the_role_changed_belongs_to_no_role():
    before = life(*[0.0] * 4, role="voter")
    after = [Sample(each.at + 5, "leader", each.process + 9, each.raft + 9) for each in life(*[0.2] * 4)]
    found = measures_of_shares([[[*before, *after]]])
    assert found["voter_raft_busiest_percent"] == 0
    assert found["leader_raft_busiest_percent"] == 20


def test_processes_of_one_node_are_never_subtracted_from_each_other():
    found = measures_of_shares([[life(*[0.5] * 5), life(*[0.1] * 5, start=50.0)]])
    assert found["observer_raft_busiest_percent"] == 50


def test_a_process_whose_raft_thread_cannot_be_seen_shows_what_it_takes_as_a_whole():
    samples = [Sample(each.at, each.role, each.process, None) for each in life(*[0.5] * 5)]
    assert measures_of_shares([[samples]]) == {"observer_cpu_busiest_percent": 60}
    assert measures_of_window("idle", [samples]) == {"idle_observer_cpu_percent": 60}


@pytest.mark.parametrize("every", [0.2, 0.5, 1.7])
def test_windows_are_three_seconds_however_often_samples_come(every):
    samples = [Sample(n * every, "voter", n * every * 0.3, n * every * 0.2) for n in range(30)]
    found = list(shares(samples))
    assert found
    assert {(round(each.process), round(each.raft)) for each in found} == {(30, 20)}


def test_a_measured_window_shows_the_busiest_node_of_each_role_between_its_ends():
    quiet, busy = life(*[0.0] * 30), life(*[0.9] * 10, *[0.5] * 20)
    found = measures_of_window("idle", [quiet[10:], busy[10:], busy[:1]])
    assert found == {"idle_observer_cpu_percent": 60, "idle_observer_raft_percent": 50}


def test_what_is_busiest_is_told_phase_by_phase_by_where_three_seconds_end():
    phases = [("start", 0.0), ("moves", 10.0), ("over", 21.0), ("never", 99.0)]
    found = busiest_by_phase([life(*[0.0] * 8, *[1.0] * 4, *[0.1] * 20)], phases)
    raft = {phase: figures["observer_raft_busiest_percent"] for phase, figures in found.items()}
    assert raft == {"start": pytest.approx(100 / 3, abs=0.1), "moves": 100, "over": pytest.approx(10)}


def test_what_came_before_the_first_phase_belongs_to_none():
    assert busiest_by_phase([life(*[1.0] * 9)], [("late", 50.0)]) == {}
    assert busiest_by_phase([life(*[1.0] * 9)], []) == {}


def test_a_phase_that_comes_twice_is_one():
    found = busiest_by_phase([life(*[0.0] * 9, *[1.0] * 9)], [("again", 0.0), ("once", 4.0), ("again", 8.0)])
    assert found["again"]["observer_raft_busiest_percent"] == 100
    assert found["once"]["observer_raft_busiest_percent"] == 0


def test_of_several_nodes_the_one_that_typically_takes_most_counts():
    quiet, busy = life(*[0.01] * 30), life(*[0.09] * 20)
    assert measures_of_shares([[quiet], [quiet], [busy]])["observer_raft_typical_percent"] == 9


def test_what_is_typical_of_a_node_is_that_of_all_its_processes():
    before, after = life(*[0.9] * 12), life(*[0.1] * 30, start=50.0)
    assert measures_of_shares([[before, after], [life(*[0.01] * 30)]])["observer_raft_typical_percent"] == 10


def test_a_node_that_had_a_role_for_a_moment_says_nothing_of_what_is_typical_of_it():
    short, usual = life(*[0.9] * 7, role="leader"), life(*[0.02] * 30, role="leader")
    found = measures_of_shares([[short], [usual]])
    assert (found["leader_raft_typical_percent"], found["leader_raft_busiest_percent"]) == (2, 90)


def test_nothing_is_typical_of_a_role_that_no_node_had_for_long():
    young = [life(*[0.3] * 5, role="leader"), life(*[0.3] * 6, role="leader", start=20.0)]
    assert measures_of_shares([[each] for each in young]).keys() == {
        "leader_cpu_busiest_percent",
        "leader_raft_busiest_percent",
    }


def test_a_node_whose_raft_thread_cannot_be_seen_hides_no_other():
    unseen = [Sample(each.at, each.role, each.process, None) for each in life(*[0.5] * 30)]
    assert measures_of_shares([[unseen], [life(*[0.2] * 30)]])["observer_raft_typical_percent"] == 20


def test_work_that_moves_between_nodes_and_roles_is_the_same_for_all_nodes_together():
    leads_partitions, other = life(*[0.2] * 40, role="leader"), life(*[0.02] * 40, role="voter")
    here = measures_of_cluster([[leads_partitions], [other]])
    there = measures_of_cluster([[life(*[0.02] * 40, role="leader")], [life(*[0.2] * 40, role="voter")]])
    assert here == there == {"cluster_cpu_typical_percent": 42}
    assert measures_of_shares([[leads_partitions], [other]])["leader_cpu_typical_percent"] == 30


def test_an_election_takes_no_node_out_of_what_all_take_together():
    before, after = life(*[0.1] * 10, role="voter"), life(*[0.1] * 20, role="leader")
    moved = [Sample(each.at + 10, each.role, each.process + 2.0, each.raft + 1.0) for each in after[1:]]
    assert measures_of_cluster([[[*before, *moved]]]) == {"cluster_cpu_typical_percent": 20}


def test_nothing_is_typical_of_nodes_that_ran_for_moments():
    assert measures_of_cluster([[life(*[0.5] * 7)], [life(*[0.5] * 7)]]) == {}
