"""Judging a run directory and writing its report: of a verification, or of a rollout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.engine.seal import check_results
from harness.model.rollout import RolloutOutcome
from harness.model.runs import Verdict
from harness.report.verdict import judge_run, read_verdict
from harness.rundir.directory import RunDirectory
from harness.stages import rollout
from harness.stages.timing import timed


def judge(run_dir: Path, reporter: Reporter) -> Verdict:
    """Judge the results of a verification; writes verdict.json."""
    reporter.stage("judging")
    with timed(RunDirectory(run_dir), "judge"):
        check_results(run_dir)
        return Verdict(judge_run(run_dir)["verdict"])


def report(run_dir: Path, reporter: Reporter) -> Path:
    """Write report.html, junit.xml and summary.md of a verification; return the report's path."""
    from harness.report import write_reports

    reporter.stage("writing the report")
    with timed(RunDirectory(run_dir), "report"):
        return write_reports(run_dir, _whole_verdict(run_dir))


def judge_either(run_dir: Path, reporter: Reporter) -> Verdict | RolloutOutcome:
    """Judge what the folder holds: a verification, or a rollout that was rehearsed."""
    directory = RunDirectory(run_dir)
    return rollout.judge_again(directory).outcome if directory.roll_plan.exists else judge(run_dir, reporter)


def report_either(run_dir: Path, reporter: Reporter) -> Path:
    """Write the report of what the folder holds: a verification, or a rollout."""
    directory = RunDirectory(run_dir)
    return rollout.report_again(directory) if directory.roll_plan.exists else report(run_dir, reporter)


def _whole_verdict(run_dir: Path) -> dict[str, Any]:
    try:
        return read_verdict(run_dir)
    except ValueError as error:
        raise HarnessError(
            f"{RunDirectory(run_dir).verdict} is damaged: {error}.", "Run `harness judge` again."
        ) from error
