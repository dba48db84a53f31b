"""The matrix scenario × arm as the report shows it; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.base.text import cut
from harness.judge.cells import CellState
from harness.judge.checks import Check
from harness.model.arms import Role
from harness.model.runs import Evidence
from harness.report.document import ArmDoc, CellDoc, Document, RunDoc, ScenarioDoc
from harness.report.figures import told_inline
from harness.report.links import Link, Quote, evidence_link, journal_link, quote_of

SIGNS = {
    CellState.PASSED: "✓",
    CellState.FAILED: "✕",
    CellState.INCONCLUSIVE: "?",
    CellState.BROKEN: "!",
    CellState.UNSUPPORTED: "–",
    CellState.UNSTABLE: "≠",
    CellState.MISSING: "…",
}
_MOST_LINKS = 6
_MOST_QUOTES = 2
_REASON = 240
_QUOTE = 300


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: what it shows, whether that is as claimed, the figures that matter and where to look."""

    arm: str
    sign: str
    state: str
    expectation: str
    standing: str
    expected: str
    counted: str
    reason: str
    figures: tuple[str, ...]
    quotes: tuple[Quote, ...]
    links: tuple[Link, ...]
    rerun: str


@dataclass(frozen=True, slots=True)
class Row:
    """One scenario; a cell is None where an arm cannot exist or was not declared."""

    id: str
    name: str
    question: str
    verdict: str
    effect: str
    discriminates: bool
    says: tuple[str, ...]
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class InertnessView:
    """What base and the candidate with its flag off show in one scenario; `told` is what that says of the flag."""

    id: str
    scenario: str
    base: str
    off: str
    told: str


def slug(*words: str) -> str:
    """Return words as an id that is stable and safe in an address."""
    return "-".join(re.sub(r"[^A-Za-z0-9]+", "-", word).strip("-").lower() for word in words)


def rows(document: Document, text: int) -> tuple[Row, ...]:
    """Return a row per scenario, in the order in which they were asked."""
    return tuple(_row(document, scenario, text) for scenario in document.scenarios)


def inertness(document: Document) -> tuple[InertnessView, ...]:
    """Return a row per scenario that was declared for an arm with the flag off."""
    found = []
    for scenario in document.scenarios:
        shown = {cell.role: told_state(cell) for cell in scenario.cells}
        if Role.OFF in shown:
            ends = (shown.get(Role.BASE, "not asked"), shown[Role.OFF])
            row = InertnessView(f"scenario-{slug(scenario.name)}", scenario.name, *ends, scenario.inertness)
            found.append(row)
    return tuple(found)


def told_state(cell: CellDoc) -> str:
    """Return a cell's outcome as it is written everywhere: `FAILED(observer_recovers)`."""
    return f"{cell.state}({cell.expectation})" if cell.expectation else str(cell.state)


def _row(document: Document, scenario: ScenarioDoc, text: int) -> Row:
    return Row(
        id=f"scenario-{slug(scenario.name)}",
        name=scenario.name,
        question=scenario.question,
        verdict=scenario.verdict.value if scenario.verdict else "",
        effect=scenario.effect,
        discriminates=scenario.discriminates,
        says=tuple(cut(says, text) for says in scenario.says),
        cells=tuple(_cell(document, scenario, arm, text) for arm in document.arms),
    )


def _cell(document: Document, scenario: ScenarioDoc, arm: ArmDoc, text: int) -> Cell | None:
    cell = next((cell for cell in scenario.cells if cell.arm == arm.name), None)
    if cell is None:
        return None
    runs = [run for run in document.runs if (run.scenario, run.arm) == (scenario.name, arm.name)]
    quoted, places = _evidence(runs)
    return Cell(
        arm=arm.name,
        sign=SIGNS[cell.state],
        state=cell.state.value,
        expectation=cell.expectation,
        standing=_standing(cell, runs),
        expected=" and ".join(cell.expected),
        counted=f"{cell.agreeing} of {cell.declared}",
        reason=cut(cell.reason, min(text, _REASON)),
        figures=told_inline([run.measures for run in runs]),
        quotes=tuple(quote_of(evidence, min(text, _QUOTE)) for evidence in quoted),
        links=_links(runs, places),
        rerun=cell.rerun,
    )


def _standing(cell: CellDoc, runs: list[RunDoc]) -> str:
    """Return how a cell compares with the claims, by the worst of its runs."""
    checks = {run.check for run in runs}
    if Check.FAILED in checks:
        return "not as claimed" if cell.expected else "worse than base"
    if Check.ERROR in checks or cell.state in (CellState.MISSING, CellState.UNSTABLE):
        return "undecided"
    if Check.SKIPPED in checks:
        return "not asked"
    return "as claimed" if cell.expected else "no claim"


def _evidence(runs: list[RunDoc]) -> tuple[list[Evidence], list[Evidence]]:
    """Return the evidence of all repeats: that which is quoted, and that which is only linked to."""
    every = list(dict.fromkeys(evidence for run in runs for evidence in run.evidence))
    quoted = [evidence for evidence in every if evidence.excerpt.strip()][:_MOST_QUOTES]
    return quoted, [evidence for evidence in every if evidence not in quoted]


def _links(runs: list[RunDoc], evidence: list[Evidence]) -> tuple[Link, ...]:
    """Return the journal of every repeat and the places that show what was refuted."""
    journals = [Link(journal_link(r.folder).href, "journal" if len(runs) == 1 else f"journal {r.repeat}") for r in runs]
    places = [evidence_link(each) for each in evidence]
    return (*journals, *dict.fromkeys(places[: max(_MOST_LINKS - len(journals), 2)]))
