"""Canaries: each alarm is raised, and a harness whose alarm is broken is found out."""

import sys
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.cli import app as cli
from harness.engine import apart, executor
from harness.selftest import all_canaries, canaries_without_nodes
from harness.selftest.canaries_without_nodes import still_canaries
from harness.selftest.canary import Canary, NotDetected, alarm, run_all, run_canary
from harness.selftest.noise_canary import noise_canary

CANARIES = {canary.name: canary for canary in still_canaries()}


@pytest.mark.parametrize("name", CANARIES)
def test_each_alarm_is_raised_and_says_by_what(name, tmp_path):
    result = run_canary(CANARIES[name], tmp_path)
    assert result.raised, result.seen
    assert str(tmp_path) not in result.seen
    seen = {"corrupt result": "damaged", "leaked process": "outlived the run", "crashed run": "Segmentation fault"}
    assert seen.get(name, "journal") in result.seen


@pytest.mark.parametrize("name", ["corrupt result", "forged result", "forged journal"])
def test_a_check_of_results_that_sees_nothing_is_found_out(name, tmp_path, monkeypatch):
    monkeypatch.setattr(canaries_without_nodes, "check_results", lambda _: None)
    assert (run_canary(CANARIES[name], tmp_path).raised, run_canary(CANARIES[name], tmp_path / "b").seen) == (
        False,
        "it was taken as it is",
    )


def test_a_check_of_results_that_always_rings_is_found_out(tmp_path, monkeypatch):
    def ring(_run_dir):
        raise HarnessError("wolf")

    monkeypatch.setattr(canaries_without_nodes, "check_results", ring)
    assert not run_canary(CANARIES["forged journal"], tmp_path).raised


def test_a_leak_that_nobody_looks_for_is_found_out(tmp_path, monkeypatch):
    ends = executor.end_leftovers
    monkeypatch.setattr(executor, "end_leftovers", lambda run: ends(run) and "")
    result = run_canary(CANARIES["leaked process"], tmp_path)
    assert (result.raised, result.seen) == (False, "the run was PASSED")


def test_a_crash_that_is_taken_for_an_end_is_found_out(tmp_path, monkeypatch):
    monkeypatch.setattr(apart, "HARNESS_ALIVE", "")
    result = run_canary(CANARIES["crashed run"], tmp_path)
    assert (result.raised, result.seen) == (False, "the run was BROKEN")


def test_an_alarm_is_a_sentence_of_the_harness_and_nothing_else():
    def fail():
        raise HarnessError("no")

    assert alarm(fail) == "no"
    with pytest.raises(NotDetected):
        alarm(lambda: None)


def test_a_canary_that_fails_itself_has_raised_no_alarm(tmp_path):
    result = run_canary(Canary("c", "f", lambda _: str(1 / 0)), tmp_path)
    assert (result.raised, result.seen) == (False, "the canary itself failed: ZeroDivisionError: division by zero")


def test_canaries_leave_nothing_behind(tmp_path):
    assert all(result.raised for result in run_all(still_canaries(), tmp_path))
    assert list(tmp_path.iterdir()) == []


def silent(_folder: Path) -> str:
    raise NotDetected("nobody rang")


@pytest.mark.parametrize(
    ("run", "code", "words"),
    [
        (lambda _: "FAILED(asked)", 0, ["raised", "FAILED(asked)", "Every alarm was raised."]),
        (silent, 1, ["SILENT", "nobody rang", "1 alarms stayed silent."]),
    ],
)
def test_the_exit_code_and_the_table_show_whether_an_alarm_stayed_silent(run, code, words, monkeypatch, capsys):
    monkeypatch.setattr(all_canaries, "canaries", lambda *_: (Canary("bird", "a fault", run),))
    monkeypatch.setattr(sys, "argv", ["harness", "selftest"])
    assert cli._run() == code
    seen = capsys.readouterr().out
    assert all(word in seen for word in ["bird", *words])


def test_a_flood_of_errors_is_a_hold_by_the_noise_that_is_shipped(tmp_path):
    result = run_canary(noise_canary(), tmp_path)
    assert result.raised, result.seen
    assert (
        "candidate logs a line at ERROR that no claim expects, 400 times in its run and 0 times on base" in result.seen
    )


@pytest.mark.parametrize(
    ("reasons", "seen"),
    [([], "the flood was taken for noise"), (["wolf"], "a run of base's jar was beyond its own noise")],
    ids=["silent", "always rings"],
)
def test_a_judge_of_logs_that_is_silent_or_always_rings_is_found_out(tmp_path, monkeypatch, reasons, seen):
    monkeypatch.setattr("harness.selftest.noise_canary._reasons", lambda *_: reasons)
    assert run_canary(noise_canary(), tmp_path).seen == seen
