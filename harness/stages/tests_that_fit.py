"""Tests of upstream's that do not fit a jar: they go by what nobody but the jar itself can miss, and has changed; pure.

A back-port often gives a constructor of an internal class one more parameter, renames such a class, or gives an
interface a method, and changes the tests that go by it. On nodes nobody can miss what was there: that no other jar uses
it the drop-in proof has shown. Such tests say nothing of the jar.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from harness.base.text import counted, listed
from harness.model.proof import Difference, FailedTest, TestsProof, TestSuite
from harness.stages.tests_weighed import with_gap
from harness.stages.what_nobody_misses import Thing, missed_by_nobody

_MOST_NAMED = 3
_NOBODY = "which changed and which no other jar uses"


def fitted(tests: TestsProof, differences: Iterable[Difference]) -> TestsProof:
    """Return what tests say; failures to link to what changed and nobody else can miss are excused, and a gap."""
    changed = missed_by_nobody(differences)
    why = [_unfit(each, changed) for each in tests.failed]
    unfit = [thing for thing in why if thing]
    if not unfit:
        return tests
    failed = tuple(_excused(each, thing) for each, thing in zip(tests.failed, why, strict=True))
    missed = listed(sorted({thing.title for thing in unfit}), _MOST_NAMED)
    says = (
        f"{len(unfit)} of {counted(tests.count, 'test')} do not apply to the jar: they depend on {missed}, {_NOBODY}."
    )
    return with_gap(replace(tests, failed=failed), says)


def _unfit(failed: FailedTest, changed: Sequence[Thing]) -> Thing | None:
    """Return what a test died for, by the JVM's words; None where it failed otherwise, or is excused already."""
    if failed.suite is TestSuite.SERIES or failed.excuse:
        return None
    # The trace of a test that did not run is the end of its JVM's output, in which other tests have their words.
    said = f"{failed.message}\n{failed.trace}" if failed.ran else failed.message
    return next((thing for thing in changed if thing.is_why(said)), None)


def _excused(failed: FailedTest, thing: Thing | None) -> FailedTest:
    return replace(failed, excuse=f"it depends on {thing.title}, {_NOBODY}") if thing else failed
