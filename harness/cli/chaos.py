"""`harness shrink`: a failing schedule of chaos, with the fewest faults that still make it fail."""

from __future__ import annotations

from typing import Annotated

import typer

from harness.base.text import visible
from harness.cli import common
from harness.cli.common import RunDir
from harness.cli.helptext import help_text

_HELP = help_text(
    "Leave faults out of a failing run of chaos, one after another, until each that is left is needed.",
    "Every part is one run on a live cluster; what was run before is used.",
    examples=(("harness shrink out/x chaos-17 --arm patched-on", "the seed and the arm as the report names them"),),
)
Name = Annotated[str, typer.Argument(help="The scenario: its seed.")]
ArmName = Annotated[str, typer.Option("--arm", help="The arm on which it failed.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("shrink", help=_HELP)(shrink)


def shrink(run_dir: RunDir, scenario: Name, arm: ArmName = "stock") -> int:
    """Run parts of a schedule, and print what is left of it."""
    from harness.stages.shrink import shrink as shrink_run

    common.allow_networks()
    common.refuse_rollout(run_dir)
    toolbox = common.toolbox_of(run_dir)
    common.hold(run_dir)
    found = shrink_run(run_dir, scenario, arm, toolbox, common.reporter())
    out = common.console()
    out.print(found.in_words)
    for fault in found.faults:
        out.print(f"  {fault}")
    out.print(f"Again: {visible(found.again)}")
    return 0
