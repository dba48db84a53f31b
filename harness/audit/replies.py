"""Answers while they are made: what was found, in a sentence, with the places that show it; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.audit.code import Act, Method
from harness.audit.questions import Question
from harness.model.proof import Answer, AuditAnswer
from harness.model.runs import Evidence


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer without the question that it belongs to."""

    answer: Answer
    detail: str
    evidence: tuple[Evidence, ...] = ()


def answered(question: Question, reply: Reply) -> AuditAnswer:
    """Return a reply as the answer to a question."""
    return AuditAnswer(question.id, reply.answer, reply.detail, question.claim, reply.evidence)


def untested(detail: str) -> Reply:
    """Return that a question could not be answered, and why."""
    return Reply(Answer.UNTESTED, detail)


def holds_or_not(holds: bool, detail: str, evidence: Iterable[Evidence] = ()) -> Reply:
    """Return a definite answer."""
    return Reply(Answer.HOLDS if holds else Answer.DOES_NOT_HOLD, detail, tuple(evidence))


def places(sites: Sequence[tuple[Method, Act]], most: int = 6) -> str:
    """Return where acts stand, in words: `Class.method (File.java:12)`."""
    shown = [f"{method.title} ({spot(act.at)})" for method, act in sites[:most]] or ["nowhere"]
    return ", ".join(shown) + (f" and {len(sites) - most} more" if len(sites) > most else "")


def spot(at: Evidence) -> str:
    """Return a place as `File.java:12`."""
    return f"{at.path.rpartition('/')[2]}:{at.line}"
