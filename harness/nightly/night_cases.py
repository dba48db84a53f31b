"""junit.xml of a night: the cases of every verification, and one for each that came to no verdict; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from harness.model.verdict import JudgedRun, JudgedScenario, VerdictRecord
from harness.nightly.judging import ConcludedVerification, NightReport
from harness.nightly.night import VerificationStatus
from harness.nightly.night_summary import NOTHING_TO_DO
from harness.report.junit_xml import Case, CaseResult, Suite, render_junit
from harness.report.run_cases import case_of, is_green

_ANSWERS = {VerificationStatus.HOLD: CaseResult.FAILED, VerificationStatus.INCONCLUSIVE: CaseResult.ERROR}


def render_night_junit(report: NightReport, verdicts: Mapping[str, VerdictRecord]) -> str:
    """Return JUnit XML: suites `verification/scenario`; a waived failure is skipped, with the waiver as its reason."""
    suites = [suite for each in report.verifications for suite in _suites(report, each, verdicts.get(each.planned.id))]
    answer = NOTHING_TO_DO if report.idle else report.outcome
    return render_junit(f"night {report.night.label}: {answer}", [*suites, *_faults(report)])


def _suites(report: NightReport, concluded: ConcludedVerification, record: VerdictRecord | None) -> Iterator[Suite]:
    name = concluded.planned.id
    if record is None:
        result = CaseResult.SKIPPED if concluded.outcome is VerificationStatus.MISSING else CaseResult.ERROR
        yield Suite(name, (Case(name, name, concluded.seconds, result, concluded.sentence),))
        return
    suites = [
        Suite(
            f"{name}/{scenario.name}",
            tuple(_case(report, name, scenario, run) for run in record.runs if run.scenario == scenario.name),
        )
        for scenario in record.scenarios
    ]
    yield from suites
    answer = _ANSWERS.get(concluded.counts_as)
    if answer and is_green(suites):  # costs, logs or the proof, which no run shows
        yield Suite(f"{name}/verdict", (Case(name, f"{name} is {concluded.outcome}", 0.0, answer, concluded.sentence),))


def _case(report: NightReport, verification: str, scenario: JudgedScenario, run: JudgedRun) -> Case:
    case = replace(case_of(scenario, run), classname=f"{verification}.{scenario.name}")
    waiver = report.waived.cells.get((verification, scenario.name, run.arm))
    if waiver is None or case.result is not CaseResult.FAILED:
        return case
    return replace(case, result=CaseResult.SKIPPED, message=f"waived: {waiver}; {case.message}")


def _faults(report: NightReport) -> Iterator[Suite]:
    for number, fault in enumerate(report.waived.faults, 1):
        yield Suite("waivers", (Case("waivers", f"waiver {number}", 0.0, CaseResult.FAILED, fault),))
    for number, doubt in enumerate(report.doubts, 1):
        yield Suite("doubts", (Case("doubts", f"doubt {number}", 0.0, CaseResult.ERROR, doubt),))
