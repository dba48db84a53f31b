"""What upstream's tests said of this very jar before: taken over where all of them passed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.json import to_json
from harness.base.progress import Reporter
from harness.base.recordfile import RecordFile
from harness.base.text import counted
from harness.model.proof import TestsProof
from harness.model.reuse import Origin
from harness.rundir.kept_results import DamagedEntryError, files_below, move_below
from harness.stages.kept import kept_in, origin_now
from harness.stages.proof_case import ProofCase
from harness.stages.reuse_digests import digest_of_tests, surroundings

_RECORD, _JUNIT = "tests.json", "junit"


def take_tests(case: ProofCase, changed: Collection[str], reporter: Reporter) -> TestsProof | None:
    """Return what the tests said of this very jar before, with their JUnit XML put into the run directory.

    None where nobody knows, or where everything is to be done afresh; a damaged entry is said to be so.
    """
    if case.fresh or not case.tests:
        return None
    try:
        with kept_in(case.cache).taken(_digest(case, changed), case.directory.path) as found:
            taken = _taken(case, *found) if found else None
    except DamagedEntryError as error:
        reporter.report(f"the tests are run anew. {error}")
        return None
    if taken and taken.origin:
        passed = f"{counted(taken.count, 'test')} passed on this very jar on {taken.origin.minute}"
        reporter.report(f"{passed} in {taken.origin.made_in}: taken over")
    return taken


def _taken(case: ProofCase, origin: Origin, copies: Path) -> TestsProof:
    try:
        known = RecordFile(copies / _RECORD, TestsProof).read()
    except HarnessError as error:
        raise _refused(case, origin, error.message) from error
    if not is_worth_keeping(known) or known.scope is not case.scope:
        raise _refused(case, origin, "it says other than that all tests passed")
    if not (copies / _JUNIT).is_dir():
        raise _refused(case, origin, "their reports are lacking")
    out = case.directory.proof(case.candidate.name).junit
    move_below(copies / _JUNIT, out)
    return replace(known, origin=origin, report=out.relative_to(case.directory.path).as_posix())


def _refused(case: ProofCase, origin: Origin, why: str) -> DamagedEntryError:
    kept_in(case.cache).drop(origin.inputs)
    return DamagedEntryError(f"What was kept of them is removed: {why.rstrip('.')}.")


def keep_tests(case: ProofCase, changed: Collection[str], tests: TestsProof) -> None:
    """Keep what the tests say where all passed and nothing of them is lacking; what was taken over keeps its age."""
    if not case.tests or not is_worth_keeping(tests):
        return
    files: Mapping[str, Path | bytes] = {
        _RECORD: to_json(tests).encode(),
        **files_below(case.directory.proof(case.candidate.name).junit, f"{_JUNIT}/"),
    }
    kept_in(case.cache).keep(origin_now(case.directory.path, _digest(case, changed)), files)


def is_worth_keeping(tests: TestsProof) -> bool:
    """Whether tests ran, by this very proof, all passed, and none is lacking: whatever else is asked again."""
    failures = any(each.failures for each in tests.classes)
    return bool(tests.count) and not (failures or tests.failed or tests.gap or tests.missing or tests.origin)


def _digest(case: ProofCase, changed: Collection[str]) -> str:
    return digest_of_tests(case, changed, surroundings(case.directory.declaration.read().host, case.java))
