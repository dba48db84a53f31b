"""A proof in words: counts and the headline, the same in the terminal and in the report; pure."""

from __future__ import annotations

from harness.model.proof import Coverage, Proof, Severity, TestScope, TestsProof


def headline(proof: Proof) -> str:
    """Return in a sentence whether the jar is a sound drop-in, and what was looked at."""
    found = len(proof.blockers)
    if found:
        return f"No sound drop-in: {found} {'reason' if found == 1 else 'reasons'} against it."
    if proof.tests.missing:
        return "Not proved: nothing speaks against the jar, but the tests that were asked for did not run."
    return "A sound drop-in, by everything that was looked at."


def tests_told(tests: TestsProof) -> str:
    """Return the count of tests: `889 tests, 0 failed`."""
    if tests.scope is TestScope.NONE:
        return "no tests were asked for"
    skipped = sum(each.skipped for each in tests.classes)
    failed = sum(each.failures for each in tests.classes)
    return f"{tests.count} tests, {failed} failed" + (f", {skipped} skipped" if skipped else "")


def differences_told(proof: Proof) -> str:
    """Return how many differences weigh how much: `0 failures, 1 warning, 9 notes (14 rules)`."""
    counts = {severity: sum(d.severity is severity for d in proof.differences) for severity in Severity}
    waived = sum(bool(d.waived) for d in proof.differences)
    told = [
        _counted(counts[Severity.FAIL], "failure"),
        _counted(counts[Severity.WARNING], "warning"),
        _counted(counts[Severity.NOTE], "note"),
    ]
    return ", ".join([*told, *([f"{waived} waived"] if waived else [])]) + f" ({len(proof.looked_at)} rules)"


def audit_told(proof: Proof) -> str:
    """Return the answers of the source by how they ended: `5 hold, 3 do not hold, 0 untested`."""
    counts = [sum(answer.answer == each for answer in proof.audit) for each in ("holds", "does not hold", "untested")]
    return "{} hold, {} do not hold, {} untested".format(*counts) if proof.audit else "no question was put"


def reach_told(coverage: Coverage) -> str:
    """Return how much of what changed was run."""
    reached = len(coverage.lines) - len(coverage.unreached)
    return f"{reached} of {len(coverage.lines)} changed lines were run"


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
