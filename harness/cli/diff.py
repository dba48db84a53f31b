"""`harness diff`: logs compared, of a run directory's arms or of two places, and printed as they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import HarnessError
from harness.cli import common, github
from harness.cli.common import FormOrMarkdown, Output, Quiet
from harness.cli.helptext import help_text
from harness.model.findings import Contrast
from harness.rundir.directory import RunDirectory
from harness.rundir.parts import LogsFolder

_HELP = help_text(
    "Find log differences between the arms of a run directory, or between two folders of logs from anywhere.",
    "Exit codes: 0 compared, 1 something of what --fail-on names was found, 2 it could not be compared, 3 nothing "
    "of it was found, and not all logs were read.",
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


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("diff", help=_HELP)(diff)


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
    output: FormOrMarkdown = Output.TEXT,
    master: Annotated[
        str, typer.Option("--master", help="A Spark cluster, spark://host:7077; this machine if not given.")
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for the result; of a run directory, a copy to work in.", show_default=False),
    ] = None,
    quiet: Quiet = False,  # noqa: ARG001
) -> int:
    """Compare logs."""
    from harness.stages.diff_output import as_json, as_markdown, exit_code, kinds_of

    kinds = kinds_of(fail_on)
    if other is None:
        of_folders = {"layout": layout, "repeats-dir": repeats_dir, "candidate-repeats-dir": candidate_repeats_dir}
        compared = _arms(_run_directory(run_dir, of_folders), out, master)
    else:
        compared = _folders((run_dir, other), (repeats_dir, candidate_repeats_dir), layout, out, master)
    if output is Output.JSON:
        common.print_document(as_json(compared.logs))
    elif output is Output.MARKDOWN:
        common.print_document(as_markdown(compared.contrasts, compared.logs))
    return exit_code(compared.contrasts, compared.logs.totals.read(), kinds)


@dataclass(frozen=True, slots=True)
class _Compared:
    """What was compared, and where the results are."""

    contrasts: tuple[Contrast, ...]
    logs: LogsFolder


def _run_directory(run_dir: str, of_folders: Mapping[str, str]) -> Path:
    """Return the run directory that was named; `of_folders` are the options that go with two folders of logs only."""
    if given := next((name for name, value in of_folders.items() if value), ""):
        raise HarnessError(
            f"--{given} goes with two folders of logs.", "A run directory knows its own layout and repeats."
        )
    folder = Path(run_dir)
    common.refuse_rollout(folder)
    directory = RunDirectory(folder)
    if folder.exists() and not (directory.declaration.exists or directory.request.exists):
        raise HarnessError(
            f"{run_dir} is no run directory: it has no run.json. Nor is there a second folder to compare it with.",
            f"Name two folders of logs: harness diff {run_dir} OTHER",
        )
    return folder


def _arms(run_dir: Path, out: Path | None, master: str) -> _Compared:
    from harness.stages import diff as stage

    folder = common.work_dir(run_dir, out)
    contrasts = stage.diff(folder, common.toolbox(), common.reporter(), master)
    common.console().print(f"Next: harness judge {folder}")
    return _Compared(contrasts, RunDirectory(folder).logs)


def _folders(sides: tuple[str, str], further: tuple[str, str], layout: str, out: Path | None, master: str) -> _Compared:
    from harness.logs.folders import RepeatPlaces
    from harness.stages import diff as stage
    from harness.stages.diff_output import print_worst

    repeats, reporter = RepeatPlaces(*further), common.reporter()
    with common.fresh_run_dir(out, "diff") as folder:
        contrast = stage.diff_folders(*sides, folder, layout or None, common.toolbox(), reporter, repeats, master)
    logs = LogsFolder(folder)
    print_worst(contrast, logs, common.console())
    _announce(contrast, logs)
    return _Compared((contrast,), logs)


def _announce(contrast: Contrast, logs: LogsFolder) -> None:
    if not github.in_job():
        return
    from harness.report.annotations import of_contrast

    github.announce(of_contrast(contrast, logs.totals.read()), logs.summary)
