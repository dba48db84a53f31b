"""`harness nightly` and `merge`: the night, on one machine or many."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from harness.base.errors import HarnessError
from harness.base.paths import data_root
from harness.base.progress import duration
from harness.base.text import visible
from harness.cli import common, github
from harness.cli.common import Jobs, Offline, Quiet
from harness.cli.helptext import help_text
from harness.rundir.directory import RunDirectory

if TYPE_CHECKING:  # the night's modules are loaded by the command that needs them
    from harness.base.progress import Reporter
    from harness.model.request import Request
    from harness.model.runs import Verdict
    from harness.nightly.judging import NightReport
    from harness.nightly.night import Night, NightOptions
    from harness.nightly.night_matrix import Matrix, Verification

MatrixFile = Annotated[
    Path | None,
    typer.Option(
        "--matrix", envvar="HARNESS_MATRIX", help="The matrix; builds/matrix.toml if not given.", show_default=False
    ),
]
Shard = Annotated[str, typer.Option("--shard", help="Run only part i of n: i/n.")]
NightName = Annotated[
    str, typer.Option("--night", help="Name of the night, the same for all its shards; such as a build number.")
]
History = Annotated[Path, typer.Option("--history", help="The nights before: a file that is read and added to.")]
Waivers = Annotated[
    Path | None,
    typer.Option("--waivers", help="A waivers.toml; the one that the matrix names if not given.", show_default=False),
]
NightOut = Annotated[
    Path | None, typer.Option("--out", help="Folder to make; `out/<time>-night` if not given.", show_default=False)
]
Resume = Annotated[
    Path | None,
    typer.Option("--resume", help="Continue an interrupted night with its original options.", show_default=False),
]
OnlyList = Annotated[bool, typer.Option("--list", help="List what would run, and where; start nothing.")]

_HISTORY = Path("out/history.jsonl")
_NIGHTLY_HELP = help_text(
    "Run the matrix, or one shard of it: every verification in its own run directory, none stops the others.",
    examples=(
        ("harness nightly", "all of builds/matrix.toml"),
        ("harness nightly --list", "what would run, and how long it takes"),
        ("harness nightly --shard 2/4 --night 20260301 --out night-2", "on the second of four machines"),
        ("harness nightly merge night-1 night-2 --out night", "then; `harness merge` is the same"),
        ("harness nightly --resume out/20260301-010000-night", "continue where it was interrupted"),
    ),
)
_MERGE_HELP = help_text(
    "Merge the folders of many machines into one night, say which shards are missing, and add it to the history.",
    examples=(("harness merge night-1 night-2 night-3 --out night", "three shards"),),
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    nights = typer.Typer(invoke_without_command=True, help=_NIGHTLY_HELP)
    nights.callback()(nightly)
    for place in (nights, app):  # people look for it in both
        place.command("merge", help=_MERGE_HELP)(merge)
    app.add_typer(nights, name="nightly")


def nightly(
    context: typer.Context,
    matrix: MatrixFile = None,
    shard: Shard = "1/1",
    night: NightName = "",
    history: History = _HISTORY,
    waivers: Waivers = None,
    jobs: Jobs = 2,
    offline: Offline = False,
    only_list: OnlyList = False,
    out: NightOut = None,
    resume: Resume = None,
    quiet: Quiet = False,  # noqa: ARG001
) -> int:
    """Run it."""
    from harness.model.waivers import load_waivers
    from harness.nightly.concluding import keep_waivers
    from harness.nightly.folder import NightFolder
    from harness.nightly.history import read_history
    from harness.nightly.lacking import lacking
    from harness.nightly.night import NightOptions
    from harness.nightly.night_matrix import load_matrix
    from harness.nightly.running import plan_night
    from harness.nightly.shards import parse_shard
    from harness.scenario.registry import load_all

    if context.invoked_subcommand:
        return 0
    if resume:
        _nothing_else(context, resume)
        return _resume(resume)
    part, parts = parse_shard(shard)
    path = matrix or data_root() / "builds" / "matrix.toml"
    read, options = load_matrix(path), NightOptions(path.absolute(), history.absolute(), jobs, offline)
    file = waivers or read.waivers
    selected = _for_this_machine(read, options, file)
    try:
        planned = plan_night(
            selected,
            load_all(),
            name=night,
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
            matrix=read.digest,
            shard=part,
            shards=parts,
        )
    except HarnessError as error:
        raise HarnessError(f"{path}: {error.message}", error.hint) from error
    mine = {each.id for each in planned.mine}
    missing = {each.id: what for each in selected if each.id in mine and (what := lacking(each.request))}
    if only_list:
        _list(planned, missing)
        return 0
    for name, what in missing.items():
        common.reporter().report(f"{name} will end with an error: {what}")
    if file:
        load_waivers(file)  # before anything runs
    read_history(history)
    common.allow_networks()
    folder = common.new_run_dir(out, "night")
    common.begin(folder)
    if file:
        keep_waivers(file, folder)
    NightFolder(folder).options.write(options)
    return _run(planned, {each.id: each.request for each in selected}, folder, history)


def _resume(folder: Path) -> int:
    """Do what a night lacks."""
    common.allow_networks()
    from dataclasses import replace

    from harness.nightly.folder import NightFolder, read_night
    from harness.nightly.history import read_history
    from harness.nightly.night_matrix import load_matrix
    from harness.nightly.running import requests_of

    place = NightFolder(folder)
    night, options = read_night(folder), place.options.read()
    read = load_matrix(options.matrix)
    waivers = place.waivers if place.waivers.is_file() else None
    requests = requests_of(night, replace(read, verifications=_for_this_machine(read, options, waivers)))
    read_history(options.history)
    common.begin(folder)
    night = read_night(folder)  # whoever had it may have gone on meanwhile
    common.reporter().stage(f"{len(night.mine) - len(night.unanswered)} of {len(night.mine)} verifications have ended")
    return _run(night, requests, folder, options.history)


def _nothing_else(context: typer.Context, folder: Path) -> None:
    """Raise HarnessError for an option that was typed beside --resume."""
    for each in context.command.params:
        source = context.get_parameter_source(each.name or "")
        if each.name not in ("resume", "quiet") and source and source.name == "COMMANDLINE":
            raise HarnessError(
                f"--resume takes its options from {folder}, not {each.opts[0]}.", "Leave the others out."
            )


def _for_this_machine(matrix: Matrix, options: NightOptions, waivers: Path | None) -> tuple[Verification, ...]:
    """Return the verifications of a matrix as this machine asks them."""
    from dataclasses import replace

    from harness.model.request import located

    return tuple(
        replace(
            each,
            request=located(replace(each.request, jobs=options.jobs, offline=options.offline, waivers=waivers)),
        )
        for each in matrix.verifications
    )


def _run(night: Night, requests: dict[str, Request], folder: Path, history: Path) -> int:
    from harness.nightly.concluding import conclude
    from harness.nightly.running import run_shard

    run_shard(night, requests, folder, common.reporter(), _verify)
    return _print_night(conclude(folder, history), folder)


def _verify(request: Request, run_dir: Path, reporter: Reporter) -> Verdict:
    """Verify in a run directory of the night, which may have been cut short in it."""
    from dataclasses import replace

    from harness.base.locks import owned
    from harness.stages.verify import verify

    directory = RunDirectory(run_dir)
    with owned(run_dir):
        directory.remove_unfinished()
        if not directory.declaration.exists:  # nothing is built that another request could be at odds with
            # A night looks itself at everything: what it saw last time is in its history.
            directory.request.write(replace(request, fresh=True))
        return verify(run_dir, common.toolbox_of(run_dir), reporter).verdict


def merge(
    folders: Annotated[list[Path], typer.Argument(help="Nights (shards of one) or single run directories.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to make.")],
    history: History = _HISTORY,
) -> int:
    """Merge."""
    from harness.nightly.concluding import conclude
    from harness.nightly.history import read_history
    from harness.nightly.merging import describe_missing
    from harness.nightly.merging import merge as merge_folders

    common.only_verifications(folders, "merged")
    read_history(history)  # before a folder is made
    with common.fresh_folder(out, "merge") as folder:
        night = merge_folders(folders, folder)
        concluded = conclude(folder, history)
    for line in describe_missing(night):
        common.errors().print(Text(f"missing: {visible(line)}", style="yellow"))
    return _print_night(concluded, folder)


def _list(night: Night, missing: Mapping[str, str]) -> None:
    out = common.console()
    for each in night.mine:
        out.print(Text(f"{each.shard}/{night.shards}  {each.id}, about {duration(each.seconds)}", style="bold"))
        out.print(f"     {shlex.join(['harness', 'verify', *each.arguments])}")
        if each.id in missing:
            out.print(Text(f"     cannot be run here: {visible(missing[each.id])}", style="red"))
    lasts = duration(sum(each.seconds for each in night.mine))
    out.print(f"{len(night.mine)} of {len(night.planned)} verifications, about {lasts} on two quiet cores")


def _print_night(report: NightReport, folder: Path) -> int:
    from harness.nightly.folder import NightFolder
    from harness.nightly.night_annotations import of_night
    from harness.nightly.night_summary import headline

    out = common.console()
    for each in report.verifications:
        out.print(Text(f"  {each.counts_as:<13} {each.planned.id}  {visible(each.sentence)[:300]}"))
    for fault in report.waived.faults:
        out.print(Text(f"  {visible(fault)}", style="red"))
    out.print(Text(f"\n{visible(headline(report))}", style="bold"))
    out.print(Text(f"night: {NightFolder(folder).page}"))
    github.announce(of_night(report), NightFolder(folder).summary)
    return report.exit_code
