"""junit.xml: each run as a test case, passed when it shows what is claimed; pure."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from harness.base.text import cut, visible
from harness.judge.checks import Check
from harness.report.document import Document, RunDoc, ScenarioDoc

_TEXT = 2000


def render_junit(document: Document) -> str:
    """Return JUnit XML with a suite per scenario and a case per run; it carries no time of day."""
    root = ET.Element("testsuites", {"name": f"verdict {document.verdict}", **_counts(document.runs)})
    for scenario in document.scenarios:
        runs = [run for run in document.runs if run.scenario == scenario.name]
        suite = ET.SubElement(root, "testsuite", {"name": visible(scenario.name), **_counts(runs)})
        for run in runs:
            suite.append(_case(scenario, run))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _counts(runs: Sequence[RunDoc]) -> dict[str, str]:
    def count(check: Check) -> str:
        return str(sum(run.check is check for run in runs))

    return {
        "tests": str(len(runs)),
        "failures": count(Check.FAILED),
        "errors": count(Check.ERROR),
        "skipped": count(Check.SKIPPED),
        "time": f"{sum(run.seconds for run in runs):.3f}",
    }


def _case(scenario: ScenarioDoc, run: RunDoc) -> ET.Element:
    name = visible(f"{run.scenario}[{run.arm}-{run.repeat}]")
    case = ET.Element("testcase", classname=visible(run.scenario), name=name, time=f"{run.seconds:.3f}")
    shown = f"{run.outcome}({run.expectation})" if run.expectation else str(run.outcome)
    message = visible(cut(f"{shown}: {run.reason}" if run.reason else shown, _TEXT))
    tag = _tag(run.check)
    if tag:
        told = ET.SubElement(case, tag, message=message)
        told.text = visible(_story(scenario, run))
    else:
        ET.SubElement(case, "system-out").text = message
    return case


def _tag(check: Check) -> str:
    """Return the element that tells a check; a passed case has none."""
    match check:
        case Check.PASSED:
            return ""
        case Check.FAILED:
            return "failure"
        case Check.ERROR:
            return "error"
        case Check.SKIPPED:
            return "skipped"


def _story(scenario: ScenarioDoc, run: RunDoc) -> str:
    cell = next((cell for cell in scenario.cells if cell.arm == run.arm), None)
    expected = f"claimed: {' and '.join(cell.expected)}" if cell and cell.expected else ""
    places = [f"see {e.path}:{e.line}" if e.line else f"see {e.path}" for e in run.evidence]
    again = f"again: {cell.rerun}" if cell else ""
    return cut("\n".join(filter(None, (expected, *places, again))), _TEXT)
