"""What of a night is shown on GitHub beside its log: the answer, and the verifications that hold it back; pure."""

from __future__ import annotations

from harness.nightly.judging import NightReport
from harness.nightly.night import VerificationStatus
from harness.nightly.night_summary import headline
from harness.report.annotations import MOST
from harness.report.github import Annotation, Level

_LEVELS = {
    VerificationStatus.SHIP: Level.NOTICE,
    VerificationStatus.INCONCLUSIVE: Level.WARNING,
    VerificationStatus.MISSING: Level.WARNING,
    VerificationStatus.ERROR: Level.ERROR,
    VerificationStatus.HOLD: Level.ERROR,
}


def of_night(report: NightReport) -> list[Annotation]:
    """Return the night in a sentence, waivers at fault, and what is no SHIP, the weightiest first."""
    level = Level.NOTICE if report.idle else _LEVELS[report.outcome]
    answer = Annotation(level, f"night {report.night.label}", headline(report))
    faults = [Annotation(Level.ERROR, "waiver", fault) for fault in report.waived.faults]
    others = [
        Annotation(_LEVELS[each.counts_as], f"{each.counts_as}: {each.planned.id}", each.sentence)
        for each in report.verifications
        if each.counts_as is not VerificationStatus.SHIP
    ]
    others.sort(key=lambda each: each.level is not Level.ERROR)
    doubts = [Annotation(Level.WARNING, "not decided", doubt) for doubt in report.doubts]
    return [answer, *faults, *doubts, *others][:MOST]
