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
    from harness.selftest.canary import ask_all

    out, reporter = common.console(), common.reporter()
    table = Table("canary", "alarm", "raised by", "seconds", box=None, header_style="bold")
    silent = 0
    for heard in ask_all(canaries(common.toolbox(), reporter.say), Path(tempfile.gettempdir())):
        silent += not heard.raised
        mark = Text("raised", style="green") if heard.raised else Text("SILENT", style="bold red")
        reporter.say(f"{heard.name}: {mark.plain} in {heard.seconds:g} s")
        table.add_row(heard.name, mark, Text(cut(visible(heard.told), 200)), f"{heard.seconds:.1f}")
    out.print(table)
    out.print(f"\n{silent} alarms stayed silent." if silent else "\nEvery alarm was raised.")
    return _SILENT if silent else 0
