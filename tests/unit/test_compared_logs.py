"""A log diff that failed, or that was of other results than those that are judged, is a gap and never silence."""

import os
from dataclasses import replace

import pytest
from rich.console import Console
from sample_run import write_sample

from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.model.runs import RunKey, Verdict
from harness.rundir.directory import RunDirectory
from harness.stages import diff as diff_stage
from harness.stages.compared_logs import note_comparison, why_not_compared
from harness.stages.judge import judge_run
from harness.toolbox.toolbox import Toolbox

KEY = RunKey("turn2", "patched-on", 1)


@pytest.fixture
def directory(tmp_path):
    return RunDirectory(write_sample(tmp_path))


def test_findings_of_these_results_leave_no_gap_also_in_a_copy_whose_times_say_nothing(directory):
    note_comparison(directory)
    os.utime(directory.logs.findings.path, (0, 0))
    assert why_not_compared(directory) == ""
    assert judge_run(directory).verdict is Verdict.SHIP


def test_a_result_that_is_not_the_one_that_was_compared_is_named(directory):
    note_comparison(directory)
    result = directory.run(KEY).result
    result.write(replace(result.read(), seconds=99.0))
    record = judge_run(directory)
    assert record.verdict is Verdict.INCONCLUSIVE
    assert record.not_tested[0].startswith("The log diff is older than runs/turn2/patched-on/1")
    assert record.contrasts == ()


def test_a_result_that_came_after_the_diff_is_named(directory):
    directory.run(KEY).result.path.rename(aside := directory.path / "aside")
    note_comparison(directory)
    aside.rename(directory.run(KEY).result.path)
    assert "runs/turn2/patched-on/1" in why_not_compared(directory)


def test_a_folder_of_before_is_known_by_the_times_of_its_files(directory):
    assert why_not_compared(directory) == ""
    os.utime(directory.logs.findings.path, (0, 0))
    assert why_not_compared(directory).startswith("The log diff is older than runs/new-mechanism/patched-off/1")


def test_logs_that_nobody_compared_are_a_gap(directory):
    directory.logs.findings.path.unlink()
    assert judge_run(directory).verdict is Verdict.INCONCLUSIVE
    assert why_not_compared(directory) == "The logs were not compared: `harness diff` was not run."


def test_a_diff_that_failed_is_a_gap_with_its_reason_though_an_earlier_one_left_findings(directory, monkeypatch):
    note_comparison(directory)

    def out_of_memory(*_rest):
        raise HarnessError("Spark ran out of memory.")

    monkeypatch.setattr(diff_stage, "diff_run", out_of_memory)
    with pytest.raises(HarnessError, match="out of memory"):
        diff_stage.diff(directory.path, Toolbox(directory.path, directory.path), Reporter(Console(quiet=True)))
    record = judge_run(directory)
    assert record.verdict is Verdict.INCONCLUSIVE
    assert record.sentence == (
        "Too little could be tested. The log diff failed, so nobody knows what the candidate logs: "
        "Spark ran out of memory."
    )
