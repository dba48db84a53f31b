"""The report: from a judged run directory to report.html, junit.xml and summary.md."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.base.files import write_text
from harness.base.json import from_json
from harness.report.context import report_context
from harness.report.document import Document
from harness.report.html import render_html
from harness.report.junit import render_junit
from harness.report.markdown import render_markdown
from harness.report.verdict import build_verdict, judge_run, read_verdict, write_verdict
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import read_journal

__all__ = ["build_verdict", "judge_run", "read_verdict", "write_reports", "write_verdict"]


def write_reports(run_dir: Path, verdict: Mapping[str, Any]) -> Path:
    """Write junit.xml, summary.md and report.html from `verdict`, the journals and the history; return the page's path.

    `verdict` is the content of verdict.json; another schema is a HarnessError. Equal input gives equal bytes.
    """
    document = from_json(Document, json.dumps(verdict))
    directory = RunDirectory(run_dir)
    journals = {run.folder: list(read_journal(directory.run(run.key).journal)) for run in document.runs}
    write_text(directory.junit, render_junit(document))
    write_text(directory.summary, render_markdown(report_context(document, journals)))
    history = directory.sparklines.read_if_exists()
    return write_text(directory.report, render_html(document, journals, history=history))
