"""junit.xml of a night: the cases of every verification, and one for each that came to no verdict; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from harness.model.verdict import JudgedRun, JudgedScenario, VerdictRecord
from harness.nightly.judging import ConcludedVerification, NightReport
from harness.nightly.night import VerificationStatus
from harness.report.junit_xml import Case, CaseResult, Suite, render_junit
from harness.report.run_cases import case_of


def render_night_junit(report: NightReport, verdicts: Mapping[str, VerdictRecord]) -> str:
    """Return JUnit XML: suites `verification/scenario`; a waived failure is skipped, with the waiver as its reason."""
    suites = [suite for each in report.verifications for suite in _suites(report, each, verdicts.get(each.planned.id))]
    return render_junit(f"night {report.night.label}: {report.outcome}", [*suites, *_faults(report)])


def _suites(report: NightReport, concluded: ConcludedVerification, record: VerdictRecord | None) -> Iterator[Suite]:
    name = concluded.planned.id
    if record is None:
        result = CaseResult.SKIPPED if concluded.outcome is VerificationStatus.MISSING else CaseResult.ERROR
        yield Suite(name, (Case(name, name, concluded.seconds, result, concluded.sentence),))
        return
    for scenario in record.scenarios:
        runs = (run for run in record.runs if run.scenario == scenario.name)
        yield Suite(f"{name}/{scenario.name}", tuple(_case(report, name, scenario, run) for run in runs))


def _case(report: NightReport, verification: str, scenario: JudgedScenario, run: JudgedRun) -> Case:
    case = replace(case_of(scenario, run), classname=f"{verification}.{scenario.name}")
    waiver = report.waived.cells.get((verification, scenario.name, run.arm))
    if waiver is None or case.result is not CaseResult.FAILED:
        return case
    return replace(case, result=CaseResult.SKIPPED, message=f"waived: {waiver}; {case.message}")


def _faults(report: NightReport) -> Iterator[Suite]:
    for number, fault in enumerate(report.waived.faults, 1):
        yield Suite("waivers", (Case("waivers", f"waiver {number}", 0.0, CaseResult.FAILED, fault),))
