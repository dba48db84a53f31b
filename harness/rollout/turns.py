"""A rehearsal read back from its journal: every node's turn with its checks, clients, errors, commands; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.model.events import (
    ClientSettled,
    CommandTried,
    ErrorLogged,
    HostStalled,
    NodeChanged,
    NodeProved,
    Noted,
    PhaseStarted,
    Sampled,
    StepChanged,
    TurnEnded,
    TurnStarted,
    is_of_the_plan,
)
from harness.model.outcome_names import STOPS_ON_SIGTERM
from harness.model.rollout import CheckResult, Rehearsal, Turn
from harness.model.runs import RunResult
from harness.rollout.health import AFTER, BEFORE
from harness.rollout.roll_steps import BRING_BACK
from harness.rundir.journal import Entry

_DESCRIPTIONS: Mapping[str, str] = {check.name: check.description for check in (*BEFORE, *AFTER)}
_BEFORE_NAME = "safe_to_stop"
_CLIENT_CHECKS = ("clients_served", "pause_within_budget", "no_new_errors", STOPS_ON_SIGTERM)


def rehearsal_of(result: RunResult, question: str, budget_seconds: float, entries: Iterable[Entry]) -> Rehearsal:
    """Return all that a rehearsal shows."""
    known = list(entries)
    events = [entry.event for entry in known]
    return Rehearsal(
        question,
        result,
        budget_seconds,
        turns_of(known),
        tuple(event.report for event in events if isinstance(event, ClientSettled)),
        error_counts(known),
        tuple(_notes(known)),
        tuple(event for event in events if isinstance(event, CommandTried)),
    )


def error_counts(entries: Iterable[Entry]) -> dict[str, int]:
    """Return how often each template of an ERROR line came."""
    counts = Counter(entry.event.template for entry in entries if isinstance(entry.event, ErrorLogged))
    return dict(sorted(counts.items()))


def _notes(entries: Sequence[Entry]) -> list[str]:
    """Return what was noted of the whole cluster, and the first stall of the host."""
    stalls = [entry.event for entry in entries if isinstance(entry.event, HostStalled)]
    noted = [entry.event.text for entry in entries if isinstance(entry.event, Noted) and entry.event.node < 0]
    return noted + [stall.sentence for stall in stalls[:1]]


def turns_of(entries: Sequence[Entry]) -> tuple[Turn, ...]:
    """Return every node's turn, in order; one that was not ended says what stopped it."""
    planned = [at for at, entry in enumerate(entries) if is_of_the_plan(entry.event)]
    reader, over = _TurnReader(), max(planned, default=-1) + 1
    for entry in entries[:over]:
        reader.take(entry)
    reader.end()
    for entry in entries[over:]:
        if isinstance(entry.event, NodeProved):
            reader.take(entry)
    return tuple(reader.turns)


@dataclass(slots=True)
class _Open:
    """A turn that has begun."""

    started: TurnStarted
    phase: str
    began: float
    last: float
    stopped_at: float  # 0 until it stops
    back_at: float = 0.0
    before: dict[str, CheckResult] = field(default_factory=dict)
    after: dict[str, CheckResult] = field(default_factory=dict)
    pauses: Mapping[str, float] = field(default_factory=dict)
    problem: str = ""


class _TurnReader:
    """Goes through a journal; a check's seconds are those from its step's first look to its last unmet one."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self._phase = ""
        self._open: _Open | None = None
        self._looks: list[tuple[float, Sampled]] = []

    def take(self, entry: Entry) -> None:
        """Take one entry into account."""
        match entry.event:
            case PhaseStarted(name):
                self._phase = name
            case TurnStarted() as started:
                self.end()
                down_already = entry.t if started.action == BRING_BACK else 0.0
                self._open = _Open(started, self._phase, entry.t, entry.t, down_already)
            case TurnEnded(pauses) if self._open:
                self._open.pauses, self._open.last = pauses, entry.t
                self.end()
            case Sampled() as sampled:
                self._looks.append((entry.t, sampled))
            case NodeChanged(node, "died") if self._open:
                self._open.problem, self._open.last = f"node {node} crashed", entry.t
            case NodeChanged(node, "stopping") if self._open and node == self._open.started.node:
                self._open.stopped_at = self._open.stopped_at or entry.t
            case NodeProved() as proved:
                self._on_proof(proved)
            case StepChanged() as step if self._open:
                self._open.last = entry.t
                self._on_step(self._open, step, entry.t)
                self._looks = []
            case _:  # says nothing of a turn
                pass

    def _on_proof(self, proved: NodeProved) -> None:
        """Take what a live process is to its node's turn, which may have ended: who proves it asks at its own pace."""
        if self._open and proved.node == self._open.started.node:
            self._open.after["right_jar"] = _right_jar(proved)
            return
        of_node = [at for at, turn in enumerate(self.turns) if turn.node == proved.node]
        if of_node and not any(check.name == "right_jar" for check in self.turns[of_node[-1]].after):
            turn = self.turns[of_node[-1]]
            self.turns[of_node[-1]] = replace(turn, after=(*turn.after, _right_jar(proved)))

    def _on_step(self, turn: _Open, step: StepChanged, at: float) -> None:
        if step.status not in ("met", "unmet") or step.step not in ("expect", "guard"):
            return
        if step.status == "unmet":
            turn.problem = f"{self._condition(step)}: {step.detail or 'not so'}"
        if step.name in _CLIENT_CHECKS:
            text = self._condition(step)
            turn.after[step.name] = CheckResult(step.name, text, step.status == "met", step.seconds, step.detail)
            return
        found = self._checks(at - step.seconds)
        if step.name == _BEFORE_NAME:
            turn.before |= found
        elif found:
            turn.after = found | turn.after
            turn.back_at = at

    def _condition(self, step: StepChanged) -> str:
        """Return what was looked at for a step, without its bound; that the budget is over, nothing was looked at."""
        looked_at = (look.condition for _, look in reversed(self._looks))
        return next((condition for condition in looked_at if step.text.startswith(condition)), step.text)

    def _checks(self, began: float) -> dict[str, CheckResult]:
        """Return the checks of a list, by the looks at it; each with the time at which it was last unmet."""
        met_after: dict[str, float] = {}
        problems: dict[str, str] = {}
        for at, look in self._looks:
            for name, problem in look.detail.items():
                if name not in _DESCRIPTIONS:
                    return {}
                problems[name] = str(problem)
                met_after[name] = at - began if problem else met_after.get(name, 0.0)
        return {
            name: CheckResult(name, _DESCRIPTIONS[name], not problem, round(max(met_after[name], 0.0), 2), problem)
            for name, problem in problems.items()
        }

    def end(self) -> None:
        """Close the turn that is open."""
        turn, self._open = self._open, None
        if turn is None:
            return
        down = turn.back_at - turn.stopped_at if turn.back_at and turn.stopped_at else 0.0
        self.turns.append(
            Turn(
                len(self.turns) + 1,
                turn.phase,
                turn.started.node,
                turn.started.roles,
                turn.started.action,
                turn.started.build,
                round(turn.last - turn.began, 2),
                round(down, 2),
                tuple(turn.before.values()),
                tuple(turn.after.values()),
                turn.pauses,
                turn.problem,
            )
        )


def _right_jar(proved: NodeProved) -> CheckResult:
    description = "the live process runs the right jar, and its flag is as meant"
    return CheckResult("right_jar", description, not proved.error, 0.0, proved.error)
