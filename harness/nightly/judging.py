"""What a night comes to: every verification's ending, what changed, what is waived, and the exit code; pure."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from harness.base.text import listed
from harness.model.arms import Role
from harness.model.options import arguments_of
from harness.model.request import Request
from harness.model.runs import Verdict
from harness.model.verdict import ClaimStatus, Reason, ReasonSource, Standing, VerdictRecord
from harness.model.waivers import Waiver
from harness.nightly.cell_history import cells_of, findings_of
from harness.nightly.history import SCHEMA, PastNight, PastVerification, before
from harness.nightly.night import EndedVerification, Night, PlannedVerification, VerificationStatus
from harness.nightly.night_waivers import Waived, apply_waivers
from harness.nightly.trend import CellTrend, FindingTrend, Trend, cell_trends, finding_trends

WORST_FIRST = (
    VerificationStatus.HOLD,
    VerificationStatus.ERROR,
    VerificationStatus.INCONCLUSIVE,
    VerificationStatus.MISSING,
    VerificationStatus.SHIP,
)
_EXIT = {
    VerificationStatus.HOLD: 1,
    VerificationStatus.ERROR: 2,
    VerificationStatus.INCONCLUSIVE: 3,
    VerificationStatus.MISSING: 3,
    VerificationStatus.SHIP: 0,
}

_OF_CANDIDATE = ("jar", "dist", "kafka_version", "git", "series", "builder")
_OF_BASE = ("base_jar", "base_dist", "base_kafka", "base_git", "base_series")
_GAPS_BY_CHOICE = (ReasonSource.CLAIM, ReasonSource.ARM, ReasonSource.NOTHING)
_COMPARED = (Role.BASE, Role.ON)
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class ConcludedVerification:
    """One verification of the night: how it ended, in a sentence; `counts_as` is the outcome after waivers."""

    planned: PlannedVerification
    outcome: VerificationStatus
    counts_as: VerificationStatus
    sentence: str
    seconds: float


@dataclass(frozen=True, slots=True)
class NightReport:
    """Everything that the summary, the page, JUnit and the history are written from.

    `earlier` are the labels of the nights that the trends were made by, oldest first. `doubts` say, each in a sentence,
    why a night without a HOLD decides nothing.
    """

    night: Night
    verifications: tuple[ConcludedVerification, ...]
    cells: tuple[CellTrend, ...]
    findings: tuple[FindingTrend, ...]
    waived: Waived
    retries: tuple[str, ...]
    earlier: tuple[str, ...]
    entry: PastNight
    doubts: tuple[str, ...] = ()

    @property
    def outcome(self) -> VerificationStatus:
        """The worst of all verifications, after waivers; a waiver that is at fault holds the night back."""
        counted = {each.counts_as for each in self.verifications}
        worst = next((status for status in WORST_FIRST if status in counted), VerificationStatus.INCONCLUSIVE)
        worst = VerificationStatus.INCONCLUSIVE if worst is VerificationStatus.MISSING else worst
        if self.doubts and worst is VerificationStatus.SHIP:
            worst = VerificationStatus.INCONCLUSIVE
        return VerificationStatus.HOLD if self.waived.faults else worst

    @property
    def idle(self) -> bool:
        """Whether this is a shard that the matrix leaves without work, and nothing is wrong with its waivers."""
        return bool(self.night.planned) and not self.night.mine and not self.waived.faults

    @property
    def exit_code(self) -> int:
        """0 SHIP (or nothing to do), 1 HOLD, 2 errors, 3 INCONCLUSIVE."""
        return 0 if self.idle else _EXIT[self.outcome]


def judge_night(
    night: Night,
    verdicts: Mapping[str, VerdictRecord],
    history: Sequence[PastNight],
    waivers: Sequence[Waiver],
    today: date,
) -> NightReport:
    """Compare a night with the nights before it; `verdicts` are by id of verification."""
    past = before(history, night.label, night.started_at)
    cells = [cell for name, record in verdicts.items() for cell in cells_of(name, record)]
    findings = [finding for name, record in verdicts.items() for finding in findings_of(name, record)]
    complete = all(each.id in verdicts for each in night.planned)
    waived = apply_waivers(waivers, cells, findings, today, complete=complete)
    ended = {each.id: each for each in night.ended}
    concluded = tuple(_concluded(each, ended.get(each.id), verdicts.get(each.id), waived) for each in night.mine)
    verified = tuple(PastVerification(each.planned.id, each.outcome, each.seconds) for each in concluded)
    trends = cell_trends(cells, past)
    return NightReport(
        night,
        concluded,
        trends,
        finding_trends(findings, cells, past),
        waived,
        tuple(_retries(concluded, verdicts)),
        tuple(each.label for each in past),
        PastNight(SCHEMA, night.label, night.started_at, verified, tuple(cells), tuple(findings)),
        (*_not_run(trends), *_other_jars(concluded, verdicts)),
    )


def _not_run(trends: Sequence[CellTrend]) -> Iterator[str]:
    """Yield what this host cannot run any more, by verification."""
    lost = [each.cell for each in trends if each.trend is Trend.NOT_RUN]
    for name in dict.fromkeys(cell.verification for cell in lost):
        scenarios = dict.fromkeys(cell.scenario for cell in lost if cell.verification == name)
        yield f"{name}: earlier nights decided {listed(list(scenarios), _MOST_NAMED)}, which this host cannot run."


def _other_jars(concluded: Sequence[ConcludedVerification], verdicts: Mapping[str, VerdictRecord]) -> Iterator[str]:
    """Yield which verifications name the same builds and were made of different jars: of one that was built again."""
    alike: dict[tuple[object, ...], dict[frozenset[tuple[str, str]], str]] = defaultdict(dict)
    for name in (each.planned.id for each in concluded if each.planned.id in verdicts):
        request = next(each.planned.request for each in concluded if each.planned.id == name)
        builds = tuple(getattr(request, field) for field in (*_OF_CANDIDATE, *_OF_BASE))
        jars = frozenset((str(arm.role), arm.build.jar_sha256) for arm in verdicts[name].arms if arm.role in _COMPARED)
        alike[builds].setdefault(jars, name)
    for first, *others in (list(each.values()) for each in alike.values()):
        if others:
            yield f"{first} and {listed(others, _MOST_NAMED)} name the same builds, and were made of different jars."


def _concluded(
    planned: PlannedVerification, ended: EndedVerification | None, record: VerdictRecord | None, waived: Waived
) -> ConcludedVerification:
    if ended is None:
        missing = VerificationStatus.MISSING
        return ConcludedVerification(planned, missing, missing, "It was declared and nobody ran it.", 0.0)
    if record is None:
        error = VerificationStatus.ERROR
        return ConcludedVerification(planned, error, error, ended.error or "It came to no verdict.", ended.seconds)
    counts_as = _after_waivers(planned.id, record, waived) if record.verdict is Verdict.HOLD else record.verdict
    outcome, counted = (VerificationStatus(each.value) for each in (record.verdict, counts_as))
    return ConcludedVerification(planned, outcome, counted, record.sentence, ended.seconds)


def _after_waivers(verification: str, record: VerdictRecord, waived: Waived) -> Verdict:
    """Return what a HOLD counts as without the reasons that waivers cover."""
    left = {reason.weight for reason in record.reasons if not _is_waived(verification, record, reason, waived)}
    if Verdict.HOLD in left:
        return Verdict.HOLD
    # Claims without a scenario are settled, or left open, by the proof: they weigh nothing here.
    untested = any(claim.scenario and claim.status is ClaimStatus.UNTESTED for claim in record.claims)
    return Verdict.INCONCLUSIVE if untested or Verdict.INCONCLUSIVE in left else Verdict.SHIP


def _is_waived(verification: str, record: VerdictRecord, reason: Reason, waived: Waived) -> bool:
    """Whether a HOLD is about a cell that a waiver covers, as one covers all that are not as claimed in its scenario.

    No waiver of an outcome excuses the jar, its logs or its figures.
    """
    of_scenario = reason.source in (ReasonSource.EFFECT, ReasonSource.FLAG)
    if reason.cell is None or reason.weight is not Verdict.HOLD or not of_scenario:
        return False
    name = reason.cell.scenario
    cells = [cell for scenario in record.scenarios if scenario.name == name for cell in scenario.cells]
    against = {cell.arm for cell in cells if cell.standing is Standing.NOT_AS_CLAIMED}
    return all((verification, name, arm) in waived.cells for arm in {reason.cell.arm, *against})


def _retries(concluded: Sequence[ConcludedVerification], verdicts: Mapping[str, VerdictRecord]) -> list[str]:
    """Return a command line per verification that should be run again: never what was decided."""
    lines = []
    for each in concluded:
        if each.planned.id in verdicts:
            scenarios = _undecided(verdicts[each.planned.id])
            if scenarios or _may_be_decided(verdicts[each.planned.id]):
                lines.append(_line(each.planned, scenarios))
        else:
            lines.append(_line(each.planned, ()))
    return lines


def _undecided(record: VerdictRecord) -> list[str]:
    """Return the scenarios with a cell that could not be tested; one that is a HOLD is decided all the same."""
    return [
        scenario.name
        for scenario in record.scenarios
        if scenario.verdict is not Verdict.HOLD and any(cell.standing is Standing.UNDECIDED for cell in scenario.cells)
    ]


def _may_be_decided(record: VerdictRecord) -> bool:
    """Whether another try may answer: logs were not compared, say. What was not asked for leaves the same gap again."""
    return record.verdict is Verdict.INCONCLUSIVE and any(
        reason.weight is Verdict.INCONCLUSIVE and reason.source not in _GAPS_BY_CHOICE for reason in record.reasons
    )


def _line(planned: PlannedVerification, scenarios: Sequence[str]) -> str:
    """Return the line that runs a verification again: these scenarios of it, or everything."""
    request = planned.request
    if scenarios:
        request = replace(request, scenarios=tuple(scenarios), suite=Request().suite)
    return shlex.join(["harness", "verify", *arguments_of(request)])
