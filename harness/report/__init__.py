"""The report: from a judged run directory to report.html, junit.xml and summary.md."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.base.files import write_text
from harness.base.json import from_json
from harness.journal import read_journal
from harness.report.context import report_context
from harness.report.document import Document
from harness.report.history import read_history
from harness.report.html import render_html
from harness.report.junit import render_junit
from harness.report.markdown import render_markdown
from harness.report.verdict import build_verdict, judge_run, read_verdict, write_verdict

__all__ = ["build_verdict", "judge_run", "read_verdict", "write_reports", "write_verdict"]


def write_reports(run_dir: Path, verdict: Mapping[str, Any]) -> Path:
    """Write junit.xml, summary.md and report.html from `verdict`, the journals and the history; return the page's path.

    `verdict` is the content of verdict.json; another schema is a HarnessError. Equal input gives equal bytes.
    """
    document = from_json(Document, json.dumps(verdict))
    journals = {run.folder: list(read_journal(run_dir / run.folder / "journal.jsonl")) for run in document.runs}
    write_text(run_dir / "junit.xml", render_junit(document))
    write_text(run_dir / "summary.md", render_markdown(report_context(document, journals)))
    return write_text(run_dir / "report.html", render_html(document, journals, history=read_history(run_dir)))
