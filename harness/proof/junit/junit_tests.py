"""Single tests as JUnit's XML reports them. The XML comes from a JVM that ran a foreign jar: it is distrusted."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from xml.parsers import expat

from harness.base.text import cut, visible

_MOST_BYTES = 64 * 2**20  # all of upstream's tests make 0.4 MB
_MOST_CASES = 20_000
_NAME, _MESSAGE, _TRACE, _MOST_TEXT = 300, 500, 8_000, 10_000  # characters that are kept
_DISPLAY = re.compile(r"^display-name: (.+)$", re.MULTILINE)
_METHOD = re.compile(r"^unique-id: \S*?/\[(?:method|test-template|property|test-factory):([^\]]+)\]", re.MULTILINE)


class Status(Enum):
    """How a test ended; MISSING: it was expected and has no result."""

    PASSED = auto()
    FAILED = auto()
    SKIPPED = auto()
    MISSING = auto()


@dataclass(frozen=True, slots=True)
class JUnitTest:
    """One test, or one invocation of a parameterized one.

    `engine` is what ran it (`junit-jupiter`, `jqwik`), `name` is unique in its class (`fetches(boolean)[2]`), `method`
    what the launcher selects it by, with parameter types (`fetches(boolean)`), empty when the report does not say;
    `seconds` is wall time. `display` is what the test calls itself, empty when that is its name.
    """

    engine: str
    class_name: str
    name: str
    method: str
    status: Status
    seconds: float = 0.0
    message: str = ""
    trace: str = ""
    display: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What names the test in every run."""
        return self.class_name, self.name


class BadReport(Exception):  # noqa: N818 - a finding about the run
    """A file that is no report of JUnit, or none to be read; its text says why."""


def read_report(path: Path) -> tuple[JUnitTest, ...]:
    """Return the tests in `TEST-<engine>.xml`. Raises BadReport."""
    size = path.stat().st_size
    if size > _MOST_BYTES:
        raise BadReport(f"{path.name} has {size} bytes")
    return parse_report(path.read_bytes(), path.stem.removeprefix("TEST-"))


def parse_report(content: bytes, engine: str) -> tuple[JUnitTest, ...]:
    """Return the tests in an engine's XML, in its order. Raises BadReport for what is not plain, whole XML."""
    reader = _ReportReader(engine)
    try:
        reader.parser.Parse(content, True)
    except expat.ExpatError as error:
        raise BadReport(f"its XML is damaged: {error}") from error
    except ValueError as error:  # a number that is none
        raise BadReport(f"its XML is odd: {visible(str(error))[:200]}") from error
    return tuple(reader.cases)


class _ReportReader:
    """Collects testcase elements; no document type, so no entity can be declared and none expands."""

    def __init__(self, engine: str) -> None:
        self._engine = engine
        self.cases: list[JUnitTest] = []
        self.parser = expat.ParserCreate("utf-8")  # whatever it declares: JUnit writes nothing else
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self._attributes: dict[str, str] | None = None  # of the testcase that is open
        self._problem: tuple[Status, str] = (Status.PASSED, "")
        self._texts: dict[str, str] = {}
        self._element = ""

    def _refuse(self, *_: object) -> None:
        raise BadReport("it declares a document type")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._element = name
        if name == "testcase":
            self._attributes, self._problem, self._texts = attributes, (Status.PASSED, ""), {}
        elif name in ("failure", "error"):
            text = attributes.get("message") or attributes.get("type") or "it says nothing"
            self._problem = (Status.FAILED, text)
        elif name == "skipped":
            self._problem = (Status.SKIPPED, "")

    def _text(self, data: str) -> None:
        text = self._texts.get(self._element, "")
        if self._attributes is not None and len(text) < _MOST_TEXT:
            self._texts[self._element] = text + data

    def _end(self, name: str) -> None:
        self._element = ""
        if name == "testcase" and self._attributes is not None:
            if len(self.cases) == _MOST_CASES:
                raise BadReport(f"it has more than {_MOST_CASES} tests")
            self.cases.append(self._case(self._attributes))
            self._attributes = None

    def _case(self, attributes: dict[str, str]) -> JUnitTest:
        status, message = self._problem
        output = self._texts.get("system-out", "")
        method, display = _METHOD.search(output), _DISPLAY.search(output)
        name = visible(attributes.get("name", "")[:_NAME])
        shown = visible(display.group(1)[:_NAME]) if display else ""
        return JUnitTest(
            engine=self._engine,
            class_name=visible(attributes.get("classname", "")[:_NAME]),
            name=name,
            method=method.group(1) if method else "",
            status=status,
            seconds=_seconds(attributes.get("time", "0")),
            message=cut(visible(message), _MESSAGE),
            trace=cut(visible(self._texts.get("failure") or self._texts.get("error") or ""), _TRACE),
            display="" if shown == name else shown,
        )


def _seconds(text: str) -> float:
    """Return a time as JUnit writes it. Raises ValueError for no number, and for one without an end."""
    seconds = float(text.replace(",", ""))
    if not math.isfinite(seconds):
        raise ValueError(f"a test took {text} seconds")
    return seconds
