"""junit.xml of a night: the cases of every verification, and one for each that came to no verdict; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from xml.etree import ElementTree as ET

from harness.base.text import cut, visible
from harness.nightly.judging import NightReport, Told
from harness.nightly.records import Ending
from harness.report.document import Document
from harness.report.junit import render_junit

_COUNTS = {"failures": "failure", "errors": "error", "skipped": "skipped"}
_TEXT = 2000


def render_night_junit(report: NightReport, documents: Mapping[str, Document]) -> str:
    """Return JUnit XML: suites `verification/scenario`; a waived failure is skipped, with the waiver as its reason."""
    suites = [suite for told in report.told for suite in _suites(report, told, documents.get(told.planned.id))]
    root = ET.Element("testsuites", name=f"night {visible(report.night.label)}: {report.ending}")
    root.extend([*suites, *_faults(report)])
    for suite in root:
        _count(suite, [suite])
    _count(root, list(root))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suites(report: NightReport, told: Told, document: Document | None) -> Iterator[ET.Element]:
    name = told.planned.id
    if document is None:
        kind = "skipped" if told.ending is Ending.MISSING else "error"
        yield _single(name, name, kind, told.sentence, told.seconds)
        return
    for suite in ET.fromstring(render_junit(document)):  # noqa: S314 - our own rendering, a line ago
        scenario = suite.get("name", "")
        suite.set("name", f"{name}/{scenario}")
        arms = [run.arm for run in document.runs if visible(run.scenario) == scenario]
        for case, arm in zip(suite, arms, strict=True):
            case.set("classname", f"{name}.{scenario}")
            _waive(report, (name, scenario, arm), case)
        yield suite


def _waive(report: NightReport, key: tuple[str, str, str], case: ET.Element) -> None:
    waiver, failure = report.waived.cells.get(key), case.find("failure")
    if waiver is not None and failure is not None:
        failure.tag = "skipped"
        failure.set("message", visible(cut(f"waived: {waiver}; {failure.get('message', '')}", _TEXT)))


def _faults(report: NightReport) -> Iterator[ET.Element]:
    for number, fault in enumerate(report.waived.faults, 1):
        yield _single("waivers", f"waiver {number}", "failure", fault, 0.0)


def _single(suite: str, case: str, kind: str, message: str, seconds: float) -> ET.Element:
    made = ET.Element("testsuite", name=visible(suite), time=f"{seconds:.3f}")
    told = ET.SubElement(made, "testcase", classname=visible(suite), name=visible(case), time=f"{seconds:.3f}")
    ET.SubElement(told, kind, message=visible(cut(message, _TEXT)))
    return made


def _count(element: ET.Element, suites: list[ET.Element]) -> None:
    cases = [case for suite in suites for case in suite]
    element.set("tests", str(len(cases)))
    for count, tag in _COUNTS.items():
        element.set(count, str(sum(case.find(tag) is not None for case in cases)))
