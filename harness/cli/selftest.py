"""`harness selftest`: does the harness raise the alarm where it must?"""

from __future__ import annotations

import tempfile
from pathlib import Path

import typer
from rich.table import Table
from rich.text import Text

from harness.cli import common

_SILENT = 1


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("selftest")(selftest)


def selftest() -> int:
    """Make faults on purpose and see that the harness raises the alarm at each; exit 1 when one stays silent.

    Takes about a minute, on live nodes of the default Kafka.
    """
    from harness.base.text import cut, visible
    from harness.selftest.all_canaries import canaries
    from harness.selftest.canary import run_all

    out, reporter = common.console(), common.reporter()
    table = Table("canary", "alarm", "raised by", "seconds", box=None, header_style="bold")
    silent = 0
    for result in run_all(canaries(common.toolbox(), reporter.report), Path(tempfile.gettempdir())):
        silent += not result.raised
        mark = Text("raised", style="green") if result.raised else Text("SILENT", style="bold red")
        reporter.report(f"{result.name}: {mark.plain} in {result.seconds:g} s")
        table.add_row(result.name, mark, Text(cut(visible(result.seen), 200)), f"{result.seconds:.1f}")
    out.print(table)
    out.print(f"\n{silent} alarms stayed silent." if silent else "\nEvery alarm was raised.")
    return _SILENT if silent else 0
