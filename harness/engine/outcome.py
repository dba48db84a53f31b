"""From what a run showed to its outcome: one pure function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.model.clients import ClientReport, broken_promises
from harness.model.incidents import Incident, IncidentKind
from harness.model.outcome_names import LEDGER_READ, NOTHING_LOST, RECORDS_ACKNOWLEDGED
from harness.model.runs import Outcome


@dataclass(frozen=True, slots=True)
class Facts:
    """All that decides a run's outcome.

    `incidents` are the first of each kind, `aftermath` those after the arm had ended the plan. `stalls_spoil` is the
    scenario's (harness.scenario.plan.Scenario).
    """

    incidents: Sequence[Incident] = ()
    clients: Sequence[ClientReport] = ()
    aftermath: Sequence[Incident] = ()
    stalls_spoil: bool = True

    def of(self, kind: IncidentKind) -> Incident | None:
        """Return the incident of a kind, if there was one."""
        return next((each for each in self.incidents if each.kind is kind), None)


@dataclass(frozen=True, slots=True)
class Decision:
    """Outcome, the name of what failed or was unmet, and the reason as a sentence."""

    outcome: Outcome
    expectation: str = ""
    reason: str = ""


def decide(facts: Facts) -> Decision:
    """Decide a run's outcome.

    The order is the order of trust: a run that the harness or the host spoiled says nothing about the build; a
    death explains an unmet guard after it; an unmet guard means that the expectations were never tested.
    """
    if (unsupported := facts.of(IncidentKind.UNSUPPORTED)) is not None:
        return Decision(Outcome.UNSUPPORTED, "", unsupported.reason)
    if (gave_out := facts.of(IncidentKind.HOST_GAVE_OUT)) is not None:
        return Decision(Outcome.INCONCLUSIVE, gave_out.name, gave_out.reason)
    if (failed := facts.of(IncidentKind.HARNESS_FAILED)) is not None:
        return Decision(Outcome.BROKEN, "", failed.reason)
    if (stalled := facts.of(IncidentKind.HOST_STALLED)) is not None and facts.stalls_spoil:
        return Decision(Outcome.INCONCLUSIVE, stalled.name, stalled.reason)
    if (wrong := facts.of(IncidentKind.WRONG_BUILD)) is not None:
        return Decision(Outcome.BROKEN, "", wrong.reason)
    if (died := facts.of(IncidentKind.NODE_DIED)) is not None:
        return _ended_by_the_arm(died, facts)
    if (unseen := _unseen(facts)) is not None:
        return Decision(Outcome.BROKEN, "", unseen.reason)
    if (broken := facts.of(IncidentKind.INVARIANT_BROKEN)) is not None:
        return Decision(Outcome.FAILED, broken.name, broken.reason)
    if lost := broken_promises(facts.clients):
        return Decision(Outcome.FAILED, NOTHING_LOST, "; ".join(lost))
    if (unmet := facts.of(IncidentKind.GUARD_UNMET)) is not None:
        return _excused(facts, Decision(Outcome.INCONCLUSIVE, unmet.name, f"guard unmet: {unmet.reason}"))
    if (refused := facts.of(IncidentKind.EXPECTATION_UNMET)) is not None:
        return _ended_by_the_arm(refused, facts)
    return _of_clients(facts)


def _unseen(facts: Facts) -> Incident | None:
    """Return that a node was not seen to run its install; a guard that waited for it to come up says it better."""
    never = facts.of(IncidentKind.NEVER_PROVED) if facts.of(IncidentKind.GUARD_UNMET) is None else None
    return facts.of(IncidentKind.NOT_PROVED) or never


def _ended_by_the_arm(incident: Incident, facts: Facts) -> Decision:
    """Decide a run that a death or an unmet expectation ended.

    A loss counts whatever the host did; what went wrong on a host that starved a node may be the host's doing.
    """
    if lost := broken_promises(facts.clients):
        return Decision(Outcome.FAILED, NOTHING_LOST, "; ".join(lost))
    reason = "; ".join((incident.reason, *(f"and then: {each.reason}" for each in facts.aftermath)))
    return _excused(facts, Decision(Outcome.FAILED, incident.name, reason))


def _excused(facts: Facts, decision: Decision) -> Decision:
    """Return the decision where the host let the nodes run; else that the host kept it from being tested."""
    host = facts.of(IncidentKind.HOST_STALLED) or facts.of(IncidentKind.HOST_SLOW)
    if host is None:
        return decision
    return Decision(Outcome.INCONCLUSIVE, host.name, f"{host.reason}; and then: {decision.reason}")


def _of_clients(facts: Facts) -> Decision:
    """Decide a run against which nothing else speaks: a client whose records were not checked keeps it from passing."""
    if unread := [f"{each.name}: {each.unread}" for each in facts.clients if each.unread]:
        reason = f"it could not be checked what was lost: {'; '.join(unread)}"
        return _excused(facts, Decision(Outcome.INCONCLUSIVE, LEDGER_READ, reason))
    if idle := [each.name for each in facts.clients if not each.acknowledged]:
        reason = f"nothing was ever acknowledged to {', '.join(idle)}, so that nothing could be lost"
        return _excused(facts, Decision(Outcome.INCONCLUSIVE, RECORDS_ACKNOWLEDGED, reason))
    return Decision(Outcome.PASSED)


def measures(clients: Sequence[ClientReport], cpu_seconds: float, waits: Mapping[str, float]) -> dict[str, float]:
    """Return a run's figures by name; `waits` are seconds that each expectation took to be met."""
    figures = {"node_cpu_seconds": round(cpu_seconds, 2)}
    figures |= {f"{name}_seconds": round(seconds, 2) for name, seconds in waits.items()}
    if clients:
        figures |= {
            "acked_records": sum(each.acknowledged for each in clients),
            "failed_records": sum(each.failed for each in clients),
            "lost_records": sum(each.lost for each in clients),
            "duplicate_records": sum(each.duplicates for each in clients),
            "longest_stall_seconds": round(max(each.longest_pause_seconds for each in clients), 3),
        }
    return figures
