"""JUnit XML, as every CI reads it: suites and cases as records, and their rendering; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from xml.etree import ElementTree as ET

from harness.base.text import cut, visible

_TEXT = 2000


class CaseResult(StrEnum):
    """How a case ended, by the element that says so; a passed case has none."""

    PASSED = ""
    FAILED = "failure"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Case:
    """A test case: what it showed in one line, and the story of one that did not pass."""

    classname: str
    name: str
    seconds: float
    result: CaseResult
    message: str
    story: str = ""


@dataclass(frozen=True, slots=True)
class Suite:
    """Cases under one name."""

    name: str
    cases: tuple[Case, ...]


def render_junit(name: str, suites: Sequence[Suite]) -> str:
    """Return the XML; long texts are cut, and it carries no time of day."""
    root = _suite(ET.Element("testsuites"), name, [case for suite in suites for case in suite.cases])
    for suite in suites:
        element = _suite(ET.SubElement(root, "testsuite"), suite.name, suite.cases)
        element.extend(map(_case, suite.cases))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(element: ET.Element, name: str, cases: Sequence[Case]) -> ET.Element:
    def count(result: CaseResult) -> str:
        return str(sum(case.result is result for case in cases))

    element.set("name", visible(name))
    element.set("tests", str(len(cases)))
    element.set("failures", count(CaseResult.FAILED))
    element.set("errors", count(CaseResult.ERROR))
    element.set("skipped", count(CaseResult.SKIPPED))
    element.set("time", f"{sum(case.seconds for case in cases):.3f}")
    return element


def _case(case: Case) -> ET.Element:
    element = ET.Element(
        "testcase", classname=visible(case.classname), name=visible(case.name), time=f"{case.seconds:.3f}"
    )
    message = visible(cut(case.message, _TEXT))
    if case.result is CaseResult.PASSED:
        ET.SubElement(element, "system-out").text = message
    else:
        ET.SubElement(element, case.result.value, message=message).text = visible(cut(case.story, _TEXT))
    return element
