"""Commands that look and tell: list, plan, doctor; and `lock`, which pins a version."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from harness.base.errors import HarnessError
from harness.base.paths import is_checkout
from harness.cli import common
from harness.cli.common import USAGE_OR_HARNESS_ERROR


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("list")(list_everything)
    app.command("plan")(plan)
    app.command("doctor")(doctor)
    app.command("lock")(lock)


def list_everything() -> int:
    """List scenarios, patch series and locked Kafka versions."""
    from harness.kafka.lock import locked_versions
    from harness.kafka.series import shipped_series
    from harness.scenario.registry import load_all

    table = Table("scenario", "suite", "question", box=None, header_style="bold")
    for scenario in load_all().values():
        table.add_row(scenario.name, scenario.suite, scenario.question)
    out = common.console()
    out.print(table)
    out.print(f"\npatch series: {', '.join(shipped_series())}\nlocked Kafka versions: {', '.join(locked_versions())}")
    return 0


def plan(scenario: Annotated[str, typer.Argument(help="Name of a scenario (see `harness list`).")]) -> int:
    """Tell a scenario's plan in words; starts nothing.

    Example: harness plan turn2
    """
    from harness.kafka.lines import line_of
    from harness.model.request import DEFAULT_KAFKA
    from harness.scenario.bounds import in_force
    from harness.scenario.registry import load_all, select
    from harness.scenario.steps import described

    usual = in_force({}, line_of(DEFAULT_KAFKA).timeouts)
    (chosen,) = select(load_all(), [scenario], "")
    out = common.console()
    out.print(Text(chosen.name, style="bold"), Text(chosen.question))
    topology = chosen.topology
    out.print(f"{topology.controllers} combined voters, {topology.observers} observer(s); suite {chosen.suite}")
    for kind, text in described(chosen.plan().everything, usual):
        out.print(Text(f"\n{text}", style="bold") if kind == "phase" else Text(f"  {kind:<10} {text}"))
    return 0


def doctor() -> int:
    """Tell what this host can and cannot do, and how to mend it."""
    from harness.doctor import examine

    out = common.console()
    findings = examine(common.toolbox())
    for finding in findings:
        mark = (
            Text("ok     ", style="green")
            if finding.ok
            else Text("missing", style="red" if finding.needed else "yellow")
        )
        out.print(mark, Text(f"{finding.what}: {finding.seen}"))
        if finding.fix:
            out.print(Text(f"          {finding.fix}", style="dim"))
    unable = [finding for finding in findings if finding.needed and not finding.ok]
    out.print(f"\n{'This host cannot verify yet; see above.' if unable else 'This host can verify.'}")
    return USAGE_OR_HARNESS_ERROR if unable else 0


def lock(
    version: Annotated[
        str, typer.Argument(help="A released Kafka version, such as 3.9.1; or `tools`, which are the harness's own.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder for both files: those of a checkout's builds, or your own, if not given.",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Resolve a Kafka version, download it, pin every file by SHA-256, and read its sources' log statements.

    Example: harness lock 3.9.0
    """
    from harness.toolbox import tools

    if version == tools.NAME:
        return _lock_tools(out)
    from harness.kafka.lines import line_of
    from harness.kafka.lock import checked_version, lock_folder_for_writing, write_lock
    from harness.kafka.resolving import resolve_lock
    from harness.logs.read.library import libraries_beside, make_library

    reporter = common.reporter()
    folder, line = out or lock_folder_for_writing(), line_of(checked_version(version))
    reporter.stage(f"resolving Kafka {version} and reading its log statements")
    downloads = common.toolbox().downloads
    resolved = resolve_lock(version, line.lock, downloads)
    written = write_lock(resolved, folder)
    statements = make_library(resolved, downloads, out or libraries_beside(folder))
    common.console().print(f"{written}\n{statements}")
    return 0


def _lock_tools(out: Path | None) -> int:
    from harness.toolbox.lockfile import shipped_locks
    from harness.toolbox.tools import resolve_tools, write_tools_lock

    if not (out or is_checkout()):
        raise HarnessError("The lock of the harness's tools is a part of the harness.", "Name a folder by --out.")
    common.reporter().stage("fetching the harness's tools")
    written = write_tools_lock(resolve_tools(common.toolbox().downloads), out or shipped_locks())
    common.console().print(str(written))
    return 0
