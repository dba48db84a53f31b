"""From what a run showed to its outcome: one pure function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from types import MappingProxyType

from harness.model.clients import ClientReport, broken_promises
from harness.model.events import ClientSeconds
from harness.model.incidents import Incident, IncidentKind
from harness.model.outcome_names import LEDGER_READ, NOTHING_LOST, RECORDS_ACKNOWLEDGED
from harness.model.runs import Outcome, Shutdown

_MANY_WAITS = 5  # of fewer, half says little
_MANY_SECONDS = 5
# What casts doubt on a whole run, whenever it is seen.
_NEVER_FORGOTTEN = (
    IncidentKind.WRONG_BUILD,
    IncidentKind.NOT_PROVED,
    IncidentKind.HOST_STALLED,
    IncidentKind.HOST_SLOW,
)


@dataclass(frozen=True, slots=True)
class Facts:
    """All that decides a run's outcome.

    `incidents` are the first of each kind in the order of time, `aftermath` those after the arm had ended the plan.
    `stalls_spoil` is the scenario's (harness.scenario.plan.Scenario). `unasked` are expectations that the plan's end
    came before.
    """

    incidents: Sequence[Incident] = ()
    clients: Sequence[ClientReport] = ()
    aftermath: Sequence[Incident] = ()
    stalls_spoil: bool = True
    unasked: Sequence[str] = ()

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

    The order is the order of trust. A run of something else says nothing about the build, nor does what a run showed
    after the host had no room left, or had ended a node; what went wrong before that counts. What may never be, such
    as two leaders or a lost record, is no matter of time: no stall of the host and no death excuses it, and what the
    harness fails at takes back no rule of Raft that was seen to be broken; nor does a
    stall excuse an error by which a node ended itself, unless released jars now and then end by it. For the rest a
    host that stalled says nothing; a death explains an unmet guard after it; an unmet guard means that the
    expectations were never tested.
    """
    if (unsupported := facts.of(IncidentKind.UNSUPPORTED)) is not None:
        return Decision(Outcome.UNSUPPORTED, "", unsupported.reason)
    if (gave_out := facts.of(IncidentKind.HOST_GAVE_OUT)) is not None:
        before = decide(_before(gave_out, facts))
        spoiled = Decision(Outcome.INCONCLUSIVE, gave_out.name, gave_out.reason)
        return before if before.outcome is Outcome.FAILED else spoiled
    failed, wrong, unseen = facts.of(IncidentKind.HARNESS_FAILED), facts.of(IncidentKind.WRONG_BUILD), _unseen(facts)
    if failed is not None:
        sure = None if wrong or unseen else _breach(replace(facts, clients=()))  # whatever clients were told by then
        return sure or Decision(Outcome.BROKEN, failed.name, failed.reason)
    if wrong is not None:
        return Decision(Outcome.BROKEN, "", wrong.reason)
    if unseen is None and (breach := _breach(facts)) is not None:
        return breach
    if (faulted := facts.of(IncidentKind.NODE_FAULTED)) is not None:
        return Decision(Outcome.FAILED, faulted.name, _whole_reason(faulted, facts))
    if (known := facts.of(IncidentKind.KNOWN_CRASH)) is not None:
        return Decision(Outcome.INCONCLUSIVE, known.name, _whole_reason(known, facts))
    if (stalled := facts.of(IncidentKind.HOST_STALLED)) is not None and facts.stalls_spoil:
        return Decision(Outcome.INCONCLUSIVE, stalled.name, stalled.reason)
    if (died := facts.of(IncidentKind.NODE_DIED)) is not None:
        return _ended_by_the_arm(died, facts)
    if unseen is not None:
        return Decision(Outcome.BROKEN, "", unseen.reason)
    if (unmet := facts.of(IncidentKind.GUARD_UNMET)) is not None:
        reason = "; ".join((f"guard unmet: {unmet.reason}", *_not_asked(facts)))
        return _excused(facts, Decision(Outcome.INCONCLUSIVE, unmet.name, reason))
    if (refused := facts.of(IncidentKind.EXPECTATION_UNMET)) is not None:
        return _ended_by_the_arm(refused, facts)
    return _of_clients(facts)


def _before(gave_out: Incident, facts: Facts) -> Facts:
    """Return the facts without what a run showed after its host had given out; clients are settled after it."""
    at = facts.incidents.index(gave_out)
    later = (each for each in facts.incidents[at + 1 :] if each.kind in _NEVER_FORGOTTEN)
    return replace(facts, incidents=(*facts.incidents[:at], *later), clients=(), aftermath=())


def _breach(facts: Facts) -> Decision | None:
    """Return which invariant was broken, or what was promised to clients and is gone."""
    if (broken := facts.of(IncidentKind.INVARIANT_BROKEN)) is not None:
        return Decision(Outcome.FAILED, broken.name, broken.reason)
    lost = broken_promises(facts.clients)
    return Decision(Outcome.FAILED, NOTHING_LOST, "; ".join(lost)) if lost else None


def _unseen(facts: Facts) -> Incident | None:
    """Return that a node was not seen to run its install; what waited in vain for it to come up says it better."""
    waited = facts.of(IncidentKind.GUARD_UNMET) or facts.of(IncidentKind.EXPECTATION_UNMET)
    return facts.of(IncidentKind.NOT_PROVED) or (None if waited else facts.of(IncidentKind.NEVER_PROVED))


def _ended_by_the_arm(incident: Incident, facts: Facts) -> Decision:
    """Decide a run that a death or an unmet expectation ended; on a host that starved a node that may be its doing."""
    return _excused(facts, Decision(Outcome.FAILED, incident.name, _whole_reason(incident, facts)))


def _whole_reason(incident: Incident, facts: Facts) -> str:
    """Return why a plan ended, what came after that, and what was not asked any more."""
    after = (f"and then: {each.reason}" for each in facts.aftermath)
    return "; ".join((incident.reason, *after, *_not_asked(facts)))


def _not_asked(facts: Facts) -> tuple[str, ...]:
    return (f"not asked: {', '.join(facts.unasked)}",) if facts.unasked else ()


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


def answers(seconds: Iterable[ClientSeconds]) -> dict[str, float]:
    """Return after how long the slowest of some clients was answered in its median second; nothing where none knows."""
    known = [[each for each in client.median_ms if each > 0] for client in seconds]
    typical = [median(each) for each in known if len(each) >= _MANY_SECONDS]
    return {"answer_typical_milliseconds": round(max(typical), 1)} if typical else {}


def measures(
    clients: Sequence[ClientReport],
    cpu_seconds: float,
    waits: Mapping[str, float],
    shutdowns: Sequence[Shutdown] = (),
    guards: Mapping[str, float] = MappingProxyType({}),
) -> dict[str, float]:
    """Return a run's figures by name.

    `waits` are seconds that each expectation took to be met, `guards` those that the guards of each kind took at most.
    """
    figures = {"node_cpu_seconds": round(cpu_seconds, 2)}
    figures |= {f"{name}_seconds": round(seconds, 2) for name, seconds in guards.items()}
    for kind in sorted({each.node_role for each in shutdowns}):
        figures[f"{kind}_stop_seconds"] = max(each.seconds for each in shutdowns if each.node_role == kind)
    if len(waits) >= _MANY_WAITS:
        figures["waits_typical_seconds"] = round(median(waits.values()), 2)
    figures |= {f"{name}_seconds": round(seconds, 2) for name, seconds in waits.items()}
    if clients:
        figures |= {
            "acked_records": sum(each.acknowledged for each in clients),
            "failed_records": sum(each.failed for each in clients),
            "unanswered_records": sum(each.unanswered for each in clients),
            "lost_records": sum(each.lost for each in clients),
            "duplicate_records": sum(each.duplicates for each in clients),
            "longest_stall_seconds": round(max(each.longest_pause_seconds for each in clients), 3),
        }
    return figures
