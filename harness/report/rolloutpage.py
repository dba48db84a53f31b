"""report.html of a rollout: the answer, the rehearsals with turns and clients, log differences, the runbook."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.base.text import counted, cut
from harness.logs.read.event_counts import OUTSIDE
from harness.model.clients import ClientReport
from harness.model.events import CommandTried
from harness.model.features import FeaturePlan
from harness.model.findings import Contrast
from harness.model.operator_changes import OperatorChanges
from harness.model.rollout import Rehearsal, RolloutOutcome, RolloutVerdict, Turn
from harness.report.differences import ContrastView, FindingContext, contrast_view
from harness.report.drawing import shared_axis
from harness.report.limits import Limits, beyond, kept, within_budget
from harness.report.links import Quote, evidence_link, quote_of
from harness.report.page import render_page
from harness.report.run_pictures import PicturedRun, PictureGroup, picture, story_of
from harness.report.upgrade_page import UpgradeSummary, upgrade_summary
from harness.rollout.builds import BASE, CANDIDATE, DIES_ON_LOAD
from harness.rollout.finalising import FEATURES_SCRIPT
from harness.rollout.nodes import in_words
from harness.rollout.rehearsals import CONTROL, FINALISED, FORWARD_AND_BACK, RESTART_FINALISED
from harness.rollout.rollout_verdict import outcome_of, stopping_turn
from harness.rollout.runbook import Runbook, runbook
from harness.rollout.script_calls import IN_SHELL
from harness.rundir.journal import Entry

_LIMITS = Limits()
_QUOTE = 2000
_CHECKS = "checks before and after every turn"
_TONES = {RolloutOutcome.PASSED: "good", RolloutOutcome.STOPPED: "bad", RolloutOutcome.INCONCLUSIVE: "unclear"}
_CLIENTS = ("orders", "clicks", "balances", "payments", "group")


@dataclass(frozen=True, slots=True)
class RehearsalView:
    """A rehearsal as the page shows it; `outcome` is what it weighs, `shown` the outcome of its run.

    `errors` are templates of ERROR lines with their counts, of which `hidden_errors` are not shown.
    """

    found: Rehearsal
    outcome: str
    shown: str
    reason: str
    slowest: str
    checks: int
    quotes: tuple[Quote, ...]
    odd_clients: tuple[ClientReport, ...]
    errors: tuple[tuple[str, int], ...]
    hidden_errors: int


@dataclass(frozen=True, slots=True)
class StopView:
    """Where the roll was stopped: in which rehearsal and at which turn, and the lines that show why."""

    rehearsal: str
    turn: Turn
    quotes: tuple[Quote, ...]


@dataclass(frozen=True, slots=True)
class SidesView:
    """What base and the candidate are called, and by the name of a build in a roll what a node then runs."""

    base: str
    candidate: str
    runs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FinishView:
    """What finalising the features changes and means, how it is done, and what the commands printed."""

    plan: FeaturePlan
    commands: tuple[CommandTried, ...]
    restarts: int


@dataclass(frozen=True, slots=True)
class RolloutPage:
    """Everything that the page shows; `finish` and `upgrade` are None where only a raft jar is replaced."""

    found: RolloutVerdict
    sentence: str
    against: str
    noticed: tuple[str, ...]
    not_rehearsed: tuple[str, ...]
    lost: str
    kafka_version: str
    command: str
    clients: tuple[str, ...]
    rehearsals: tuple[RehearsalView, ...]
    stop: StopView | None
    pictures: PictureGroup
    hidden_pictures: int
    contrast: ContrastView | None
    runbook: Runbook
    warnings: tuple[str, ...]
    sides: SidesView
    order: str
    finish: FinishView | None
    upgrade: UpgradeSummary | None

    @property
    def sections(self) -> tuple[tuple[str, str], ...]:
        """What the page links to at its top, by id: what it has of it."""
        has_turns = any(each.found.turns for each in self.rehearsals)
        every = (
            ("stop", "Why it stopped", self.stop),
            ("gaps", "Not rehearsed", self.noticed or self.not_rehearsed),
            ("rehearsals", "Rehearsals", self.rehearsals),
            ("timelines", "Timelines", self.pictures.shown or self.pictures.more),
            ("clients", "Clients", any(each.found.clients for each in self.rehearsals)),
            ("features", "Features", self.finish),
            ("operator", "Operator", self.upgrade),
            ("runbook", "Runbook", True),
            ("turns", "Turns", has_turns),
            ("findings", "Logs", self.contrast),
            ("tested", "Tested", True),
            ("again", "Run again", True),
        )
        return tuple((id, name) for id, name, there in every if there)


def render_rollout(
    found: RolloutVerdict,
    journals: Mapping[str, Sequence[Entry]],
    contrast: Contrast | None,
    argv: Sequence[str],
    upgrade: OperatorChanges | None = None,
) -> str:
    """Return the page; `journals` are the events of each rehearsal by its name. Equal input gives equal bytes."""
    return within_budget(
        lambda limits: render_page(
            "rollout.html.j2", page=rollout_page(found, journals, contrast, argv, upgrade, limits)
        ),
        _LIMITS,
    )


def rollout_page(
    found: RolloutVerdict,
    journals: Mapping[str, Sequence[Entry]],
    contrast: Contrast | None,
    argv: Sequence[str],
    upgrade: OperatorChanges | None = None,
    limits: Limits = _LIMITS,
) -> RolloutPage:
    """Return what the page shows."""
    book = runbook(found)
    return RolloutPage(
        found,
        cut(found.sentence, limits.text),
        cut(found.against, limits.text),
        _noticed(found),
        tuple(cut(gap, limits.text) for gap in found.not_rehearsed[: limits.rows]),
        _lost(found.rehearsals),
        found.kafka_version,
        shlex.join(("harness", *argv)),
        _CLIENTS,
        tuple(_rehearsal(each, limits) for each in found.rehearsals),
        _stop(found.rehearsals, limits),
        _pictures(found.rehearsals, journals, limits),
        beyond(found.rehearsals, limits.timelines),
        _contrast(contrast, limits) if contrast else None,
        book,
        book.warnings,
        _sides(found),
        ", ".join(map(str, book.way.order)) or in_words(book.way.first),
        _finish(found, limits),
        upgrade_summary(upgrade) if upgrade else None,
    )


def _noticed(found: RolloutVerdict) -> tuple[str, ...]:
    """Return, in sentences, what a fault of the candidate would have had to get past."""
    turns = [turn for each in found.rehearsals for turn in each.turns]
    if not turns:
        return ()
    promised, unread = promised_by(found.rehearsals)
    looked_for = f"{promised:,} were looked for at the end{unread}"
    budgets = [each.budget_seconds for each in found.rehearsals if each.budget_seconds]
    checks = sum(len(turn.before) + len(turn.after) for turn in turns)
    passed = [each for each in found.rehearsals if outcome_of(each) is RolloutOutcome.PASSED]
    dies = any(turn.build == DIES_ON_LOAD for each in passed for turn in each.turns)
    known = ", and what base's own roll writes is known" if any(each.name == CONTROL for each in passed) else ""
    return (
        f"A node that crashes, or a cluster that does not heal: {counted(len(turns), 'turn')}, {checks} {_CHECKS}.",
        *([f"Something acknowledged that is gone: {looked_for}."] if promised else []),
        *([f"A client that waits too long: {min(budgets):.0f} s were allowed."] if budgets else []),
        f"A new ERROR line: those of every node were read{known}.",
        *(["A jar that dies on load: one was installed, and stopped the roll."] if dies else []),
    )


def _sides(found: RolloutVerdict) -> SidesView:
    """Return what both are called: the Kafkas where they are two, else whose jar it is."""
    base, candidate = found.base.build, found.candidate.build
    if candidate.kafka.is_same(base.kafka):
        return SidesView("base's jar", "the candidate's jar", {})
    names = base.kafka.label, candidate.kafka.label
    return SidesView(*names, {BASE: f"base, {names[0]}", CANDIDATE: f"the candidate, {names[1]}"})


def _finish(found: RolloutVerdict, limits: Limits) -> FinishView | None:
    if found.features is None:
        return None
    rehearsed = next((each for each in found.rehearsals if each.name == FINALISED), None)
    tried = rehearsed.commands if rehearsed else ()
    commands = tuple(
        replace(
            each,
            command=_in_shell(each.command),
            output=cut(each.output, limits.text),
        )
        for each in tried
        if FEATURES_SCRIPT in each.command
    )
    restarts = sum(turn.phase == RESTART_FINALISED for turn in rehearsed.turns) if rehearsed else 0
    return FinishView(found.features, commands, restarts)


def _in_shell(command: str) -> str:
    """Return a command of a rehearsal as an operator types it; it may be of somebody else's record."""
    for name, variable in (IN_SHELL | {"config": '"$COMMAND_CONFIG"'}).items():
        command = command.replace(f"{{{name}}}", variable)
    return command


def _stop(rehearsals: Sequence[Rehearsal], limits: Limits) -> StopView | None:
    """Return the first stop of a rehearsal that should have gone on."""
    for found in rehearsals:
        turn = stopping_turn(found)
        if turn and outcome_of(found) is RolloutOutcome.STOPPED:
            return StopView(found.name, replace(turn, stopped=cut(turn.stopped, limits.text)), _quotes(found, limits))
    return None


def _lost(rehearsals: Sequence[Rehearsal]) -> str:
    """Return what became of everything that clients were promised."""
    promised, unread = promised_by(rehearsals)
    lost = sum(each.lost for each in rehearsals)
    return f"{lost:,} of {promised:,} acknowledged lost{unread}" if promised else f"none reported{unread}"


def promised_by(rehearsals: Sequence[Rehearsal]) -> tuple[int, str]:
    """Return how much that clients were promised was looked for, and in words how much could not be."""
    binding = [client for each in rehearsals for client in each.clients if client.binding]
    unread = sum(client.acknowledged for client in binding if client.unread)
    return sum(each.acknowledged for each in binding) - unread, f", {unread:,} could not be checked" if unread else ""


def _is_odd(client: ClientReport) -> bool:
    """Return whether a reader must see a client's row at once."""
    return bool(client.lost or client.duplicates or client.not_acknowledged or client.violations or client.unread)


def _quotes(found: Rehearsal, limits: Limits) -> tuple[Quote, ...]:
    return tuple(quote_of(each, min(_QUOTE, 3 * limits.text)) for each in found.result.evidence[:6])


def _rehearsal(found: Rehearsal, limits: Limits) -> RehearsalView:
    result, errors = found.result, [*found.errors.items()]
    turns = (replace(turn, stopped=cut(turn.stopped, limits.text)) for turn in found.turns)
    found = replace(found, turns=tuple(turns))
    return RehearsalView(
        found,
        str(outcome_of(found)),
        result.label,
        cut(result.reason, limits.text),
        _slowest(found.turns),
        sum(len(turn.before) + len(turn.after) for turn in found.turns),
        _quotes(found, limits),
        tuple(filter(_is_odd, found.clients)),
        tuple((cut(template, limits.text), count) for template, count in errors[: limits.rows]),
        beyond(errors, limits.rows),
    )


def _slowest(turns: Sequence[Turn]) -> str:
    slowest = max(turns, key=lambda turn: turn.seconds, default=None)
    return f"node {slowest.node}, {slowest.seconds:.0f} s" if slowest else "–"


def _pictures(rehearsals: Sequence[Rehearsal], journals: Mapping[str, Sequence[Entry]], limits: Limits) -> PictureGroup:
    """Return rehearsals on one axis; shown at once are what did not pass and the roll forward and back."""
    every = [_pictured(each, journals.get(each.name, ())) for each in rehearsals]
    first = {run.name for run in every if run.tone != "good" or run.name == FORWARD_AND_BACK}
    runs = kept(every, limits.timelines, lambda run: run.name in first)
    axis = shared_axis([run.story for run in runs])
    drawn = [picture(run, axis, limits.steps) for run in runs]
    shown = tuple(each for each in drawn if each.name in first)
    return PictureGroup(
        "timelines-rehearsals", "Rehearsals", "", True, shown, tuple(each for each in drawn if each.name not in first)
    )


def _pictured(found: Rehearsal, entries: Sequence[Entry]) -> PicturedRun:
    outcome, result = outcome_of(found), found.result
    story = story_of(entries, observers="broker")
    return PicturedRun(
        f"timeline-{found.name}", found.name, 1, str(result.outcome), _TONES[outcome], result.key.folder, story
    )


def _contrast(contrast: Contrast, limits: Limits) -> ContrastView:
    """Return what differs while every node was stopped and started once; outside of that different things were done."""
    alike = tuple(each for each in contrast.findings if each.phase != OUTSIDE)
    known = FindingContext(False, link=evidence_link)
    return contrast_view(replace(contrast, findings=alike), known, limits.findings, limits.text)
