"""`harness mutants`: would the harness notice? Jars that are wrong on purpose, and what catches each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import common
from harness.cli.common import Offline, Out
from harness.model.proof import TestScope
from harness.model.request import Request


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("mutants")(mutants)


def mutants(
    folder: Annotated[Path, typer.Argument(help="A folder of one-line patches on top of the shipped series.")] = Path(
        "tests/mutants"
    ),
    series: Annotated[str, typer.Option("--series", help="As for `harness verify`.", show_default=False)] = "",
    builder: Annotated[str, typer.Option("--builder", help="As for `harness verify`.")] = "auto",
    out: Out = None,
    offline: Offline = False,
) -> int:
    """Build and judge mutants of the series: exit 1 when one survives without a written reason.

    Examples: harness mutants · harness mutants my-mutants --out out/mutants
    """
    from harness.stages.mutants import detect, table

    request = Request(series=series, builder=builder, tests=TestScope.RELATED, offline=offline, argv=common.argv())
    found = detect(
        folder, request, common.new_run_dir(out, "mutants"), common.toolbox(offline=offline), common.reporter()
    )
    common.console().print(table(found), soft_wrap=True)
    return 0 if all(each.settled for each in found) else 1
