"""From what the rehearsals showed to the answer; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.rollout.accounts import Account, against, unsettled
from harness.rollout.records import CONTROL, Ending, RehearsalResult


@dataclass(frozen=True, slots=True)
class Facts:
    """What happened in one rehearsal.

    `stopped` is why the roll was stopped, empty if it was not, and `changed` the nodes that had another jar than base
    by then; `must_stop` says that the first of them should have stopped it. `starved` is what the host did to a node
    meanwhile, `unsound` why nothing can be said at all, `broken` what must never be.
    """

    accounts: tuple[Account, ...] = ()
    stopped: str = ""
    changed: tuple[int, ...] = ()
    must_stop: bool = False
    not_serving: str = ""
    no_way_back: str = ""
    starved: str = ""
    unsound: str = ""
    broken: str = ""


def decide(facts: Facts) -> tuple[Ending, str]:
    """Decide one rehearsal: (ending, reason).

    A loss counts whatever the host did; a stop on a host that starved a node says nothing about the jar.
    """
    if facts.unsound:
        return Ending.INCONCLUSIVE, facts.unsound
    if facts.broken:
        return Ending.STOPPED, facts.broken
    if lost := against(facts.accounts):
        return Ending.STOPPED, "; ".join(lost)
    problem = _problem(facts)
    if problem and facts.starved:
        return Ending.INCONCLUSIVE, f"{facts.starved}; and then: {problem}"
    if problem:
        return Ending.STOPPED, problem
    if facts.must_stop and (untrusted := _not_stopped_by_the_first(facts)):
        return Ending.INCONCLUSIVE, untrusted
    if unclear := unsettled(facts.accounts):
        return Ending.INCONCLUSIVE, "; ".join(unclear)
    return Ending.PASSED, facts.stopped if facts.must_stop else ""


def _not_stopped_by_the_first(facts: Facts) -> str:
    if not facts.stopped:
        return "a jar that dies on load was not stopped: the checks cannot be trusted here"
    if not facts.changed:
        return f"the roll was stopped before the jar that dies on load was tried: {facts.stopped}"
    if len(facts.changed) > 1:
        return f"a jar that dies on load was stopped only at node {len(facts.changed)} of the roll: {facts.stopped}"
    return ""


def _problem(facts: Facts) -> str:
    wanted = facts.stopped if not facts.must_stop else ""
    after = "; ".join(filter(None, (facts.not_serving, facts.no_way_back)))
    return "; ".join(filter(None, (wanted, after)))


def answer(results: Sequence[RehearsalResult]) -> tuple[Ending, tuple[str, ...]]:
    """Decide all rehearsals together. If base itself cannot be rolled, nothing is said about the candidate."""
    control = next((each for each in results if each.name == CONTROL), None)
    if control is not None and control.ending is not Ending.PASSED:
        return Ending.INCONCLUSIVE, (f"base itself could not be rolled: {control.reason}",)
    for ending in (Ending.STOPPED, Ending.INCONCLUSIVE):
        named = tuple(f"{each.name}: {each.reason}" for each in results if each.ending is ending)
        if named:
            return ending, named
    if not results:
        return Ending.INCONCLUSIVE, ("nothing was rehearsed",)
    return Ending.PASSED, ()
