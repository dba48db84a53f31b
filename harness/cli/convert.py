"""`harness convert`: bring what an earlier harness wrote to today's names."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import HarnessError
from harness.base.files import write_bytes
from harness.base.locks import owned
from harness.cli import common
from harness.cli.helptext import help_text

_HELP = help_text(
    "Convert what an earlier version of the harness wrote, in place, so that every other command reads it.",
    examples=(
        ("harness convert out/20260101-120000-verify", "or a rollout, or a night"),
        ("harness convert out/history.jsonl --out history.jsonl", "a copy"),
    ),
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("convert", help=_HELP)(convert)


def convert(
    folder: Annotated[Path, typer.Argument(help="A run directory, a night, or a history of nights (a file).")],
    out: Annotated[Path | None, typer.Option("--out", help="Convert a copy, made there.", show_default=False)] = None,
) -> int:
    """Convert."""
    from harness.stages import convert as stage

    stage.check_kind(folder)
    stage.convert(_copied(folder, out) if out else _held(folder), common.reporter())
    return 0


def _held(folder: Path) -> Path:
    if folder.is_dir():
        common.hold(folder)
    return folder


def _copied(folder: Path, out: Path) -> Path:
    try:
        return _copy(folder, out)
    except OSError as error:
        raise HarnessError(
            f"{folder} cannot be copied to {out}: {error.strerror or error}.", "Name another by --out."
        ) from error


def _copy(folder: Path, out: Path) -> Path:
    if folder.is_file():
        if out.exists():
            raise HarnessError(f"{out} is there already.", "Name another by --out.")
        write_bytes(out, folder.read_bytes())
        return out
    with owned(folder):
        common.copy_folder(folder, out, "convert")
    return _held(out)
