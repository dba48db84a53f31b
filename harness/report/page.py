"""A page as one file: its template with style and script in it, and a policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from harness.base.paths import data_root
from harness.base.text import visible


def render_page(template: str, *, script: bool = True, **context: object) -> str:
    """Return the page that a template of reports/templates makes of `context`. Equal input gives equal bytes.

    Every value is escaped and made visible. The page needs no network; its only script adds filters.
    """
    reports = data_root() / "reports"
    style = _own_file(reports / "styles" / "report.css")
    code = _own_file(reports / "scripts" / "filter.js") if script else Markup()
    page = _environment(reports / "templates").get_template(template)
    hashes = {"style_hash": _policy_hash(style), "script_hash": _policy_hash(code)}
    return page.render(style=style, script=code, **hashes, **context)


def _own_file(path: Path) -> Markup:
    """Return a style or script of ours, to be put into a page as it is."""
    return Markup(path.read_text(encoding="utf-8"))  # noqa: S704  our own file


def _policy_hash(text: str) -> str:
    """Return what the page's content security policy knows a text by."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache  # templates are compiled once
def _environment(templates: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"soft": soft, "coded": coded}
    return environment


def soft(text: str) -> Markup:
    """Return text that may be broken behind what joins words in a name, so that no word need be broken."""
    return Markup(re.sub(r"(?<=\w)([._/:$=,])(?=\w)", r"\1<wbr>", str(escape(visible(text)))))  # noqa: S704  escaped


def coded(text: str) -> Markup:
    """Return a sentence in which what stands between backticks, a command, is set as such."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(visible(text)))))  # noqa: S704  escaped


def _visible(value: object) -> object:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
