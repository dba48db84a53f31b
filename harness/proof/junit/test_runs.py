"""Counting tests on a jar, and running them there: forks started, their reports kept and read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import write_bytes
from harness.base.text import cut, visible
from harness.building.java_programs import compiled_probe
from harness.proof.junit.bench import TestBench
from harness.proof.junit.fork_plan import ENGINES, Unit, included
from harness.proof.junit.forks import COUNT_HOOKS, RUN_HOOKS, EndedFork, Jvm, run_launchers
from harness.proof.junit.junit_tests import BadReport, JUnitTest, Status, read_report
from harness.proof.junit.test_outcomes import settle, with_why

_HOOKS = Path(__file__).with_name("Hooks.java")
_HEAD, _TAIL = 1 << 20, 4_000  # bytes of an output
OnProgress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class TestedJar:
    """A raft jar with the tests that go with it; `label` begins the names of its reports."""

    label: str
    jar: Path
    classes: tuple[Path, ...] = ()  # of the series' tests


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs of JUnit with one bench: scratch space that its caller removes, and the folder where reports are kept."""

    bench: TestBench
    scratch: Path
    out: Path
    _numbers: count[int] = field(default_factory=count)

    def count(self, tested: TestedJar, root: Path) -> tuple[JUnitTest, ...]:
        """Return the tests below `root`, a jar or folder of test classes: parameters expanded, and none run.

        Raises HarnessError when the launcher cannot count them.
        """
        arguments = (*(included(engine) for engine in ENGINES), f"--scan-classpath={root}")
        jvm = self._jvm(tested, COUNT_HOOKS)
        (ended,) = run_launchers(jvm, [arguments], self._folder(), 1, lambda _: None)
        try:
            found = tuple(case for report in ended.reports for case in read_report(report))
        except BadReport as error:
            raise _uncounted(tested, f"{error}", ended) from error
        if ended.problem or ended.exit_code or not found:
            raise _uncounted(tested, ended.problem or f"the launcher ended with exit {ended.exit_code}", ended)
        return found

    def run(self, tested: TestedJar, units: Sequence[Unit], on_progress: OnProgress) -> tuple[JUnitTest, ...]:
        """Return how each expected test ended, whatever became of its fork."""
        arguments = [(included(unit.engine), *unit.selectors) for unit in units]
        jvm = self._jvm(tested, RUN_HOOKS)
        ended = run_launchers(jvm, arguments, self._folder(), self.bench.forks, on_progress)
        tests = [self._tests_of(tested, *each) for each in zip(units, ended, strict=True)]
        return tuple(case for cases in tests for case in cases)

    def _jvm(self, tested: TestedJar, hooks: dict[str, str]) -> Jvm:
        bench = self.bench
        classes = compiled_probe(bench.builder, _HOOKS, bench.jars, bench.cache)
        # The tests come first: a jar that brings classes of their names must not run in their place.
        path = (classes, *tested.classes, *bench.jars, tested.jar, *bench.others)
        return Jvm(bench.java, path, hooks, bench.line.logging)

    def _folder(self) -> Path:
        return self.scratch / f"launch-{next(self._numbers)}"

    def _tests_of(self, tested: TestedJar, unit: Unit, ended: EndedFork) -> tuple[JUnitTest, ...]:
        """Keep a fork's reports, and return its tests with those that it left out."""
        problem = ended.problem
        seen: list[JUnitTest] = []
        for report in ended.reports:
            self._keep(tested, report)
            try:
                seen += read_report(report)
            except BadReport as error:
                problem = f"the report of the test JVM is refused: {error}"
        # What ran is not always known: a JVM that ends at once takes along what the launcher has not flushed.
        reason = problem or f"the test JVM ended with exit {ended.exit_code} without a word of it"
        cases = settle(unit.expected, seen, reason, ended.dump or _tail(ended.output))
        cases = with_why(cases, _head(ended.output))
        sound = all(case.status in (Status.PASSED, Status.SKIPPED) for case in cases)
        if sound and (problem or ended.exit_code):
            return (*cases, _unnamed(unit, problem))
        return cases

    def _keep(self, tested: TestedJar, report: Path) -> None:
        kept = self.out / f"{tested.label}-{next(self._numbers)}-{report.name}"
        write_bytes(kept, report.read_bytes())


def _unnamed(unit: Unit, problem: str) -> JUnitTest:
    """Return the failure of a fork whose tests all passed by its report, and which did not end as such a fork does."""
    message = problem or "the launcher says that something failed, and its report names nothing"
    return JUnitTest(unit.engine, unit.expected[0].class_name, "launcher", "", Status.FAILED, message=message)


def _uncounted(tested: TestedJar, why: str, ended: EndedFork) -> HarnessError:
    output = _tail(ended.output).strip().splitlines()
    last = f": {cut(output[-1], 300)}" if output else ""
    return HarnessError(
        f"The tests cannot be counted on {tested.jar}: {why}{last}.",
        "Is this a raft jar of this Kafka version, and does it run on this Java?",
    )


def _head(output: Path) -> str:
    """Return the beginning of what a test JVM printed, where the launcher says which classes it cannot look into."""
    with output.open("rb") as stream:
        return stream.read(_HEAD).decode("utf-8", "replace")


def _tail(output: Path) -> str:
    """Return the end of what a test JVM printed."""
    with output.open("rb") as stream:
        stream.seek(max(0, output.stat().st_size - _TAIL))
        return visible(stream.read().decode("utf-8", "replace"))
