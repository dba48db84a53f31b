"""What tests on a jar come to: which failures count against it, and what becomes of a test that a claim names; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from harness.model.proof import TestsProof, TestStanding
from harness.proof.junit.excuses import excuse_by_claims, excuse_foreign, names
from harness.proof.junit.proving import NOT_COMPILED


def excused(tests: TestsProof, reasons: Mapping[str, str], binding: bool) -> TestsProof:
    """Return what tests say, with the reasons why failures do not count.

    `reasons` are those of the claims file, by test; without `binding` the series' own tests are only shown.
    """
    failed = excuse_by_claims(tests.failed, reasons)
    return replace(tests, failed=failed if binding else excuse_foreign(failed))


def forgiving_foreign(tests: TestsProof, binding: bool) -> TestsProof:
    """Return what tests say of a jar that somebody made: it may do the same by other members than ours.

    That the series' own tests do not compile against it is no failure then. It is a gap, and where they are `binding`,
    since the jar is made as the series is, they are missing.
    """
    unmade = [failed for failed in tests.failed if failed.class_name == NOT_COMPILED]
    if not unmade:
        return tests
    left = replace(tests, failed=tuple(failed for failed in tests.failed if failed not in unmade))
    why = f"The series' own tests do not fit this jar, which does it another way: {unmade[0].message}"
    return replace(left, missing=" ".join(filter(None, (tests.missing, why)))) if binding else with_gap(left, why)


def with_gap(tests: TestsProof, gap: str) -> TestsProof:
    """Return what tests say, with one more sentence on what could not be run."""
    return replace(tests, gap=" ".join(filter(None, (tests.gap, gap))))


def needless(tests: TestsProof, reasons: Mapping[str, str]) -> tuple[str, ...]:
    """Return, in sentences, which tests a claims file calls changed by design although they pass on the jar."""
    return tuple(
        f"the claims file says that {test} changes, and it passes: the entry can go"
        for test in reasons
        if standing_of(test, tests) is TestStanding.PASSED
    )


def standing_of(name: str, tests: TestsProof) -> TestStanding:
    """Return what became of `Class#method`; the class may be written without its package."""
    if failures := [failed for failed in tests.failed if names(name, failed.class_name, failed.name)]:
        return TestStanding.FAILED if any(failed.blocks for failed in failures) else TestStanding.SAYS_NOTHING
    ran = any(names(name, each.name, method) for each in tests.classes for method in each.methods)
    return TestStanding.PASSED if ran else TestStanding.NOT_RUN
