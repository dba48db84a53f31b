"""How often the harness comes to look must not decide whether an observer follows."""

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from harness.cluster.probes import Quorum
from harness.cluster.watch import Look, windowed
from harness.scenario.bounds import FOLLOW_WINDOW_SECONDS
from harness.scenario.conditions.follows_leader import follows

OBSERVER = 3
NO_OP_SECONDS = 0.5
INTERVALS = st.lists(st.floats(0.05, 3.0), min_size=2, max_size=40)
LAGS = st.floats(0.0, 0.5)


def looks_at(moments, offset_at, own_at):
    return [Look(at, Quorum(0, 1, observers={OBSERVER: offset_at(at)}), {OBSERVER: own_at(at)}) for at in moments]


def following_since(lag):
    """Offsets and sizes of an observer that gets each no-op `lag` seconds after it was written."""
    records = lambda at: int((at + 100 - lag) / NO_OP_SECONDS)  # noqa: E731
    return records, lambda at: 70 * records(at)


@given(INTERVALS, LAGS)
def test_an_observer_that_follows_passes_however_seldom_it_is_looked_at(intervals, lag):
    moments = list(accumulate(intervals))
    looks = looks_at(moments, *following_since(lag))
    for seen in range(2, len(looks) + 1):
        if moments[seen - 1] - moments[0] >= FOLLOW_WINDOW_SECONDS:
            assert follows(windowed(looks[:seen], FOLLOW_WINDOW_SECONDS), OBSERVER).ok


@given(INTERVALS, st.sampled_from(["stands still", "leader alone", "disk alone", "is listed no more"]))
def test_an_observer_that_does_not_follow_never_passes(intervals, how):
    moments = list(accumulate(intervals))
    grows, own = following_since(0.0)
    offset_at = grows if how == "leader alone" else lambda _: 7
    own_at = own if how == "disk alone" else lambda _: 490
    looks = looks_at(moments, offset_at, own_at)
    if how == "is listed no more":
        looks = [Look(each.at, Quorum(0, 1), each.own_log_bytes) for each in looks]
    for seen in range(1, len(looks) + 1):
        sample = follows(windowed(looks[:seen], FOLLOW_WINDOW_SECONDS), OBSERVER)
        assert not sample.ok


@given(INTERVALS)
def test_an_observer_that_stands_still_is_only_refuted_by_looks_that_span_three_no_ops(intervals):
    moments = list(accumulate(intervals))
    looks = looks_at(moments, lambda _: 7, lambda _: 490)
    for seen in range(1, len(looks) + 1):
        sample = follows(windowed(looks[:seen], FOLLOW_WINDOW_SECONDS), OBSERVER)
        spans = moments[seen - 1] - moments[0] >= 3 * NO_OP_SECONDS
        assert sample.testable == spans


def test_a_window_without_enough_looks_names_the_harness_and_not_the_observer():
    for looks in ([], looks_at([1.0], lambda _: 7, lambda _: 490)):
        sample = follows(looks, OBSERVER)
        assert not sample.testable
        assert "the harness" in sample.unseen


def test_looks_enough_under_an_older_leader_are_the_clusters_doing_and_not_the_harnesss():
    before = looks_at([0.0, 0.2, 0.4], lambda _: 7, lambda _: 490)
    newest = Look(0.6, Quorum(1, 2, observers={OBSERVER: 7}), {OBSERVER: 490})
    sample = follows([*before, newest], OBSERVER)
    assert (sample.ok, sample.testable, sample.unseen) == (False, False, "")


def test_the_window_is_stretched_back_to_one_look_before_it():
    looks = looks_at([0.0, 1.0, 4.0, 4.5, 5.0], lambda _: 7, lambda _: 490)
    assert [look.at for look in windowed(looks, 0.7)] == [4.0, 4.5, 5.0]
    assert [look.at for look in windowed(looks[:3], 0.7)] == [1.0, 4.0]
    assert windowed([], 0.7) == []
