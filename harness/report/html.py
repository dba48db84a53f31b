"""report.html: one self-contained page that needs no network; its one script only adds filters."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness.base.paths import data_root
from harness.base.text import visible
from harness.model.sparklines import Sparklines
from harness.model.verdict import VerdictRecord
from harness.report.context import Limits, ReportContext, report_context
from harness.rundir.journal import Entry

BUDGET_BYTES = 2_000_000


def render_html(
    record: VerdictRecord,
    journals: Mapping[str, Sequence[Entry]],
    budget: int = BUDGET_BYTES,
    history: Sparklines | None = None,
) -> str:
    """Return the page; whatever would take it over `budget` bytes is cut, and the page says so."""
    limits = Limits()
    page = _render(report_context(record, journals, limits, history))
    while len(page.encode()) > budget and limits.timelines:
        limits = limits.halved()
        page = _render(report_context(record, journals, limits, history))
    return page


def _render(context: ReportContext) -> str:
    reports = data_root() / "reports"
    style, script = own_file(reports / "styles" / "report.css"), own_file(reports / "scripts" / "filter.js")
    template = template_environment(reports / "templates").get_template("report.html.j2")
    hashes = {"style_hash": policy_hash(style), "script_hash": policy_hash(script)}
    return template.render(report=context, style=style, script=script, **hashes)


def own_file(path: Path) -> Markup:
    """Return a style or script of ours, to be put into a page as it is."""
    return Markup(path.read_text(encoding="utf-8"))  # noqa: S704  our own file


def policy_hash(text: str) -> str:
    """Return what the page's content security policy knows a text by."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def template_environment(templates: Path) -> Environment:
    """Return an environment in which every value is escaped and made visible, whatever template shows it."""
    return Environment(
        loader=FileSystemLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _shown(value: object) -> object:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
