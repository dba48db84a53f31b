"""summary.md of a night: what changed first, 20 KB at most; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.base.progress import duration
from harness.nightly.judging import ConcludedVerification, NightReport
from harness.nightly.sparkline import signs_of
from harness.nightly.trend import CellTrend, FindingTrend, Trend
from harness.report.markdown import plain

NOTHING_TO_DO = "nothing to do"
BUDGET_BYTES = 20_000
_NOTE = 200  # bytes kept for saying what was cut


def render_summary(report: NightReport, budget: int = BUDGET_BYTES) -> str:
    """Return the summary; lines that would take it over `budget` bytes are cut, and the last one says how many."""
    lines = list(_lines(report))
    kept, size = 0, 0
    for line in lines:
        size += len(line.encode()) + 1
        if size > budget - _NOTE:
            break
        kept += 1
    cut = len(lines) - kept
    more = [f"\n**{cut} more lines are cut here; index.html of the night has them all.**"] if cut else []
    return "\n".join([*lines[:kept], *more]) + "\n"


def headline(report: NightReport) -> str:
    """Return the night in a sentence: `HOLD: 1 HOLD, 3 SHIP of 4 verifications`."""
    return f"{NOTHING_TO_DO}: 0 verifications" if report.idle else f"{report.outcome}: {counted(report)}"


def counted(report: NightReport) -> str:
    """Return how many verifications ended how."""
    outcomes = [each.outcome for each in report.verifications]
    counts = ", ".join(f"{outcomes.count(each)} {each}" for each in dict.fromkeys(sorted(outcomes)))
    waived = sum(each.outcome is not each.counts_as for each in report.verifications)
    of_them = f"; {waived} of them waived" if waived else ""
    return f"{counts or 'nothing'} of {len(report.verifications)} verifications{of_them}"


def part(report: NightReport) -> str:
    """Return which part of the night this is, empty for a whole one."""
    night = report.night
    return f", shard {night.shard} of {night.shards}" if night.shard and night.shards > 1 else ""


def _lines(report: NightReport) -> Iterator[str]:
    yield f"# Night {plain(report.night.label)}{part(report)}: {plain(headline(report))}"
    yield ""
    if not report.earlier:
        yield "There is no earlier night to compare with: everything that is not as claimed is new."
        yield ""
    yield from _listed("Waivers at fault", [plain(each) for each in report.waived.faults])
    yield from _listed("Why this decides nothing", [plain(each) for each in report.doubts])
    yield from _verifications(report.verifications)
    for trend in (Trend.NEW, Trend.FLAKY, Trend.RECURRING, Trend.NOT_RUN, Trend.FIXED, Trend.UNDECIDED):
        yield from _listed(f"Outcomes: {trend}", [_cell(report, each) for each in report.cells if each.trend is trend])
    yield from _listed("Run again", [f"`{line}`" for line in report.retries])
    for trend in (Trend.NEW, Trend.FLAKY, Trend.FIXED):
        found = [_finding(report, each) for each in report.findings if each.trend is trend]
        yield from _listed(f"Findings: {'gone' if trend is Trend.FIXED else trend}", found)


def _listed(title: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield f"## {title} ({len(items)})"
        yield ""
        yield from (f"- {item}" for item in items)
        yield ""


def _verifications(concluded: Sequence[ConcludedVerification]) -> Iterator[str]:
    yield "| verification | verdict | time | |"
    yield "|---|---|---|---|"
    for each in concluded:
        waived = ", waived" if each.outcome is not each.counts_as else ""
        yield (
            f"| {plain(each.planned.id)} | {each.outcome}{waived} | {duration(each.seconds)} | {plain(each.sentence)} |"
        )
    yield ""


def _cell(report: NightReport, each: CellTrend) -> str:
    cell = each.cell
    waiver = report.waived.cells.get(cell.key)
    waived = f"; waived by {waiver.owner} until {waiver.expires}" if waiver else ""
    place = f"{cell.verification}: {cell.scenario} on {cell.arm}"
    return f"{plain(place)}: {plain(cell.outcome)} `{signs_of(each)}`{plain(waived)}"


def _finding(report: NightReport, each: FindingTrend) -> str:
    found = each.found
    waived = "; waived" if found.id in report.waived.findings else ""
    contrast = f"{found.base} against {found.candidate}" if found.base else found.candidate
    place = f"{found.verification}: {found.scenario}, {contrast}"
    return f"{plain(place)}: {plain(found.kind)} {plain(found.template)}{waived}"
