"""A proof in words: counts and the headline, the same in the terminal and in the report; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.base.text import counted
from harness.model.proof import AuditAnswer, Coverage, Proof, Severity, TestScope, TestsProof
from harness.model.simulation import Simulation


def headline(proof: Proof) -> str:
    """Return in a sentence whether the jar is a drop-in, and how much was looked at."""
    found = len(proof.blockers)
    within = f" within Kafka {proof.kafka}, the candidate's own" if proof.kafka else ""
    if found:
        return f"Drop-in check failed{within}: {counted(found, 'reason')}."
    if proof.tests.missing:
        return f"Drop-in check incomplete{within}: nothing was found against the jar, but the tests did not run."
    if proof.kafka and proof.base == proof.candidate:
        return f"The raft jar is the one of Kafka {proof.kafka} itself, so there is nothing that might not fit."
    return f"Drop-in check passed{within} ({counted(len(proof.looked_at), 'rule')})."


def describe_tests(tests: TestsProof) -> str:
    """Return the count of tests: `889 tests, 4 failed (4 do not count)`."""
    if tests.scope is TestScope.NONE:
        return "no tests were selected"
    skipped = sum(each.skipped for each in tests.classes)
    failed = sum(each.failures for each in tests.classes)
    excused = sum(not each.blocks for each in tests.failed)
    parts = [f"{tests.count} tests, {failed} failed" + (f" ({excused} do not count)" if excused else "")]
    return ", ".join([*parts, *([f"{skipped} skipped"] if skipped else [])])


def describe_simulation(simulation: Simulation | None) -> str:
    """Return how many simulations ran and failed: `1204 simulations of 7 properties in 600 s, 3 failed`."""
    if simulation is None:
        return "no simulation was asked for"
    failed = sum(each.failed for each in simulation.properties if not each.base_failed)
    unsound = sum(bool(each.base_failed) for each in simulation.properties)
    kinds = "property" if len(simulation.properties) == 1 else "properties"
    ran = f"{counted(simulation.runs, 'simulation')} of {len(simulation.properties)} {kinds}"
    base = f"; {unsound} of the properties base fails too" if unsound else ""
    return f"{ran} in {simulation.seconds:.0f} s, {failed} failed{base}"


def describe_differences(proof: Proof) -> str:
    """Return how many differences weigh how much: `0 failures, 1 warning, 9 notes (14 rules)`."""
    counts = {severity: sum(d.severity is severity for d in proof.differences) for severity in Severity}
    waived = sum(bool(d.waived) for d in proof.differences)
    parts = [
        counted(counts[Severity.FAIL], "failure"),
        counted(counts[Severity.WARNING], "warning"),
        counted(counts[Severity.NOTE], "note"),
    ]
    return ", ".join([*parts, *([f"{waived} waived"] if waived else [])]) + f" ({len(proof.looked_at)} rules)"


def describe_answers(answers: Sequence[AuditAnswer]) -> str:
    """Return which of the promised questions to the source hold, and what else was asked, which is only shown.

    Such as `5 of 5 promised questions hold; of 6 that no claim promises 4 do not hold and are only shown (x, y, z, u)`.
    """
    promised, others = ([each for each in answers if bool(each.claim) is wanted] for wanted in (True, False))
    parts = [_promised(promised)] if promised else []
    if others:
        parts.append(_not_promised(others))
    return "; ".join(parts) or "there were no questions"


def _promised(answers: Sequence[AuditAnswer]) -> str:
    held = f"{len(_standing(answers, 'holds'))} of {len(answers)} promised questions hold"
    return ", ".join((held, *_named(answers, "refuted", "refuted"), *_named(answers, "untested", "untested")))


def _not_promised(answers: Sequence[AuditAnswer]) -> str:
    shown = (*_named(answers, "gap", "do not hold and are only shown"), *_named(answers, "untested", "are untested"))
    return f"of {len(answers)} that no claim promises {' and '.join(shown) or 'all hold'}"


def _named(answers: Sequence[AuditAnswer], standing: str, words: str) -> Iterator[str]:
    if found := _standing(answers, standing):
        yield f"{len(found)} {words} ({', '.join(found)})"


def _standing(answers: Sequence[AuditAnswer], standing: str) -> list[str]:
    return [each.question for each in answers if each.standing == standing]


def describe_reach(coverage: Coverage) -> str:
    """Return how much of what changed was run."""
    reached = len(coverage.lines) - len(coverage.unreached)
    lines = f"{reached} of {len(coverage.lines)} changed lines were run"
    entered = sum(bool(method.scenarios) for method in coverage.methods)
    return f"{lines}, in {entered} of {len(coverage.methods)} changed methods" if coverage.methods else lines
