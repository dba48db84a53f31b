"""The later stages over a run directory: run, diff, judge, report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import HarnessError
from harness.cli import common
from harness.cli.common import OutCopy, RunDir
from harness.cli.helptext import help_text

_DIFF_HELP = help_text(
    "Find log differences between the arms of a run directory, or between two folders of logs from anywhere.",
    examples=(
        ("harness diff out/20260101-120000-verify", "the arms of a run directory"),
        ("harness diff logs/before logs/after --out out/diff", "two folders of logs"),
        ("harness diff logs/before logs/after --repeats-dir logs/before-again", "with further runs of the first"),
        ("spark-submit --packages … …/harness/__main__.py diff s3a://logs/before s3a://logs/after", "on a cluster"),
    ),
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("run")(run)
    app.command("diff", help=_DIFF_HELP)(diff)
    app.command("judge")(judge)
    app.command("report")(report)


def run(run_dir: RunDir, out: OutCopy = None) -> int:
    """Run what a run directory declares and has no result for yet.

    Example: harness run out/20260101-120000-build
    """
    from harness.stages import run as stage

    common.refuse_rollout(run_dir)
    folder = common.work_dir(run_dir, out)
    stage.run(folder, common.toolbox_of(folder), common.reporter())
    common.console().print(f"Next: harness diff {folder}")
    return 0


def diff(
    run_dir: Annotated[
        str,
        typer.Argument(
            help="A run directory; or, with a second folder, any folder of logs, or address of one for Spark."
        ),
    ],
    other: Annotated[
        str | None, typer.Argument(help="A second folder of logs: shows what differs.", show_default=False)
    ] = None,
    layout: Annotated[
        str, typer.Option("--layout", help="log4j conversion pattern of foreign logs; found out if not given.")
    ] = "",
    repeats_dir: Annotated[
        str | None,
        typer.Option(
            "--repeats-dir",
            help="A folder of folders: logs of further runs of what wrote the first, which show what is noise.",
            show_default=False,
        ),
    ] = None,
    master: Annotated[
        str, typer.Option("--master", help="A Spark cluster, spark://host:7077; this machine if not given.")
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for the result; of a run directory, a copy to work in.", show_default=False),
    ] = None,
) -> int:
    """Compare logs."""
    from harness.stages import diff as stage

    if other is None:
        if layout or repeats_dir:
            raise HarnessError(
                f"--{'layout' if layout else 'repeats-dir'} goes with two folders of logs.",
                "A run directory knows its own layout and repeats.",
            )
        common.refuse_rollout(Path(run_dir))
        folder = common.work_dir(Path(run_dir), out)
        stage.diff(folder, common.toolbox(), common.reporter(), master)
        common.console().print(f"Next: harness judge {folder}")
        return 0
    with common.fresh_run_dir(out, "diff") as folder:
        stage.diff_folders(
            run_dir, other, folder, layout or None, common.toolbox(), common.reporter(), repeats_dir, master
        )
    return 0


def judge(run_dir: RunDir, out: OutCopy = None) -> int:
    """Judge the results of a run directory: writes verdict.json; the exit code is the verdict's.

    Example: harness judge out/20260101-120000-verify
    """
    from harness.stages import judge as stage

    folder = common.work_dir(run_dir, out)
    verdict = stage.judge_either(folder, common.reporter())
    common.console().print(f"{verdict}\nNext: harness report {folder}")
    return verdict.exit_code


def report(run_dir: RunDir, out: OutCopy = None) -> int:
    """Write report.html, junit.xml and summary.md of a judged run directory.

    Example: harness report out/20260101-120000-verify
    """
    from harness.stages import judge as stage

    common.console().print(str(stage.report_either(common.work_dir(run_dir, out), common.reporter())))
    return 0
