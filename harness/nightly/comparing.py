"""What changed between two runs, or two nights; pure but for reading them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.progress import duration
from harness.model.findings import Significance
from harness.model.verdict import VerdictRecord
from harness.nightly.cell_history import NightFinding, cells_of, log_findings, proof_findings
from harness.nightly.folder import is_night, read_night, verdicts_of
from harness.report.markdown import plain
from harness.rundir.directory import RunDirectory

# A stage's time is shown when it differs by so much: less is what a host does from day to day.
_SECONDS, _RATIO = 5.0, 1.25
ABSENT = "—"
_UNDECIDED = "not beyond the noise"


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """What one side shows, by its place; verifications of a night come before a place, as `verification: place`.

    `findings` are beyond the noise; `undecided` are those within it, or that nobody could separate from it. These,
    `context` (builds) and `seconds` are shown beside, and do not make two sides different.
    """

    verdicts: Mapping[str, str]
    outcomes: Mapping[str, str]
    proof: Mapping[str, str]
    findings: Mapping[str, str]
    undecided: Mapping[str, str]
    context: Mapping[str, str]
    seconds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RunDifference:
    """One thing that is not the same on both sides; `counts` is False for what is only shown beside."""

    what: str
    where: str
    before: str
    after: str
    counts: bool = True


def read_side(folder: Path) -> ComparedSide:
    """Return what a run directory or a night shows. Raises HarnessError: none, not judged, of another schema."""
    if not is_night(folder):
        return side_of({"": RunDirectory(folder).verdict.read()}, {})
    night = read_night(folder)
    verdicts = verdicts_of(folder, night)
    others = {each.id: each.outcome.value for each in night.ended if each.id not in verdicts}
    return side_of(verdicts, {**others, **{each.id: "MISSING" for each in night.missing}})


def same_kind(one: Path, other: Path) -> None:
    """Raise HarnessError when one is a night and the other a run."""
    if is_night(one) != is_night(other):
        night, run = (one, other) if is_night(one) else (other, one)
        raise HarnessError(
            f"{night} is a night and {run} is one run.", "Compare two nights, or one run of the night with the run."
        )


def side_of(verdicts: Mapping[str, VerdictRecord], others: Mapping[str, str]) -> ComparedSide:
    """Return what verifications show, by id; `others` are the outcomes of those without a verdict. Pure."""

    def logged(*significances: Significance) -> dict[str, str]:
        return _by_place(
            each for name, record in verdicts.items() for each in log_findings(name, record, significances)
        )

    return ComparedSide(
        {**{name: record.verdict.value for name, record in verdicts.items()}, **others},
        {
            _place(name, f"{cell.scenario} on {cell.arm}"): cell.outcome
            for name, record in verdicts.items()
            for cell in cells_of(name, record)
        },
        _by_place(each for name, record in verdicts.items() for each in proof_findings(name, record)),
        logged(Significance.BEYOND),
        logged(Significance.WITHIN, Significance.UNKNOWN),
        {_place(name, arm): build for name, record in verdicts.items() for arm, build in _builds(record)},
        {
            _place(name, stage): seconds
            for name, record in verdicts.items()
            for stage, seconds in record.timings.items()
        },
    )


def compare(before: ComparedSide, after: ComparedSide) -> tuple[RunDifference, ...]:
    """Return everything that changed, what counts first. Pure; the other way round it gives the same, swapped."""
    pairs = (
        ("verdict", before.verdicts, after.verdicts),
        ("outcome", before.outcomes, after.outcomes),
        ("proof", before.proof, after.proof),
    )
    changes = [each for what, one, other in pairs for each in _changed(what, one, other)]
    changes += sorted(_changed_findings(before, after), key=lambda each: not each.counts)
    beside = [replace(each, counts=False) for each in _changed("build", before.context, after.context)]
    return (*changes, *_noise(before.undecided, after.undecided), *beside, *_times(before.seconds, after.seconds))


def _changed(what: str, one: Mapping[str, str], other: Mapping[str, str]) -> Iterator[RunDifference]:
    for where in sorted(one.keys() | other.keys()):
        if one.get(where) != other.get(where):
            yield RunDifference(what, where, one.get(where, ABSENT), other.get(where, ABSENT))


def _changed_findings(before: ComparedSide, after: ComparedSide) -> Iterator[RunDifference]:
    """Yield what is beyond the noise on one side only; where the other side has it too, as noise, it does not count."""
    for each in _changed("finding", before.findings, after.findings):
        if each.before == ABSENT and each.where in before.undecided:
            yield replace(each, before=_UNDECIDED, counts=False)
        elif each.after == ABSENT and each.where in after.undecided:
            yield replace(each, after=_UNDECIDED, counts=False)
        else:
            yield each


def _noise(one: Mapping[str, str], other: Mapping[str, str]) -> Iterator[RunDifference]:
    """Yield how many findings that are not beyond the noise only one side has."""
    if one.keys() != other.keys():
        before, after = (f"{len(only)} on this side only" for only in (one.keys() - other, other.keys() - one))
        yield RunDifference("noise", f"findings {_UNDECIDED}", before, after, counts=False)


def render_markdown(changes: Sequence[RunDifference], before: str, after: str) -> str:
    """Return the changes as a Markdown table. Pure."""
    lines = [f"| | where | {plain(before)} | {plain(after)} |", "|---|---|---|---|"]
    lines += [
        f"| {change.what} | {plain(change.where)} | {plain(change.before)} | {plain(change.after)} |"
        for change in changes
    ]
    return "\n".join([*lines, "", f"**{sentence(changes)}**"]) + "\n"


def sentence(changes: Sequence[RunDifference]) -> str:
    """Return whether anything changed, and how much of what. Pure."""
    counted = [change.what for change in changes if change.counts]
    counts = ", ".join(f"{counted.count(what)} × {what}" for what in dict.fromkeys(counted))
    return f"Different: {counts}." if counted else "The same: verdicts, outcomes, proof and findings."


def _place(verification: str, place: str) -> str:
    return f"{verification}: {place}" if verification else place


def _by_place(found: Iterable[NightFinding]) -> dict[str, str]:
    """Return findings by a place that is the same on both sides; the template itself is part of it."""
    places = {}
    for each in found:
        contrast = f"{each.base} against {each.candidate}" if each.base else each.candidate
        place = f"{each.scenario}, {contrast}" + (f", {each.node_kind}" if each.node_kind else "")
        places[_place(each.verification, f"{place}: {each.template} [{each.id[:8]}]")] = each.kind
    return places


def _builds(record: VerdictRecord) -> Iterator[tuple[str, str]]:
    for arm in record.arms:
        yield arm.name, f"{arm.build.jar_sha256[:12]}, Kafka {arm.build.kafka_version}, Java {arm.java}"


def _times(before: Mapping[str, float], after: Mapping[str, float]) -> Iterator[RunDifference]:
    for stage in sorted(before.keys() & after.keys()):
        small, large = sorted((before[stage], after[stage]))
        if large - small > _SECONDS and large > small * _RATIO:
            yield RunDifference("time", stage, duration(before[stage]), duration(after[stage]), counts=False)
