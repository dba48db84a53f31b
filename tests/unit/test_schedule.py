"""Runs side by side: all results in order, the first fault raised, all ended on an interruption."""

import threading
import time

import pytest

from harness.engine import schedule
from harness.engine.cancel import Cancellation, RunCancelled
from harness.model.arms import Role
from harness.model.runs import Outcome, RunKey, RunResult


class Cells:
    """Cells that do what a test says instead of starting clusters."""

    def __init__(self, act):
        self.key = RunKey("s", "a", id(act) % 1000)
        self.act = act


class Listener:
    def __init__(self):
        self.ended = []

    def begin(self, key): ...

    def phase(self, key, name): ...

    def end(self, result):
        self.ended.append(result)


@pytest.fixture(autouse=True)
def run_what_the_cell_says(monkeypatch):
    monkeypatch.setattr(schedule, "run_apart", lambda cell, _dir, report, cancellation, quiet: cell.act(cancellation))


def result(number):
    return RunResult("s", "a", Role.BASE, number, Outcome.PASSED)


def test_results_come_in_the_order_of_the_cells(tmp_path):
    slow = Cells(lambda _: time.sleep(0.05) or result(1))
    quick = Cells(lambda _: result(2))
    listener = Listener()
    assert [r.repeat for r in schedule.run_cells([slow, quick], tmp_path, 2, listener)] == [1, 2]
    assert {r.repeat for r in listener.ended} == {1, 2}


def test_no_more_than_the_given_number_run_side_by_side(tmp_path):
    running, most, lock = [], [], threading.Lock()

    def act(_):
        with lock:
            running.append(1)
            most.append(len(running))
        time.sleep(0.02)
        with lock:
            running.pop()
        return result(1)

    schedule.run_cells([Cells(act) for _ in range(6)], tmp_path, 2, Listener())
    assert max(most) == 2


def test_a_fault_of_the_harness_ends_the_other_runs_at_once(tmp_path):
    ended = threading.Event()

    def waits(cancellation):
        with cancellation.ending(ended.set):
            assert ended.wait(5)
        raise RunCancelled

    def breaks(_):
        time.sleep(0.05)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        schedule.run_cells([Cells(waits), Cells(breaks)], tmp_path, 2, Listener())
    assert ended.is_set()


def test_a_run_that_registers_too_late_is_ended_at_once():
    cancellation, ended = Cancellation(), []
    cancellation.cancel()
    with cancellation.ending(lambda: ended.append(1)):
        assert ended == [1]


def test_a_run_that_has_ended_is_not_ended_again():
    cancellation, ended = Cancellation(), []
    with cancellation.ending(lambda: ended.append(1)):
        pass
    cancellation.cancel()
    assert ended == []


def test_a_run_that_cannot_be_ended_does_not_keep_the_others_from_it():
    cancellation, ended = Cancellation(), []

    def fails():
        raise OSError("no")

    endings = cancellation.ending(fails), cancellation.ending(lambda: ended.append(1))
    with endings[0], endings[1], pytest.raises(OSError, match="no"):
        cancellation.cancel()
    assert ended == [1]


def test_each_place_that_no_cell_waits_for_is_left_once_when_its_last_run_has_ended(tmp_path):
    order, last_two = [], threading.Event()

    def quick(_):
        order.append("quick")
        return result(1)

    def waits(_):
        assert last_two.wait(5)
        order.append("last")
        return result(2)

    def left():
        order.append("left")
        last_two.set()

    schedule.run_cells([*(Cells(quick) for _ in range(4)), Cells(waits)], tmp_path, 2, Listener(), on_left=left)
    assert order == [*["quick"] * 4, "left", "last", "left"]


def test_a_place_that_a_fault_leaves_is_nobodys(tmp_path):
    def breaks(_):
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        schedule.run_cells([Cells(breaks)], tmp_path, 2, Listener(), on_left=lambda: pytest.fail("it is not left"))
