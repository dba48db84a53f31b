"""diff.html: how the logs of two folders differ, as one page that needs no network and no script."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from harness.base.archives import archive_around
from harness.base.text import cut
from harness.model.findings import WORSE, Contrast, FindingKind, Significance
from harness.model.log_totals import FileTotal, Totals
from harness.model.node_logs import file_of
from harness.model.runs import Evidence
from harness.report.differences import ContrastView, FindingContext, contrast_view
from harness.report.links import Link
from harness.report.page import render_page

_MOST = 200
_MOST_FILES = 300
_TEXT = 700


@dataclass(frozen=True, slots=True)
class FileRow:
    """A log file and what was read of it."""

    link: Link
    lines: int
    events: int
    unparsed: int
    pattern: str


@dataclass(frozen=True, slots=True)
class DiffPage:
    """Everything that the page shows; `verdict` is the headline, `runs` how many runs each side has."""

    headline: str
    tone: str
    facts: tuple[tuple[str, str], ...]
    contrast: ContrastView
    repeated: bool
    files: tuple[FileRow, ...]
    hidden_files: int
    read: str
    left_out: tuple[str, ...]


def render_diff(contrast: Contrast, totals: Totals, out: Path) -> str:
    """Return the page for the folder `out`, from which files are linked. Equal input gives equal bytes."""
    return render_page("diff.html.j2", page=diff_page(contrast, totals, out))


def diff_page(contrast: Contrast, totals: Totals, out: Path) -> DiffPage:
    """Return what the page shows."""
    repeated = _is_repeated(contrast)
    known = FindingContext(repeated, "--repeats-dir", link=lambda evidence: _link(evidence, out))
    return DiffPage(
        headline(contrast),
        _tone(contrast),
        _facts(contrast, totals),
        contrast_view(contrast, known, _MOST, _TEXT),
        repeated,
        tuple(_file(total, out) for total in totals.files[:_MOST_FILES]),
        max(len(totals.files) - _MOST_FILES, 0),
        _read(totals.files),
        tuple(cut(each, _TEXT) for each in totals.left_out),
    )


def _is_repeated(contrast: Contrast) -> bool:
    return any(max(len(each.base_runs), len(each.candidate_runs)) > 1 for each in contrast.findings)


def headline(contrast: Contrast) -> str:
    """Return in one clause how two folders differ, and never more than the runs can tell."""
    if not contrast.findings:
        return "No line differs"
    if not _is_repeated(contrast):
        return "They differ; by how much more than noise is not known"
    known = {finding.significance for finding in contrast.findings}
    if Significance.BEYOND in known:
        return "They differ beyond the noise"
    if known == {Significance.WITHIN}:
        return "They differ no more than by noise"
    return "They differ; these repeats are too few to separate it from noise"


def _tone(contrast: Contrast) -> str:
    """Return in what colour the headline stands: `ship` for nothing beyond the noise, `hold` for warnings beyond it."""
    if all(finding.significance is Significance.WITHIN for finding in contrast.findings):
        return "ship"
    beyond = [finding for finding in contrast.findings if finding.significance is Significance.BEYOND]
    return "hold" if any(finding.level in WORSE for finding in beyond) else "inconclusive"


def _facts(contrast: Contrast, totals: Totals) -> tuple[tuple[str, str], ...]:
    """Return how much differs of what, by name: message types by kind, those that warn, and how much was read."""
    found = [finding for finding in contrast.findings if finding.significance is not Significance.WITHIN]
    kinds = [(kind, len({f.template for f in found if f.kind is kind})) for kind in FindingKind]
    warn = len({finding.template for finding in found if finding.level in WORSE})
    return (
        *((str(kind).capitalize(), str(count)) for kind, count in kinds if count),
        ("At WARN or worse", str(warn)),
        ("Files", str(len(totals.files))),
        ("Events", f"{sum(file.events for file in totals.files):,}"),
    )


def _read(files: Sequence[FileTotal]) -> str:
    megabytes = sum(file.bytes for file in files) / 1e6
    return (
        f"{len(files)} files, {megabytes:,.1f} MB, {sum(file.events for file in files):,} events; "
        f"{sum(file.unparsed_lines for file in files):,} lines before a first header"
    )


def _file(total: FileTotal, out: Path) -> FileRow:
    link = _link(Evidence(total.file), out)
    return FileRow(link, total.lines, total.events, total.unparsed_lines, total.pattern)


def _link(evidence: Evidence, out: Path) -> Link:
    """Return the link from the folder of the page to a log's file, or to its archive; either may lie anywhere."""
    line = f":{evidence.line}" if evidence.line else ""
    path = os.path.relpath(Path(archive_around(file_of(evidence.path))).absolute(), out.absolute())
    return Link(quote(Path(path).as_posix(), safe="/"), f"{evidence.path}{line}")
