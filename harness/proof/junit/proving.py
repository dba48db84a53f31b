"""The tests on a jar: counted on base, run on the candidate, and what fails there run on base again."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.text import cut
from harness.building.compiling import first_errors
from harness.model.proof import FailedTest, TestScope, TestsProof, TestSuite
from harness.proof.junit.bench import LaterRelease, TestBench
from harness.proof.junit.excuses import excuse_by_release
from harness.proof.junit.fork_plan import only_classes, units_of
from harness.proof.junit.junit_tests import JUnitTest, Status
from harness.proof.junit.related import changed_classes, changed_tests, outermost, related_tests
from harness.proof.junit.test_outcomes import Key, classes_of, failed_tests, gap_of, unhappy
from harness.proof.junit.test_runs import Runs, TestedJar

Cases = tuple[JUnitTest, ...]
Failures = tuple[FailedTest, ...]
NOT_COMPILED = "tests of the series"  # stands for the class of tests that could not be compiled
NOT_DISCOVERED = "discovery of the tests of the series"
_UNRELATED = "none of upstream's tests is related to what changed"
Progress = Callable[[int, int], None]  # so many tests of so many have ended


def run_tests(
    bench: TestBench, candidate: Path, base: Path, scope: TestScope, out: Path, progress: Progress
) -> TestsProof:
    """Run the tests in `scope` on the candidate's jar; JUnit XML goes to the folder `out`, which is made anew.

    Raises HarnessError when the tests cannot be counted on base: then nothing is known of how many there are.
    """
    began = time.monotonic()
    shutil.rmtree(out, ignore_errors=True)
    if scope is TestScope.NONE:
        return TestsProof(scope)
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="kafka-patch-harness-") as scratch:
        runs = Runs(bench, Path(scratch), out)
        proof = _prove(runs, candidate.absolute(), base.absolute(), scope, progress)
    return replace(proof, seconds=round(time.monotonic() - began, 2))


def _prove(runs: Runs, candidate: Path, base: Path, scope: TestScope, progress: Progress) -> TestsProof:
    control, tested = TestedJar("base", base), TestedJar("candidate", candidate)
    upstream = _in_scope(runs, candidate, base, scope, runs.count(control, runs.bench.released))
    series, own, broken = _series(runs, tested)
    release, theirs, gap = _of_release(runs, candidate, base, scope)
    slow, total = runs.bench.line.slow_tests, len(upstream) + len(own) + len(theirs)

    def ran(who: Runs, jar: TestedJar, cases: Cases, before: int) -> Cases:
        return who.run(jar, units_of(cases, slow), lambda done: progress(before + done, total))

    cases = ran(runs, tested, upstream, 0)
    own_cases = ran(runs, series, own, len(upstream))
    their_cases = ran(release, replace(tested, label="release"), theirs, len(upstream) + len(own))
    failed = failed_tests(TestSuite.UPSTREAM, cases, _again(runs, control, cases))
    excused, unasked = _asked_later(runs, tested, _outdated(runs.bench, failed, their_cases))
    failed = _confirmed(runs, tested, cases, failed, excused)
    return TestsProof(
        scope=scope,
        classes=(
            *classes_of(TestSuite.UPSTREAM, cases),
            *classes_of(TestSuite.SERIES, own_cases),
            *classes_of(TestSuite.RELEASE, their_cases),
        ),
        failed=(
            *failed,
            *failed_tests(TestSuite.SERIES, own_cases, _series_again(runs, control, own_cases)),
            *broken,
            *failed_tests(TestSuite.RELEASE, their_cases, _again(release, control, their_cases)),
        ),
        gap=" ".join(filter(None, (gap_of((*cases, *own_cases, *their_cases)) if cases else _UNRELATED, gap, unasked))),
    )


def _of_release(runs: Runs, candidate: Path, base: Path, scope: TestScope) -> tuple[Runs, Cases, str]:
    """Count the tests of the release that the jar names, on the jar itself; return what to run them with, and a gap."""
    other = runs.bench.other
    if other is None:
        return runs, (), ""
    theirs = replace(runs, bench=replace(runs.bench, jars=other.jars), scratch=runs.scratch / "release")
    try:
        counted = theirs.count(TestedJar("release", candidate), theirs.bench.released)
    except HarnessError as error:
        return theirs, (), f"Kafka {other.release}'s own tests were not run: {error.message}"
    return theirs, _in_scope(theirs, candidate, base, scope, counted), ""


def _outdated(bench: TestBench, failed: Failures, own: Cases) -> Failures:
    """Excuse what the later release that the jar names has changed."""
    other = bench.other
    if other is None or not other.is_later or not failed:
        return failed
    return excuse_by_release(failed, other.release, _changed_by(bench, other.jars), own)


def _changed_by(bench: TestBench, theirs: tuple[Path, ...]) -> frozenset[str]:
    return changed_tests(bench.released, replace(bench, jars=theirs).released)


def _asked_later(runs: Runs, tested: TestedJar, failed: Failures) -> tuple[Failures, str]:
    """Ask later releases' versions of the tests that fail: a jar may have a fix of theirs, whatever it calls itself.

    Return the failures, excused where one passes, and what could not be asked.
    """
    gaps = []
    for later in runs.bench.later:
        classes = {each.class_name for each in failed if each.blocks and each.ran and each.suite is TestSuite.UPSTREAM}
        if not classes:
            break
        try:
            changed, cases = _later_cases(runs, tested, later, classes)
        except HarnessError as error:
            gaps.append(f"Kafka {later.release}'s versions of the failing tests were not asked: {error.message}")
            continue
        failed = excuse_by_release(failed, later.release, changed, cases)
    return failed, " ".join(gaps)


def _later_cases(runs: Runs, tested: TestedJar, later: LaterRelease, classes: Set[str]) -> tuple[frozenset[str], Cases]:
    """Return which test classes a later release has changed, and how those of these classes end on the jar."""
    theirs = replace(runs, bench=replace(runs.bench, jars=later.fetch()), scratch=runs.scratch / later.release)
    changed = _changed_by(runs.bench, theirs.bench.jars)
    asked = {name for name in classes if outermost(name) in changed}
    if not asked:
        return changed, ()
    counted = theirs.count(TestedJar(later.release, tested.jar), theirs.bench.released)
    units = units_of(only_classes(counted, asked), runs.bench.line.slow_tests)
    return changed, theirs.run(replace(tested, label=later.release), units, lambda _: None)


def _confirmed(runs: Runs, tested: TestedJar, cases: Cases, failed: Failures, excused: Failures) -> Failures:
    """Return the excused failures; one that passes when it runs again is no change of behaviour, and is not excused."""
    doubtful = {after.key for before, after in zip(failed, excused, strict=True) if after.excuse != before.excuse}
    units = units_of([case for case in cases if case.key in doubtful], runs.bench.line.slow_tests)
    again = runs.run(replace(tested, label="again"), units, lambda _: None)
    ended = {case.key: case.status for case in again}

    def confirmed(before: FailedTest, after: FailedTest) -> FailedTest:
        if before.key not in doubtful or ended.get(before.key) is Status.FAILED:
            return after
        if ended.get(before.key) is not Status.PASSED:
            return before
        more = "(it passed when it ran again, so that it fails now and then)"
        return replace(before, message=f"{before.message} {more}")

    return tuple(map(confirmed, failed, excused))


def _in_scope(runs: Runs, candidate: Path, base: Path, scope: TestScope, counted: Cases) -> Cases:
    if scope is TestScope.ALL:
        return counted
    changed = runs.bench.changed if runs.bench.changed is not None else changed_classes(base, candidate)
    return only_classes(counted, related_tests(runs.bench.released, changed))


def _series(runs: Runs, tested: TestedJar) -> tuple[TestedJar, Cases, tuple[FailedTest, ...]]:
    """Compile the series' tests for the candidate and count them; what does not compile or load is a failure."""
    if runs.bench.series_tests is None:
        return tested, (), ()
    classes = runs.scratch / "series-candidate"
    problem = _compile(runs, tested.jar, classes)
    if problem:
        return tested, (), (_broken("compilation", problem),)
    series = replace(tested, label="series", classes=(classes,))
    try:
        counted = runs.count(series, classes)
    except HarnessError as error:
        return tested, (), (_broken("discovery", str(error), NOT_DISCOVERED),)
    found = {case.class_name for case in counted}
    lost = [name for name in _test_classes(runs.bench.series_tests) if name not in found]
    return series, counted, tuple(_broken(name, "none of its tests was found", name) for name in lost)


def _again(runs: Runs, control: TestedJar, cases: Sequence[JUnitTest]) -> Mapping[Key, Status]:
    """Run on base what failed on the candidate, and return how it ended there."""
    rerun = runs.run(control, units_of(unhappy(cases), runs.bench.line.slow_tests), lambda _: None)
    return {case.key: case.status for case in rerun}


def _series_again(runs: Runs, control: TestedJar, cases: Sequence[JUnitTest]) -> Mapping[Key, Status]:
    """As `_again`; nothing is known of base where the series' tests do not even compile against it."""
    classes = runs.scratch / "series-base"
    if not unhappy(cases) or _compile(runs, control.jar, classes):
        return {}
    return _again(runs, replace(control, classes=(classes,)), cases)


def _compile(runs: Runs, jar: Path, into: Path) -> str:
    """Compile the series' tests against a jar; return the first errors, or nothing."""
    folder = runs.bench.series_tests
    assert folder is not None
    files = [path.relative_to(folder).as_posix() for path in _sources(folder)]
    class_path = (jar, *runs.bench.jars, *runs.bench.others)
    made = runs.bench.builder.compile(folder, files, class_path, into, runs.bench.line.class_files)
    return "" if made.succeeded else first_errors(made.output)


def _sources(folder: Path) -> list[Path]:
    found = sorted(folder.rglob("*.java"))
    if not found:
        raise HarnessError(f"{folder} holds no Java file.", "Add the series' tests in package folders, or remove it.")
    return found


def _test_classes(folder: Path) -> list[str]:
    """Return the classes that must have tests, by the same rule of names as upstream's."""
    names = (".".join(path.relative_to(folder).with_suffix("").parts) for path in _sources(folder))
    return [name for name in names if name.endswith("Test")]


def _broken(name: str, message: str, class_name: str = NOT_COMPILED) -> FailedTest:
    return FailedTest(TestSuite.SERIES, class_name, name, cut(message, 500), "")
