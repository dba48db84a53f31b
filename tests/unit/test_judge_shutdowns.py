"""A candidate whose nodes do not end on SIGTERM, and base's do, has failed."""

import inspect
from dataclasses import replace

import pytest
import sample_run

from harness.engine.outcome import measures
from harness.engine.shutdown import end_nodes
from harness.judge.costs.beside_base import allowed
from harness.judge.costs.limits import limit_of, shipped_limits
from harness.judge.shutdowns import ignores_sigterm, judge_shutdowns
from harness.model.arms import Role
from harness.model.runs import Outcome, RunResult, Shutdown

DECLARED = sample_run.declaration()


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


def test_one_of_several_nodes_that_hangs_in_every_repeat_has_failed_whichever_it_is():
    base = [run(voter(0, True), voter(1, True))] * 2
    candidate = [run(voter(0, False), voter(1, True)), run(voter(0, True), voter(1, False))]
    assert "the voters 0, 1 did not end" in ignores_sigterm(base, candidate)
    assert ignores_sigterm(base, [candidate[0], run(voter(0, True), voter(1, True))]) == ""


def result(role, arm, outcome, expectation="", *shutdowns):
    return RunResult("turn1", arm, role, 1, outcome, expectation, shutdowns=shutdowns)


@pytest.mark.parametrize(
    ("base", "shown", "judged"),
    [
        ((Outcome.PASSED, ""), (Outcome.PASSED, ""), "FAILED(stops_on_sigterm)"),
        ((Outcome.FAILED, "x"), (Outcome.FAILED, "x"), "FAILED(stops_on_sigterm)"),
        ((Outcome.FAILED, "x"), (Outcome.PASSED, ""), "FAILED(stops_on_sigterm)"),
        ((Outcome.PASSED, ""), (Outcome.FAILED, "x"), "FAILED(x)"),
        ((Outcome.PASSED, ""), (Outcome.INCONCLUSIVE, "x"), "INCONCLUSIVE(x)"),
        ((Outcome.BROKEN, ""), (Outcome.BROKEN, ""), "BROKEN"),
    ],
)
def test_a_run_that_did_what_bases_did_fails_where_its_nodes_do_not_end(base, shown, judged):
    of_base = result(Role.BASE, "stock", *base, observer(True))
    found = judge_shutdowns(DECLARED, [of_base, result(Role.ON, "patched-on", *shown, observer(False))])
    assert found[0] == of_base
    assert found[1].label == judged


def test_off_is_held_against_the_base_with_its_flag_off():
    arms = (sample_run.ARMS[0], replace(sample_run.ARMS[0], name="base-off", role=Role.BASE_OFF), *sample_run.ARMS[1:])
    with_flag = replace(arms[0].build, flag=replace(arms[0].build.flag, known=True, default="true"))
    arms = tuple(replace(arm, build=with_flag) if arm.role.is_control else arm for arm in arms)
    results = [
        result(Role.BASE, "stock", Outcome.PASSED, "", observer(False)),
        result(Role.BASE_OFF, "base-off", Outcome.PASSED, "", observer(True)),
        result(Role.OFF, "patched-off", Outcome.PASSED, "", observer(False)),
    ]
    found = judge_shutdowns(replace(DECLARED, arms=arms), results)
    assert [each.label for each in found] == ["PASSED", "PASSED", "FAILED(stops_on_sigterm)"]


@pytest.mark.parametrize("slowest", [2.5, 8.0])
def test_some_voters_that_had_to_be_killed_among_others_that_ended_cost_more_than_any_that_ended(slowest):
    waited = inspect.signature(end_nodes).parameters["patience"].default
    hung = Shutdown(1, "voter", False, waited, "")
    limit, _ = limit_of("voter_stop_seconds", shipped_limits())
    assert measures((), 0.0, {}, [voter(0, True), hung])["voter_stop_seconds"] > allowed(limit, slowest)
