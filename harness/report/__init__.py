"""The report: from a verdict, the journals and the history to report.html, junit.xml and summary.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.base.files import write_text
from harness.model.verdict import VerdictRecord
from harness.report.context import report_context
from harness.report.html import render_html
from harness.report.log_excerpt import with_excerpts
from harness.report.markdown import render_expectations, render_markdown
from harness.report.run_cases import render_runs
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import Entry, read_undamaged


def write_reports(directory: RunDirectory, record: VerdictRecord) -> Path:
    """Write junit.xml, summary.md and report.html; return the page's path. Equal input gives equal bytes."""
    journals = {run.key.folder: list(read_undamaged(directory.run(run.key).journal)) for run in record.runs}
    write_text(directory.junit, render_runs(record))
    write_text(directory.summary, _summary(record, journals))
    history = directory.sparklines.read_if_exists()
    upgrade = directory.upgrade.changes.read_if_exists()
    quoted = _with_excerpts(directory, record)
    times = directory.times.read() if directory.times.is_whole else None
    page = render_html(quoted, journals, history=history, upgrade=upgrade, times=times)
    return write_text(directory.report, page)


def _summary(record: VerdictRecord, journals: Mapping[str, Sequence[Entry]]) -> str:
    if record.expectations:
        return render_expectations(record.expectations)
    return render_markdown(report_context(record, journals))


def _with_excerpts(directory: RunDirectory, record: VerdictRecord) -> VerdictRecord:
    """Return the verdict with the lines that show why runs went wrong, where nobody kept them."""
    runs = (
        run if run.check.is_fine else replace(run, evidence=with_excerpts(directory.path, run.evidence))
        for run in record.runs
    )
    return replace(record, runs=tuple(runs))
