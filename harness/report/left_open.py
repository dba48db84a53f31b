"""What the candidate does not fix: one sentence for the card, and each of it with where to look; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from harness.base.text import counted, cut, listed
from harness.model.proof import AuditAnswer
from harness.model.verdict import VerdictRecord
from harness.report.limits import beyond
from harness.report.links import Link, evidence_link

# What a user of the candidate is left with, by the words in which the audit tells it.
_LEFT_WITH = {
    " followed by a write of ": "keeps using old values after a change",
    ", whether anything changed or not: ": "repeats the same step although nothing changed",
}
_ELSE = "does not do what the source audit looked for"
_MOST_NAMES = 4


@dataclass(frozen=True, slots=True)
class LeftView:
    """One thing that is not fixed, as the verdict has it; `scenario` is empty for what its source shows."""

    text: str
    scenario: str
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class LeftOpen:
    """All that is not fixed; `hidden` is how many of it are not shown."""

    summary: str
    items: tuple[LeftView, ...]
    hidden: int


def left_open(record: VerdictRecord, most: int, text: int) -> LeftOpen | None:
    """Return what the report shows of what is not fixed; None where there is nothing."""
    if not record.not_fixed:
        return None
    gaps = _gaps(record)
    shown = tuple(_view(each, gaps.get(each), text) for each in record.not_fixed[:most])
    summary = cut(_summary(record, gaps), text)
    return LeftOpen(summary, shown, beyond(record.not_fixed, most))


def _gaps(record: VerdictRecord) -> dict[str, AuditAnswer]:
    """Return what the source shows and nobody promises, by the sentence that the verdict has of it."""
    audit = record.proof.audit if record.proof else ()
    return {f"{each.question}: {each.detail}": each for each in audit if each.standing == "gap"}


def _view(sentence: str, gap: AuditAnswer | None, text: int) -> LeftView:
    if gap is None:
        return LeftView(cut(sentence, text), _scenario(sentence), ())
    return LeftView(cut(sentence, text), "", tuple(map(evidence_link, gap.evidence)))


def _scenario(sentence: str) -> str:
    """Return the scenario that a sentence is about, which begins with its name."""
    return sentence.partition(": ")[0]


def _summary(record: VerdictRecord, gaps: dict[str, AuditAnswer]) -> str:
    """Return one sentence: what fails as before, then what a user of the candidate is left with."""
    failing = list(dict.fromkeys(_scenario(each) for each in record.not_fixed if each not in gaps))
    found = [gaps[each] for each in record.not_fixed if each in gaps]
    clauses = [
        *([_failing(failing, len(record.scenarios))] if failing else []),
        *([_left_with(found)] if found else []),
    ]
    sentence = "; ".join(clauses)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _failing(names: Sequence[str], scenarios: int) -> str:
    of_all = f"{len(names)} of {counted(scenarios, 'scenario')}"
    verbs = ("fails", "it does") if len(names) == 1 else ("fail", "they do")
    return f"{of_all} {verbs[0]} with the candidate as {verbs[1]} without it ({listed(names, _MOST_NAMES)})"


def _left_with(gaps: Sequence[AuditAnswer]) -> str:
    cases = Counter(_loss(each.detail) for each in gaps)
    ((loss, first), *others) = sorted(cases.items(), key=lambda case: [*_LEFT_WITH.values(), _ELSE].index(case[0]))
    told = [f"in {counted(first, 'case')} the candidate {loss}", *(f"in {many} it {each}" for each, many in others)]
    shown = f"{counted(len(gaps), 'open case')} found in its source, which no claim promises to close"
    return f"{listed(told)}: {shown} ({listed([each.question for each in gaps], _MOST_NAMES)})"


def _loss(detail: str) -> str:
    return next((loss for words, loss in _LEFT_WITH.items() if words in detail), _ELSE)
