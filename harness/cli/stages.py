"""The later stages over a run directory: run, diff, judge, report."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.cli import common, github
from harness.cli.common import OutCopy, OutputFormat, Quiet, RunDir
from harness.cli.helptext import help_text
from harness.model.findings import Contrast
from harness.rundir.directory import RunDirectory
from harness.rundir.parts import LogsFolder

_FOUND = 1


class DiffOutput(StrEnum):
    """In what form findings are printed."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


_DIFF_HELP = help_text(
    "Find log differences between the arms of a run directory, or between two folders of logs from anywhere.",
    "Exit codes: 0 compared, 1 something of what --fail-on names was found, 2 it could not be compared.",
    examples=(
        ("harness diff out/20260101-120000-verify", "the arms of a run directory"),
        ("harness diff logs/before logs/after --out out/diff", "two folders of logs"),
        ("harness diff logs/before logs/after --repeats-dir logs/before-again", "with further runs of the first"),
        ("harness diff before/server.log after/server.log --candidate-repeats-dir more", "and of the second"),
        (
            "harness diff before.tar.gz after.tar.gz --fail-on new,level -o json",
            "in a script; exit code 1 if any is found",
        ),
        ("spark-submit --packages … …/harness/__main__.py diff s3a://logs/before s3a://logs/after", "on a cluster"),
    ),
)
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
    app.command("diff", help=_DIFF_HELP)(diff)
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


Repeats = Annotated[
    str,
    typer.Option(
        "--repeats-dir",
        help="Further runs of what wrote the first, which show what is noise: the folder of one, or a folder of many.",
        show_default=False,
    ),
]
CandidateRepeats = Annotated[
    str,
    typer.Option("--candidate-repeats-dir", help="Further runs of what wrote the second, alike.", show_default=False),
]


def diff(
    run_dir: Annotated[
        str,
        typer.Argument(help="A run directory; or, with another beside it, a folder of logs, a log, or an address."),
    ],
    other: Annotated[
        str | None, typer.Argument(help="A second folder of logs: shows what differs.", show_default=False)
    ] = None,
    layout: Annotated[
        str, typer.Option("--layout", help="log4j conversion pattern of foreign logs; found out if not given.")
    ] = "",
    repeats_dir: Repeats = "",
    candidate_repeats_dir: CandidateRepeats = "",
    fail_on: Annotated[
        str,
        typer.Option(
            "--fail-on",
            help="Exit with 1 if something of these kinds differs by more than noise: new,level,value,… .",
            show_default=False,
        ),
    ] = "",
    output: Annotated[
        DiffOutput, typer.Option("--output", "-o", help="What is printed; for scripts progress goes to stderr.")
    ] = DiffOutput.TEXT,
    master: Annotated[
        str, typer.Option("--master", help="A Spark cluster, spark://host:7077; this machine if not given.")
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for the result; of a run directory, a copy to work in.", show_default=False),
    ] = None,
) -> int:
    """Compare logs."""
    from harness.logs.folders import RepeatPlaces
    from harness.stages import diff as stage
    from harness.stages.diff_output import as_json, as_markdown, is_among, kinds_of, print_worst

    kinds = kinds_of(fail_on)
    reporter = common.reporter() if output is DiffOutput.TEXT else Reporter(common.errors())
    of_folders = {"layout": layout, "repeats-dir": repeats_dir, "candidate-repeats-dir": candidate_repeats_dir}
    if other is None:
        folder = _arms_to_compare(Path(run_dir), out, [name for name, value in of_folders.items() if value])
        contrasts = stage.diff(folder, common.toolbox(), reporter, master)
        logs = RunDirectory(folder).logs
    else:
        repeats = RepeatPlaces(repeats_dir, candidate_repeats_dir)
        with common.fresh_run_dir(out, "diff") as folder:
            of = (run_dir, other, folder, layout or None)
            contrasts = (stage.diff_folders(*of, common.toolbox(), reporter, repeats, master),)
        logs = LogsFolder(folder)
    if output is not DiffOutput.TEXT:
        text = as_json(logs) if output is DiffOutput.JSON else as_markdown(contrasts, logs)
        common.console().out(text, end="", highlight=False)
    elif other is None:
        common.console().print(f"Next: harness judge {folder}")
    else:
        print_worst(contrasts[0], logs, common.console())
    if other is not None:
        _announce_diff(contrasts[0], logs)
    return _FOUND if is_among(contrasts, kinds) else 0


def _announce_diff(contrast: Contrast, logs: LogsFolder) -> None:
    if not github.in_job():
        return
    from harness.report.annotations import of_contrast

    github.announce(of_contrast(contrast), logs.summary)


def _arms_to_compare(run_dir: Path, out: Path | None, of_folders: Sequence[str]) -> Path:
    """Return the run directory to work in; `of_folders` are the options given that go with two folders only."""
    if of_folders:
        raise HarnessError(
            f"--{of_folders[0]} goes with two folders of logs.", "A run directory knows its own layout and repeats."
        )
    common.refuse_rollout(run_dir)
    directory = RunDirectory(run_dir)
    if run_dir.exists() and not (directory.declaration.exists or directory.request.exists):
        raise HarnessError(
            f"{run_dir} is no run directory: it has no run.json. Nor is there a second folder to compare it with.",
            f"Name two folders of logs: harness diff {run_dir} OTHER",
        )
    return common.work_dir(run_dir, out)


def judge(run_dir: RunDir, out: OutCopy = None, output: OutputFormat = common.Output.TEXT) -> int:  # noqa: ARG001
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
