"""The matrix scenario × arm as the report shows it; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.base.text import cut
from harness.model.arms import Arm, Role
from harness.model.expectations import Met
from harness.model.runs import Evidence
from harness.model.verdict import (
    CellState,
    Effect,
    Inertness,
    JudgedCell,
    JudgedRun,
    JudgedScenario,
    Standing,
    VerdictRecord,
)
from harness.report.figures import inline_figures
from harness.report.limits import kept
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
_STANDING_OF_STOCK = {
    Standing.AS_CLAIMED: "as expected",
    Standing.NOT_AS_CLAIMED: "not as expected",
    Standing.UNDECIDED: "undecided",
    Standing.UNSUPPORTED: "unsupported",
}
_MOST_LINKS = 6
_MOST_QUOTES = 2
_REASON = 240
_QUOTE = 300


@dataclass(frozen=True, slots=True)
class CellView:
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
class MatrixRow:
    """One scenario; a cell is None where an arm cannot exist or was not declared."""

    id: str
    name: str
    question: str
    verdict: str
    effect: str
    beside_claims: str
    sentences: tuple[str, ...]
    cells: tuple[CellView | None, ...]


@dataclass(frozen=True, slots=True)
class InertnessView:
    """What base and the candidate with its flag off show in one scenario, and what that means for the flag."""

    id: str
    scenario: str
    base: str
    off: str
    means: str


def slug(*parts: str) -> str:
    """Return words as an id that is stable and safe in an address."""
    return "-".join(re.sub(r"[^A-Za-z0-9]+", "-", part).strip("-").lower() for part in parts)


def rows(record: VerdictRecord, text: int, most: int) -> tuple[MatrixRow, ...]:
    """Return a row per scenario, in the order of the declaration; of more than `most` what is odd is kept."""
    shown = kept(record.scenarios, most, _is_odd)
    return tuple(_row(record, scenario, text) for scenario in shown)


def _is_odd(scenario: JudgedScenario) -> bool:
    return any(cell.standing is not Standing.AS_CLAIMED for cell in scenario.cells)


def inertness(record: VerdictRecord) -> tuple[InertnessView, ...]:
    """Return a row per scenario that was declared for an arm with the flag off."""
    found = []
    by_logs = {claim.scenario for claim in record.claims if claim.logged_off}
    for scenario in record.scenarios:
        shown = {cell.role: cell.label for cell in scenario.cells}
        if Role.OFF in shown:
            control = shown.get(Role.BASE_OFF) or shown.get(Role.BASE, "not run")
            ends = (control, shown[Role.OFF])
            means = f"{Inertness.NOT_INERT} by its logs" if scenario.name in by_logs else scenario.inertness
            row = InertnessView(f"scenario-{slug(scenario.name)}", scenario.name, *ends, means)
            found.append(row)
    return tuple(found)


def _row(record: VerdictRecord, scenario: JudgedScenario, text: int) -> MatrixRow:
    return MatrixRow(
        id=f"scenario-{slug(scenario.name)}",
        name=scenario.name,
        question=scenario.question,
        verdict=scenario.verdict.value if scenario.verdict else "",
        effect="" if record.expectations else scenario.effect,
        beside_claims="" if scenario.effect is Effect.BLIND else record.beside_claims(scenario),
        sentences=tuple(cut(sentence, text) for sentence in record.about(scenario.name)),
        cells=tuple(_cell(record, scenario, arm, text) for arm in record.arms),
    )


def _cell(record: VerdictRecord, scenario: JudgedScenario, arm: Arm, text: int) -> CellView | None:
    cell = scenario.cell(arm.name)
    if cell is None:
        return None
    runs = record.runs_of(scenario.name, arm.name)
    standing = _STANDING_OF_STOCK[cell.standing] if record.expectations else _standing(cell)
    quoted, places = _evidence(runs)
    return CellView(
        arm=arm.name,
        sign=SIGNS[cell.state],
        state=cell.state.value,
        expectation=cell.expectation,
        standing=standing,
        expected=" and ".join(map(str, cell.expected)),
        counted=f"{cell.agreeing} of {cell.declared}{made_before(runs)}",
        reason=cut(_reason(record, scenario, cell), min(text, _REASON)),
        figures=inline_figures([run.measures for run in runs]),
        quotes=tuple(quote_of(evidence, min(text, _QUOTE)) for evidence in quoted),
        links=_links(runs, places),
        rerun=cell.rerun,
    )


def _reason(record: VerdictRecord, scenario: JudgedScenario, cell: JudgedCell) -> str:
    """Return why a cell is what it is; of Kafka as it is also what is expected of it, or where its defect is known."""
    met = record.expectations.cell(scenario.name, cell.arm) if record.expectations else None
    if met is None:
        return cell.reason
    known = f"known: {met.known}" if met.known else ""
    wanted = known if met.met is Met.EXPECTED else f"{met.wanted} is expected"
    return ": ".join(filter(None, (cell.reason, wanted)))


def made_before(runs: Sequence[JudgedRun]) -> str:
    """Return when runs were made that were taken over from an earlier verification; empty where this one made them."""
    return "".join(dict.fromkeys(f", taken over from {run.origin.minute}" for run in runs if run.origin))


def _standing(cell: JudgedCell) -> str:
    """Return how a cell stands, in other words where nothing is claimed of it and where its failure is claimed."""
    if cell.is_expected_failure:
        return "expected failure"
    unclaimed = {Standing.AS_CLAIMED: "no claim", Standing.NOT_AS_CLAIMED: "worse than base"}
    return cell.standing.value if cell.expected else unclaimed.get(cell.standing, cell.standing.value)


def _evidence(runs: Sequence[JudgedRun]) -> tuple[list[Evidence], list[Evidence]]:
    """Return the evidence of all repeats: that which is quoted, and that which is only linked to."""
    every = list(dict.fromkeys(evidence for run in runs for evidence in run.evidence))
    quoted = [evidence for evidence in every if evidence.excerpt.strip()][:_MOST_QUOTES]
    return quoted, [evidence for evidence in every if evidence not in quoted]


def _links(runs: Sequence[JudgedRun], evidence: list[Evidence]) -> tuple[Link, ...]:
    """Return the journal of every repeat and the places that show what failed."""
    journals = [
        Link(journal_link(r.key.folder).href, "journal" if len(runs) == 1 else f"journal {r.repeat}") for r in runs
    ]
    places = [evidence_link(each) for each in evidence]
    return (*journals, *dict.fromkeys(places[: max(_MOST_LINKS - len(journals), 2)]))
