"""A failing run of chaos is made smaller by runs of its parts, each made once."""

from dataclasses import replace

import pytest
from sample_run import declaration, write_sample

from harness.base.errors import HarnessError
from harness.cli import common
from harness.cli.chaos import shrink as shrink_command
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
    return RunResult(key.scenario, key.arm, Role.BASE, key.repeat, outcome, expectation, "as a test says")


def write(directory, result):
    run = directory.run(result.key)
    run.path.mkdir(parents=True, exist_ok=True)
    run.result.write(result)


class Ran(list):
    """The names of what was run; `instead` says how a run of a name and a repeat ends, where not by its faults."""

    def __init__(self):
        super().__init__()
        self.instead = {}


@pytest.fixture
def failed(tmp_path, monkeypatch):
    """Return a run directory in which chaos-17 failed on stock, and the parts that were run; 2 and 5 make it fail."""
    folder = write_sample(tmp_path / "run")
    directory, ran = RunDirectory(folder), Ran()
    directory.request.write(Request())
    directory.declaration.write(replace(declaration(), scenarios=(DeclaredScenario("chaos-17"),)))
    write(directory, result_of(RunKey("chaos-17", "stock", 1), Outcome.FAILED, LOST))

    def declared_runs(_declared, _directory, _parts):
        return [PlannedRun(RunKey("chaos-17", "stock", 1), load_all()["chaos-17"], Role.BASE, None, None)]

    def carry_out(cells, root, _jobs, _reporter, _what):
        (cell,) = cells
        assert cell.scenario.name == cell.key.scenario
        ran.append(cell.key.scenario)
        if told := ran.instead.get((cell.key.scenario, cell.key.repeat)):
            return write(RunDirectory(root), result_of(cell.key, *told))
        numbers = {each.number for each in disruptions_of(cell.key.scenario)}
        outcome, by = (Outcome.FAILED, LOST) if numbers >= {2, 5} else (Outcome.PASSED, "")
        if numbers == {3}:
            outcome, by = Outcome.FAILED, "all_up_after_chaos"
        return write(RunDirectory(root), result_of(cell.key, outcome, by))

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


def test_the_faults_are_told_with_what_they_make_fail(failed):
    folder, _ = failed
    found = shrink(folder, "chaos-17", "stock", common.toolbox(), common.reporter())
    assert found.in_words == f"FAILED({LOST}) needs 2 of them:"


def test_what_fails_without_any_fault_needs_none_and_no_part_is_run(failed):
    folder, ran = failed
    ran.instead[("chaos-17-only-none", 1)] = (Outcome.FAILED, LOST)
    found = shrink(folder, "chaos-17", "stock", common.toolbox(), common.reporter())
    assert (found.scenario, found.faults) == ("chaos-17-only-none", ())
    assert found.in_words.startswith(f"FAILED({LOST}) needs none of the faults: it fails alike")
    assert ran == ["chaos-17", "chaos-17-only-none"]


def test_what_fails_otherwise_without_any_fault_is_made_smaller(failed):
    folder, ran = failed
    ran.instead[("chaos-17-only-none", 1)] = (Outcome.FAILED, "all_up_after_chaos")
    assert shrink(folder, "chaos-17", "stock", common.toolbox(), common.reporter()).scenario == "chaos-17-only-2-5"


def test_the_command_that_shows_it_again_has_the_options_of_the_run(failed, capsys, monkeypatch, tmp_path):
    folder, _ = failed
    mine = {"jar": tmp_path / "new.jar", "base_dist": tmp_path / "mine", "config": tmp_path / "my own.properties"}
    RunDirectory(folder).request.write(Request(**mine, arms=("stock", "jar"), suite="chaos", seeds=20))
    for name in ("allow_networks", "hold"):
        monkeypatch.setattr(common, name, lambda *_: None)
    monkeypatch.chdir(tmp_path)
    assert shrink_command(folder, "chaos-17", "stock") == 0
    said = capsys.readouterr().out
    assert f"FAILED({LOST}) needs 2 of them:\n  stop node 0 from 3.7 s to 8.3 s\n" in said
    options = "--jar new.jar --base-dist mine --config 'my own.properties' --arms stock --scenario chaos-17-only-2-5"
    assert f"\nAgain: harness verify {options}" in said


def test_a_later_repeat_that_failed_can_be_made_smaller_too(failed):
    folder, _ = failed
    directory = RunDirectory(folder)
    write(directory, result_of(RunKey("chaos-17", "stock", 1), Outcome.PASSED))
    run = directory.run(RunKey("chaos-17", "stock", 2))
    run.path.mkdir(parents=True)
    run.result.write(replace(result_of(run.key, Outcome.FAILED, LOST), repeat=2))
    assert shrink(folder, "chaos-17", "stock", common.toolbox(), common.reporter()).scenario == "chaos-17-only-2-5"


def test_a_part_of_which_it_could_not_be_told_is_run_once_more(failed):
    folder, ran = failed
    ran.instead[("chaos-17-only-2-5", 1)] = (Outcome.INCONCLUSIVE, "host_not_starved")
    assert shrink(folder, "chaos-17", "stock", common.toolbox(), common.reporter()).scenario == "chaos-17-only-2-5"
    assert ran.count("chaos-17-only-2-5") == 2


@pytest.mark.parametrize(
    ("told", "said"),
    [((Outcome.INCONCLUSIVE, "ledger_read"), r"INCONCLUSIVE\(ledger_read\)"), ((Outcome.BROKEN,), "BROKEN")],
)
def test_a_part_of_which_it_cannot_be_told_at_all_ends_the_search_and_is_named(failed, told, said):
    folder, ran = failed
    ran.instead = {("chaos-17-only-2-5", repeat): told for repeat in (1, 2)}
    with pytest.raises(HarnessError, match=f"chaos-17-only-2-5 could not be told .* {said}") as raised:
        shrink(folder, "chaos-17", "stock", common.toolbox(), common.reporter())
    assert str(folder / "shrunk" / "runs" / "chaos-17-only-2-5") in raised.value.hint
    assert (folder / "shrunk" / "runs" / "chaos-17-only-2-5").is_dir()


@pytest.mark.parametrize(
    ("told", "said"),
    [((Outcome.PASSED,), "PASSED"), ((Outcome.FAILED, "all_up_after_chaos"), r"FAILED\(all_up_after_chaos\)")],
)
def test_a_whole_that_does_not_fail_so_again_is_not_made_smaller(failed, told, said):
    folder, ran = failed
    ran.instead[("chaos-17", 1)] = told
    with pytest.raises(HarnessError, match=f"did not fail by {LOST} again on stock: it {said}"):
        shrink(folder, "chaos-17", "stock", common.toolbox(), common.reporter())
    assert ran == ["chaos-17"]


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
