"""What can go wrong in a run: kinds of incidents, each with a name and a reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class IncidentKind(StrEnum):
    """What went wrong; harness.engine.outcome says what a run is worth after each."""

    HARNESS_FAILED = "the harness or the host failed"
    HOST_GAVE_OUT = "the host ended a node, or has no room left"
    HOST_SLOW = "the host was short of something when something went wrong"
    HOST_STALLED = "the host did not let a process run"
    KNOWN_CRASH = "a node crashed by a defect that released jars have, too"
    WRONG_BUILD = "a node ran something else than was installed"
    NODE_DIED = "a node crashed"
    NODE_FAULTED = "a node ended itself by an error that no slow host makes"
    NOT_PROVED = "what a node runs could not be checked"
    NEVER_PROVED = "what a node runs was never checked"
    INVARIANT_BROKEN = "what must always hold did not"
    GUARD_UNMET = "a guard was not met"
    EXPECTATION_UNMET = "an expectation was not met"
    UNSUPPORTED = "this host lacks what the scenario needs"


@dataclass(frozen=True, slots=True)
class Incident:
    """One incident: its declared name (`one_leader_per_epoch`, `observer_recovers`) and what happened, in a clause."""

    kind: IncidentKind
    name: str
    reason: str
