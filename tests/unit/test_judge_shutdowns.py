"""A candidate whose nodes do not end on SIGTERM, and base's do, has failed."""

import pytest

from harness.judge.shutdowns import ignores_sigterm, with_shutdowns
from harness.model.arms import Role
from harness.model.runs import Outcome, RunResult, Shutdown
from harness.model.verdict import CellOutcome, CellState


def observer(ended, phase=""):
    return Shutdown(3, "observer", ended, 1.2 if ended else 10.0, phase)


def voter(node, ended, phase=""):
    return Shutdown(node, "voter", ended, 0.8 if ended else 10.0, phase)


def run(*shutdowns, role=Role.BASE):
    return RunResult("turn1", "arm", role, 1, Outcome.PASSED, shutdowns=shutdowns)


def test_an_observer_that_ends_on_base_and_hangs_on_the_candidate_has_failed():
    assert ignores_sigterm([run(observer(True))], [run(observer(False))]) == (
        "observer 3 did not end within 10 s of SIGTERM at the end of the run and had to be killed; "
        "on base every observer ends within 1.2 s"
    )


def test_voters_that_hang_when_a_step_stops_them_have_failed_and_the_phase_is_named():
    base = [run(voter(1, True, "the leader stops"))]
    candidate = [run(voter(0, False, "the leader stops"), voter(1, True))]
    assert "voter 0 did not end within 10 s of SIGTERM in phase “the leader stops”" in ignores_sigterm(base, candidate)


@pytest.mark.parametrize(
    ("why", "base", "candidate"),
    [
        ("both end", [run(observer(True))], [run(observer(True))]),
        ("base hangs as well", [run(observer(False))], [run(observer(False))]),
        ("base hung once", [run(observer(True)), run(observer(False))], [run(observer(False))]),
        ("it ended once", [run(observer(True))], [run(observer(False)), run(observer(True))]),
        ("one of its voters ended", [run(voter(0, True))], [run(voter(0, False), voter(1, True))]),
        ("base was not asked", [run(voter(0, True))], [run(observer(False))]),
        ("base was asked in another phase", [run(observer(True, "start"))], [run(observer(False))]),
        ("one repeat says nothing", [run(observer(True))], [run(observer(False)), run()]),
        ("an earlier harness did not ask", [run()], [run()]),
        ("base has no runs", [], [run(observer(False))]),
    ],
)
def test_nothing_is_wrong_where(why, base, candidate):
    assert ignores_sigterm(base, candidate) == "", why


@pytest.mark.parametrize("state", CellState)
def test_only_a_cell_that_passed_fails_by_it(state):
    cell = CellOutcome(state, "x" if state is CellState.FAILED else "", "why", 1)
    judged = with_shutdowns(cell, [run(observer(True))], [run(observer(False))])
    if state is CellState.PASSED:
        assert (judged.state, judged.expectation) == (CellState.FAILED, "stops_on_sigterm")
    else:
        assert judged == cell
