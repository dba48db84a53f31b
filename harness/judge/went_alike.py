"""Which runs a candidate's run is held against, and whether it went as one of them did; pure."""

from __future__ import annotations

from collections.abc import Sequence

from harness.model.declaration import Declaration
from harness.model.runs import Outcome, RunResult


def runs_of_control(declaration: Declaration, result: RunResult, results: Sequence[RunResult]) -> list[RunResult]:
    """Return the control's runs of the scenario of a candidate's run; none for a run of a control."""
    control = declaration.control_of(result.role)
    if result.role.is_control or control is None:
        return []
    return [each for each in results if (each.scenario, each.arm) == (result.scenario, control.name)]


def went_alike(result: RunResult, base: Sequence[RunResult]) -> bool:
    """Return whether a run passed, or failed by a name by which base fails too, so that it can be seen to do worse.

    A run that failed otherwise keeps its name.
    """
    alike = result.label in {each.label for each in base}
    return result.outcome is Outcome.PASSED or (result.outcome is Outcome.FAILED and alike)
