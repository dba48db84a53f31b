"""Runs that were asked once more, and a crash of released jars that is no excuse for who always ends so; pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from harness.base.text import counted
from harness.judge.went_alike import runs_of_control
from harness.model.declaration import Declaration
from harness.model.outcome_names import KNOWN_CRASH
from harness.model.runs import Outcome, RunKey, RunResult
from harness.model.spares import counting, ended_by_known_crash, was_spoiled_by_host
from harness.model.verdict import CellOutcome

_ALWAYS = 3  # runs; released jars end so once in hundreds


def judge_known_crashes(declaration: Declaration, results: Sequence[RunResult]) -> list[RunResult]:
    """Return what counts; a candidate has failed where each of three runs or more ends so, and none of base's."""
    kept = counting(declaration, results)
    return [_judged(declaration, result, kept) for result in kept]


def _judged(declaration: Declaration, result: RunResult, results: Sequence[RunResult]) -> RunResult:
    base = runs_of_control(declaration, result, results)
    mine = [each for each in results if (each.scenario, each.arm) == (result.scenario, result.arm)]
    always = len(mine) >= _ALWAYS and all(map(ended_by_known_crash, mine))
    if not base or not always or any(map(ended_by_known_crash, base)):
        return result
    on_base = f"none of {counted(len(base), 'run')} of base"
    reason = f"each of {len(mine)} runs ended by it, and {on_base}: {result.reason}"
    return replace(result, outcome=Outcome.FAILED, expectation=KNOWN_CRASH, reason=reason)


def with_more_runs(cell: CellOutcome, more: Sequence[RunResult]) -> CellOutcome:
    """Return a cell that counts runs as well which do not make it: what was asked again, a spare that shows nothing."""
    alike = sum((str(run.outcome), run.expectation) == (str(cell.state), cell.expectation) for run in more)
    return replace(cell, agreeing=cell.agreeing + alike, declared=cell.declared + len(more))


def asked_again(replaced: Collection[RunKey], results: Sequence[RunResult], repeats: int) -> tuple[str, ...]:
    """Return in sentences which runs of `repeats` were asked once more, and what the spare showed."""
    shown = {result.key: result for result in results}
    return tuple(
        f"{run.scenario} on {run.arm}, repeat {run.repeat}, {_ended(run)}, and was asked "
        f"once more: {shown[replace(run.key, repeat=run.repeat + repeats)].label}. It was: {run.reason}"
        for run in results
        if run.key in replaced
    )


def _ended(run: RunResult) -> str:
    if ended_by_known_crash(run):
        return "ended by a crash that released jars have"
    if was_spoiled_by_host(run):
        return "was spoiled by the host"
    return f"did not come to its question ({run.expectation})"
