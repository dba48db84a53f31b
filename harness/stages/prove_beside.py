"""Prove the candidate while clusters run: its tests take what these leave of the processors.

What the tests show there counts only where all pass. Whatever else comes of them is asked again when the clusters have
ended, with the host to itself: a test may fail of being held (docs/adr/0034-tests-run-beside-the-clusters.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.processes.background import Background
from harness.base.progress import Aside, Reporter
from harness.base.waiting import wait_until
from harness.engine.quiet import Quiet
from harness.model.proof import ChangedMethod, TestsProof
from harness.model.time_book import TimeKind
from harness.proof.proof_summary import describe_tests
from harness.rundir.directory import RunDirectory
from harness.stages.proof_case import ProofCase, proof_case
from harness.stages.proof_parts import tested
from harness.stages.prove import base_and_candidate, compared, proved_before, write_proof
from harness.stages.timing import Stopwatch, note, noted, timed
from harness.toolbox.toolbox import Toolbox

# Who may not lift them may be on a host that others keep so busy that nothing is left for what gives way: then they
# begin anew, as ordinary processes.
_PATIENCE_SECONDS = 45.0


@dataclass(frozen=True, slots=True)
class Beside:
    """What is known while the tests run: what holds them, and which methods changed; None where the proof says so."""

    quiet: Quiet = nullcontext
    changed_methods: tuple[ChangedMethod, ...] | None = None


@contextmanager
def proving_beside(run_dir: Path, toolbox: Toolbox, reporter: Reporter) -> Iterator[Beside]:
    """Compare the jars, then give a block beside which the tests run; proof.json is there after the block.

    What was proved of this very jar before, all of it in its favour, is there before the block.

    Raises HarnessError as `prove` does; when the block is left by an exception, the tests end and nothing is written.
    """
    directory = RunDirectory(run_dir)
    base, candidate = base_and_candidate(directory.declaration.read())
    reporter.stage(f"proving {candidate.name} against {base.name}, without a cluster")
    with timed(directory, "prove"):
        case = proof_case(directory, base, candidate, toolbox, reporter)
        known = proved_before(case, reporter)
        if known:
            write_proof(case, *known, reporter)
        else:
            with noted(directory, "jars are compared"):
                found = compared(case)
    if known:
        yield Beside(changed_methods=known[0].dropin.changed_methods)
        return
    changed = found.dropin.changed
    tests = _TestsBeside(case, changed, reporter)
    with tests.running() as quiet:
        yield Beside(quiet, found.dropin.changed_methods)
        with timed(directory, "prove"):
            passed = tests.passed()
    with timed(directory, "prove"):
        write_proof(case, found, passed or tested(case, changed, reporter), reporter)


class _TestsBeside:
    def __init__(self, case: ProofCase, changed: frozenset[str], reporter: Reporter) -> None:
        self._case, self._changed, self._reporter = case, changed, reporter
        self._background = Background()
        self._result: Future[TestsProof] = Future()

    @contextmanager
    def running(self) -> Iterator[Quiet]:
        """While the block lasts, the tests run; after it none of their processes is left."""
        with ThreadPoolExecutor(1, thread_name_prefix="tests") as pool:
            self._result = pool.submit(self._test)
            try:
                yield self._background.held
            finally:
                self._background.end()

    def passed(self) -> TestsProof | None:
        """Wait for the tests; return what they showed, None where not all passed or the host has no time for them."""
        # As equals they end in any case: one that hangs is ended by itself.
        patience = math.inf if self._background.lift() else _PATIENCE_SECONDS
        wait_until(self._result.done, patience)  # in steps, so that Ctrl-C is seen
        if not self._result.done() or self._result.exception() or self._result.result().failed:
            self._reporter.report("not all tests passed while clusters ran: all are run again, alone")
            return None
        self._reporter.report(f"run beside the clusters: {describe_tests(self._result.result())}")
        return self._result.result()

    def _test(self) -> TestsProof:
        # Later releases are asked about what fails, which is not decided here.
        case, watch = replace(self._case, later=()), Stopwatch()
        try:
            with self._background.working():
                return tested(case, self._changed, Aside(self._reporter.progress))
        finally:
            note(case.directory, watch, TimeKind.BESIDE, "upstream's tests", None, self._background.held_seconds)
