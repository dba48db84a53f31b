"""The differences between two folders of logs as JUnit's cases; pure.

What the second adds at WARN or worse fails, and what was not read is an error.
"""

from __future__ import annotations

from harness.model.findings import WORSE, Contrast, Finding, Significance
from harness.model.log_totals import Totals
from harness.report.junit_xml import Case, CaseResult, Suite, render_junit

SUITE = "log diff"
_NAME = 200
_MOST = 1000


def render_findings(contrast: Contrast, totals: Totals) -> str:
    """Return JUnit XML with one suite: a case per log that was not read whole, then per message type that differs."""
    cases = (*map(_unread, totals.not_whole[:_MOST]), *map(_case, contrast.findings[:_MOST]))
    return render_junit(f"{SUITE}: {contrast.base} against {contrast.candidate}", [Suite(SUITE, cases)])


def result_of(finding: Finding) -> CaseResult:
    """Return FAILED for a line at WARN or worse that the candidate adds beyond the noise; skipped if nobody knows."""
    if finding.level not in WORSE or finding.candidate_count <= finding.base_count:
        return CaseResult.PASSED
    match finding.significance:
        case Significance.BEYOND:
            return CaseResult.FAILED
        case Significance.UNKNOWN:
            return CaseResult.SKIPPED
        case Significance.WITHIN:
            return CaseResult.PASSED


def _unread(log: tuple[str, str]) -> Case:
    name, why = log
    return Case(SUITE, f"read {name}", 0.0, CaseResult.ERROR, why, why)


def _case(finding: Finding) -> Case:
    counts = f"{finding.base_count} → {finding.candidate_count}, {finding.significance}"
    places = (f"see {each.place}" for each in finding.evidence)
    return Case(
        classname=finding.logger or SUITE,
        name=f"{finding.kind} {finding.level} {' '.join(finding.template.split())[:_NAME]}",
        seconds=0.0,
        result=result_of(finding),
        message=f"{counts}: {finding.detail}" if finding.detail else counts,
        story="\n".join((*filter(None, (finding.base_excerpt, finding.candidate_excerpt)), *places)),
    )
