"""The stages over a run directory: what is run again, what is timed, what the terminal is told."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from harness.arms import Setup
from harness.errors import HarnessError
from harness.judge import SCHEMA, Asked, ScenarioAsked
from harness.model import Arm, Build, Flag, Role
from harness.progress import Reporter
from harness.stages import run as run_stage
from harness.stages.build import _kafka_version
from harness.stages.request import Request
from harness.stages.rundir import read_asked, read_setup, timed, write_asked, write_setup
from harness.stages.verify import tell

BUILD = Build("stock", "3.9.1", "builds/stock/x.jar", "a" * 64, "release", Flag("f", False))
ARMS = (Arm("stock", Role.BASE, BUILD, "absent"), Arm("patched-on", Role.ON, BUILD, "true"))
ASKED = Asked(SCHEMA, "3.9.1", ARMS, (ScenarioAsked("turn1"), ScenarioAsked("turn2")), repeats=2)
SETUP = Setup("", "", "fast", "f", jobs=2, overlay={"a": "1"}, settings={"patched-on": {"f": "true"}})
QUIET = Reporter(Console(quiet=True))


@pytest.fixture
def run_dir(tmp_path):
    write_asked(tmp_path, ASKED)
    write_setup(tmp_path, SETUP)
    return tmp_path


@pytest.fixture
def ran(monkeypatch):
    """Return the cells that would have been run."""
    cells = []
    monkeypatch.setattr(run_stage, "lay_ground", lambda *_: None)
    monkeypatch.setattr(run_stage, "run_cells", lambda todo, *_: cells.extend(todo) or [])
    return cells


def test_every_scenario_runs_on_every_arm_as_often_as_declared(run_dir, ran):
    run_stage.run(run_dir, QUIET)
    assert len({cell.key for cell in ran}) == 2 * 2 * 2
    assert {tuple(cell.settings.items()) for cell in ran} == {(("a", "1"),), (("a", "1"), ("f", "true"))}


def test_what_has_a_result_is_not_run_again_and_what_was_cut_short_begins_anew(run_dir, ran):
    done, cut = run_dir / "runs/turn1/stock/1", run_dir / "runs/turn2/stock/2"
    for folder in (done, cut):
        folder.mkdir(parents=True)
        (folder / "journal.jsonl").touch()
    (done / "result.json").touch()
    run_stage.run(run_dir, QUIET)
    assert len(ran) == 7
    assert done.exists()
    assert not cut.exists()


def test_a_scenario_that_is_gone_is_named(run_dir, ran):
    write_asked(run_dir, replace(ASKED, scenarios=(ScenarioAsked("turn9"),)))
    with pytest.raises(HarnessError, match="not there any more: turn9"):
        run_stage.run(run_dir, QUIET)


def test_the_seconds_of_a_stage_add_up_over_its_runs(run_dir):
    for _ in range(2):
        with timed(run_dir, "diff"):
            pass
    assert read_asked(run_dir).timings["diff"] >= 0
    write_asked(run_dir, replace(ASKED, timings={"diff": 5.0}))
    with timed(run_dir, "diff"):
        pass
    assert read_asked(run_dir).timings["diff"] >= 5.0


def test_setup_is_read_as_it_was_written(run_dir):
    assert read_setup(run_dir) == SETUP


def test_a_folder_without_setup_is_no_run_directory(tmp_path):
    with pytest.raises(HarnessError, match=r"has no setup\.json"):
        read_setup(tmp_path)


def test_the_version_is_the_users_or_that_of_the_default():
    assert _kafka_version(Request()) == "3.9.1"
    assert _kafka_version(Request(kafka_version="3.9.0")) == "3.9.0"


def test_the_terminal_is_told_verdict_reasons_and_report_and_no_control_characters(tmp_path):
    stream = io.StringIO()
    cells = [{"arm": "stock", "state": "REFUTED", "expectation": "observer_recovers"}]
    verdict = {
        "verdict": "HOLD",
        "sentence": "turn2: it failed \x1b[2J",
        "reasons": [f"reason {number}" for number in range(9)],
        "against": "",
        "scenarios": [{"name": "turn2", "discriminates": False, "cells": cells}],
    }
    tell(Console(file=stream, width=200), verdict, {"build": 5.0, "run": 70.0}, tmp_path / "report.html")
    told = stream.getvalue()
    assert "turn2           stock REFUTED(observer_recovers)  (does not discriminate)" in told
    assert "HOLD  turn2: it failed" in told
    assert "reason 5" in told
    assert "reason 6" not in told
    assert "time: build 5 s, run 1 min 10 s; 1 min 15 s in all" in told
    assert "report.html" in told
    assert "\x1b" not in told
