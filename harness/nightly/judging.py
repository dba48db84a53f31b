"""What a night comes to: every verification's ending, what changed, what is waived, and the exit code; pure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from harness.judge import logs, measures, proved
from harness.judge.decision import ClaimStatus
from harness.model.arms import Role
from harness.model.options import words_of
from harness.model.request import Request
from harness.model.runs import Verdict
from harness.nightly.history import SCHEMA, PastNight, Verified, before
from harness.nightly.marks import MarkedCell, MarkedFinding, mark_cells, mark_findings
from harness.nightly.records import Ended, Ending, Night, Planned
from harness.nightly.showings import Standing, cells_of, findings_of, standing_of
from harness.nightly.waivers import Waived, Waiver, apply_waivers
from harness.report.document import Document, ScenarioDoc

_WORST_FIRST = (Ending.HOLD, Ending.ERROR, Ending.INCONCLUSIVE, Ending.MISSING, Ending.SHIP)
_EXIT = {Ending.HOLD: 1, Ending.ERROR: 2, Ending.INCONCLUSIVE: 3, Ending.MISSING: 3, Ending.SHIP: 0}


@dataclass(frozen=True, slots=True)
class Told:
    """One verification of the night: how it ended, in a sentence; `counts` is the ending after waivers."""

    planned: Planned
    ending: Ending
    counts: Ending
    sentence: str
    seconds: float


@dataclass(frozen=True, slots=True)
class NightReport:
    """Everything that the summary, the page, JUnit and the history are written from.

    `earlier` are the labels of the nights that the marks were made by, oldest first.
    """

    night: Night
    told: tuple[Told, ...]
    cells: tuple[MarkedCell, ...]
    findings: tuple[MarkedFinding, ...]
    waived: Waived
    retries: tuple[str, ...]
    earlier: tuple[str, ...]
    entry: PastNight

    @property
    def ending(self) -> Ending:
        """The worst of all verifications, after waivers; a waiver that is at fault holds the night back."""
        counted = {each.counts for each in self.told}
        worst = next((ending for ending in _WORST_FIRST if ending in counted), Ending.INCONCLUSIVE)
        worst = Ending.INCONCLUSIVE if worst is Ending.MISSING else worst
        return Ending.HOLD if self.waived.faults else worst

    @property
    def idle(self) -> bool:
        """Whether this is a shard that the matrix leaves without work."""
        return bool(self.night.planned) and not self.night.mine

    @property
    def exit_code(self) -> int:
        """0 SHIP (or nothing to do), 1 HOLD, 2 errors, 3 INCONCLUSIVE."""
        return 0 if self.idle and not self.waived.faults else _EXIT[self.ending]


def judge_night(
    night: Night,
    documents: Mapping[str, Document],
    history: Sequence[PastNight],
    waivers: Sequence[Waiver],
    today: date,
) -> NightReport:
    """Tell a night against the nights before it; `documents` are the verdicts by id of verification."""
    past = before(history, night.label, night.started_at)
    cells = [cell for name, document in documents.items() for cell in cells_of(name, document)]
    findings = [found for name, document in documents.items() for found in findings_of(name, document)]
    complete = all(each.id in documents for each in night.planned)
    waived = apply_waivers(waivers, cells, findings, today, complete=complete)
    ended = {each.id: each for each in night.ended}
    told = tuple(_told(each, ended.get(each.id), documents.get(each.id), waived) for each in night.mine)
    verified = tuple(Verified(each.planned.id, each.ending, each.seconds) for each in told)
    return NightReport(
        night,
        told,
        mark_cells(cells, past),
        mark_findings(findings, cells, past),
        waived,
        tuple(_retries(told, documents)),
        tuple(each.label for each in past),
        PastNight(SCHEMA, night.label, night.started_at, verified, tuple(cells), tuple(findings)),
    )


def _told(planned: Planned, ended: Ended | None, document: Document | None, waived: Waived) -> Told:
    if ended is None:
        return Told(planned, Ending.MISSING, Ending.MISSING, "It was declared and nobody ran it.", 0.0)
    if document is None:
        return Told(planned, Ending.ERROR, Ending.ERROR, ended.error or "It came to no verdict.", ended.seconds)
    ending = Ending(document.verdict.value)
    counts = _without_waived(planned.id, document, waived) if ending is Ending.HOLD else ending
    return Told(planned, ending, counts, document.sentence, ended.seconds)


def _without_waived(verification: str, document: Document, waived: Waived) -> Ending:
    """Return what a HOLD counts as: it stays one unless a waiver covers each cell that makes it one."""
    held_back = [scenario for scenario in document.scenarios if scenario.verdict is Verdict.HOLD]
    excused = held_back and all(_is_waived(verification, document, each, waived) for each in held_back)
    if not excused or proved.blockers(document.proof) or _blockers(document):
        return Ending.HOLD
    # Claims that no scenario asks are settled, or left open, by the proof: they weigh nothing here.
    untested = any(claim.scenario and claim.status is ClaimStatus.UNTESTED for claim in document.claims)
    undecided = any(scenario.verdict is Verdict.INCONCLUSIVE for scenario in document.scenarios)
    return Ending.INCONCLUSIVE if untested or undecided or proved.gaps(document.proof) else Ending.SHIP


def _blockers(document: Document) -> tuple[str, ...]:
    """Return what of logs and figures speaks against the candidate: no waiver of an outcome excuses it."""
    base = next((arm.name for arm in document.arms if arm.role is Role.BASE), "")
    candidates = [arm for arm in document.arms if arm.role is not Role.BASE]
    flag = next((arm.flag_key for arm in candidates), "")
    return (
        *measures.blockers(base, [arm.name for arm in candidates], document.runs),
        *logs.blockers(base, flag, document.contrasts, document.proof),
    )


def _is_waived(verification: str, document: Document, scenario: ScenarioDoc, waived: Waived) -> bool:
    standing = {cell.arm: standing_of(document, scenario, cell) for cell in scenario.cells}
    against = [arm for arm, stands in standing.items() if stands is Standing.NOT_AS_CLAIMED]
    return bool(against) and all((verification, scenario.name, arm) in waived.cells for arm in against)


def _retries(told: Sequence[Told], documents: Mapping[str, Document]) -> list[str]:
    """Return a command line per verification that should be asked again: never what was decided."""
    lines = []
    for each in told:
        if each.planned.id in documents:
            scenarios = _undecided(each.planned.id, documents[each.planned.id])
            if scenarios:
                lines.append(_line(each.planned, scenarios))
        else:
            lines.append(_line(each.planned, ()))
    return lines


def _undecided(verification: str, document: Document) -> list[str]:
    """Return the scenarios with a cell that could not be asked; one that is held back is decided all the same."""
    held_back = {scenario.name for scenario in document.scenarios if scenario.verdict is Verdict.HOLD}
    unasked = (cell for cell in cells_of(verification, document) if cell.standing is Standing.UNDECIDED)
    return [name for name in dict.fromkeys(cell.scenario for cell in unasked) if name not in held_back]


def _line(planned: Planned, scenarios: Sequence[str]) -> str:
    """Return the line that asks a verification again: these scenarios of it, or everything."""
    request = planned.request
    if scenarios:
        request = replace(request, scenarios=tuple(scenarios), suite=Request().suite)
    return shlex.join(["harness", "verify", *words_of(request)])
