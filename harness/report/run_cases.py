"""The runs of a verification as JUnit's cases: passed when they show what is claimed, or expected of stock; pure."""

from __future__ import annotations

from harness.model.verdict import Check, JudgedRun, JudgedScenario, VerdictRecord
from harness.report.junit_xml import Case, CaseResult, Suite, render_junit

_RESULTS = {
    Check.PASSED: CaseResult.PASSED,
    Check.EXPECTED_FAILURE: CaseResult.PASSED,
    Check.FAILED: CaseResult.FAILED,
    Check.ERROR: CaseResult.ERROR,
    Check.SKIPPED: CaseResult.SKIPPED,
}


def render_runs(record: VerdictRecord) -> str:
    """Return JUnit XML with a suite per scenario and a case per run."""
    return render_junit(f"verdict {record.answer}", [suite_of(record, scenario) for scenario in record.scenarios])


def suite_of(record: VerdictRecord, scenario: JudgedScenario) -> Suite:
    """Return the runs of a scenario as a suite."""
    return Suite(scenario.name, tuple(case_of(scenario, run) for run in record.runs if run.scenario == scenario.name))


def case_of(scenario: JudgedScenario, run: JudgedRun) -> Case:
    """Return a run as a case; one that failed as the claims say passes and says so, and so does one of before."""
    expected = "expected failure: " if run.check is Check.EXPECTED_FAILURE else ""
    return Case(
        classname=run.scenario,
        name=f"{run.scenario}[{run.arm}-{run.repeat}]",
        seconds=0.0 if run.origin else run.seconds,
        result=_RESULTS[run.check],
        message=expected + run.summary + ("; taken over from an earlier verification" if run.origin else ""),
        story=_story(scenario, run),
    )


def _story(scenario: JudgedScenario, run: JudgedRun) -> str:
    cell = scenario.cell(run.arm)
    expected = f"expected: {' and '.join(map(str, cell.expected))}" if cell and cell.expected else ""
    places = [f"see {each.place}" for each in run.evidence]
    again = f"again: {cell.rerun}" if cell else ""
    return "\n".join(filter(None, (expected, *places, again)))
