"""From what a run showed to its outcome: one pure function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.model.runs import Outcome
from harness.scenario.load import LedgerSummary


@dataclass(frozen=True, slots=True)
class Miss:
    """Something that was waited for and did not come, or an invariant that broke: its name and the story."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Facts:
    """All that decides a run's outcome; None where nothing of the kind happened."""

    harness_error: str | None = None
    starved: str | None = None
    wrong_arm: str | None = None
    unproved: str | None = None
    node_died: str | None = None
    broken_invariant: Miss | None = None
    unmet_guard: Miss | None = None
    refuted: Miss | None = None
    ledger: LedgerSummary | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """Outcome, the name of what was refuted or unmet, and the reason as a sentence."""

    outcome: Outcome
    expectation: str = ""
    reason: str = ""


def decide(facts: Facts) -> Decision:
    """Decide a run's outcome.

    The order is the order of trust: a run that the harness or the host spoiled says nothing about the build; a
    death explains an unmet guard after it; an unmet guard means that the expectations were never asked.
    """
    if facts.harness_error is not None:
        return Decision(Outcome.BROKEN, "", facts.harness_error)
    if facts.starved is not None:
        return Decision(Outcome.INCONCLUSIVE, "host_not_starved", facts.starved)
    if facts.wrong_arm is not None:
        return Decision(Outcome.BROKEN, "", facts.wrong_arm)
    if facts.node_died is not None:
        return Decision(Outcome.FAILED, "node_alive", facts.node_died)
    if facts.unproved is not None:
        return Decision(Outcome.BROKEN, "", facts.unproved)
    if facts.broken_invariant is not None:
        return Decision(Outcome.FAILED, facts.broken_invariant.name, facts.broken_invariant.reason)
    if facts.ledger is not None and facts.ledger.lost:
        reason = f"{facts.ledger.lost} of {facts.ledger.acked} acknowledged records are gone"
        return Decision(Outcome.FAILED, "nothing_lost", reason)
    if facts.unmet_guard is not None:
        reason = f"guard unmet: {facts.unmet_guard.reason}"
        return Decision(Outcome.INCONCLUSIVE, facts.unmet_guard.name, reason)
    if facts.refuted is not None:
        return Decision(Outcome.FAILED, facts.refuted.name, facts.refuted.reason)
    return _ledger_alone(facts.ledger)


def _ledger_alone(ledger: LedgerSummary | None) -> Decision:
    """Decide a run against which nothing else speaks: a ledger that was not asked keeps it from being held."""
    if ledger is not None and ledger.unread:
        return Decision(Outcome.INCONCLUSIVE, "ledger_read", f"the ledger could not be checked: {ledger.unread}")
    if ledger is not None and not ledger.acked:
        return Decision(Outcome.INCONCLUSIVE, "ledger_asked", "no record was ever acknowledged, so none could be lost")
    return Decision(Outcome.PASSED)


def measures(ledger: LedgerSummary | None, cpu_seconds: float, waits: Mapping[str, float]) -> dict[str, float]:
    """Return a run's figures by name; `waits` are seconds that each expectation took to be held."""
    figures = {"node_cpu_seconds": round(cpu_seconds, 2)}
    figures |= {f"{name}_seconds": round(seconds, 2) for name, seconds in waits.items()}
    if ledger is not None:
        figures |= {
            "acked_records": ledger.acked,
            "failed_records": ledger.failed,
            "lost_records": ledger.lost,
            "duplicate_records": ledger.duplicates,
            "longest_stall_seconds": round(ledger.longest_stall_seconds, 3),
        }
    return figures
