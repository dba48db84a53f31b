"""When a failing test of upstream's does not count against a jar: its reason in words; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from harness.model.proof import FailedTest, TestSuite
from harness.proof.junit.junit_tests import JUnitTest, Status
from harness.proof.junit.related import outermost


def excuse_by_claims(failed: Sequence[FailedTest], reasons: Mapping[str, str]) -> tuple[FailedTest, ...]:
    """Return the failures, excused where a claims file says of the test (`Class#method`) why it changes."""
    return tuple(_excused(each, _claimed(each, reasons)) for each in failed)


def excuse_by_release(
    failed: Sequence[FailedTest], release: str, changed: Set[str], own: Sequence[JUnitTest]
) -> tuple[FailedTest, ...]:
    """Return the failures, excused where another release has changed the test, and the jar passes that.

    It is the release that the jar names, or a later one, whose change the jar may have. `changed` are the outermost
    test classes that it has changed, `own` its tests as they ended on the jar. A test that it has no longer is excused
    where its class is still there and passes; one that did not run is no behaviour that a release changes.
    """
    return tuple(_excused(each, _outdated(each, release, changed, own)) for each in failed)


def excuse_foreign(failed: Sequence[FailedTest]) -> tuple[FailedTest, ...]:
    """Return the failures, those of the series' own tests excused: a jar not made from it may do it another way."""
    reason = "the jar is not made from the series, whose own tests decide only then"
    return tuple(_excused(each, reason) if each.suite is TestSuite.SERIES else each for each in failed)


def names(test: str, class_name: str, case: str) -> bool:
    """Whether `Class#method` names a test; the class may be written without its package, and no parameters are."""
    wanted, _, method = test.partition("#")
    return case.partition("(")[0] == method and (class_name == wanted or class_name.endswith(f".{wanted}"))


def _excused(failed: FailedTest, reason: str) -> FailedTest:
    return replace(failed, excuse=reason) if reason and not failed.excuse else failed


def _claimed(failed: FailedTest, reasons: Mapping[str, str]) -> str:
    if not failed.ran:
        return ""  # that a test changes does not say that it may end the JVM
    found = [reason for test, reason in reasons.items() if names(test, failed.class_name, failed.name)]
    return f"the claims file says that it changes: {found[0]}" if found else ""


def _outdated(failed: FailedTest, release: str, changed: Set[str], own: Sequence[JUnitTest]) -> str:
    """Return why another release's tests excuse a failure: the same test, else its method's, else its class's."""
    if failed.suite is not TestSuite.UPSTREAM or not failed.ran or outermost(failed.class_name) not in changed:
        return ""
    of_class = [case for case in own if case.class_name == failed.class_name]
    method = failed.name.partition("(")[0]
    same = [case for case in of_class if case.name == failed.name]
    same = same or [case for case in of_class if case.name.partition("(")[0] == method]
    if same:
        return f"Kafka {release}'s own version of this test passes on the jar" if _pass(same) else ""
    if not of_class or not _pass(of_class):
        return ""
    return f"Kafka {release} has this test no longer, and its {_simple(failed)} passes on the jar ({_number(of_class)})"


def _pass(cases: Sequence[JUnitTest]) -> bool:
    """Whether all tests that did not skip themselves passed, and one did."""
    ran = [case.status for case in cases if case.status is not Status.SKIPPED]
    return bool(ran) and all(status is Status.PASSED for status in ran)


def _simple(failed: FailedTest) -> str:
    return failed.class_name.rpartition(".")[2]


def _number(cases: Sequence[JUnitTest]) -> str:
    return f"{len(cases)} tests" if len(cases) > 1 else "1 test"
