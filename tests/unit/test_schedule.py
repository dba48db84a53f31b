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
    monkeypatch.setattr(schedule, "run_cell", lambda cell, _dir, report, cancellation, quiet: cell.act(cancellation))


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


def test_errands_take_the_places_that_no_cell_waits_for(tmp_path):
    order, first_two = [], threading.Barrier(2)

    def cell(number):
        def act(_):
            order.append(number)
            if number < 2:
                first_two.wait(5)
            return result(number)

        return Cells(act)

    cells = [cell(number) for number in range(4)]
    errands = [lambda _: order.append("errand")] * 2
    assert len(schedule.run_cells(cells, tmp_path, 2, Listener(), errands=errands)) == 4
    assert order[4:] == ["errand", "errand"]


def test_an_errand_is_ended_with_the_runs_and_its_own_fault_ends_them(tmp_path):
    ended = threading.Event()

    def waits(cancellation):
        with cancellation.ending(ended.set):
            assert ended.wait(5)

    def breaks(_):
        time.sleep(0.05)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        schedule.run_cells([Cells(breaks)], tmp_path, 2, Listener(), errands=[waits])
    ended.clear()
    with pytest.raises(OSError, match="disk full"):
        schedule.run_cells([Cells(waits)], tmp_path, 2, Listener(), errands=[breaks])
    assert ended.is_set()
