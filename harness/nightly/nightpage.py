"""index.html of a night: one page that needs no network and no script, and links every run's report."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass
from urllib.parse import quote

from harness.base.progress import duration
from harness.base.text import counted as numbered
from harness.base.text import cut
from harness.model.verdict import Standing
from harness.nightly.judging import WORST_FIRST, ConcludedVerification, NightReport
from harness.nightly.night import VerificationStatus
from harness.nightly.night_summary import NOTHING_TO_DO, counted, part
from harness.nightly.sparkline import LEGEND, signs_of, spoken
from harness.nightly.trend import CellTrend, Trend
from harness.report.limits import Limits, beyond, kept, within_budget
from harness.report.page import render_page

_LIMITS = Limits(rows=300, text=400)
_ORDER = (Trend.NEW, Trend.FLAKY, Trend.RECURRING, Trend.NOT_RUN, Trend.UNDECIDED, Trend.FIXED)


@dataclass(frozen=True, slots=True)
class NightRow:
    """A verification on the page; `href` is its report, empty when it has none."""

    id: str
    href: str
    outcome: str
    counts_as: str
    sentence: str
    time: str
    shard: int


@dataclass(frozen=True, slots=True)
class CellRow:
    """A cell with a trend that is worth a look; `signs` are its last nights, `spoken` the same in words."""

    trend: str
    place: str
    href: str
    outcome: str
    signs: str
    spoken: str
    waiver: str


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A finding that is new, flaky, recurring or gone."""

    trend: str
    place: str
    kind: str
    template: str
    waiver: str


@dataclass(frozen=True, slots=True)
class NightPage:
    """Everything that the template shows; each list is cut to size, and `cut` says by how much.

    `worst` is what makes the night what it is, with a sentence, empty where all is well; `quiet` says of a night
    without a cell that is worth a look why there is none.
    """

    label: str
    part: str
    counted: str
    outcome: str
    earlier: int
    rows: tuple[NightRow, ...]
    cells: tuple[CellRow, ...]
    findings: tuple[FindingRow, ...]
    faults: tuple[str, ...]
    waivers: tuple[str, ...]
    retries: tuple[str, ...]
    cut: tuple[str, ...]
    worst: tuple[str, str]
    against: str
    quiet: str
    legend: str = LEGEND


def render_night(report: NightReport) -> str:
    """Return the page. Equal input gives equal bytes."""
    return within_budget(
        lambda limits: render_page("night.html.j2", script=False, night=night_page(report, limits)), _LIMITS
    )


def night_page(report: NightReport, limits: Limits = _LIMITS) -> NightPage:
    """Return what the page shows; pure."""
    cells, findings, used = _cells(report), _findings(report), [*dict.fromkeys(map(str, _used(report)))]
    rows = tuple(_row(each, limits.text) for each in report.verifications)
    lists: dict[str, Sized] = {
        "outcomes": cells,
        "findings": findings,
        "verifications": rows,
        "waivers": used,
        "commands": report.retries,
    }
    cuts = [
        f"{hidden} more {what} are cut here; history and run directories have them."
        for what, items in lists.items()
        if (hidden := beyond(items, limits.rows))
    ]
    return NightPage(
        label=report.night.label,
        part=part(report),
        counted=counted(report),
        outcome=NOTHING_TO_DO if report.idle else report.outcome.value,
        earlier=len(report.earlier),
        rows=kept(rows, limits.rows, lambda row: row.counts_as != "SHIP"),
        cells=tuple(cells[: limits.rows]),
        findings=tuple(findings[: limits.rows]),
        faults=report.waived.faults,
        waivers=tuple(used[: limits.rows]),
        retries=report.retries[: limits.rows],
        cut=tuple(cuts),
        worst=_worst(report, rows),
        against="" if report.idle else _against(report, rows),
        quiet="" if report.idle else _quiet(report),
    )


def _worst(report: NightReport, rows: Sequence[NightRow]) -> tuple[str, str]:
    """Return what makes the night what it is, and a sentence of it: a waiver at fault, else the first verification."""
    if report.waived.faults:
        return "waivers", report.waived.faults[0]
    if report.doubts and report.outcome is VerificationStatus.INCONCLUSIVE:
        return "what was not seen", " ".join(report.doubts)
    worst = min(rows, key=lambda row: WORST_FIRST.index(VerificationStatus(row.counts_as)), default=None)
    if worst is None or worst.counts_as == VerificationStatus.SHIP:
        return "", ""
    return f"{worst.id}: {worst.outcome}", worst.sentence


def _quiet(report: NightReport) -> str:
    """Return in a sentence why no cell is worth a look, or how much of that nobody knows."""
    outcomes = [each.outcome for each in report.verifications]
    open_ones = sum(each in (VerificationStatus.ERROR, VerificationStatus.MISSING) for each in outcomes)
    if open_ones:
        of = numbered(len(outcomes), "verification")
        return f"{open_ones} of {of} came to no verdict: nothing is said of their cells."
    standings = {cell.cell.standing for cell in report.cells}
    if not standings & {Standing.AS_CLAIMED, Standing.NOT_AS_CLAIMED}:
        return "No cell was decided."
    said = (
        "Every cell is as claimed"
        if standings == {Standing.AS_CLAIMED}
        else "Every cell that was decided is as claimed"
    )
    return f"{said}, as it was before." if report.earlier else f"{said}; there is no earlier night."


def _against(report: NightReport, rows: Sequence[NightRow]) -> str:
    """Return the strongest reason against the night's outcome."""
    if report.outcome is not VerificationStatus.SHIP:
        ships = sum(row.counts_as == "SHIP" for row in rows)
        return f"{ships} of {numbered(len(rows), 'verification')} {'is' if ships == 1 else 'are'} SHIP."
    waived = len(report.waived.cells) + len(report.waived.findings)
    if waived:
        return f"{numbered(waived, 'thing')} that did not go as claimed {'is' if waived == 1 else 'are'} waived."
    if flaky := sum(cell.trend is Trend.FLAKY for cell in report.cells):
        return f"{numbered(flaky, 'cell')} changed the answer in the last nights."
    if not report.earlier:
        return "There is no earlier night to compare it with."
    return "A fault that shows only in some runs may have been missed."


def _used(report: NightReport) -> Sequence[object]:
    return [*report.waived.cells.values(), *report.waived.findings.values()]


def _row(each: ConcludedVerification, text: int) -> NightRow:
    has_report = each.outcome.value in ("SHIP", "HOLD", "INCONCLUSIVE")
    return NightRow(
        each.planned.id,
        _href(each.planned.id) if has_report else "",
        each.outcome.value,
        each.counts_as.value,
        cut(each.sentence, text),
        duration(each.seconds),
        each.planned.shard,
    )


def _href(verification: str) -> str:
    return f"{quote(verification)}/report.html"


def _cells(report: NightReport) -> list[CellRow]:
    notable = [each for each in report.cells if each.trend is not Trend.SAME]
    return [_cell(report, each) for each in sorted(notable, key=lambda each: _ORDER.index(each.trend))]


def _cell(report: NightReport, each: CellTrend) -> CellRow:
    cell = each.cell
    waiver = report.waived.cells.get(cell.key)
    return CellRow(
        each.trend.value,
        f"{cell.scenario} on {cell.arm}, {cell.verification}",
        _href(cell.verification),
        cell.outcome,
        signs_of(each),
        spoken(each),
        f"waived by {waiver.owner} until {waiver.expires}: {waiver.reason}" if waiver else "",
    )


def _findings(report: NightReport) -> list[FindingRow]:
    rows = []
    for each in sorted(report.findings, key=lambda each: _ORDER.index(each.trend)):
        found, waiver = each.found, report.waived.findings.get(each.found.id)
        contrast = f"{found.base} against {found.candidate}" if found.base else found.candidate
        place = f"{found.scenario}, {contrast}, {found.verification}"
        accepted = f"waived by {waiver.owner} until {waiver.expires}: {waiver.reason}" if waiver else ""
        trend = "gone" if each.trend is Trend.FIXED else each.trend.value
        rows.append(FindingRow(trend, place, found.kind, found.template, accepted))
    return rows
