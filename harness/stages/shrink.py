"""The fewest faults by which a run of chaos fails as it did: parts of its schedule are run until each is needed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.engine.planned_run import PlannedRun
from harness.judge.rerun import rerun_command
from harness.model.arms import Arm
from harness.model.declaration import Declaration
from harness.model.request import as_typed
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
_TRIES = 2


@dataclass(frozen=True, slots=True)
class Shrunk:
    """What a failing run came down to: the scenario's name, its faults, how it failed, and the command to see it again.

    Without faults it needs none: it fails alike when nothing is done to the cluster.
    """

    scenario: str
    faults: tuple[str, ...]
    expectation: str
    again: str

    @property
    def in_words(self) -> str:
        """What that says of the faults."""
        if self.faults:
            return f"FAILED({self.expectation}) needs {len(self.faults)} of them:"
        return f"FAILED({self.expectation}) needs none of the faults: it fails alike without any."


def shrink(run_dir: Path, scenario: str, arm: str, toolbox: Toolbox, reporter: Reporter) -> Shrunk:
    """Run a schedule that failed on an arm, then without any fault, and then parts of it, below the run directory.

    A part fails as the whole did where the same expectation is unmet. What was run before is not run again, but for
    what could not be told: that is run once more. Raises HarnessError for a run that is none of chaos's, that is not
    there, that did not fail or does not again, and for a part of which it cannot be told whether it fails.
    """
    directory = RunDirectory(run_dir)
    declared = directory.declaration.read()
    failed = _failed(directory, scenario, arm)
    check_builds_and_java(run_dir, declared, toolbox)
    cell = _cell(directory, declared, failed, toolbox, reporter)
    root, every = RunDirectory(run_dir / FOLDER), [each.number for each in disruptions_of(scenario) or ()]

    def fails(numbers: Collection[int]) -> bool:
        return _fails_alike(_decided(cell, part_of(scenario, numbers), root, reporter), failed)

    if not _fails_alike(again := _decided(cell, scenario, root, reporter), failed):
        raise HarnessError(
            f"{scenario} did not fail by {failed.expectation} again on {arm}: it {again.label}.",
            "What fails now and then cannot be made smaller: harness verify --repeats says how often it does. "
            f"To try it once more, delete {root.path / 'runs' / scenario}.",
        )
    numbers = fewest(every, fails)
    name = part_of(scenario, numbers)
    left = disruptions_of(name) or ()
    faults = tuple(f"{each.kind} node {each.node} from {each.begins:g} s to {each.ends:g} s" for each in left)
    command = rerun_command(as_typed(directory.request.read()), name, arm)
    return Shrunk(name, faults, failed.expectation, command)


def _decided(cell: PlannedRun, name: str, root: RunDirectory, reporter: Reporter) -> RunResult:
    """Return the result of a scenario, which is run once more where that could not be told. Raises HarnessError."""
    for repeat in range(1, _TRIES + 1):
        part = replace(cell, key=RunKey(name, cell.key.arm, repeat), scenario=load_all()[name])
        carry_out([part], root.path, 1, reporter, f"run with {len(disruptions_of(name) or ())} faults")
        found = root.run(part.key).result.read()
        if found.outcome.is_decided:
            return found
    raise HarnessError(
        f"{name} could not be told to fail or not in {_TRIES} runs: it is {found.label} ({found.reason}).",
        f"Mend that, delete {root.path / 'runs' / name}, and give the command again: it goes on from there.",
    )


def _fails_alike(result: RunResult, failed: RunResult) -> bool:
    return (result.outcome, result.expectation) == (Outcome.FAILED, failed.expectation)


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
