"""Rounds that were cut short: what an arm costs is held against what ran beside it, on the same host."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable, Sequence

from harness.base.progress import Reporter
from harness.engine.planned_run import PlannedRun
from harness.rundir.directory import RunDirectory


def remove_half_rounds(
    cells: Sequence[PlannedRun], directory: RunDirectory, stands: Callable[[PlannedRun], bool], reporter: Reporter
) -> None:
    """Remove the results of each round of which another arm has none that stands: it is run again whole, side by side.

    Results of an earlier verification stay: they say nothing of costs.
    """
    rounds: dict[tuple[str, int], list[PlannedRun]] = defaultdict(list)
    for cell in cells:
        rounds[cell.key.scenario, cell.key.repeat].append(cell)
    for of_round in rounds.values():
        done = [cell for cell in of_round if stands(cell)]
        if len(done) == len(of_round):
            continue
        for run in (directory.run(cell.key) for cell in done):
            if not run.result.read().origin:
                reporter.report(f"{run.name} is run again, beside what was cut short: costs are compared side by side")
                shutil.rmtree(run.path)
