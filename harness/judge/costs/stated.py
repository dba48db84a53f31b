"""Limits that claims state of the candidate ("recovers within 3 s"); pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.judge.costs.held_back import was_held_back
from harness.judge.costs.limits import limit_of, shipped_limits
from harness.model.arms import Role
from harness.model.claims import Claim
from harness.model.runs import Outcome, RunResult


def broken_limits(claim: Claim, runs: Sequence[RunResult]) -> tuple[str, ...]:
    """Return which limits of a claim the candidate's runs of its scenario are above, in clauses."""
    return tuple(
        f"{figure} is {run.measures[figure]:g} on {run.arm}, and the claim says {most:g} at most"
        for figure, most in sorted(claim.limits.items())
        for run in _worst(claim, runs, figure)
        if run.measures[figure] > most
    )


def unmeasured_limits(claim: Claim, runs: Sequence[RunResult]) -> tuple[str, ...]:
    """Return which figures that a claim limits a run does not have, or only by what its host did.

    A run that failed otherwise than the claim says ended before it could measure them.
    """
    as_claimed = {str(Outcome.PASSED), str(claim.expected.get(Role.ON, ""))}
    went = [run for run in _of_claim(claim, runs) if run.label in as_claimed]
    return tuple(
        figure
        for figure, most in sorted(claim.limits.items())
        if any(figure not in run.measures or _is_hosts(run, figure, most) for run in went)
    )


def _worst(claim: Claim, runs: Sequence[RunResult], figure: str) -> Iterator[RunResult]:
    """Yield the run in which a figure was largest, if any has it that says something of the build."""
    most = claim.limits[figure]
    found = (run for run in _of_claim(claim, runs) if figure in run.measures)
    having = [run for run in found if not _is_hosts(run, figure, most)]
    yield from sorted(having, key=lambda run: -run.measures[figure])[:1]


def _is_hosts(run: RunResult, figure: str, most: float) -> bool:
    """Return whether a figure above a limit may be the host's doing: wall time where it held the nodes back."""
    known = limit_of(figure, shipped_limits())
    is_wall = known[0].waits if known else figure.endswith("seconds")
    return is_wall and was_held_back(run) and run.measures[figure] > most


def _of_claim(claim: Claim, runs: Sequence[RunResult]) -> list[RunResult]:
    """Return the runs of a claim that say something of the build."""
    decided = (run for run in runs if run.outcome.is_decided)
    return [run for run in decided if run.scenario == claim.scenario and run.role is Role.ON]
