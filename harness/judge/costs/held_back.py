"""Whether a host held a run's nodes back, so that what is wall time says nothing of the build; pure."""

from __future__ import annotations

from harness.judge.costs.limits import limit_of
from harness.model.costs import CostLimit
from harness.model.runs import RunResult

_HELD_BACK = "host_held_back_percent"
# From here on the harness says that a host is slow (harness.scenario.slowness): waits are longer by a third and more.
MOST_HELD_BACK_PERCENT = 33.0


def was_held_back(*runs: RunResult) -> bool:
    """Return whether the host held the nodes of any of these runs back for a third of the time."""
    return any(run.measures.get(_HELD_BACK, 0.0) >= MOST_HELD_BACK_PERCENT for run in runs)


def is_wall_time(figure: str, limits: tuple[CostLimit, ...]) -> bool:
    """Return whether a figure in seconds is wall time, as all are but those that a limit knows for processor time."""
    found = limit_of(figure, limits)
    return found is None or found[0].waits
