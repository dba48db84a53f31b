"""A verification as JUnit's cases: runs, passed when they show what is claimed or expected of stock, and its answer.

Whatever keeps it from SHIP is a case that is not green, also where no run shows it: costs, logs, the proof, a run that
is missing. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.model.runs import Verdict
from harness.model.verdict import CellState, Check, JudgedRun, JudgedScenario, ReasonSource, VerdictRecord
from harness.report.junit_xml import Case, CaseResult, Suite, render_junit

_SHOWN_BY_RUNS = (ReasonSource.EFFECT, ReasonSource.FLAG)
_WEIGHTS = {Verdict.HOLD: CaseResult.FAILED, Verdict.INCONCLUSIVE: CaseResult.ERROR}
_RESULTS = {
    Check.PASSED: CaseResult.PASSED,
    Check.EXPECTED_FAILURE: CaseResult.PASSED,
    Check.FAILED: CaseResult.FAILED,
    Check.ERROR: CaseResult.ERROR,
    Check.SKIPPED: CaseResult.SKIPPED,
}


def render_runs(record: VerdictRecord) -> str:
    """Return JUnit XML with a suite per scenario and a case per run, and one of what no run shows."""
    suites = [suite_of(record, scenario) for scenario in record.scenarios]
    return render_junit(f"verdict {record.answer}", [*suites, *_of_the_answer(record)])


def is_green(suites: Iterable[Suite]) -> bool:
    """Whether no case failed or could not be carried out."""
    return not any(case.result in (CaseResult.FAILED, CaseResult.ERROR) for suite in suites for case in suite.cases)


def _of_the_answer(record: VerdictRecord) -> Iterator[Suite]:
    """Yield what holds a candidate back, or leaves the answer open, and is the case of no run."""
    told = [each for each in record.reasons if each.source not in _SHOWN_BY_RUNS and each.weight in _WEIGHTS]
    reasons = [
        Case("verdict", f"{each.source} {number}", 0.0, _WEIGHTS[each.weight], each.sentence)
        for number, each in enumerate(told, 1)
        if each.weight
    ]
    missing = [
        Case(scenario.name, f"{scenario.name}[{cell.arm}]", 0.0, CaseResult.ERROR, "It was declared and has no result.")
        for scenario in record.scenarios
        for cell in scenario.cells
        if cell.state is CellState.MISSING
    ]
    if reasons or missing:
        yield Suite("verdict", (*reasons, *missing))


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
