"""Run the declared cells that have no result yet."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.cluster.install import Install
from harness.cluster.prepare import NodeParts, make_node_parts
from harness.engine.planned_run import PlannedRun
from harness.engine.run_board import RunBoard
from harness.engine.schedule import run_cells
from harness.engine.sealing import mismatch
from harness.kafka.distribution import distribution_of
from harness.kafka.release_lines import line_of
from harness.model.arms import ABSENT, Arm
from harness.model.declaration import Declaration
from harness.model.request import Request
from harness.model.runs import RunKey, RunResult
from harness.model.setup import Setup
from harness.rundir.directory import RunDirectory
from harness.scenario.host_meter import calibrate
from harness.scenario.registry import load_all
from harness.stages.resume import check_builds_and_java
from harness.stages.timing import timed
from harness.toolbox.toolbox import Toolbox


def run(run_dir: Path, toolbox: Toolbox, reporter: Reporter) -> list[RunResult]:
    """Run what run.json declares and what has no result; return the new results."""
    directory = RunDirectory(run_dir)
    declared, request = directory.declaration.read(), directory.request.read()
    check_builds_and_java(run_dir, declared, toolbox)
    with timed(directory, "prepare"):
        node_parts = prepare_node_parts(request, declared.kafka_version, toolbox, reporter.report)
    cells = declared_runs(declared, directory, node_parts)
    with timed(directory, "run"):
        return carry_out(cells, run_dir, request.jobs, reporter, "runs on live clusters")


def carry_out(cells: Sequence[PlannedRun], root: Path, jobs: int, reporter: Reporter, what: str) -> list[RunResult]:
    """Run the cells that have no valid result below `root`; return the new results. With `what`, say so."""
    todo = [cell for cell in cells if not _has_result(root, cell, reporter)]
    for cell in todo:  # what an interrupted run left says nothing
        shutil.rmtree(RunDirectory(root).run(cell.key).path, ignore_errors=True)
    jobs = min(jobs, len(todo)) or 1
    if what:
        reporter.stage(f"{len(todo)} {what}, {jobs} at a time")
    if todo:
        RunDirectory(root).host.write(calibrate())
    with RunBoard(reporter.console, [cell.key for cell in todo], jobs) as board:
        return run_cells(todo, root, jobs, board)


def prepare_node_parts(
    request: Request, kafka_version: str, toolbox: Toolbox, report: Callable[[str], None]
) -> NodeParts:
    """Prepare what the nodes of a request are made of."""
    distribution = distribution_of(request.base_dist, kafka_version, toolbox.downloads)
    return make_node_parts(
        toolbox.node_java().java,
        distribution.others,
        distribution.raft_jar,
        request.profile,
        line_of(kafka_version),
        toolbox.cache,
        report,
    )


def declared_runs(declared: Declaration, directory: RunDirectory, node_parts: NodeParts) -> list[PlannedRun]:
    """Return every declared cell, arms side by side, so that a drifting host meets all arms of a scenario alike."""
    setup, known = directory.setup.read(), load_all(directory.request.read().scenario_folders)
    missing = [scenario.name for scenario in declared.scenarios if scenario.name not in known]
    if missing:
        raise HarnessError(f"This run declares scenarios that are not there any more: {', '.join(missing)}.")
    return [
        PlannedRun(
            RunKey(scenario.name, arm.name, repeat),
            known[scenario.name],
            arm.role,
            node_parts,
            installed(arm, arm.name, setup, directory.path),
            setup.overlay,
            setup.flag_key,
            arm.java,
        )
        for repeat in range(1, declared.repeats + 1)
        for scenario in declared.scenarios
        for arm in declared.arms
    ]


def installed(arm: Arm, name: str, setup: Setup, run_dir: Path) -> Install:
    """Return what is installed on the nodes of an arm, under a name."""
    jar = (run_dir / arm.build.jar).absolute()
    return Install(name, jar, arm.build.jar_sha256, arm.flag or ABSENT, setup.settings.get(arm.name, {}))


def _has_result(root: Path, cell: PlannedRun, reporter: Reporter) -> bool:
    """Return whether a cell has a result that was made with what is declared now; say why one is not used."""
    if not RunDirectory(root).run(cell.key).result.exists:
        return False
    why = mismatch(root, cell)
    if why:
        reporter.report(f"{cell.key.folder} is run again: {why}")
    return not why
