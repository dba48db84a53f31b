"""summary.md: the verdict and the matrix, short enough for a pull request or a CI step; pure."""

from __future__ import annotations

from collections.abc import Sized

from harness.base.text import as_markdown, counted, cut, visible
from harness.model.expectations import Expectations, Met
from harness.report.context import ReportContext
from harness.report.limits import kept
from harness.report.result_matrix import CellView, MatrixRow

_TEXT = 300
_ROWS = 100


def render_markdown(report: ReportContext) -> str:
    """Return the summary: verdict, reasons, arms, matrix and claims."""
    return "\n".join([*_verdict(report), *_arms(report), *_matrix(report), *_claims(report)]) + "\n"


def render_expectations(found: Expectations) -> str:
    """Return the summary of a verification without a candidate: what was expected of Kafka as it is, and what came."""
    rows = (
        f"| {plain(cell.scenario)} | {plain(cell.arm)} | {plain(cell.wanted)} | {plain(cell.shown)} | {cell.met} |"
        for cell in kept(found.cells, _ROWS, lambda cell: cell.met is not Met.EXPECTED)
    )
    return "\n".join(
        [
            f"# {found.answer}: {found.met} of {counted(len(found.cells), 'cell')} show what is expected of stock",
            "",
            "There is no candidate.",
            "",
            "| scenario | arm | expected | shown | |",
            "|---|---|---|---|---|",
            *rows,
            "",
            *_more(found.cells),
        ]
    )


def _more(items: Sized) -> list[str]:
    """Return how much of a table is not here."""
    hidden = len(items) - _ROWS
    return [f"{hidden} more are in report.html.", ""] if hidden > 0 else []


def _verdict(report: ReportContext) -> list[str]:
    return [
        f"# {report.verdict}: {plain(report.sentence)}",
        "",
        f"**Strongest reason against it:** {plain(report.against)}",
        "",
        *_not_fixed(report),
        *(f"- {plain(reason)}" for reason in report.reasons[:_ROWS]),
        "",
        *(f"{plain(sentence)}\n" for sentence in report.reused),
    ]


def _not_fixed(report: ReportContext) -> list[str]:
    left = report.not_fixed
    if left is None:
        return []
    return [
        f"**Not fixed:** {plain(left.summary)}",
        "",
        *(f"- {plain(each.text)}" for each in left.items[:_ROWS]),
        "",
    ]


def _arms(report: ReportContext) -> list[str]:
    lines = [
        f"| {plain(a.name)} | {a.role} | {plain(a.build.kafka.version or a.build.kafka_version)} "
        f"| `{a.build.jar_sha256[:12]}` | {a.flag} | {plain(a.build.builder)} |"
        for a in report.arms
    ]
    return ["| arm | role | Kafka | raft jar | flag | builder |", "|---|---|---|---|---|---|", *lines, ""]


def _matrix(report: ReportContext) -> list[str]:
    names = " | ".join(plain(arm.name) for arm in report.arms)
    lines = [
        f"| {plain(row.name)} | {' | '.join(map(_cell, row.cells))} | {_effect(row)} |"
        for row in kept(report.rows, _ROWS, _is_odd)
    ]
    return [f"| scenario | {names} | means |", "|---" * (len(report.arms) + 2) + "|", *lines, "", *_more(report.rows)]


def _is_odd(row: MatrixRow) -> bool:
    return any(cell is not None and cell.standing not in ("as claimed", "as expected") for cell in row.cells)


def _cell(cell: CellView | None) -> str:
    if cell is None:
        return "no such arm"
    name = f"({plain(cell.expectation)})" if cell.expectation else ""
    expected = ", expected failure" if cell.standing == "expected failure" else ""
    return f"{cell.sign} {cell.state}{name}{expected}, {cell.counted}"


def _effect(row: MatrixRow) -> str:
    """Return what a scenario means, and that it is no evidence for a claim where there are any."""
    return f"{row.effect}; {row.beside_claims}" if row.beside_claims else row.effect


def _claims(report: ReportContext) -> list[str]:
    if not report.claims:
        return ["No claims were declared."]
    return [f"- **{c.status}** {plain(c.id)}: {plain(c.text)}" for c in report.claims[:_ROWS]]


def plain(text: str) -> str:
    """Return text that Markdown takes literally, on one line and cut."""
    return as_markdown(visible(cut(text, _TEXT)))
