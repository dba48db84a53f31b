"""`harness simulate`: run one simulation again, by its seed."""

from __future__ import annotations

from typing import Annotated

import typer

from harness.cli import common
from harness.cli.common import RunDir
from harness.cli.helptext import help_text

_HELP = help_text(
    "Run one of the simulations again, on the candidate and on base, and keep both logs.",
    "A seed gives a property the same arguments on every jar. Exit 1 when either fails.",
    examples=(("harness simulate out/x --property RaftEventSimulationTest#canElectInitialLeader --seed 7", "one"),),
)
Property = Annotated[str, typer.Option("--property", help="The simulation, as the report names it.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Its seed.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("simulate", help=_HELP)(simulate)


def simulate(run_dir: RunDir, name: Property, seed: Seed) -> int:
    """Replay a seed."""
    from harness.stages.simulate import replay

    common.refuse_rollout(run_dir)
    toolbox = common.toolbox_of(run_dir)  # it is a run directory
    common.hold(run_dir)
    return 0 if replay(run_dir, name, seed, toolbox, common.reporter()) else 1
