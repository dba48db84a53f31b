"""What was proved of this very jar before: taken over where nothing was found against it and every test passed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.json import to_json
from harness.base.progress import Reporter
from harness.base.recordfile import RecordFile
from harness.base.text import counted
from harness.model.proof import AuditAnswer, ChangedMethod, Difference, TestsProof
from harness.model.reuse import Origin
from harness.proof.dropin import DropIn
from harness.rundir.kept_results import DamagedEntryError, files_below, move_below
from harness.stages.kept import kept_in, origin_now
from harness.stages.proof_case import ProofCase
from harness.stages.reuse_digests import digest_of_proof, surroundings

_RECORD, _JUNIT = "proof.json", "junit"


@dataclass(frozen=True, slots=True)
class KnownProof:
    """What a proof found before waivers are looked at, which may expire: the fields of DropIn, answers, and tests."""

    looked_at: tuple[str, ...]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    changed: tuple[str, ...]
    changed_methods: tuple[ChangedMethod, ...]
    answers: tuple[AuditAnswer, ...]
    tests: TestsProof

    @property
    def dropin(self) -> DropIn:
        """How the jar differs from base's."""
        return DropIn(self.looked_at, self.differences, self.notes, frozenset(self.changed), self.changed_methods)

    @property
    def is_worth_keeping(self) -> bool:
        """Whether tests ran by this very proof, all passed, none is lacking, and nothing else is against the jar.

        Whatever else was found is looked at again.
        """
        tests = self.tests
        ran = bool(tests.count) and not tests.origin
        failed = tests.failed or tests.gap or tests.missing or any(each.failures for each in tests.classes)
        blocked = any(each.blocks for each in self.differences) or any(each.blocks for each in self.answers)
        return ran and not failed and not blocked


def take_proof(case: ProofCase, reporter: Reporter) -> KnownProof | None:
    """Return what was proved of this very jar before, with the tests' JUnit XML put into the run directory.

    None where nobody knows, or where everything is to be done afresh; a damaged entry is said to be so.
    """
    if case.fresh or not case.tests:
        return None
    try:
        with kept_in(case.cache).taken(_digest(case), case.directory.path) as found:
            taken = _taken(case, *found) if found else None
    except DamagedEntryError as error:
        reporter.report(f"the jar is proved again. {error}")
        return None
    if taken and taken.tests.origin:
        origin, tests = taken.tests.origin, counted(taken.tests.count, "test")
        reporter.report(f"taken over from {origin.minute} in {origin.made_in}: the proof of this jar, {tests} passed")
    return taken


def _taken(case: ProofCase, origin: Origin, copies: Path) -> KnownProof:
    try:
        known = RecordFile(copies / _RECORD, KnownProof).read()
    except HarnessError as error:
        raise _refused(case, origin, error.message) from error
    if not known.is_worth_keeping or known.tests.scope is not case.scope:
        raise _refused(case, origin, "it says other than that all is well")
    if not (copies / _JUNIT).is_dir():
        raise _refused(case, origin, "the reports of the tests are lacking")
    out = case.directory.proof(case.candidate.name).junit
    move_below(copies / _JUNIT, out)
    report = out.relative_to(case.directory.path).as_posix()
    return replace(known, tests=replace(known.tests, origin=origin, report=report))


def _refused(case: ProofCase, origin: Origin, why: str) -> DamagedEntryError:
    kept_in(case.cache).drop(origin.inputs)
    return DamagedEntryError(f"Its kept proof was removed: {why.rstrip('.')}.")


def keep_proof(case: ProofCase, dropin: DropIn, answers: tuple[AuditAnswer, ...], tests: TestsProof) -> None:
    """Keep what was proved, where it is worth it; what was taken over keeps its age."""
    known = KnownProof(
        dropin.looked_at,
        dropin.differences,
        dropin.notes,
        tuple(sorted(dropin.changed)),
        dropin.changed_methods,
        answers,
        tests,
    )
    if not case.tests or not known.is_worth_keeping:
        return
    reports = files_below(case.directory.proof(case.candidate.name).junit, f"{_JUNIT}/")
    kept_in(case.cache).keep(
        origin_now(case.directory.path, _digest(case)), {_RECORD: to_json(known).encode(), **reports}
    )


def _digest(case: ProofCase) -> str:
    return digest_of_proof(case, surroundings(case.directory.declaration.read().host, case.java))
