"""JaCoCo's command line: from execution data and class files to the lines and methods that were run."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.parsers import expat

from harness.base.archives import extract, open_archive
from harness.base.errors import HarnessError
from harness.building.java_programs import NoAnswer, answer_of
from harness.coverage.agent import outermost_class
from harness.toolbox.java import JavaRuntime

_SECONDS = 120
_MOST_BYTES = 64 * 2**20  # the report of the whole raft module has 1 MB

# Whether each line that holds instructions was run, by source file (`org/apache/kafka/raft/QuorumConfig.java`).
LineHits = Mapping[str, Mapping[int, bool]]
MethodName = tuple[str, str, str]  # the class, as class files name it; name; descriptor


@dataclass(frozen=True, slots=True)
class Hits:
    """What was run: lines by source file, and whether each method was entered."""

    lines: LineHits
    methods: Mapping[MethodName, bool]


@dataclass(frozen=True, slots=True)
class Jacoco:
    """The runtime that starts JaCoCo's command line, and its jar."""

    java: JavaRuntime
    cli: Path


def read_hits(tools: Jacoco, data: Sequence[Path], jar: Path, classes: Sequence[str]) -> Hits:
    """Return what of a jar's classes was run, by execution data files; with none of them, nothing was.

    `classes` are outermost ones (`org/apache/kafka/raft/QuorumConfig`). Raises HarnessError when JaCoCo fails.
    """
    with tempfile.TemporaryDirectory(prefix="kafka-patch-harness-") as folder:
        class_files, report = Path(folder) / "classes", Path(folder) / "report.xml"
        class_files.mkdir()
        _extract(jar, classes, class_files)
        files = ["--classfiles", str(class_files), "--xml", str(report)]
        words = ("-jar", str(tools.cli), "report", *map(str, data), *files)
        try:
            said = answer_of(tools.java, *words, seconds=_SECONDS)
        except NoAnswer as error:
            raise _failed(str(error)) from error
        if "does not match" in said:  # its data are of other bytes of a class, which would count as not run
            raise _failed("the nodes ran another jar than the one that lies in the run directory")
        return parse_report(_content_of(report))


def parse_report(xml: bytes) -> Hits:
    """Return the lines and methods of a JaCoCo XML report; a line is run when any instruction of it was.

    Its DOCTYPE names a DTD, which is not fetched; one that declares entities is refused. Raises HarnessError.
    """
    found = _Report()
    parser = expat.ParserCreate()
    parser.StartElementHandler = found.start
    parser.EndElementHandler = found.end
    parser.EntityDeclHandler = _refuse_entity
    try:
        parser.Parse(xml, True)
    except (expat.ExpatError, KeyError, ValueError) as error:
        raise _failed(f"its report cannot be read: {error}") from error
    return Hits(found.files, found.methods)


class _Report:
    """Collects lines and methods from the elements of a report."""

    def __init__(self) -> None:
        self.files: dict[str, dict[int, bool]] = {}
        self.methods: dict[MethodName, bool] = {}
        self._package = self._file = self._class = ""
        self._method: MethodName | None = None

    def start(self, element: str, attributes: dict[str, str]) -> None:
        if element == "package":
            self._package = attributes["name"]
        elif element == "sourcefile":
            self._file = "/".join(filter(None, (self._package, attributes["name"])))
        elif element == "line":
            lines = self.files.setdefault(self._file, {})
            lines[int(attributes["nr"])] = int(attributes["ci"]) > 0
        elif element == "class":
            self._class = attributes["name"]
        elif element == "method":
            self._method = (self._class, attributes["name"], attributes["desc"])
            self.methods[self._method] = False
        elif element == "counter" and self._method:
            self.methods[self._method] |= int(attributes["covered"]) > 0

    def end(self, element: str) -> None:
        if element == "method":  # the counters of its class come after it
            self._method = None


def _refuse_entity(name: str, *_: object) -> None:
    raise ValueError(f"it declares the entity {name}")


def _extract(jar: Path, classes: Sequence[str], into: Path) -> None:
    wanted = frozenset(classes)
    with open_archive(jar) as archive:
        for entry in archive.infolist():
            if outermost_class(entry.filename) in wanted:
                extract(archive, entry, into / entry.filename)


def _content_of(report: Path) -> bytes:
    if not report.is_file() or report.stat().st_size > _MOST_BYTES:
        raise _failed(f"it wrote no report of at most {_MOST_BYTES} bytes")
    return report.read_bytes()


def _failed(why: str) -> HarnessError:
    return HarnessError(f"JaCoCo could not say which lines were run: {why}.")
