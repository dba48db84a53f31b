"""Pictures of runs: those that are to be compared share one axis of seconds, and stand in one group; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.model.arms import Role
from harness.model.runs import Outcome
from harness.model.verdict import Check, JudgedRun, JudgedScenario, VerdictRecord
from harness.report.client_strips import client_lines
from harness.report.drawing import Axis, Drawing, RunStory, draw, shared_axis
from harness.report.fault_windows import fault_windows
from harness.report.links import Link, journal_link
from harness.report.result_matrix import made_before, slug
from harness.report.timeline import Step, timeline_of
from harness.report.topology_picture import TopologyPicture, describe, topology_picture
from harness.rundir.journal import Entry


@dataclass(frozen=True, slots=True)
class RunPicture:
    """A run as a timeline, as a picture of its cluster, and as the list of its notable steps.

    `name` is the arm, or the rehearsal; `tone` is `good`, `bad`, `unclear`, or `plain`: it failed, and nothing is
    said against it.
    """

    id: str
    name: str
    repeat: int
    outcome: str
    tone: str
    description: str
    drawing: Drawing
    topology: TopologyPicture | None
    steps: tuple[Step, ...]
    hidden_steps: int
    journal: Link


@dataclass(frozen=True, slots=True)
class PictureGroup:
    """Runs that are compared, on one axis: `shown` side by side, `more` of them folded."""

    id: str
    title: str
    question: str
    expanded: bool
    shown: tuple[RunPicture, ...]
    more: tuple[RunPicture, ...]


@dataclass(frozen=True, slots=True)
class PicturedRun:
    """A run that is to be drawn."""

    id: str
    name: str
    repeat: int
    outcome: str
    tone: str
    folder: str
    story: RunStory


def story_of(entries: Sequence[Entry], observers: str = "observer") -> RunStory:
    """Return what a journal has to be drawn; `observers` is what nodes are called that do not vote."""
    timeline = timeline_of(entries)
    return RunStory(timeline, fault_windows(entries, timeline), client_lines(entries), observers)


def picture(run: PicturedRun, axis: Axis, most_steps: int) -> RunPicture:
    """Draw a run on an axis."""
    timeline = run.story.timeline
    steps, drawing = tuple(step for step in timeline.steps if step.notable), draw(run.story, axis)
    said = (describe(run.story), *(f"{strip.title}." for strip in drawing.strips))
    return RunPicture(
        run.id,
        run.name,
        run.repeat,
        run.outcome,
        run.tone,
        " ".join(filter(None, (f"{run.outcome} after {timeline.seconds:.1f} s.", *said))),
        drawing,
        topology_picture(run.story),
        steps[:most_steps],
        max(len(steps) - most_steps, 0),
        journal_link(run.folder),
    )


def picture_groups(
    record: VerdictRecord, journals: Mapping[str, Sequence[Entry]], runs: Sequence[JudgedRun], most_steps: int
) -> tuple[PictureGroup, ...]:
    """Return a group for each scenario of these runs, in the order of the matrix."""
    scenarios = [each for each in record.scenarios if any(run.scenario == each.name for run in runs)]
    return tuple(
        _group(
            each,
            [run for run in runs if run.scenario == each.name],
            journals,
            most_steps,
            is_proof=each.name in record.proving,
        )
        for each in scenarios
    )


def _group(
    scenario: JudgedScenario,
    runs: Sequence[JudgedRun],
    journals: Mapping[str, Sequence[Entry]],
    most_steps: int,
    *,
    is_proof: bool,
) -> PictureGroup:
    pictured = {run.key: _pictured(run, journals) for run in runs}
    axis = shared_axis([each.story for each in pictured.values()])
    first = {run.key for arm in {run.arm for run in runs} for run in _told_first([r for r in runs if r.arm == arm])}
    drawn = [(run.key in first, picture(pictured[run.key], axis, most_steps)) for run in runs]
    return PictureGroup(
        f"timelines-{slug(scenario.name)}",
        scenario.name,
        scenario.question,
        is_proof or any(run.check in (Check.FAILED, Check.ERROR) for run in runs),
        tuple(each for is_first, each in drawn if is_first),
        tuple(each for is_first, each in drawn if not is_first),
    )


def _told_first(runs: Sequence[JudgedRun]) -> list[JudgedRun]:
    """Return the run of an arm that is shown at once, if any: one that did not go as it should, else the first.

    With the flag off a run that went as it should shows again what base shows.
    """
    spoiled = [run for run in runs if not run.check.is_fine]
    return spoiled[:1] or [run for run in runs if run.role not in (Role.OFF, Role.BASE_OFF)][:1]


def _pictured(run: JudgedRun, journals: Mapping[str, Sequence[Entry]]) -> PicturedRun:
    return PicturedRun(
        f"timeline-{slug(run.scenario, run.arm, str(run.repeat))}",
        run.arm,
        run.repeat,
        run.label + (", as expected" if run.check is Check.EXPECTED_FAILURE else "") + made_before([run]),
        _tone(run),
        run.key.folder,
        story_of(journals[run.key.folder]),
    )


def _tone(run: JudgedRun) -> str:
    if run.check is Check.PASSED and run.outcome is Outcome.FAILED:
        return "plain"
    tones = {Check.PASSED: "good", Check.EXPECTED_FAILURE: "good", Check.FAILED: "bad"}
    return tones.get(run.check, "unclear")
