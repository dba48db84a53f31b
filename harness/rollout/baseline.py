"""The limits for the candidate, from the control: how long clients wait, which ERROR lines come; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.model.rollout import Rehearsal
from harness.model.runs import Outcome
from harness.rollout.rehearsals import CONTROL, KINDS

# A client may wait twice as long as when base itself is restarted, but never less than this counts against a jar.
LEAST_BUDGET_SECONDS = 5.0
# Before there is a control to go by.
BUDGET_SECONDS = 15.0
_SESSION_KEY, _SESSION_MS = "broker.session.timeout.ms", "9000"


@dataclass(frozen=True, slots=True)
class Baseline:
    """Templates of ERROR lines that base's own roll writes, and the longest that a client waited in it."""

    errors: frozenset[str]
    longest_pause_seconds: float


def baseline_of(control: Rehearsal) -> Baseline | None:
    """Return the limits for the candidate, if the control passed."""
    if control.result.outcome is not Outcome.PASSED:
        return None
    return Baseline(frozenset(control.errors), control.longest_pause_seconds)


def stall_budget(name: str, given: float, baseline: Baseline | None, overlay: Mapping[str, str]) -> float:
    """Return how long a client may wait in a rehearsal, in seconds; 0 in the control, where it is only measured.

    `given` is what the user allows, 0 where nothing was said: then it is twice what base shows, but above
    BUDGET_SECONDS no more than that, as one unlucky turn of the control is no licence for all others. Where a node is
    killed, clients wait for the end of its session as well.
    """
    if name == CONTROL:
        return 0.0
    longest = baseline.longest_pause_seconds if baseline else BUDGET_SECONDS
    twice = min(max(2 * longest, LEAST_BUDGET_SECONDS), max(longest, BUDGET_SECONDS))
    session = float(overlay.get(_SESSION_KEY, _SESSION_MS)) / 1000
    return round((given or twice) + (session if KINDS[name].kills else 0.0), 1)
