"""Runs of base, taken over from an earlier verification of this very candidate: for outcomes and logs, never for costs.

A candidate costs more or less than the base that ran beside it. So base is only taken over where the very same
candidate was held against it then, by today's rules, and nothing was over its limit (docs/adr/0035-…).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.base.progress import Reporter
from harness.base.text import counted
from harness.engine.planned_run import PlannedRun
from harness.engine.sealing import mismatch
from harness.judge.costs.beside_base import HELD_BACK
from harness.model.declaration import Declaration, DeclaredScenario
from harness.model.reuse import Origin
from harness.model.runs import RunKey, Verdict
from harness.model.verdict import CellState, JudgedCell, ReasonSource, VerdictRecord
from harness.rundir.directory import RunDirectory
from harness.rundir.kept_results import DamagedEntryError, KeptResults, files_below, move_below
from harness.rundir.parts import STORAGE_OF_NODES
from harness.stages.kept import origin_now
from harness.stages.reuse_digests import digest_of_runs


def digests_of_base(cells: Sequence[PlannedRun], around: Mapping[str, str]) -> Mapping[str, str]:
    """Return, by scenario, the digest of all that decides its runs; only of those with base and a candidate."""
    by_scenario: dict[str, list[PlannedRun]] = {}
    for cell in cells:
        by_scenario.setdefault(cell.key.scenario, []).append(cell)
    both = {name: found for name, found in by_scenario.items() if len({cell.role.is_control for cell in found}) == 2}
    return {name: digest_of_runs(found, around) for name, found in both.items()}


def take_base(
    directory: RunDirectory,
    cells: Sequence[PlannedRun],
    digests: Mapping[str, str],
    kept: KeptResults,
    reporter: Reporter,
) -> None:
    """Put the runs of base that are known into a run directory, scenario by scenario; say which, and why one is not."""
    for scenario, digest in digests.items():
        of_scenario = [cell for cell in cells if cell.key.scenario == scenario]
        base = [cell for cell in of_scenario if cell.role.is_control]
        if any(directory.run(cell.key).result.exists for cell in of_scenario):  # the candidate's want base beside them
            continue
        try:
            with kept.taken(digest, directory.path) as found:
                if found is None:
                    continue
                _take(directory, base, kept, *found)
        except DamagedEntryError as error:
            reporter.report(f"{scenario}: base is run again. {error}")
            continue
        origin = found[0]
        runs = f"{counted(len(base), 'run')} of {', '.join(dict.fromkeys(cell.key.arm for cell in base))}"
        reporter.report(f"{scenario}: {runs} taken over from {origin.minute}; costs are not compared with them")


def _take(directory: RunDirectory, base: Sequence[PlannedRun], kept: KeptResults, origin: Origin, copies: Path) -> None:
    for cell in base:
        if why := _unfit(copies, cell):
            kept.drop(origin.inputs)
            raise DamagedEntryError(f"The kept result of {cell.key.folder} was removed: {why}.")
    for cell in base:
        run = RunDirectory(copies).run(cell.key)
        run.result.write(replace(run.result.read(), origin=origin))
        move_below(run.path, directory.run(cell.key).path)


def _unfit(copies: Path, cell: PlannedRun) -> str:
    """Return why a run cannot stand for a cell; empty when it can. Its seal and its journal have to agree with it."""
    if why := mismatch(copies, cell):
        return why
    result = RunDirectory(copies).run(cell.key).result.read()
    if result.role is not cell.role or not result.outcome.is_decided or result.origin:
        return f"{result.label} as {result.role} is no outcome that is kept"
    return ""


def keep_base(directory: RunDirectory, digests: Mapping[str, str], kept: KeptResults) -> None:
    """Keep base's runs of each scenario in which the candidate's costs were judged beside them, none being too high."""
    declaration, record = directory.declaration.read(), directory.verdict.read()
    now = origin_now(directory.path, "")
    for scenario in declaration.scenarios:
        figures = figures_judged(declaration, scenario, record)
        if not figures or scenario.name not in digests:
            continue
        keys = [run.key for run in record.runs if run.scenario == scenario.name and run.role.is_control]
        origin = replace(now, inputs=digests[scenario.name], figures=figures)
        kept.keep(origin, {name: path for key in keys for name, path in _files(directory, key).items()})


def _files(directory: RunDirectory, key: RunKey) -> Mapping[str, Path]:
    """Return what is kept of a run: all but what Kafka keeps of its nodes."""
    found = files_below(directory.run(key).path, f"{key.folder}/")
    return {name: path for name, path in found.items() if not STORAGE_OF_NODES.fullmatch(name)}


def figures_judged(declaration: Declaration, scenario: DeclaredScenario, record: VerdictRecord) -> int:
    """Return how many figures of the candidate were held against base's in a scenario; 0 where base is not to be kept.

    It is not where a figure speaks against the candidate, in whichever scenario, or was lost; where a run was not
    decided, or was taken over itself; where base did not do what is expected of it, each time; and where the host kept
    costs from being judged. Pure.
    """
    runs = [run for run in record.runs if run.scenario == scenario.name]
    judged = next(each for each in record.scenarios if each.name == scenario.name)
    costs = [cost for cost in record.costs if cost.scenario == scenario.name]
    compared = {(cost.control, cost.arm) for cost in costs if not cost.not_judged}
    whole = len(runs) == len(declaration.arms) * declaration.repeats
    if (
        not whole
        or any(not run.outcome.is_decided or run.origin for run in runs)
        or not all(_is_expected(cell, scenario) for cell in judged.cells if cell.role.is_control)
        or not compared >= {*declaration.compared}
        or any(cost.not_judged == HELD_BACK or cost.over or cost.candidate is None for cost in costs)
        or any(each.source is ReasonSource.FIGURES and each.weight is not Verdict.SHIP for each in record.reasons)
    ):
        return 0
    return sum(not cost.not_judged for cost in costs)


def _is_expected(cell: JudgedCell, scenario: DeclaredScenario) -> bool:
    return cell.state is CellState.PASSED or cell.label == scenario.expected or cell.is_expected_failure
