"""`harness nightly`, `merge`, `compare` and `open`: the night, and looking at what came of it."""

from __future__ import annotations

import os
import shlex
import webbrowser
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from harness.base.errors import HarnessError
from harness.base.paths import data_root
from harness.base.progress import duration
from harness.base.text import visible
from harness.cli import common
from harness.cli.common import Offline
from harness.rundir.directory import RunDirectory

if TYPE_CHECKING:  # the night's modules are loaded by the command that needs them
    from harness.base.progress import Reporter
    from harness.model.request import Request
    from harness.model.runs import Verdict
    from harness.nightly.judging import NightReport
    from harness.nightly.night import Night

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
Jobs = Annotated[int, typer.Option("--jobs", min=1, max=16, help="Clusters side by side.")]
OnlyList = Annotated[bool, typer.Option("--list", help="List what would run, and where; start nothing.")]

_HISTORY = Path("out/history.jsonl")
_DIFFERENT = 1


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("nightly")(nightly)
    app.command("merge")(merge)
    app.command("compare")(compare)
    app.command("open")(open_report)


def nightly(
    matrix: MatrixFile = None,
    shard: Shard = "1/1",
    night: NightName = "",
    history: History = _HISTORY,
    waivers: Waivers = None,
    jobs: Jobs = 2,
    offline: Offline = False,
    only_list: OnlyList = False,
    out: NightOut = None,
) -> int:
    """Run the matrix, or one shard of it: every verification in its own run directory, none stops the others.

    Examples: harness nightly · harness nightly --shard 2/4 --night 20260301 --out night-2
    """
    from dataclasses import replace

    from harness.model.request import located
    from harness.model.waivers import load_waivers
    from harness.nightly.concluding import conclude, keep_waivers
    from harness.nightly.night_matrix import load_matrix
    from harness.nightly.running import plan_night, run_shard
    from harness.nightly.shards import parse_shard
    from harness.scenario.registry import load_all
    from harness.stages.verify import verify

    part, parts = parse_shard(shard)
    read = load_matrix(matrix or data_root() / "builds" / "matrix.toml")
    file = waivers or read.waivers
    selected = [
        replace(each, request=located(replace(each.request, jobs=jobs, offline=offline, waivers=file)))
        for each in read.verifications
    ]
    planned = plan_night(
        selected,
        load_all(),
        name=night,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        matrix=read.digest,
        shard=part,
        shards=parts,
    )
    if only_list:
        _list(planned)
        return 0
    if file:
        load_waivers(file)  # before anything runs
    folder = common.new_run_dir(out, "night")
    common.hold(folder)
    if file:
        keep_waivers(file, folder)

    def ask(request: Request, run_dir: Path, reporter: Reporter) -> Verdict:
        RunDirectory(run_dir).request.write(request)
        return verify(run_dir, common.toolbox_of(run_dir), reporter)

    run_shard(planned, {each.id: each.request for each in selected}, folder, common.reporter(), ask)
    return _print_night(conclude(folder, history), folder)


def merge(
    folders: Annotated[list[Path], typer.Argument(help="Nights (shards of one) or single run directories.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to make.")],
    history: History = _HISTORY,
) -> int:
    """Merge the folders of many machines into one night, say which shards are missing, and add it to the history.

    Example: harness merge night-1 night-2 night-3 --out night
    """
    import shutil

    from harness.nightly.concluding import conclude
    from harness.nightly.merging import describe_missing
    from harness.nightly.merging import merge as merge_folders

    _refuse_rollouts(folders, "merged")
    folder = common.new_run_dir(out, "merge")
    common.hold(folder)
    try:
        night = merge_folders(folders, folder)
    except BaseException:
        shutil.rmtree(folder)
        raise
    for line in describe_missing(night):
        common.errors().print(Text(f"missing: {visible(line)}", style="yellow"))
    return _print_night(conclude(folder, history), folder)


def compare(
    before: Annotated[Path, typer.Argument(help="A run directory or a night.")],
    after: Annotated[Path, typer.Argument(help="Another of the same kind.")],
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
) -> int:
    """Show what changed between two runs or two nights; exit code 0 when nothing did, 1 otherwise.

    Verdicts, outcomes, the proof and log findings beyond the noise count; what may be noise, other jars and other times
    are shown and do not count.

    Example: harness compare out/20260301-010000-night out/20260302-010000-night
    """
    from harness.nightly.comparing import compare as changes_between
    from harness.nightly.comparing import read_side, render_markdown, same_kind, sentence

    _refuse_rollouts((before, after), "compared")
    same_kind(before, after)
    changes = changes_between(read_side(before), read_side(after))
    out = common.console()
    if markdown:
        out.print(render_markdown(changes, str(before), str(after)), end="")
    else:
        for change in changes:
            words = f"{change.what:<8} {change.where + ': ' if change.where else ''}{change.before} → {change.after}"
            out.print(Text(visible(words), style="" if change.counts else "dim"))
        out.print(sentence(changes))
    return _DIFFERENT if any(change.counts for change in changes) else 0


def _refuse_rollouts(folders: Sequence[Path], done: str) -> None:
    hint = f"Only verifications and nights are {done}; what a rollout came to is in its report.html and rollout.json."
    for folder in folders:
        common.refuse_rollout(folder, hint)


def open_report(run_dir: Annotated[Path, typer.Argument(help="A run directory or a night.")]) -> int:
    """Show a report in the browser; without a display, print where it is.

    Example: harness open out/20260301-120000-verify
    """
    page = _page(run_dir)
    common.console().print(str(page))
    if any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")):
        webbrowser.open(page.absolute().as_uri())
    return 0


def _page(folder: Path) -> Path:
    from harness.nightly.folder import NightFolder
    from harness.rundir.directory import RunDirectory

    for page in (NightFolder(folder).page, RunDirectory(folder).report):
        if page.is_file():
            return page
    judged = RunDirectory(folder).verdict.exists
    hint = f"Write it: harness report {folder}" if judged else "Name a run or a night."
    raise HarnessError(f"{folder} holds no report.", hint)


def _list(night: Night) -> None:
    out = common.console()
    for each in night.mine:
        out.print(Text(f"{each.shard}/{night.shards}  {each.id}, about {duration(each.seconds)}", style="bold"))
        out.print(f"     {shlex.join(['harness', 'verify', *each.arguments])}")


def _print_night(report: NightReport, folder: Path) -> int:
    from harness.nightly.folder import NightFolder
    from harness.nightly.night_summary import headline

    out = common.console()
    for each in report.verifications:
        out.print(Text(f"  {each.counts_as:<13} {each.planned.id}  {visible(each.sentence)[:300]}"))
    for fault in report.waived.faults:
        out.print(Text(f"  {visible(fault)}", style="red"))
    out.print(Text(f"\n{visible(headline(report))}", style="bold"))
    out.print(Text(f"night: {NightFolder(folder).page}"))
    return report.exit_code
