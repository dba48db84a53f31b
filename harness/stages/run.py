"""Run the declared cells that have no result yet."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import sha256_of
from harness.base.progress import Reporter
from harness.cluster.install import Install
from harness.cluster.prepare import NodeParts
from harness.engine.planned_run import PlannedRun
from harness.engine.quiet import Quiet
from harness.engine.run_board import RunBoard
from harness.engine.schedule import run_cells
from harness.engine.sealing import inputs_of, mismatch
from harness.judge.costs.another_round import another_round
from harness.model.arms import ABSENT, Arm, Role
from harness.model.declaration import Declaration
from harness.model.runs import RunKey, RunResult
from harness.model.setup import Setup
from harness.model.spares import lost_its_harness, spares_worth_running
from harness.rundir.directory import RunDirectory
from harness.scenario.bounds import seconds
from harness.scenario.capabilities import old_topics
from harness.scenario.host_meter import host_speed
from harness.scenario.registry import load_all
from harness.stages.arm_kafka import parts_of_arms
from harness.stages.half_rounds import remove_half_rounds
from harness.stages.known_noise import keep_noise
from harness.stages.resume import check_builds_and_java
from harness.stages.reuse_digests import files_of_java, libraries
from harness.stages.rules_digest import digest_of_texts, making_digest_with, own_files_of
from harness.stages.timing import noted, timed
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox

# Finds the spares, says why, and how many clusters at a time at most: what a host could not carry side by side it may
# carry alone, and costs are compared with what ran in the same minutes.
_ASKED_AGAIN = (
    (spares_worth_running, "a crash, an unmet guard or the host spoiled the first ones", 1),
    (another_round, "the candidate cost more than base beside it", sys.maxsize),
)


def run(
    run_dir: Path,
    toolbox: Toolbox,
    reporter: Reporter,
    quiet: Quiet = nullcontext,
    on_left: Callable[[], object] = lambda: None,
    take_over: Callable[[Sequence[PlannedRun]], object] = lambda _: None,
    leave_alone: Callable[[], object] = lambda: None,
) -> list[RunResult]:
    """Run what run.json declares and what has no result; return the new results.

    `quiet` holds what the harness does beside it; `on_left` is called for each place that the last runs leave,
    `take_over` with all declared cells before any is run: it may put results of before into the folder. `leave_alone`
    returns when nothing takes such a place any more: what is asked once more has the host for itself.
    """
    directory = RunDirectory(run_dir)
    declared, request = directory.declaration.read(), directory.request.read()
    check_builds_and_java(run_dir, declared, toolbox)
    with timed(directory, "prepare"):
        node_parts = parts_of_arms(declared.arms, request, toolbox, reporter.report)
    cells = declared_runs(declared, directory, node_parts)
    _fetch_tools(cells, toolbox)
    with timed(directory, "prepare"):
        take_over(cells)
        remove_half_rounds(cells, directory, partial(stands, run_dir), reporter)
    with noted(directory, "noise is looked up"):
        # Before the first run: it is judged by nothing that was learned from it.
        keep_noise(directory, {inputs_of(cell).plan for cell in cells})
    with timed(directory, "run"):
        made = carry_out(cells, run_dir, request.jobs, reporter, "runs on live clusters", quiet, on_left)
        return [*made, *ask_again(cells, directory, request.jobs, reporter, quiet, leave_alone)]


def ask_again(
    cells: Sequence[PlannedRun],
    directory: RunDirectory,
    jobs: int,
    reporter: Reporter,
    quiet: Quiet = nullcontext,
    leave_alone: Callable[[], object] = lambda: None,
) -> list[RunResult]:
    """Run the declared spare of each run that did not come to an answer, one at a time, then of those by which the
    candidate costs more, side by side as before; return the new results.
    """
    results = [run.result.read() for cell in cells if (run := directory.run(cell.key)).result.exists]
    by_key = {cell.key: cell for cell in cells}
    declaration, made = directory.declaration.read(), list[RunResult]()
    for find, why, most in _ASKED_AGAIN:
        spares = [
            replace(by_key[replace(key, repeat=key.repeat - declaration.repeats)], key=key)
            for key in find(declaration, results)
        ]
        if find is another_round:
            remove_half_rounds(spares, directory, partial(stands, directory.path), reporter)
        if todo := left_to_do(spares, directory.path, reporter):
            leave_alone()
            made += carry_out(todo, directory.path, min(jobs, most), reporter, f"more runs ({why})", quiet)
    return made


def _fetch_tools(cells: Sequence[PlannedRun], toolbox: Toolbox) -> None:
    """Have in the cache what scenarios need beside Kafka: a capability looks there alone."""
    if not toolbox.offline and any(old_topics.NAME in cell.scenario.needs for cell in cells):
        toolbox.tools(Purpose.OLD_TOPICS)


def carry_out(
    cells: Sequence[PlannedRun],
    root: Path,
    jobs: int,
    reporter: Reporter,
    what: str,
    quiet: Quiet = nullcontext,
    on_left: Callable[[], object] = lambda: None,
) -> list[RunResult]:
    """Run the cells that have no valid result below `root`; return the new results. With `what`, say so."""
    todo = left_to_do(cells, root, reporter)
    jobs = min(jobs, len(todo)) or 1
    if what:
        named = what.replace("runs", "run", 1) if len(todo) == 1 else what
        reporter.stage(f"{len(todo)} {named}, {jobs} at a time" if todo else f"no {what} are left to do")
    if todo:
        RunDirectory(root).host.write(host_speed())
    with RunBoard(reporter.progress, [cell.key for cell in todo], jobs) as board:
        return run_cells(todo, root, jobs, board, quiet, on_left)


def left_to_do(cells: Sequence[PlannedRun], root: Path, reporter: Reporter) -> list[PlannedRun]:
    """Return the cells without a valid result below `root`; what interrupted runs of them left is removed."""
    todo = [cell for cell in cells if not _has_result(root, cell, reporter)]
    for cell in todo:
        _remove(RunDirectory(root).run(cell.key).path)
    return todo


def _remove(left: Path) -> None:
    """Remove what an interrupted run left, which says nothing. Raises HarnessError."""
    shutil.rmtree(left, ignore_errors=True)
    if left.exists():
        raise HarnessError(
            f"{left}, left by an interrupted run, cannot be removed.", "Remove it, then go on by --resume."
        )


def declared_runs(
    declared: Declaration, directory: RunDirectory, node_parts: Mapping[str, NodeParts]
) -> list[PlannedRun]:
    """Return every declared cell, arms side by side, so that a drifting host meets all arms of a scenario alike.

    `node_parts` is what nodes are made of, by arm.
    """
    setup, request = directory.setup.read(), directory.request.read()
    known, soak = load_all(request.scenario_folders), request.soak
    harness = making_digest_with(request.scenario_folders)
    own_files = {path: sha256_of(path) for path in own_files_of(request.scenario_folders)}
    missing = [scenario.name for scenario in declared.scenarios if scenario.name not in known]
    if missing:
        raise HarnessError(f"This run declares scenarios that are not there any more: {', '.join(missing)}.")
    return [
        PlannedRun(
            RunKey(scenario.name, arm.name, repeat),
            known[scenario.name],
            arm.role,
            node_parts[arm.name],
            installed(declared, arm, arm.name, setup, directory.path),
            setup.overlay,
            setup.flag_key,
            arm.java,
            soak=seconds(soak) if soak else 0.0,
            runtime=request.runtime,
            harness=digest_of_texts((harness, libraries(), *files_of_java(node_parts[arm.name].java))),
            own_files=own_files,
        )
        for repeat in range(1, declared.repeats + 1)
        for scenario in declared.scenarios
        for arm in declared.arms
    ]


def installed(declared: Declaration, arm: Arm, name: str, setup: Setup, run_dir: Path) -> Install:
    """Return what is installed on the nodes of an arm, under a name."""
    build, base = arm.build, declared.arm(Role.BASE)
    return Install(
        name,
        (run_dir / build.jar).absolute(),
        build.jar_sha256,
        arm.flag or ABSENT,
        setup.settings.get(arm.name, {}),
        build.kafka.others,
        base.build.jars if base and base.build.kafka.jars else {},
    )


def _is_without_an_answer(result: RunResult) -> str:
    return "the process in which the harness ran it had ended" if lost_its_harness(result) else ""


def _has_result(root: Path, cell: PlannedRun, reporter: Reporter) -> bool:
    """Return whether a cell has a result that was made with what is declared now; say why one is not used."""
    why = _why_again(root, cell)
    if why:
        reporter.report(f"{cell.key.folder} is run again: {why}")
    return why == ""


def stands(root: Path, cell: PlannedRun) -> bool:
    """Whether a cell has a result below `root` that stands."""
    return _why_again(root, cell) == ""


def _why_again(root: Path, cell: PlannedRun) -> str | None:
    """Return why a cell's result does not stand, empty where it does; None where there is none."""
    result = RunDirectory(root).run(cell.key).result
    return (mismatch(root, cell) or _is_without_an_answer(result.read())) if result.exists else None
