"""report.html: one self-contained page that needs no network; its one script only adds filters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.model.operator_changes import OperatorChanges
from harness.model.sparklines import Sparklines
from harness.model.time_book import TimeBook
from harness.model.verdict import VerdictRecord
from harness.report.context import report_context
from harness.report.limits import BUDGET_BYTES, Limits, within_budget
from harness.report.page import render_page
from harness.rundir.journal import Entry


def render_html(
    record: VerdictRecord,
    journals: Mapping[str, Sequence[Entry]],
    budget: int = BUDGET_BYTES,
    history: Sparklines | None = None,
    upgrade: OperatorChanges | None = None,
    times: TimeBook | None = None,
) -> str:
    """Return the page; whatever would take it over `budget` bytes is cut, and the page says so.

    `times` says when what went on, where somebody asked.
    """

    def page_within(limits: Limits) -> str:
        context = report_context(record, journals, limits, history, upgrade, times)
        return render_page("report.html.j2", report=context)

    return within_budget(page_within, budget=budget)
