"""The fewest faults by which a run of chaos fails as it did: parts of its schedule are run until each is needed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.engine.planned_run import PlannedRun
from harness.model.arms import Arm
from harness.model.declaration import Declaration
from harness.model.runs import Outcome, RunKey, RunResult
from harness.rundir.directory import RunDirectory
from harness.scenario.chaos.plans import disruptions_of, part_of
from harness.scenario.chaos.shrinking import fewest
from harness.scenario.registry import load_all
from harness.stages.arm_kafka import parts_of_arms
from harness.stages.resume import check_builds_and_java
from harness.stages.run import carry_out, declared_runs
from harness.toolbox.toolbox import Toolbox

FOLDER = "shrunk"


@dataclass(frozen=True, slots=True)
class Shrunk:
    """What a failing run came down to: the scenario's name, its faults, and how it failed."""

    scenario: str
    faults: tuple[str, ...]
    expectation: str


def shrink(run_dir: Path, scenario: str, arm: str, toolbox: Toolbox, reporter: Reporter) -> Shrunk:
    """Run parts of a schedule that failed on an arm, each once, below the run directory.

    A part fails as the whole did where the same expectation is unmet. What was run before is not run again. Raises
    HarnessError for a run that is none of chaos's, that is not there, or that did not fail.
    """
    directory = RunDirectory(run_dir)
    declared = directory.declaration.read()
    failed = _failed(directory, scenario, arm)
    check_builds_and_java(run_dir, declared, toolbox)
    cell = _cell(directory, declared, failed, toolbox, reporter)
    known, root = load_all(), run_dir / FOLDER

    def fails(numbers: Collection[int]) -> bool:
        name = part_of(scenario, numbers)
        part = replace(cell, key=RunKey(name, arm, 1), scenario=known[name])
        carry_out([part], root, 1, reporter, f"run with {len(numbers)} faults")
        found = RunDirectory(root).run(part.key).result.read()
        return (found.outcome, found.expectation) == (Outcome.FAILED, failed.expectation)

    numbers = fewest([each.number for each in disruptions_of(scenario) or ()], fails)
    name = part_of(scenario, numbers)
    left = disruptions_of(name) or ()
    faults = tuple(f"{each.kind} node {each.node} from {each.begins:g} s to {each.ends:g} s" for each in left)
    return Shrunk(name, faults, failed.expectation)


def _failed(directory: RunDirectory, scenario: str, arm: str) -> RunResult:
    """Return the result of the first repeat that failed, which is to be shrunk. Raises HarnessError."""
    if disruptions_of(scenario) is None:
        raise HarnessError(f"{scenario} is no schedule of chaos.", "Name one as the report does, such as chaos-17.")
    results = [result for result in directory.results() if (result.scenario, result.arm) == (scenario, arm)]
    if not results:
        raise HarnessError(f"{directory.path} has no run of {scenario} on {arm}.")
    failed = next((result for result in results if result.outcome is Outcome.FAILED), None)
    if failed is None:
        raise HarnessError(f"{scenario} on {arm} is {results[0].outcome}: only what FAILED can be made smaller.")
    return failed


def _cell(
    directory: RunDirectory, declared: Declaration, failed: RunResult, toolbox: Toolbox, reporter: Reporter
) -> PlannedRun:
    arm = _arm(declared, failed.arm)
    once = replace(declared, arms=(arm,), repeats=1)
    node_parts = parts_of_arms(once.arms, directory.request.read(), toolbox, reporter.report)
    return next(each for each in declared_runs(once, directory, node_parts) if each.key.scenario == failed.scenario)


def _arm(declared: Declaration, name: str) -> Arm:
    return next(arm for arm in declared.arms if arm.name == name)
