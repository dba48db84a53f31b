"""API and ABI of two jars compared by japicmp, in a JVM of its own."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence, Set
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree

from harness.base.errors import HarnessError
from harness.base.java_failures import failure_in
from harness.base.processes import bare_environment, run
from harness.building.java_programs import QUICK
from harness.model.proof import Difference, Severity
from harness.proof.dropin import rules
from harness.toolbox.java import JavaRuntime

_TIMEOUT_SECONDS = 120
_MOST_BYTES = 64 * 2**20
_MEMBERS = ("constructors/constructor", "methods/method", "fields/field")
_REMOVED = "REMOVED"
_PACKAGE, _OF_PACKAGES = "package_protected", ("class", "constructor", "method", "field")
_OF_THE_CLASS = ("compatibilityChanges", "superclass", "interfaces", "genericTemplates")


def compare_apis(
    java: JavaRuntime, comparer: Path, base: Path, candidate: Path, others: Sequence[Path], visible: Set[str]
) -> tuple[Difference, ...]:
    """Return where code compiled against or written for base breaks, down to what a package shares.

    What is package-private upstream's own tests use, which decide by failing, and another jar's use of it is linkage's
    to see; alone it is a warning. `visible` are the classes of base that any source can name. A candidate that japicmp
    cannot read is a difference too. Raises HarnessError when there is no answer, or none that can be read.
    """
    with tempfile.TemporaryDirectory(prefix="kafka-patch-harness-") as folder:
        report = Path(folder) / "api.xml"
        complaint = _run(java, comparer, base, candidate, others, report)
        if complaint:
            return (rules.API_UNREADABLE.broken(candidate.name, f"its API cannot be compared: {complaint}"),)
        if report.stat().st_size > _MOST_BYTES:
            raise _failed(candidate, "its report is far too long")
        return parse_report(report.read_bytes(), candidate, visible)


def parse_report(content: bytes, candidate: Path, visible: Set[str]) -> tuple[Difference, ...]:
    """Return the incompatibilities of visible classes in japicmp's XML. Raises HarnessError for what is no such report.

    japicmp takes a numbered class, or one within a private class, for part of the package's API.
    """
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise _failed(candidate, "its report declares entities")
    try:
        root = ElementTree.fromstring(content)  # noqa: S314 - declarations are refused above
    except ElementTree.ParseError as error:
        raise _failed(candidate, f"its report is not XML ({error})") from error
    if root.tag != "japicmp":
        raise _failed(candidate, f"its report is a {root.tag}")
    seen = (each for each in root.iterfind("classes/class") if _name(each).replace(".", "/") in visible)
    return tuple(chain.from_iterable(map(_of_class, seen)))


def _of_class(found: ElementTree.Element) -> Iterator[Difference]:
    name = _name(found)
    for part in _OF_THE_CLASS[:1] if found.get("changeStatus") == _REMOVED else _OF_THE_CLASS:
        for each in found.iterfind(part):
            yield from _broken(each, name, found)
    if found.get("changeStatus") == _REMOVED:
        return  # its members went with it
    for path in _MEMBERS:
        for member in found.iterfind(path):
            yield from _broken(member, _named(name, member), member)


def _broken(within: ElementTree.Element, where: str, element: ElementTree.Element) -> Iterator[Difference]:
    for change in within.iter("compatibilityChange"):
        binary, source = (change.get(f"{level}Compatible") == "true" for level in ("binary", "source"))
        if not binary or not source:
            rule = rules.API_SOURCE if binary else _binary(element)
            detail = change.get("type", "changed").lower().replace("_", " ")
            yield rule.broken(where, f"{where}: {detail}", _side(element, "old"), _side(element, "new"))


def _binary(element: ElementTree.Element) -> rules.Rule:
    """Return the rule that a class or a member breaks; what was for its package alone only its package can miss."""
    own = element.tag in _OF_PACKAGES and _PACKAGE in _side(element, "old").split()
    return rules.API_BINARY.weighing(Severity.WARNING) if own else rules.API_BINARY


def _name(found: ElementTree.Element) -> str:
    return found.get("fullyQualifiedName", "")


def _named(owner: str, member: ElementTree.Element) -> str:
    types = ", ".join(each.get("type", "") for each in member.iterfind("parameters/parameter"))
    return f"{owner}.{member.get('name', '')}" + ("" if member.tag == "field" else f"({types})")


def _side(element: ElementTree.Element, side: str) -> str:
    """Return an element's modifiers in one of the two jars; empty where japicmp names none."""
    values = (each.get(f"{side}Value", "") for each in element.iterfind("modifiers/modifier"))
    return " ".join(value.lower() for value in values if value and not value.startswith(("NON_", "n.a.")))


def _run(java: JavaRuntime, comparer: Path, base: Path, candidate: Path, others: Sequence[Path], report: Path) -> str:
    """Have the report written; return what japicmp complains of instead, if it does."""
    path = os.pathsep.join(str(jar.absolute()) for jar in others)
    command = [str(java.java), *QUICK, "-jar", str(comparer), "--only-modified", "--ignore-missing-classes"]
    command += ["-a", "package_protected", "--xml-file", str(report), "--old-classpath", path, "--new-classpath", path]
    command += ["--old", str(base.absolute()), "--new", str(candidate.absolute())]
    try:
        done = run(command, env=bare_environment(), timeout=_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise _failed(candidate, f"no answer within {_TIMEOUT_SECONDS} s") from error
    return "" if done.returncode == 0 and report.is_file() else failure_in(done.stderr or done.stdout)


def _failed(candidate: Path, why: str) -> HarnessError:
    return HarnessError(f"japicmp cannot compare {candidate} with base: {why}.", "Check that the jar is whole.")
