"""summary.md of a night: what changed first, 20 KB at most; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.base.progress import duration
from harness.nightly.judging import NightReport, Told
from harness.nightly.marks import Mark, MarkedCell, MarkedFinding
from harness.nightly.strips import strip_of
from harness.report.markdown import plain

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
    told = [f"\n**{cut} more lines are cut here; index.html of the night has them all.**"] if cut else []
    return "\n".join([*lines[:kept], *told]) + "\n"


def headline(report: NightReport) -> str:
    """Return the night in a sentence: `HOLD: 1 HOLD, 3 SHIP of 4 verifications`."""
    return "nothing to do: 0 verifications" if report.idle else f"{report.ending}: {counted(report)}"


def counted(report: NightReport) -> str:
    """Return how many verifications ended how."""
    endings = [each.ending for each in report.told]
    told = ", ".join(f"{endings.count(ending)} {ending}" for ending in dict.fromkeys(sorted(endings)))
    waived = sum(each.ending is not each.counts for each in report.told)
    of_them = f"; {waived} of them waived" if waived else ""
    return f"{told or 'nothing'} of {len(report.told)} verifications{of_them}"


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
    yield from _verifications(report.told)
    for mark in (Mark.NEW, Mark.FLAKY, Mark.RECURRING, Mark.FIXED, Mark.UNDECIDED):
        yield from _listed(f"Outcomes: {mark}", [_cell(report, each) for each in report.cells if each.mark is mark])
    yield from _listed("Ask again", [f"`{line}`" for line in report.retries])
    for mark in (Mark.NEW, Mark.FLAKY, Mark.FIXED):
        found = [_finding(report, each) for each in report.findings if each.mark is mark]
        yield from _listed(f"Findings: {'gone' if mark is Mark.FIXED else mark}", found)


def _listed(title: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield f"## {title} ({len(items)})"
        yield ""
        yield from (f"- {item}" for item in items)
        yield ""


def _verifications(told: Sequence[Told]) -> Iterator[str]:
    yield "| verification | verdict | time | |"
    yield "|---|---|---|---|"
    for each in told:
        waived = ", waived" if each.ending is not each.counts else ""
        yield (
            f"| {plain(each.planned.id)} | {each.ending}{waived} | {duration(each.seconds)} | {plain(each.sentence)} |"
        )
    yield ""


def _cell(report: NightReport, marked: MarkedCell) -> str:
    cell = marked.cell
    waiver = report.waived.cells.get(cell.key)
    waived = f"; waived by {waiver.owner} until {waiver.expires}" if waiver else ""
    place = f"{cell.verification}: {cell.scenario} on {cell.arm}"
    return f"{plain(place)}: {plain(cell.shown)} `{strip_of(marked)}`{plain(waived)}"


def _finding(report: NightReport, marked: MarkedFinding) -> str:
    found = marked.found
    waived = "; waived" if found.id in report.waived.findings else ""
    contrast = f"{found.base} against {found.candidate}" if found.base else found.candidate
    place = f"{found.verification}: {found.scenario}, {contrast}"
    return f"{plain(place)}: {plain(found.kind)} {plain(found.template)}{waived}"
