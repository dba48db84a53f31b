"""The observer is judged by its own progress under the newest leader, never by being listed."""

import pytest

from harness.cluster.probes import Quorum
from harness.cluster.watch import Look
from harness.scenario.conditions.follows_leader import follows

OBSERVER = 3


def look(at, offset, own, leader=0, epoch=1):
    observers = {} if offset is None else {OBSERVER: offset}
    return Look(at, Quorum(leader, epoch, observers=observers), {OBSERVER: own})


def test_an_observer_whose_offset_and_own_log_advance_follows():
    assert follows([look(0.0, 10, 500), look(0.5, 11, 570)], OBSERVER).ok


@pytest.mark.parametrize(
    ("why", "looks"),
    [
        ("nobody has looked yet", []),
        ("it is listed but does not advance", [look(0.0, 10, 500), look(1.5, 10, 500)]),
        ("the leader says so but its own disk does not grow", [look(0.0, 10, 500), look(1.5, 12, 500)]),
        ("its disk grows but the leader has not heard of it", [look(0.0, 10, 500), look(1.5, 10, 570)]),
        ("it is not listed", [look(0.0, None, 500), look(1.5, None, 570)]),
        ("it advanced under the leader before", [look(0.0, 10, 500), look(0.5, 11, 570), look(1.0, None, 570, 1, 2)]),
        ("it has one look only under the new leader", [look(0.0, 10, 500), look(1.0, 12, 570, 1, 2)]),
        ("nobody leads", [look(0.0, 10, 500), look(1.0, 12, 570, leader=-1, epoch=-1)]),
        ("its offset is unknown", [look(0.0, -1, 500), look(1.0, 0, 570)]),
    ],
)
def test_it_does_not_follow_when(why, looks):
    assert not follows(looks, OBSERVER).ok


def test_without_a_leader_there_is_nothing_to_ask():
    assert not follows([], OBSERVER).testable
    assert not follows([look(0.0, 10, 500), look(1.0, 12, 570, leader=-1, epoch=-1)], OBSERVER).testable
    assert follows([look(0.0, 10, 500), look(1.5, 10, 500)], OBSERVER).testable


def test_the_sample_shows_the_offsets_seen():
    detail = follows([look(0.0, 10, 500), look(0.5, 11, 570)], OBSERVER).detail
    assert detail["log_end_offset"] == [10, 11]
