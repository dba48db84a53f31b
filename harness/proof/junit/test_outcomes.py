"""What the tests say of the jar: expected against seen, and the candidate's failures against base's; pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from harness.base.text import cut, visible
from harness.model.proof import DID_NOT_RUN, FailedTest, TestClass, TestSuite
from harness.proof.junit.junit_tests import JUnitTest, Status

Key = tuple[str, str]
_RAN = (Status.PASSED, Status.FAILED)
_MOST_SAID = 600  # characters
_LINE = 10_000  # of the launcher's output


def settle(
    expected: Sequence[JUnitTest], seen: Sequence[JUnitTest], reason: str, trace: str = ""
) -> tuple[JUnitTest, ...]:
    """Return every test that was seen and every one that was expected and was not: MISSING, for this reason.

    A test that the report names twice counts as failed if either did.
    """
    by_key: dict[Key, JUnitTest] = {}
    for case in seen:
        known = by_key.get(case.key)
        by_key[case.key] = known if known and known.status is Status.FAILED else case
    missed = [case for case in expected if case.key not in by_key]
    message = f"{DID_NOT_RUN}{reason}"
    return (
        *by_key.values(),
        *(replace(each, status=Status.MISSING, message=message, trace=trace) for each in missed),
    )


def with_why(cases: Iterable[JUnitTest], output: str) -> tuple[JUnitTest, ...]:
    """Return tests, the missing ones with what the launcher said in its output of their own class, where it said any.

    That is why it found no test there: a class that does not link has none.
    """
    lines = output.split("\n")
    said = [(line, why[:_LINE]) for line, why in pairwise(lines) if why and _says_none_was_found(line)]
    return tuple(_with_why(case, said) if case.status is Status.MISSING else case for case in cases)


def _with_why(case: JUnitTest, said: Sequence[tuple[str, str]]) -> JUnitTest:
    found = next((why for line, why in said if f"'{case.class_name}'" in line), None)
    if found is None:
        return case
    why = visible(found)
    return replace(case, message=cut(f"{DID_NOT_RUN}no test is found in its class: {why}", _MOST_SAID), trace=why)


def _says_none_was_found(line: str) -> bool:
    """Whether the launcher says of a class that it found no test there; why is in the next line."""
    return "Resolution of " in line and line.endswith(" failed")


def classes_of(suite: TestSuite, cases: Iterable[JUnitTest]) -> tuple[TestClass, ...]:
    """Return the figures of each class, by name; a test without a result is one of its failures."""
    groups: dict[str, list[JUnitTest]] = defaultdict(list)
    for case in cases:
        groups[case.class_name].append(case)
    return tuple(_class(suite, name, groups[name]) for name in sorted(groups))


def failed_tests(suite: TestSuite, cases: Sequence[JUnitTest], on_base: Mapping[Key, Status]) -> tuple[FailedTest, ...]:
    """Return what failed, in order; the missing tests of a class make one entry with their number.

    `on_base` is how the same tests ended on base; what it does not name did not run there.
    """
    failed = [_failed(suite, case, _verdict([case], on_base)) for case in cases if case.status is Status.FAILED]
    missing: dict[str, list[JUnitTest]] = defaultdict(list)
    for case in cases:
        if case.status is Status.MISSING:
            missing[case.class_name].append(case)
    for group in missing.values():
        name = group[0].name if len(group) == 1 else f"{len(group)} tests, {group[0].name} among them,"
        failed.append(_failed(suite, replace(group[0], name=name), _verdict(group, on_base)))
    return tuple(failed)


def unhappy(cases: Iterable[JUnitTest]) -> tuple[JUnitTest, ...]:
    """Return the tests that failed or are missing."""
    return tuple(case for case in cases if case.status in (Status.FAILED, Status.MISSING))


def gap_of(cases: Iterable[JUnitTest]) -> str:
    """Return in a sentence which tests chose not to run; those are no pass."""
    skipped = Counter(case.class_name for case in cases if case.status is Status.SKIPPED)
    if not skipped:
        return ""
    return f"{skipped.total()} tests were skipped by their own conditions: {', '.join(sorted(skipped))}"


def _class(suite: TestSuite, name: str, cases: Sequence[JUnitTest]) -> TestClass:
    return TestClass(
        suite=suite,
        name=name,
        tests=len(cases),
        failures=len(unhappy(cases)),
        skipped=sum(case.status is Status.SKIPPED for case in cases),
        seconds=round(sum(case.seconds for case in cases), 3),
        methods=tuple(sorted({case.name.partition("(")[0] for case in cases if case.status in _RAN})),
    )


def _failed(suite: TestSuite, case: JUnitTest, fails_on_base: bool | None) -> FailedTest:
    return FailedTest(suite, case.class_name, case.name, case.message, case.trace, fails_on_base, display=case.display)


def _verdict(cases: Sequence[JUnitTest], on_base: Mapping[Key, Status]) -> bool | None:
    """Whether base fails all of these too; None where base, too, left no answer: that excuses nobody."""
    answers = [on_base.get(case.key, Status.MISSING) for case in cases]
    if Status.PASSED in answers:
        return False
    return True if all(answer is Status.FAILED for answer in answers) else None
