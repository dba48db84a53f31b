"""summary.md of a log diff: how the second folder differs, its weightiest findings first; pure."""

from __future__ import annotations

from harness.model.findings import Contrast, Finding, Significance
from harness.report.diffpage import headline_of
from harness.report.markdown import plain

_ROWS = 30


def render_diff_summary(contrast: Contrast) -> str:
    """Return the summary; what is no more than noise is counted and not listed."""
    apart = [each for each in contrast.findings if each.significance is not Significance.WITHIN]
    hidden = len(contrast.findings) - len(apart[:_ROWS])
    return "\n".join(
        [
            f"# Log diff: {plain(headline_of(contrast))}",
            "",
            "| kind | level | base | candidate | noise | message |",
            "|---|---|---|---|---|---|",
            *map(_row, apart[:_ROWS]),
            "",
            *([f"{hidden} more are in diff.html.", ""] if hidden else []),
        ]
    )


def _row(finding: Finding) -> str:
    return (
        f"| {finding.kind} | {plain(finding.level)} | {finding.base_count} | {finding.candidate_count} "
        f"| {finding.significance} | {plain(finding.template)} |"
    )
