"""A failing run of chaos is made smaller by runs of its parts, each made once."""

from dataclasses import replace

import pytest
from sample_run import declaration, write_sample

from harness.base.errors import HarnessError
from harness.cli import common
from harness.engine.planned_run import PlannedRun
from harness.model.arms import Role
from harness.model.declaration import DeclaredScenario
from harness.model.request import Request
from harness.model.runs import Outcome, RunKey, RunResult
from harness.rundir.directory import RunDirectory
from harness.scenario.chaos.plans import disruptions_of
from harness.scenario.registry import load_all
from harness.stages import shrink as stage
from harness.stages.shrink import shrink

LOST = "observer_follows_after_chaos"


def result_of(key, outcome, expectation=""):
    return RunResult(key.scenario, key.arm, Role.BASE, 1, outcome, expectation, "as a test says")


def write(directory, result):
    run = directory.run(result.key)
    run.path.mkdir(parents=True, exist_ok=True)
    run.result.write(result)


@pytest.fixture
def failed(tmp_path, monkeypatch):
    """Return a run directory in which chaos-17 failed on stock, and the parts that were run; 2 and 5 make it fail."""
    folder = write_sample(tmp_path / "run")
    directory, ran = RunDirectory(folder), []
    directory.request.write(Request())
    directory.declaration.write(replace(declaration(), scenarios=(DeclaredScenario("chaos-17"),)))
    write(directory, result_of(RunKey("chaos-17", "stock", 1), Outcome.FAILED, LOST))

    def declared_runs(_declared, _directory, _parts):
        return [PlannedRun(RunKey("chaos-17", "stock", 1), load_all()["chaos-17"], Role.BASE, None, None)]

    def carry_out(cells, root, _jobs, _reporter, _what):
        (cell,) = cells
        assert cell.scenario.name == cell.key.scenario
        ran.append(cell.key.scenario)
        numbers = {each.number for each in disruptions_of(cell.key.scenario)}
        outcome, by = (Outcome.FAILED, LOST) if numbers >= {2, 5} else (Outcome.PASSED, "")
        if numbers == {3}:
            outcome, by = Outcome.FAILED, "all_up_after_chaos"
        write(RunDirectory(root), result_of(cell.key, outcome, by))

    for name, fake in (
        ("declared_runs", declared_runs),
        ("carry_out", carry_out),
        ("parts_of_arms", lambda *_: {}),
        ("check_builds_and_java", lambda *_: None),
    ):
        monkeypatch.setattr(stage, name, fake)
    return folder, ran


def test_what_is_left_are_the_faults_that_are_needed_and_how_to_have_them_again(failed):
    folder, ran = failed
    found = shrink(folder, "chaos-17", "stock", common.toolbox(), common.reporter())
    assert (found.scenario, found.expectation) == ("chaos-17-only-2-5", LOST)
    assert found.faults == ("stop node 0 from 3.7 s to 8.3 s", "isolate node 1 from 14.1 s to 18.8 s")
    assert len(ran) == len(set(ran))
    assert (folder / "shrunk" / "runs" / "chaos-17-only-2-5").is_dir()
    assert not (folder / "runs" / "chaos-17-only-2-5").exists()


def test_a_later_repeat_that_failed_can_be_made_smaller_too(failed):
    folder, _ = failed
    directory = RunDirectory(folder)
    write(directory, result_of(RunKey("chaos-17", "stock", 1), Outcome.PASSED))
    run = directory.run(RunKey("chaos-17", "stock", 2))
    run.path.mkdir(parents=True)
    run.result.write(replace(result_of(run.key, Outcome.FAILED, LOST), repeat=2))
    assert shrink(folder, "chaos-17", "stock", common.toolbox(), common.reporter()).scenario == "chaos-17-only-2-5"


@pytest.mark.parametrize(
    ("scenario", "arm", "why"),
    [
        ("turn1", "stock", "turn1 is no schedule of chaos"),
        ("chaos-18", "stock", "has no run of chaos-18 on stock"),
        ("chaos-19", "stock", "chaos-19 on stock is PASSED: only what FAILED can be made smaller"),
    ],
)
def test_what_did_not_fail_cannot_be_made_smaller(failed, scenario, arm, why):
    folder, ran = failed
    write(RunDirectory(folder), result_of(RunKey("chaos-19", "stock", 1), Outcome.PASSED))
    with pytest.raises(HarnessError, match=why):
        shrink(folder, scenario, arm, common.toolbox(), common.reporter())
    assert not ran
