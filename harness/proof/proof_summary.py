"""A proof in words: counts and the headline, the same in the terminal and in the report; pure."""

from __future__ import annotations

from harness.model.proof import Coverage, Proof, Severity, TestScope, TestsProof


def headline(proof: Proof) -> str:
    """Return in a sentence whether the jar is a drop-in, and how much was looked at."""
    found = len(proof.blockers)
    if found:
        return f"Drop-in check failed: {_counted(found, 'reason')}."
    if proof.tests.missing:
        return "Drop-in check incomplete: nothing was found against the jar, but the tests did not run."
    return f"Drop-in check passed ({_counted(len(proof.looked_at), 'rule')})."


def describe_tests(tests: TestsProof) -> str:
    """Return the count of tests: `889 tests, 0 failed`."""
    if tests.scope is TestScope.NONE:
        return "no tests were selected"
    skipped = sum(each.skipped for each in tests.classes)
    failed = sum(each.failures for each in tests.classes)
    return f"{tests.count} tests, {failed} failed" + (f", {skipped} skipped" if skipped else "")


def describe_differences(proof: Proof) -> str:
    """Return how many differences weigh how much: `0 failures, 1 warning, 9 notes (14 rules)`."""
    counts = {severity: sum(d.severity is severity for d in proof.differences) for severity in Severity}
    waived = sum(bool(d.waived) for d in proof.differences)
    parts = [
        _counted(counts[Severity.FAIL], "failure"),
        _counted(counts[Severity.WARNING], "warning"),
        _counted(counts[Severity.NOTE], "note"),
    ]
    return ", ".join([*parts, *([f"{waived} waived"] if waived else [])]) + f" ({len(proof.looked_at)} rules)"


def describe_audit(proof: Proof) -> str:
    """Return the answers of the source by how they stand: `5 hold, 0 refuted, 3 gaps, 0 untested`.

    A gap does not hold and was promised by no claim, so that it speaks against nothing.
    """
    if not proof.audit:
        return "there were no questions"
    standings = [answer.standing for answer in proof.audit]
    refuted, gaps = standings.count("refuted"), _counted(standings.count("gap"), "gap")
    return f"{standings.count('holds')} hold, {refuted} refuted, {gaps}, {standings.count('untested')} untested"


def describe_reach(coverage: Coverage) -> str:
    """Return how much of what changed was run."""
    reached = len(coverage.lines) - len(coverage.unreached)
    lines = f"{reached} of {len(coverage.lines)} changed lines were run"
    entered = sum(bool(method.scenarios) for method in coverage.methods)
    return f"{lines}, in {entered} of {len(coverage.methods)} changed methods" if coverage.methods else lines


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
