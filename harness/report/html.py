"""report.html: one self-contained page that needs no network and no script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness.report.context import Limits, ReportContext, report_context
from harness.report.document import Document
from harness.report.timeline import Event
from harness.resources import data_root
from harness.text import visible

BUDGET_BYTES = 2_000_000


def render_html(document: Document, journals: Mapping[str, Sequence[Event]], budget: int = BUDGET_BYTES) -> str:
    """Return the page; whatever would take it over `budget` bytes is cut, and the page says so."""
    limits = Limits()
    page = _render(report_context(document, journals, limits))
    while len(page.encode()) > budget and limits.timelines:
        limits = limits.halved()
        page = _render(report_context(document, journals, limits))
    return page


def _render(context: ReportContext) -> str:
    reports = data_root() / "reports"
    style = _style(reports / "styles" / "report.css")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    template = _environment(reports / "templates").get_template("report.html.j2")
    return template.render(report=context, style=Markup(style), style_hash=digest)  # noqa: S704  our own file


def _style(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _environment(templates: Path) -> Environment:
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
