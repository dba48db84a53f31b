"""What changes between two Kafkas as JUnit's cases: what breaks something of the operator's own fails; pure."""

from __future__ import annotations

from harness.model.operator_changes import Area, Change, OperatorChanges, Weight
from harness.report.junit_xml import Case, CaseResult, Suite, render_junit


def render_changes(changes: OperatorChanges) -> str:
    """Return JUnit XML with a suite per area and a case per change that breaks, or concerns the operator's files."""
    suites = (Suite(area, _cases(changes, area)) for area in Area)
    return render_junit(f"{changes.base} → {changes.candidate}", [suite for suite in suites if suite.cases])


def _cases(changes: OperatorChanges, area: Area) -> tuple[Case, ...]:
    found = (each for each in changes.changes if each.area is area)
    return tuple(_case(each) for each in found if each.used or each.weight is Weight.BREAKS)


def _case(change: Change) -> Case:
    return Case(
        classname=change.where or change.area,
        name=change.subject,
        seconds=0.0,
        result=_result(change),
        message=change.means,
        story="\n".join(
            (f"{change.base} → {change.candidate}", *(f"see {use.file}:{use.line}" for use in change.used))
        ),
    )


def _result(change: Change) -> CaseResult:
    """Return FAILED for what breaks for everybody or in a file of the operator's; skipped where no file names it."""
    if change.weight is not Weight.BREAKS:
        return CaseResult.PASSED
    return CaseResult.FAILED if change.used or change.by_default else CaseResult.SKIPPED
