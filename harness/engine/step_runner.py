"""The walk through a plan: each step done or waited for, until it ends or something ends it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from itertools import pairwise
from typing import NoReturn, TypeVar

from harness.base.code_lines import line_at
from harness.base.errors import HarnessError
from harness.base.waiting import wait_until
from harness.cluster.protocol import Unreachable
from harness.engine.cancel import RunCancelled
from harness.engine.overlong import Overlong, interrupted_after
from harness.engine.planned_run import PlannedRun
from harness.engine.quiet import Quiet, need_quiet
from harness.engine.read_through import UNSETTLED, brokers_up_to_date
from harness.engine.recorder import Recorder
from harness.model.events import HostShort, PhaseStarted, StepChanged
from harness.model.incidents import Incident, IncidentKind
from harness.model.node_logs import PhaseSpan
from harness.model.outcome_names import ACTION_DONE, HOST_NOT_STARVED, TESTABLE, WITHIN_BUDGET
from harness.scenario.bounds import seconds_of
from harness.scenario.plan import Plan
from harness.scenario.steps import (
    AboutNode,
    Action,
    Background,
    Bind,
    Condition,
    Do,
    Expect,
    Fault,
    Guard,
    Measure,
    OnlyIf,
    Phase,
    Rejoin,
    Sample,
    Step,
    describe_step,
    named_expectations,
)
from harness.scenario.world import ActionFailed, World

_T = TypeVar("_T")

POLL_SECONDS = 0.2
_STRETCH_SECONDS = 1.0
_SPLIT = "the plan ended while the network was cut, and brokers on its sides may tell different stories"
_REST_SECONDS = 0.5
# An election ends within two seconds; two in a row, and the second for which a leader must stay.
_SETTLES_SECONDS = 15.0
# What a step finds was often done just before it, and the host is measured once a second.
_LOOKS_BACK_SECONDS = 5.0


class PlanEnded(Exception):  # noqa: N818 - ends the walk, whatever the reason; the recorder has it
    """The plan cannot or need not go on."""


class StepRunner:
    """Carries steps out on a live world.

    `waits` are the seconds that each expectation took to be met, `guards` the most that any guard of a kind took.
    """

    def __init__(
        self,
        cell: PlannedRun,
        recorder: Recorder,
        world: World,
        report: Callable[[str], None],
        quiet: Quiet = nullcontext,
    ) -> None:
        self.waits: dict[str, float] = {}
        self.guards: dict[str, float] = {}
        self._quiet = quiet
        self._cell = cell
        self._recorder = recorder
        self._world = world
        self._report = report
        self._asked: set[str] = set()
        self._phases: list[tuple[str, float]] = []
        self._deaths_known = 0
        self._began = self._acted_at = 0.0
        self._over = 0.0
        self._measured = 0.0

    def through(self, plan: Plan) -> None:
        """Carry the plan out, its aftermath where the arm ended it, and settle the clients."""
        self._began = self._acted_at = time.monotonic()
        self._carry_out(plan.steps)
        self._check_asked(plan)
        self._recorder.unasked = tuple(named for named in _asked_by(plan.steps) if named not in self._asked)
        if self._recorder.ended_by_the_arm and plan.aftermath:
            self._recorder.begin_aftermath()
            for stretch in plan.aftermath:
                self._deaths_known = self._recorder.deaths
                self._carry_out(stretch)
        self._settle()

    def _check_asked(self, plan: Plan) -> None:
        """A run that came to its end and asked nothing has shown nothing."""
        if not self._asked and not self._recorder.has_incidents and any(named_expectations(plan.steps)):
            story = "none of its expectations was asked: they stand where a condition did not hold"
            line = self._recorder.write(StepChanged("guard", story, "unmet"))
            self._recorder.report(Incident(IncidentKind.GUARD_UNMET, TESTABLE, story), line)

    def spans(self) -> tuple[PhaseSpan, ...]:
        """Return the phases with their times, seconds since the Unix epoch; the last one ends with the plan, or now."""
        bounds = [*self._phases, ("", self._over or time.time())]
        return tuple(PhaseSpan(name, start, end) for (name, start), (_, end) in pairwise(bounds))

    @property
    def phase(self) -> str:
        """The phase that the plan is in; empty before its first."""
        return self._phases[-1][0] if self._phases else ""

    def end_phases(self) -> None:
        """The plan is over: what nodes do from here on belongs to no phase."""
        self._over = time.time()

    def abandon_clients(self) -> None:
        """End clients without waiting for anything."""
        for client in self._world.clients:
            client.abandon()
            self._recorder.write(client.by_second())

    def _carry_out(self, steps: Sequence[Step]) -> None:
        try:
            self._each(steps)
            self._check_budget()
        except PlanEnded:
            self._consider_host(self._world.step_began, self._acted_at, time.monotonic() - _LOOKS_BACK_SECONDS)

    def _each(self, steps: Sequence[Step]) -> None:
        for step, needs_quiet in zip(steps, need_quiet(steps), strict=True):
            self._check_cancelled()
            self._check_budget()
            self._world.begin_step()
            with self._quiet() if needs_quiet else nullcontext():
                self._take(step)

    def _check_cancelled(self) -> None:
        if self._world.is_over():
            raise RunCancelled

    def _check_budget(self) -> None:
        """End a plan that takes longer than its budget, but for measured windows; a slow host lengthens it."""
        budget, took = self._cell.scenario.budget, time.monotonic() - self._began - self._measured
        if took > budget and took > budget * self._world.slowness(self._began).factor:
            self._over_budget(self._began, "")

    def _over_budget(self, began: float, because: str) -> NoReturn:
        self._consider_host(began)
        budget = self._cell.scenario.budget
        line = self._recorder.write(StepChanged("guard", "the plan's budget", "unmet", seconds=budget))
        self._unmet_guard(WITHIN_BUDGET, f"the plan took longer than its {budget:g} s{because}", line)

    def _consider_host(self, *since: float) -> None:
        """Report what the host was short of when something went wrong, where that was much since one of these times."""
        slowness = max(map(self._world.slowness, since), key=lambda found: found.share)
        if slowness.is_starved:
            line = self._recorder.write(HostShort(slowness.reason))
            self._recorder.report(Incident(IncidentKind.HOST_SLOW, HOST_NOT_STARVED, slowness.reason), line)

    def _check_seen(self, last: Sample) -> None:
        """End the plan where it was the harness that saw too little to tell."""
        if last.unseen:
            reason = f"harness: {last.unseen}"
            line = self._recorder.write(HostShort(reason))
            self._recorder.report(Incident(IncidentKind.HOST_SLOW, HOST_NOT_STARVED, reason), line)

    def _take(self, step: Step) -> None:
        kind, text = describe_step(step, self._cell.settings_in_force)
        world = self._world
        match step:
            case Phase(name):
                self._enter_phase(name)
            case Background(load):
                self._act(kind, text, lambda: world.clients.append(world.as_client(lambda: load.start(world))))
            case Bind(names=names, resolve=resolve):
                self._act(kind, text, lambda: self._bind(names, resolve))
            case Do(action, when):
                if when is None or self._holds(when):
                    self._acted_at = time.monotonic()
                    self._act(kind, text, lambda: self._perform(action))
                else:
                    self._recorder.write(StepChanged(kind, text, "skipped"))
            case OnlyIf(condition, steps):
                if self._holds(condition):
                    self._each(steps)
            case Guard(condition, within):
                self._guard(condition, within, text)
            case Expect(condition, within, named):
                self._expect(condition, seconds_of(within, self._cell.settings_in_force), named, text)
            case Measure(name, seconds):
                self._measure(name, seconds, text)

    def _bind(self, names: Sequence[str], resolve: Callable[[World], Sequence[int]]) -> None:
        nodes = resolve(self._world)
        if len(nodes) != len(names):
            raise ActionFailed(f"{len(names)} names, and {len(nodes)} nodes to name")
        self._world.names.update(zip(names, nodes, strict=True))

    def _enter_phase(self, name: str) -> None:
        self._phases.append((name, time.time()))
        self._recorder.write(PhaseStarted(name))
        self._world.begin_phase(name)
        self._report(name)

    def _perform(self, action: Action) -> None:
        if isinstance(action, Fault):
            self._world.remember_leader()
        action.perform(self._world)
        if isinstance(action, Fault | Rejoin):
            self._world.fault_is_done()

    def _look(self, condition: Condition) -> Sample:
        try:
            sample = self._in_time(condition.description, lambda: condition.sample(self._world))
        except (ActionFailed, Unreachable) as error:  # nobody leads, say: nothing can be seen, now
            sample = Sample(False, testable=False, problem=str(error))
        except LookupError as error:  # what a condition looks for is not there, as an observer that nobody lists
            sample = Sample(False, testable=False, problem=f"{type(error).__name__}: {error} ({line_at(error)})")
        if not isinstance(sample, Sample):
            raise HarnessError(f"{condition.description}: {sample!r} is what was seen, and no Sample.", "Return one.")
        self._recorder.on_sample(condition.description, sample.ok, sample.detail)
        return sample

    def _holds(self, condition: Condition) -> bool:
        """Return whether a condition holds now; wait while nobody can tell, as in an election."""
        last = Sample(False)

        def can_tell() -> bool:
            nonlocal last
            self._check_cancelled()
            last = self._look(condition)
            return last.testable

        if not wait_until(can_tell, _SETTLES_SECONDS, POLL_SECONDS):
            story = f"{condition.description}: not determined within {_SETTLES_SECONDS:g} s{_because(last)}"
            self._unmet_guard(TESTABLE, story, self._recorder.write(StepChanged("guard", story, "unmet")))
        return last.ok

    def _act(self, kind: str, text: str, perform: Callable[[], object]) -> None:
        self._recorder.write(StepChanged(kind, text, "begin"))
        began = time.monotonic()
        try:
            self._in_time(text, perform)
        except (ActionFailed, Unreachable) as error:
            line = self._recorder.write(StepChanged(kind, text, "failed", seconds=_since(began), detail=str(error)))
            self._unmet_guard(ACTION_DONE, f"{text}: {error}", line)
        self._recorder.write(StepChanged(kind, text, "done", seconds=_since(began)))

    def _in_time(self, text: str, do: Callable[[], _T]) -> _T:
        """Return what something gives; end the plan where that alone takes longer than the whole plan may."""
        began = time.monotonic()
        try:
            with interrupted_after(self._cell.scenario.budget, lambda: self._world.slowness(began).factor):
                return do()
        except Overlong as where:
            self._over_budget(began, f": “{text}” did not come back ({where})")

    def _guard(self, condition: Condition, within: float, text: str) -> None:
        met, took, last = self._wait_for(condition, within)
        status = "met" if met else "unmet"
        line = self._recorder.write(StepChanged("guard", text, status, seconds=took, detail=last.problem))
        if met:
            self.guards[condition.name] = max(self.guards.get(condition.name, 0.0), took)
        else:
            self._check_seen(last)
            story = self._story(condition, within, took, last)
            self._unmet_guard(condition.name, story, line)

    def _expect(self, condition: Condition, within: float, named: str, text: str) -> None:
        self._asked.add(named)
        met, took, last = self._wait_for(condition, within)
        status = "met" if met else "unmet"
        line = self._recorder.write(StepChanged("expect", text, status, named, took, last.problem))
        if met:
            self.waits[named] = max(self.waits.get(named, 0.0), took)
            return
        story = self._story(condition, within, took, last)
        final = last if last.final else self._look(condition)
        if not final.testable:  # a lost quorum must not pass for a lost observer
            self._check_seen(final)
            self._unmet_guard(TESTABLE, f"{story}, and after that the cluster was not in a testable state", line)
        self._recorder.expectation_unmet(
            Incident(IncidentKind.EXPECTATION_UNMET, named, story), line, self._node_of(condition)
        )
        raise PlanEnded

    def _node_of(self, condition: Condition) -> int | None:
        """Return which node a condition is about, if it is about one that can be named now."""
        try:
            return condition.node.find(self._world) if isinstance(condition, AboutNode) else None
        except (ActionFailed, Unreachable, LookupError):
            return None

    def _measure(self, name: str, seconds: float, text: str) -> None:
        """End the clients, then let the nodes alone for the window; a node that dies in it ends the plan."""
        self._settle()
        self._recorder.write(StepChanged("measure", text, "begin", name))
        began = time.monotonic()
        with self._world.measuring(name):
            self._rest(seconds)
        took = _since(began)
        self._measured += took
        self._recorder.write(StepChanged("measure", text, "done", name, took))
        if self._node_died:
            raise PlanEnded

    def _rest(self, seconds: float) -> None:
        def is_disturbed() -> bool:
            self._check_cancelled()
            for node in self._world.cluster.running:
                node.look_for_death()
            return self._node_died

        wait_until(is_disturbed, seconds, _REST_SECONDS)

    def _unmet_guard(self, name: str, story: str, line: int) -> NoReturn:
        self._recorder.report(Incident(IncidentKind.GUARD_UNMET, name, story), line)
        raise PlanEnded

    def _wait_for(self, condition: Condition, within: float) -> tuple[bool, float, Sample]:
        """Poll until the condition holds or cannot hold any more, the time is over, or a node has died.

        Returns (met, seconds, last look). Where the host holds the nodes back, the time is longer by as much.
        """
        began, last = time.monotonic(), Sample(False)

        def is_settled() -> bool:
            nonlocal last
            self._check_cancelled()
            if self._node_died:
                return True
            last = self._look(condition)
            return last.ok or last.final

        settled = wait_until(is_settled, within, POLL_SECONDS)
        while not settled and (left := within * self._world.slowness(began).factor - _since(began)) > 0:
            settled = wait_until(is_settled, min(left, _STRETCH_SECONDS), POLL_SECONDS)
        if self._node_died:
            raise PlanEnded
        return last.ok, _since(began), last

    def _story(self, condition: Condition, within: float, took: float, last: Sample) -> str:
        phase = f", in phase “{self.phase}”" if self.phase else ""
        when = "not on the first try" if last.final else f"not within {self._bound_in_words(within, took)}"
        return f"{condition.description}: {when}{phase}{_because(last)}"

    def _bound_in_words(self, within: float, took: float) -> str:
        if took < within + _STRETCH_SECONDS:
            return f"{within:g} s"
        slowness = self._world.slowness(self._world.step_began)
        return f"{within:g} s, extended to {took:.0f} s on a slow host ({slowness.reason})"

    @property
    def _node_died(self) -> bool:
        return self._recorder.deaths > self._deaths_known

    def _settle(self) -> None:
        """Stop the clients and take their reports.

        A cluster in which a node died may be unable to answer, and one that is split has more than one answer: whom it
        is read from may lead no more, and not know.
        """
        self._check_cancelled()
        clients = self._world.clients
        is_asked = bool(clients and self._world.cluster.client_brokers) and not self._node_died
        split = self._world.cluster.runtime.is_split
        for client in clients:
            client.patient = is_asked and not split  # nobody waits for what is not compared
            client.stop()
            self._recorder.write(client.by_second())
        if is_asked:
            self._report("reading back what clients were promised")
            self._read_back(_SPLIT if split else "")
        clients.clear()

    def _read_back(self, why_not: str) -> None:
        """Take the clients' reports, read through brokers that know who leads, if there is no reason against it."""
        clients, cluster = self._world.clients, self._world.cluster
        topics = {client.topic for client in clients} - {""}
        known = brokers_up_to_date(cluster, topics) if topics and not why_not else []
        brokers = cluster.client_brokers_among(known) if known else cluster.client_brokers
        for client in clients:
            why = why_not or (UNSETTLED if client.topic and not known else "")
            self._recorder.on_client(client.unread(why) if why else client.report(brokers))


def _asked_by(steps: Sequence[Step]) -> Iterable[str]:
    """Return the names of a plan's expectations, each once, without those that only some runs come to."""
    return dict.fromkeys(step.named for step in steps if isinstance(step, Expect))


def _because(last: Sample) -> str:
    return f" ({last.problem})" if last.problem else ""


def _since(began: float) -> float:
    return round(time.monotonic() - began, 3)
