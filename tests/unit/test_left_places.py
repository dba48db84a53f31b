"""Errands in the places that runs leave: none before, one at a time in each, and all ended with the block."""

import threading
import time

import pytest

from harness.engine.cancel import RunCancelled
from harness.engine.left_places import left_places


def test_nothing_is_looked_for_before_a_place_is_left_and_then_once():
    found, done = [], threading.Event()

    def find():
        found.append(1)
        return [lambda _: done.set()]

    with left_places(2, find) as left:
        assert not done.wait(0.1)
        assert not found
        left.leave()
        left.leave()
        left.finish()
    assert done.is_set()
    assert found == [1]


def test_one_errand_at_a_time_is_done_in_each_place_until_none_waits():
    running, most, lock = [], [], threading.Lock()

    def errand(_):
        with lock:
            running.append(1)
            most.append(len(running))
        time.sleep(0.02)
        with lock:
            running.pop()

    with left_places(3, lambda: [errand] * 6) as left:
        left.leave()
        left.leave()
        left.finish()
    assert (len(most), max(most)) == (6, 2)


def test_when_all_runs_have_ended_every_place_is_left():
    together = threading.Barrier(2)
    with left_places(2, lambda: [lambda _: together.wait(5)] * 2) as left:
        left.leave()
        left.leave_all()
        left.finish()
    assert not together.broken


def test_the_end_of_the_block_ends_what_goes_on_and_what_waits():
    begun, ended, waited = threading.Event(), threading.Event(), []

    def goes_on(cancellation):
        with cancellation.ending(ended.set):
            begun.set()
            assert ended.wait(5)
        raise RunCancelled

    def interrupted():
        with left_places(2, lambda: [goes_on, waited.append]) as left:
            left.leave()
            assert begun.wait(5)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert ended.is_set()
    assert waited == []
    assert not [each for each in threading.enumerate() if each.name.startswith("left place")]


def test_what_one_of_them_raises_ends_the_others_and_is_raised():
    begun, ended = threading.Event(), threading.Event()

    def breaks(_):
        assert begun.wait(5)
        raise OSError("disk full")

    def goes_on(cancellation):
        with cancellation.ending(ended.set):
            begun.set()
            assert ended.wait(5)

    with left_places(2, lambda: [goes_on, breaks]) as left:
        left.leave()
        left.leave()
        with pytest.raises(OSError, match="disk full"):
            left.finish()
    assert ended.is_set()


def test_a_place_without_errands_is_left_in_peace():
    with left_places(2, tuple) as left:
        left.leave()
        left.finish()
