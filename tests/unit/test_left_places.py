"""Errands in the places that runs leave: none before, as many as places at a time, and all ended with the block."""

import threading
import time

import pytest

from harness.engine.cancel import RunCancelled
from harness.engine.left_places import left_places


def leave(given):
    for each in given:
        each(None)


def test_nothing_begins_before_a_place_is_left():
    done = threading.Event()
    with left_places(2) as left:
        given = left.take([lambda _: done.set()])
        assert not done.wait(0.1)
        leave(given[:1])
        assert done.wait(5)
        left.finish()


def test_no_more_go_on_than_places_are_left_and_each_place_serves_again():
    running, most, lock = [], [], threading.Lock()

    def errand(_):
        with lock:
            running.append(1)
            most.append(len(running))
        time.sleep(0.02)
        with lock:
            running.pop()

    with left_places(3) as left:
        leave(left.take([errand] * 6)[:2])
        left.finish()
    assert (len(most), max(most)) == (6, 2)


def test_the_end_of_the_block_ends_what_goes_on_and_what_waits():
    begun, ended, waited = threading.Event(), threading.Event(), []

    def goes_on(cancellation):
        with cancellation.ending(ended.set):
            begun.set()
            assert ended.wait(5)
        raise RunCancelled

    def interrupted():
        with left_places(2) as left:
            leave(left.take([goes_on, waited.append])[:1])
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

    with left_places(2) as left:
        leave(left.take([goes_on, breaks]))
        with pytest.raises(OSError, match="disk full"):
            left.finish()
    assert ended.is_set()


def test_without_errands_no_place_is_asked_for():
    with left_places(2) as left:
        assert list(left.take([])) == []
        left.finish()
