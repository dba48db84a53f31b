"""`harness compare` and `open`: looking at what came of runs and nights."""

from __future__ import annotations

import os
import webbrowser
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from harness.base.errors import HarnessError
from harness.base.text import visible
from harness.cli import common

_DIFFERENT = 1


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("compare")(compare)
    app.command("open")(open_report)


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

    common.only_verifications((before, after), "compared")
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
