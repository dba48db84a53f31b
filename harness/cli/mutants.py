"""`harness mutants` and `harness power`: would the harness notice? Jars that are wrong on purpose."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import HarnessError
from harness.cli import common
from harness.cli.common import Jobs, Offline
from harness.cli.helptext import help_text
from harness.model.detection import Ground, Part
from harness.model.request import Request, located, suite_of

_MUTANTS_HELP = help_text(
    "What notices jars that are wrong on purpose? Exit 1 when one survives without a written reason.",
    "Each jar is verified like any given jar, until its first HOLD. With the `--out` of an earlier call, results of "
    "the same jar under the same rules are kept, and the rest is run.",
    examples=(
        ("harness mutants", "what anybody's jar may do, and fixes of upstream reversed"),
        ("harness mutants tests/mutants/series", "the shipped series with one line wrong"),
        ("harness mutants --without tests,proof --out out/live", "what live clusters notice alone"),
        ("harness mutants --only leaks-on-every-append --out out/mutants", "one row of a table"),
        ("harness mutants --only vote-is-forgotten --without tests,proof --suite chaos --seeds 20", "what chaos finds"),
        ("harness mutants --only leader-stays-without-a-majority --scenario chaos-16", "one seed of it, by its name"),
    ),
)
_POWER_HELP = help_text(
    "What is the smallest defect that a suite notices? Plants each kind in growing sizes.",
    "Writes power.json, which `harness verify` reads from builds/power and names beside SHIP.",
    examples=(
        ("harness power --suite standard --out out/power", "every kind; an earlier --out goes on"),
        ("harness power --only stall --times 3", "one kind; noticed is what is noticed three times of three"),
    ),
)
Folder = Annotated[Path, typer.Argument(help="A folder of patches with a mutants.toml.")]
Templates = Annotated[Path, typer.Argument(help="A folder of templates with a growing.toml.")]
Only = Annotated[list[str] | None, typer.Option("--only", help="Only this one; can be repeated.")]
Without = Annotated[str, typer.Option("--without", help="Leave out `tests`, `proof` or both: tests,proof.")]
Suite = Annotated[str, typer.Option("--suite", help="As for `harness verify`.", show_default=False)]
Scenario = Annotated[
    list[str] | None, typer.Option("--scenario", "-k", help="As for `harness verify`, in place of a suite.")
]
Series = Annotated[str, typer.Option("--series", help="As for `harness verify`.", show_default=False)]
Builder = Annotated[str, typer.Option("--builder", help="As for `harness verify`.")]
Simulate = Annotated[
    str, typer.Option("--simulate", help="How long to run upstream's simulations on each jar: 60s.", show_default=False)
]
Seeds = Annotated[int, typer.Option("--seeds", min=1, help="As for `harness verify`.")]
_SEEDS = Request().seeds
Times = Annotated[int, typer.Option("--times", min=1, help="How many times each size is run; each must notice it.")]
TableOut = Annotated[
    Path | None,
    typer.Option("--out", help="Folder to make, or to go on with; `out/<time>-…` if not given.", show_default=False),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("mutants", help=_MUTANTS_HELP)(mutants)
    app.command("power", help=_POWER_HELP)(power)


def mutants(
    folder: Folder = Path("tests/mutants/stock"),
    only: Only = None,
    without: Without = "",
    suite: Suite = "",
    scenario: Scenario = None,
    seeds: Seeds = _SEEDS,
    series: Series = "",
    builder: Builder = "auto",
    jobs: Jobs = 2,
    simulate: Simulate = "",
    out: TableOut = None,
    offline: Offline = False,
) -> int:
    """Build and verify every mutant of a folder."""
    from harness.stages.detection_table import table
    from harness.stages.mutant_folder import load_mutants
    from harness.stages.mutants import Workshop, detect

    left_out, read = _parts(without), load_mutants(folder, only or ())
    asked = Request(series=series, builder=builder, jobs=jobs, offline=offline, simulate=simulate, seeds=seeds)
    request = _request(replace(asked, scenarios=tuple(scenario or ())), suite)
    _check_suite(request, suite)
    made = _table_dir(out, "mutants")
    found = detect(
        read, Workshop(made, read.ground, request, common.toolbox(offline=offline), common.reporter()), left_out
    )
    common.console().print(table(found), soft_wrap=True)
    return 0 if all(each.settled for each in found) else 1


def power(
    folder: Templates = Path("tests/mutants/growing"),
    only: Only = None,
    times: Times = 2,
    suite: Suite = "",
    builder: Builder = "auto",
    jobs: Jobs = 2,
    out: TableOut = None,
    offline: Offline = False,
) -> int:
    """Find the smallest defect of each kind that is noticed by live clusters alone."""
    from harness.stages.growing import load_growing
    from harness.stages.mutants import Workshop
    from harness.stages.power import curve, measure

    templates = load_growing(folder, only or ())
    request = _request(Request(builder=builder, jobs=jobs, offline=offline), suite)
    _check_suite(request, suite)
    made = _table_dir(out, "power")
    workshop = Workshop(made, Ground.STOCK, request, common.toolbox(offline=offline), common.reporter())
    common.console().print(curve(measure(templates, workshop, times)), soft_wrap=True)
    return 0


def _check_suite(request: Request, suite: str) -> None:
    """Raise HarnessError for a suite or a scenario that is not there, before anything is made."""
    from harness.scenario.registry import load_all, select  # the scenarios load what runs need

    select(load_all(), request.scenarios, suite or suite_of(request, of_series=False), request.seeds)


def _request(request: Request, suite: str) -> Request:
    """Return the request of every jar: reached lines are no part of the question."""
    return located(replace(request, coverage=False, suite=suite or request.suite))


def _parts(words: str) -> tuple[Part, ...]:
    named = [word.strip() for word in words.split(",") if word.strip()]
    if odd := [word for word in named if word not in list(Part)]:
        raise HarnessError(f"--without knows no {odd[0]}.", f"Choose among {', '.join(Part)}.")
    return tuple(part for part in Part if part in named)


def _table_dir(out: Path | None, command: str) -> Path:
    """Return a folder for a table, absolute and held: a new one, or one in which a table was begun."""
    from harness.stages.mutants import is_table

    folder = out if out and is_table(out) else common.new_run_dir(out, command)
    common.begin_table(folder)
    return folder.absolute()
