"""The command that makes a run directory such as this one, from its request and the plan of its rollout."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from harness.model.options import arguments_of
from harness.model.request import as_typed
from harness.model.rollout import RollPlan
from harness.rollout.nodes import USUAL_TOPOLOGY
from harness.rundir.directory import RunDirectory


def command_of(folder: Path) -> str:
    """Return the command line; of a folder of before, which has no request, as it was typed."""
    directory = RunDirectory(folder)
    request, plan = directory.request.read_if_exists(), directory.roll_plan.read_if_exists()
    if request is None:
        return shlex.join(["harness", *directory.declaration.read().argv])
    roll = _arguments_of_roll(plan) if plan else ()
    return shlex.join([*directory.command.split(), *arguments_of(as_typed(request)), *roll])


def packed_series(folder: Path) -> Path | None:
    """Return where a folder has the patch series that it was packed with; the command names a series by its name."""
    setup = RunDirectory(folder).setup
    series = Path(setup.read().series) if setup.is_whole else Path()
    return series if series.is_relative_to(folder.absolute()) else None


def _arguments_of_roll(plan: RollPlan) -> Iterator[str]:
    if plan.topology != USUAL_TOPOLOGY:
        yield from ("--topology", plan.topology)
    if plan.order or plan.first:
        yield from ("--order", plan.first or ",".join(map(str, plan.order)))
    for name in plan.rehearsals:
        yield from ("--rehearse", name)
    if plan.stall_budget:
        yield from ("--stall-budget", f"{plan.stall_budget:g}")
    if plan.command_config:
        yield from ("--command-config", plan.command_config)
