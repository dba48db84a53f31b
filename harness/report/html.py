"""report.html: one self-contained page that needs no network; its one script only adds filters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.model.operator_changes import OperatorChanges
from harness.model.sparklines import Sparklines
from harness.model.time_book import TimeBook
from harness.model.verdict import VerdictRecord
from harness.report.context import Limits, report_context
from harness.report.page import render_page
from harness.rundir.journal import Entry

BUDGET_BYTES = 2_000_000


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

    limits = Limits()
    page = page_within(limits)
    while len(page.encode()) > budget and limits.timelines:
        limits = limits.halved()
        page = page_within(limits)
    return page
