"""The report of a verification without a candidate: whether Kafka as it is shows what is expected of it; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.base.text import counted
from harness.judge.expectations import Met, MetCell, all_met
from harness.report.context import ReportContext
from harness.report.result_matrix import CellView, MatrixRow

_STANDING = {Met.EXPECTED: "as expected", Met.UNEXPECTED: "not as expected", Met.UNDECIDED: "undecided"}


def without_candidate(context: ReportContext, cells: Sequence[MetCell]) -> ReportContext:
    """Return a report's context with the answer to what was asked of Kafka as it is; nothing is said of a rollout."""
    met = sum(cell.met is Met.EXPECTED for cell in cells)
    standing = {(cell.scenario, cell.arm): cell for cell in cells}
    return replace(
        context,
        verdict=str(all_met(cells)),
        sentence=f"{met} of {counted(len(cells), 'cell')} show what is expected of stock. There is no candidate.",
        against="",
        reasons=tuple(str(cell) for cell in cells if cell.met is not Met.EXPECTED),
        product="Kafka as it is",
        question="Does Kafka show what the scenarios expect of it?",
        rows=tuple(_row(row, standing) for row in context.rows),
        noticed=(),
        not_tested=(),
        not_fixed=(),
        inertness=(),
        proof=None,
        reach=None,
        has_candidate=False,
    )


def _row(row: MatrixRow, cells: Mapping[tuple[str, str], MetCell]) -> MatrixRow:
    shown = tuple(each and _cell(each, cells.get((row.name, each.arm))) for each in row.cells)
    return replace(row, effect="", discriminates=True, cells=shown)


def _cell(view: CellView, cell: MetCell | None) -> CellView:
    if cell is None:
        return view
    known = f"known: {cell.known}" if cell.known else ""
    wanted = known if cell.met is Met.EXPECTED else f"{cell.wanted} is expected"
    return replace(view, standing=_STANDING[cell.met], reason=": ".join(filter(None, (view.reason, wanted))))
