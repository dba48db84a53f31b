"""What of a result is shown at a change on GitHub: the answer, and the few places that speak against it; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness.judge.reasons import beyond_the_sentence, rests_on
from harness.model.expectations import Met
from harness.model.findings import Contrast, Finding
from harness.model.log_totals import Totals
from harness.model.operator_changes import Change, OperatorChanges, Weight
from harness.model.rollout import RolloutOutcome, RolloutVerdict
from harness.model.runs import Evidence, Outcome, RunResult, Verdict
from harness.model.verdict import Check, VerdictRecord
from harness.report.diff_cases import result_of
from harness.report.diffpage import headline
from harness.report.github import Annotation, Level
from harness.report.junit_xml import CaseResult
from harness.report.upgrade_page import summary

MOST = 5
_REASONS = 4
_OF_ANSWERS: Mapping[Verdict | Met, Level] = {
    Verdict.SHIP: Level.NOTICE,
    Verdict.HOLD: Level.ERROR,
    Verdict.INCONCLUSIVE: Level.WARNING,
    Met.EXPECTED: Level.NOTICE,
    Met.UNEXPECTED: Level.ERROR,
    Met.UNDECIDED: Level.WARNING,
}
_OF_ROLLS = {
    RolloutOutcome.PASSED: Level.NOTICE,
    RolloutOutcome.STOPPED: Level.ERROR,
    RolloutOutcome.INCONCLUSIVE: Level.WARNING,
}
_OF_CHANGES = {Weight.BREAKS: Level.WARNING, Weight.CHANGES: Level.NOTICE, Weight.ADDS: Level.NOTICE}


def of_verdict(record: VerdictRecord, folder: str) -> list[Annotation]:
    """Return the answer with its reasons, and the places of runs that failed otherwise than claimed or expected."""
    reasons = beyond_the_sentence(record.sentence, rests_on(record.verdict, record.reasons))[:_REASONS]
    answer = Annotation(_OF_ANSWERS[record.answer], record.answer, "\n".join((record.sentence, *reasons)))
    failed = (run for run in record.runs if run.check is Check.FAILED)
    return _few(answer, (_run(run, Level.ERROR, folder) for run in failed if run.evidence))


def of_rollout(found: RolloutVerdict, folder: str) -> list[Annotation]:
    """Return the answer, and where a rehearsal was stopped."""
    level = _OF_ROLLS[found.outcome]
    answer = Annotation(level, f"rollout {found.outcome}", "\n".join((found.sentence, *found.reasons[:_REASONS])))
    stopped = (each.result for each in found.rehearsals if each.result.outcome is Outcome.FAILED)
    return _few(answer, (_run(result, level, folder) for result in stopped if result.evidence))


def of_contrast(contrast: Contrast, totals: Totals) -> list[Annotation]:
    """Return how two folders of logs differ, and the lines that the second adds beyond the noise."""
    level = Level.WARNING if totals.lacking else Level.NOTICE
    answer = Annotation(level, "log diff", headline(contrast, totals))
    added = (each for each in contrast.findings if result_of(each) is CaseResult.FAILED)
    return _few(answer, map(_finding, added))


def of_upgrade(changes: OperatorChanges) -> list[Annotation]:
    """Return what changes in a sentence, and the lines of the operator's own files that it concerns."""
    answer = Annotation(Level.NOTICE, f"{changes.base} → {changes.candidate}", summary(changes))
    return _few(answer, (each for change in changes.changes for each in _uses(change)))


def _few(answer: Annotation, places: Iterable[Annotation]) -> list[Annotation]:
    return [answer, *(each for each, _ in zip(places, range(MOST - 1), strict=False))]


def _run(result: RunResult, level: Level, folder: str) -> Annotation:
    place = result.evidence[0]
    title = f"{result.scenario} on {result.arm}: {result.label}"
    return Annotation(level, title, result.reason or result.label, f"{folder}/{place.path}", place.line)


def _finding(finding: Finding) -> Annotation:
    place = finding.evidence[0] if finding.evidence else Evidence("")
    counts = f"{finding.base_count} → {finding.candidate_count}"
    shown = finding.candidate_excerpt or finding.template
    return Annotation(Level.WARNING, f"{finding.kind} {finding.level}: {counts}", shown, place.path, place.line)


def _uses(change: Change) -> list[Annotation]:
    title = f"{change.subject} {change.weight}"
    return [Annotation(_OF_CHANGES[change.weight], title, change.means, use.file, use.line) for use in change.used]
