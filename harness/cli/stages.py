"""The later stages over a run directory: run, judge, report."""

from __future__ import annotations

import typer

from harness.cli import common
from harness.cli.common import Form, OutCopy, Output, Quiet, RunDir
from harness.cli.helptext import help_text
from harness.rundir.directory import RunDirectory

_RUN_HELP = help_text(
    "Run what a run directory declares and has no result for yet.",
    examples=(("harness run out/20260101-120000-build", "what `harness build` declared"),),
)
_JUDGE_HELP = help_text(
    "Judge the results of a run directory: writes verdict.json; the exit code is the verdict's.",
    examples=(
        ("harness judge out/20260101-120000-verify", "then `harness report` on the same folder"),
        ("harness judge out/20260101-120000-verify -o json", "the whole verdict on stdout"),
    ),
)
_REPORT_HELP = help_text(
    "Write report.html, junit.xml and summary.md of a judged run directory.",
    examples=(("harness report out/20260101-120000-verify", "or of a rollout, with its runbook.md"),),
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("run", help=_RUN_HELP)(run)
    app.command("judge", help=_JUDGE_HELP)(judge)
    app.command("report", help=_REPORT_HELP)(report)


def run(run_dir: RunDir, out: OutCopy = None, quiet: Quiet = False) -> int:  # noqa: ARG001
    """Run."""
    from harness.stages import run as stage

    common.allow_networks()
    common.refuse_rollout(run_dir)
    folder = common.work_dir(run_dir, out)
    stage.run(folder, common.toolbox_of(folder), common.reporter())
    common.console().print(f"Next: harness diff {folder}")
    return 0


def judge(run_dir: RunDir, out: OutCopy = None, output: Form = Output.TEXT) -> int:  # noqa: ARG001
    """Judge."""
    from harness.stages import judge as stage

    folder = common.work_dir(run_dir, out)
    verdict = stage.judge_either(folder, common.reporter())
    common.console().print(f"{verdict}\nNext: harness report {folder}")
    directory = RunDirectory(folder)
    common.print_record((directory.rollout if directory.roll_plan.exists else directory.verdict).path)
    return verdict.exit_code


def report(run_dir: RunDir, out: OutCopy = None) -> int:
    """Report."""
    from harness.stages import judge as stage

    common.console().print(str(stage.report_either(common.work_dir(run_dir, out), common.reporter())))
    return 0
