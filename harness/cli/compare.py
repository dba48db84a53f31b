"""`harness compare` and `open`: looking at what came of runs and nights."""

from __future__ import annotations

import os
import webbrowser
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from harness.base.errors import HarnessError
from harness.base.json import to_json
from harness.base.text import visible
from harness.cli import common
from harness.cli.common import FormOrMarkdown, Output
from harness.cli.helptext import help_text

_DIFFERENT = 1
_COMPARE_HELP = help_text(
    "Show what changed between two runs or two nights; exit code 0 when nothing did, 1 otherwise.",
    "Verdicts, outcomes, the proof and log findings beyond the noise count; what may be noise, other jars and other "
    "times are shown and do not count.",
    examples=(
        ("harness compare out/20260101-120000-verify out/20260102-120000-verify", "two runs"),
        ("harness compare out/20260301-010000-night out/20260302-010000-night -o markdown", "two nights, as a table"),
    ),
)
_OPEN_HELP = help_text(
    "Show a report in the browser; without a display, print where it is.",
    examples=(("harness open out/20260101-120000-verify", "or a rollout, a night, a log diff, upgrade notes"),),
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("compare", help=_COMPARE_HELP)(compare)
    app.command("open", help=_OPEN_HELP)(open_report)


def compare(
    before: Annotated[Path, typer.Argument(help="A run directory or a night.")],
    after: Annotated[Path, typer.Argument(help="Another of the same kind.")],
    output: FormOrMarkdown = Output.TEXT,
) -> int:
    """Compare."""
    from harness.nightly.comparing import compare as changes_between
    from harness.nightly.comparing import read_side, render_markdown, same_kind, sentence

    common.only_verifications((before, after), "compared")
    same_kind(before, after)
    changes = changes_between(read_side(before), read_side(after))
    for change in changes:
        words = f"{change.what:<8} {change.where + ': ' if change.where else ''}{change.before} → {change.after}"
        common.console().print(Text(visible(words), style="" if change.counts else "dim"))
    common.console().print(sentence(changes))
    if output is Output.JSON:
        common.print_document(to_json(changes))
    elif output is Output.MARKDOWN:
        common.print_document(render_markdown(changes, str(before), str(after)))
    return _DIFFERENT if any(change.counts for change in changes) else 0


def open_report(run_dir: Annotated[Path, typer.Argument(help="A run directory or a night.")]) -> int:
    """Open."""
    page = _page(run_dir)
    common.console().print(str(page))
    if any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")):
        webbrowser.open(page.absolute().as_uri())
    return 0


def _page(folder: Path) -> Path:
    from harness.nightly.folder import NightFolder
    from harness.rundir.directory import RunDirectory
    from harness.rundir.parts import LogsFolder, TopicIdsFolder, UpgradeFolder

    reports = (NightFolder(folder).page, RunDirectory(folder).report)
    others = (LogsFolder(folder).page, UpgradeFolder(folder).page, TopicIdsFolder(folder).page)
    for page in (*reports, *others):
        if page.is_file():
            return page
    judged = RunDirectory(folder).verdict.exists
    hint = f"Write it: harness report {folder}" if judged else "Name a run, a night, or the --out of another command."
    raise HarnessError(f"{folder} holds no report.", hint)
