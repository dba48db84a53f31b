"""The log diff as Markdown, short enough for a pull request or a CI step; pure."""

from __future__ import annotations

from collections.abc import Sequence

from harness.model.findings import Contrast, Finding, Significance
from harness.model.log_totals import Totals
from harness.report.diffpage import headline
from harness.report.markdown import plain

_ROWS = 50


def render_diff_markdown(contrasts: Sequence[Contrast], totals: Totals) -> str:
    """Return what differs in each contrast, worst first, without what is noise, and what was not read."""
    notes = [f"- {plain(sentence)}" for sentence in totals.left_out]
    return "\n".join([*(line for each in contrasts for line in _contrast(each, totals)), *notes]) + "\n"


def _contrast(contrast: Contrast, totals: Totals) -> list[str]:
    apart = [finding for finding in contrast.findings if finding.significance is not Significance.WITHIN]
    title = f"### Logs of {plain(contrast.base)} and {plain(contrast.candidate)}"
    rows = [
        "| kind | level | base | candidate | what | noise |",
        "|---|---|--:|--:|---|---|",
        *map(_row, apart[:_ROWS]),
    ]
    hidden = len(apart) - _ROWS
    more = [f"{hidden} more differ.", ""] if hidden > 0 else []
    return [title, "", f"**{headline(contrast, totals)}.**", "", *([*rows, ""] if apart else []), *more]


def _row(finding: Finding) -> str:
    what = " ".join(filter(None, (plain(finding.template), plain(finding.detail))))
    counts = f"{finding.base_count} | {finding.candidate_count}"
    return f"| {finding.kind} | {plain(finding.level)} | {counts} | {what} | {finding.significance} |"
