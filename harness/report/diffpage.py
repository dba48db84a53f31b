"""diff.html: how the logs of two folders differ, as one page that needs no network and no script."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from harness.base.archives import archive_around
from harness.base.text import cut
from harness.logs.read.places import is_address
from harness.model.findings import WORSE, Contrast, FindingKind, Significance
from harness.model.log_totals import FileTotal, Totals
from harness.model.node_logs import file_of
from harness.model.runs import Evidence
from harness.report.differences import ContrastView, FindingContext, contrast_view
from harness.report.limits import Limits, beyond, within_budget
from harness.report.links import Link
from harness.report.page import render_page

_LIMITS = Limits(findings=200, rows=300)


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
    """Everything that the page shows; `against` is what speaks against its headline."""

    headline: str
    tone: str
    against: str
    facts: tuple[tuple[str, str], ...]
    contrast: ContrastView
    repeated: bool
    files: tuple[FileRow, ...]
    hidden_files: int
    read: str
    left_out: tuple[str, ...]
    hidden_left_out: int


def render_diff(contrast: Contrast, totals: Totals, out: Path) -> str:
    """Return the page for the folder `out`, from which files are linked. Equal input gives equal bytes."""
    return within_budget(
        lambda limits: render_page("diff.html.j2", page=diff_page(contrast, totals, out, limits)), _LIMITS
    )


def diff_page(contrast: Contrast, totals: Totals, out: Path, limits: Limits = _LIMITS) -> DiffPage:
    """Return what the page shows."""
    repeated = _is_repeated(contrast)
    known = FindingContext(repeated, "--repeats-dir", link=lambda evidence: _link(evidence, out))
    return DiffPage(
        headline(contrast, totals),
        _tone(contrast, totals),
        cut(_against(contrast, totals), limits.text),
        _facts(contrast, totals),
        contrast_view(contrast, known, limits.findings, limits.text),
        repeated,
        tuple(_file(total, out) for total in totals.files[: limits.rows]),
        beyond(totals.files, limits.rows),
        _read(totals.files),
        tuple(cut(each, limits.text) for each in totals.left_out[: limits.rows]),
        beyond(totals.left_out, limits.rows),
    )


def _is_repeated(contrast: Contrast) -> bool:
    return any(max(len(each.base_runs), len(each.candidate_runs)) > 1 for each in contrast.findings)


def headline(contrast: Contrast, totals: Totals) -> str:
    """Return how two folders differ, never more than the runs can tell, and of which logs that is not known."""
    return "; ".join(filter(None, (_difference(contrast, totals), totals.lacking)))


def _difference(contrast: Contrast, totals: Totals) -> str:
    if not contrast.findings:
        return "No line differs in what was read" if totals.lacking else "No line differs"
    if not _is_repeated(contrast):
        return "They differ; it is not known whether by more than noise"
    known = {finding.significance for finding in contrast.findings}
    if Significance.BEYOND in known:
        return "They differ beyond the noise"
    if known == {Significance.WITHIN}:
        return "They differ only within the noise"
    return "They differ; there are too few repeats to tell this from noise"


def _tone(contrast: Contrast, totals: Totals) -> str:
    """Return in what colour the headline stands: `hold` for warnings beyond the noise, `ship` for nothing beyond it in
    logs that were read whole.
    """
    if all(finding.significance is Significance.WITHIN for finding in contrast.findings):
        return "inconclusive" if totals.lacking else "ship"
    beyond = [finding for finding in contrast.findings if finding.significance is Significance.BEYOND]
    return "hold" if any(finding.level in WORSE for finding in beyond) else "inconclusive"


def _against(contrast: Contrast, totals: Totals) -> str:
    """Return the strongest reason against the headline."""
    if totals.not_whole:
        first = totals.not_whole[0][1]
        return first if len(totals.not_whole) == 1 else f"{totals.lacking}. {first}"
    if contrast.findings and not _is_repeated(contrast):
        return "One run of each side: a difference by chance looks the same as one that the second side causes."
    if totals.left_out:
        return totals.left_out[0]
    if contrast.findings:
        return "Counts and rates tell what differs; they do not say what a line means for a cluster."
    return "Numbers, addresses, paths and ids are masked: lines that differ in nothing else count as the same."


def _facts(contrast: Contrast, totals: Totals) -> tuple[tuple[str, str], ...]:
    """Return how much differs of what, by name: message types by kind, those that warn, and how much was read."""
    found = [finding for finding in contrast.findings if finding.significance is not Significance.WITHIN]
    kinds = [(kind, len({f.template for f in found if f.kind is kind})) for kind in FindingKind]
    warn = len({finding.template for finding in found if finding.level in WORSE})
    return (
        *((str(kind).capitalize(), str(count)) for kind, count in kinds if count),
        ("At WARN or worse", str(warn)),
        ("Files", str(len(totals.files))),
        *((("Not read whole", str(len(totals.not_whole))),) if totals.not_whole else ()),
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
    """Return the link to a log's file, or to its archive; only its text where that lies elsewhere than the page, which
    may be sent to somebody who does not have it.
    """
    file = archive_around(file_of(evidence.path))
    path = Path(os.path.relpath(Path(file).absolute(), out.absolute()))
    is_below = not is_address(file) and path.parts[:1] != ("..",)
    return Link(quote(path.as_posix(), safe="/") if is_below else "", evidence.place)
