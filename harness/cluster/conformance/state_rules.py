"""Rules of a node's states: which may follow which, who may stand for election, and that epochs never fall."""

from __future__ import annotations

from collections.abc import Iterator

from harness.cluster.conformance.history import History, Violation
from harness.cluster.conformance.observations import CANDIDATE, LEADER, PROSPECTIVE, Transitioned
from harness.cluster.conformance.transitions import why_illegal
from harness.cluster.metadata_log.broken import EPOCH_NEVER_FALLS

LEGAL_TRANSITIONS = "legal_transitions"
ONLY_VOTERS_STAND = "only_voters_stand"


def legal_transitions(history: History) -> Iterator[Violation]:
    """Each step is one that QuorumState has."""
    for step in history.of(Transitioned):
        if why := why_illegal(step):
            yield Violation(LEGAL_TRANSITIONS, f"node {step.place.node}: {why}", (step.place,))


def only_voters_stand(history: History) -> Iterator[Violation]:
    """Only a node that is in the voter set, by its own log, stands for election (QuorumState.isObserver).

    A process may begin as the candidate that it was before. A leader leads on until its removal is committed.
    """
    for life in history.lives():
        for said, voters in life.with_voters():
            if isinstance(said, Transitioned) and _stands(said) and voters and life.node not in voters.ids:
                story = f"node {life.node} became {said.state.kind} of epoch {said.state.epoch}"
                reason = f"{story}, and voters are {sorted(voters.ids)}"
                yield Violation(ONLY_VOTERS_STAND, reason, (said.place, voters.place))


def _stands(step: Transitioned) -> bool:
    return step.before is not None and step.state.kind in (PROSPECTIVE, CANDIDATE, LEADER)


def epochs_never_fall(history: History) -> Iterator[Violation]:
    """A node's epoch never falls while it has its disk, not even from one process to the next (quorum-state)."""
    newest: dict[tuple[int, int], Transitioned] = {}
    for life in history.lives():
        for step in life.of(Transitioned):
            last = newest.get((life.node, life.disk))
            if last is not None and step.state.epoch < last.state.epoch:
                story = f"node {life.node} went back from epoch {last.state.epoch} to {step.state.epoch}"
                yield Violation(EPOCH_NEVER_FALLS, story, (step.place, last.place))
            newest[life.node, life.disk] = step
