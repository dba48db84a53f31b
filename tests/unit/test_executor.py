"""The walk through a plan, on a cluster that does what the test says."""

import re
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import replace
from threading import Event
from types import SimpleNamespace
from typing import ClassVar

import pytest
from still_cluster import FillingDisk, ShutEyes, StillCluster, run_still, take_place_of_live_ones

from harness.base.errors import HarnessError
from harness.base.processes import bare_environment
from harness.base.processes.leftovers import marked
from harness.cluster.address import Address
from harness.cluster.partitions import PartitionView
from harness.cluster.probes import Quorum
from harness.cluster.protocol import Unreachable
from harness.cluster.runtime.loopback_runtime import OnLoopback
from harness.cluster.watch import Look
from harness.engine import executor, overlong, read_through, step_runner
from harness.engine.cancel import Cancellation, RunCancelled
from harness.model.clients import ClientReport
from harness.model.events import FaultChanged, HostShort, OutcomeDecided, PhaseStarted, Sampled, StepChanged
from harness.model.incidents import Incident, IncidentKind
from harness.model.runs import Outcome
from harness.scenario import kraft, leads
from harness.scenario.capabilities.base import capability
from harness.scenario.client import Client
from harness.scenario.monitors.base import Monitor
from harness.scenario.plan import Plan, Scenario
from harness.scenario.refs import fixed
from harness.scenario.slowness import Slowness
from harness.scenario.steps import Bind, Fault, Rejoin, Sample
from harness.scenario.world import ActionFailed


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch):
    take_place_of_live_ones(monkeypatch)


class Looks:
    """A condition that shows the given values, the last one for ever."""

    def __init__(self, *values):
        self.values, self.name, self.description = list(values), "looks", "it is so"

    def sample(self, _world):
        value = self.values.pop(0) if len(self.values) > 1 else self.values[0]
        if isinstance(value, Exception):
            raise value
        return Sample(value, {"seen": value})


class Deed:
    """An action that is remembered, and may fail."""

    def __init__(self, fails=None):
        self.fails, self.done, self.description = fails, 0, "do it"

    def perform(self, _world):
        self.done += 1
        if self.fails:
            raise self.fails


def run(tmp_path, *build, budget=60.0, cancellation=None, **changes):
    def plan_it(plan: Plan, _cluster):
        for add in build:
            add(plan)

    scenario = Scenario("s", "?", kraft(controllers=1, observers=0), ("suite",), budget, plan_it, __file__)
    return run_still(replace(scenario, **changes), tmp_path, cancellation)


def guard(condition, within="100ms"):
    return lambda plan: plan.guard(condition, within=within)


def expect(condition, named="asked", within="100ms"):
    return lambda plan: plan.expect(condition, within=within, named=named)


def do(deed, when=None):
    return lambda plan: plan.do(deed, when=when)


def phase(name):
    def add(plan):
        with plan.phase(name):
            pass

    return add


def test_a_plan_whose_guards_and_expectations_are_met_passes(tmp_path):
    result, events, said = run(tmp_path, phase("one"), guard(Looks(False, True)), expect(Looks(True)))
    assert (result.outcome, result.expectation, said) == (Outcome.PASSED, "", ["one"])
    assert result.measures["node_cpu_seconds"] == 1.5
    assert "asked_seconds" in result.measures
    assert events[-1] == OutcomeDecided("PASSED", "", "")


def test_every_look_is_journaled(tmp_path):
    _, events, _ = run(tmp_path, guard(Looks(False, False, True)))
    assert [event.ok for event in events if isinstance(event, Sampled)] == [False, False, True]


def test_an_unmet_guard_is_inconclusive_and_ends_the_plan(tmp_path):
    deed = Deed()
    result, *_ = run(tmp_path, phase("one"), guard(Looks(False)), do(deed))
    assert (result.outcome, result.expectation) == (Outcome.INCONCLUSIVE, "looks")
    assert "in phase “one”" in result.reason
    assert deed.done == 0


def test_an_unmet_expectation_fails_by_its_name_and_ends_the_plan(tmp_path):
    deed = Deed()
    result, *_ = run(tmp_path, expect(Looks(False), "observer_recovers"), do(deed))
    assert (result.outcome, result.expectation) == (Outcome.FAILED, "observer_recovers")
    assert deed.done == 0
    assert result.evidence[0].path.endswith("journal.jsonl")


def test_the_question_that_failed_is_named_with_its_phase_and_those_that_were_not_asked_any_more(tmp_path):
    later = [phase("two"), expect(Looks(True), "later"), expect(Looks(True), "last")]
    result, *_ = run(tmp_path, expect(Looks(True), "first"), phase("one"), expect(Looks(False), "second"), *later)
    assert (result.outcome, result.expectation) == (Outcome.FAILED, "second")
    assert result.reason == "it is so: not within 0.1 s, in phase “one”; not asked: later, last"
    assert result.unasked == ("later", "last")


def test_an_unmet_guard_says_as_well_what_was_not_asked(tmp_path):
    result, *_ = run(tmp_path, guard(Looks(False)), expect(Looks(True), "later"))
    assert result.reason.endswith("; not asked: later")


def test_an_expectation_that_could_not_be_tested_at_its_end_fails_nothing(tmp_path):
    lost_quorum = Looks(False)
    lost_quorum.sample = lambda _world: Sample(False, {"leader": -1}, testable=False)
    result, *_ = run(tmp_path, expect(lost_quorum, "observer_recovers"))
    assert (result.outcome, result.expectation) == (Outcome.INCONCLUSIVE, "testable")


def test_a_guard_outside_any_phase_is_reported_all_the_same(tmp_path):
    result, *_ = run(tmp_path, guard(Looks(False)))
    assert (result.outcome, result.expectation) == (Outcome.INCONCLUSIVE, "looks")


@pytest.mark.parametrize("failure", [ActionFailed("no way"), Unreachable("no answer")])
def test_an_action_that_fails_means_that_the_question_was_not_reached(tmp_path, failure):
    result, *_ = run(tmp_path, do(Deed(failure)), expect(Looks(True)))
    assert (result.outcome, result.expectation) == (Outcome.INCONCLUSIVE, "action_done")
    assert str(failure) in result.reason


def test_an_action_is_skipped_when_its_condition_does_not_hold(tmp_path):
    skipped, done = Deed(), Deed()
    _, events, _ = run(tmp_path, do(skipped, Looks(False)), do(done, Looks(True)))
    assert (skipped.done, done.done) == (0, 1)
    assert "skipped" in [event.status for event in events if isinstance(event, StepChanged)]


def test_a_fault_of_the_harness_breaks_the_run_and_says_so(tmp_path):
    result, *_ = run(tmp_path, guard(Looks(TypeError("oops"))))
    assert result.outcome is Outcome.BROKEN
    assert re.fullmatch(r"TypeError: oops \(.*/test_executor.py, line \d+\)", result.reason)


def test_what_a_condition_of_somebodys_own_looks_up_and_does_not_find_cannot_be_tested_now(tmp_path):
    assert run(tmp_path / "a", expect(Looks(KeyError(3), True)))[0].outcome is Outcome.PASSED
    result, *_ = run(tmp_path / "b", expect(Looks(KeyError(3))))
    assert (result.outcome, result.expectation) == (Outcome.INCONCLUSIVE, "testable")
    assert re.search(r"KeyError: 3 \(.*/test_executor.py, line \d+\)", result.reason)


def test_a_condition_that_returns_no_sample_is_named_with_what_it_returned(tmp_path):
    mine = Looks()
    mine.sample = lambda _world: True
    result, *_ = run(tmp_path, expect(mine))
    assert result.outcome is Outcome.BROKEN
    assert "it is so: True is what was seen, and no Sample" in result.reason


class Filling:
    """An action that fills the disk of the run's folder, and may itself meet that."""

    description = "fill it"

    def __init__(self, monkeypatch, folder, fails=None):
        self.disk, self.fails, make = FillingDisk(folder), fails, executor.Journal

        def journal_on_it(path):
            journal = make(path)
            self.disk.is_under(journal)
            return journal

        monkeypatch.setattr(executor, "Journal", journal_on_it)

    def perform(self, _world):
        self.disk.is_full = True
        if self.fails:
            raise self.fails


@pytest.mark.parametrize("meets_it", [None, OSError(28, "No space left on device")], ids=["journal", "harness"])
def test_a_disk_that_fills_up_within_a_moment_is_the_hosts_doing_and_leaves_a_whole_result(
    tmp_path, monkeypatch, meets_it
):
    deed = Deed()
    result, events, _ = run(tmp_path, do(Filling(monkeypatch, tmp_path, meets_it)), guard(Looks(True)), do(deed))
    assert (result.outcome, result.expectation, deed.done) == (Outcome.INCONCLUSIVE, "host_not_starved", 0)
    assert re.fullmatch(r"disk: no room is left on that of .*/runs/s/stock/1", result.reason)
    assert HostShort(result.reason) in events
    assert events[-1] == OutcomeDecided("INCONCLUSIVE", "host_not_starved", result.reason)
    assert not list(tmp_path.rglob(".partial-*"))


def test_eyes_that_close_break_the_run_whatever_else_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(ShutEyes, "fault", "the watch failed")
    result, *_ = run(tmp_path, expect(Looks(False)))
    assert (result.outcome, result.reason) == (Outcome.BROKEN, "the watch failed")


def test_a_process_that_outlives_its_run_breaks_it_and_is_ended(tmp_path):
    class Leaks(Deed):
        def perform(self, _world):
            environment = marked(bare_environment(), tmp_path / "runs/s/stock/1/nodes")
            self.process = subprocess.Popen(["/bin/sleep", "60"], env=environment)

    leak = Leaks()
    result, *_ = run(tmp_path, do(leak), expect(Looks(True)))
    assert result.outcome is Outcome.BROKEN
    assert f"outlived the run and were killed: sleep ({leak.process.pid})" in result.reason
    assert leak.process.wait(10) == -signal.SIGKILL


def test_a_plan_over_its_budget_is_inconclusive(tmp_path):
    result, *_ = run(tmp_path, guard(Looks(True)), budget=-1.0)
    assert (result.outcome, result.expectation) == (Outcome.INCONCLUSIVE, "within_budget")


def test_a_plan_whose_last_step_takes_it_over_its_budget_is_inconclusive_too(tmp_path):
    result, *_ = run(tmp_path, expect(LateBy(0.3), within="1s"), budget=0.1)
    assert (result.outcome, result.expectation) == (Outcome.INCONCLUSIVE, "within_budget")


class NeverComesBack:
    """Somebody's own action or condition that tries again for ever, whatever an attempt comes to."""

    def __init__(self):
        self.name, self.description = "own", "own doing"

    def perform(self, _world):
        try:
            while True:
                with suppress(Exception):
                    Event().wait()  # in Python's own library
        finally:
            Event().wait()  # and again in what is to clean up

    sample = perform


@pytest.mark.parametrize("step", [do(NeverComesBack()), guard(NeverComesBack()), expect(NeverComesBack())])
def test_a_step_that_does_not_come_back_ends_with_the_plans_budget_and_says_where_it_was(tmp_path, monkeypatch, step):
    monkeypatch.setattr(overlong, "_AGAIN_SECONDS", 0.1)
    result, *_ = run(tmp_path, step, expect(Looks(True), "later"), budget=0.3)
    assert (result.outcome, result.expectation) == (Outcome.INCONCLUSIVE, "within_budget")
    told = r"longer than its 0\.3 s: “.*own doing.*” did not come back \(.*test_executor.py, line \d+\)"
    assert re.search(told, result.reason)
    assert result.unasked[-1] == "later"
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def test_a_plan_that_came_to_its_end_and_asked_nothing_has_not_passed(tmp_path):
    result, *_ = run(tmp_path, only_if(Looks(False), expect(Looks(True))))
    assert (result.outcome, result.expectation) == (Outcome.INCONCLUSIVE, "testable")
    assert "none of its expectations was asked" in result.reason
    assert run(tmp_path / "more", only_if(Looks(True), expect(Looks(True))))[0].outcome is Outcome.PASSED


@pytest.mark.parametrize("failure", [ActionFailed("nobody leads"), Unreachable("refused")], ids=["leads", "answers"])
def test_what_nobody_can_look_at_now_is_looked_at_again_and_breaks_nothing(tmp_path, failure):
    assert run(tmp_path / "a", guard(Looks(failure, True)), expect(Looks(failure, True)))[0].outcome is Outcome.PASSED
    unmet = run(tmp_path / "b", guard(Looks(failure)))[0]
    assert (unmet.outcome, unmet.expectation) == (Outcome.INCONCLUSIVE, "looks")
    assert str(failure) in unmet.reason
    asked = run(tmp_path / "c", expect(Looks(failure)))[0]
    assert (asked.outcome, asked.expectation) == (Outcome.INCONCLUSIVE, "testable")


def test_names_that_are_more_than_the_nodes_are_an_action_that_failed(tmp_path):
    def names(plan):
        plan._collecting.append(Bind(("first", "second"), "call them", lambda _world: (0,)))

    result, *_ = run(tmp_path, names)
    assert (result.outcome, result.expectation) == (Outcome.INCONCLUSIVE, "action_done")
    assert "2 names, and 1 nodes to name" in result.reason


class LeavesANodeStopping:
    """An action after which a node is to be started once it has ended; by then the run may be over."""

    def __init__(self, cancellation=None):
        self.ended, self.started, self.comebacks, self.description = Event(), [], None, "leave it"
        self._cancellation = cancellation

    def perform(self, world):
        self.comebacks = world.comebacks
        self.comebacks.begin(0, lambda: self.ended.wait(20))
        self.comebacks.start_after(0, self.started.append)
        if self._cancellation:
            self._cancellation.cancel()


def test_a_node_that_is_still_stopping_when_the_plan_is_over_is_neither_waited_for_nor_started(tmp_path):
    left = LeavesANodeStopping()
    result, *_ = run(tmp_path, do(left), expect(Looks(True)))
    assert result.outcome is Outcome.PASSED
    left.ended.set()
    left.comebacks.wait(0)
    assert left.started == []


def test_a_node_that_is_still_stopping_when_the_run_is_cancelled_is_not_started_either(tmp_path):
    left = LeavesANodeStopping(cancellation := Cancellation())
    with pytest.raises(RunCancelled):
        run(tmp_path, do(left), cancellation=cancellation)
    left.ended.set()
    left.comebacks.wait(0)
    assert left.started == []


def test_a_cancelled_run_leaves_no_result_whatever_it_looked_like(tmp_path):
    cancellation = Cancellation()

    class Cancels(Deed):
        def perform(self, _world):
            cancellation.cancel()
            raise ActionFailed("because everything was killed")

    with pytest.raises(RunCancelled):
        run(tmp_path, do(Cancels()), cancellation=cancellation)
    assert not (tmp_path / "runs/s/stock/1/result.json").exists()


def test_the_plan_is_kept_in_words(tmp_path):
    run(tmp_path, phase("one"), phase("two"))
    text = (tmp_path / "runs/s/stock/1/plan.json").read_text()
    assert "one" in text
    assert "two" in text


def only_if(condition, *build):
    def add(plan):
        with plan.only_if(condition):
            for each in build:
                each(plan)

    return add


def afterwards(*build):
    def add(plan):
        with plan.afterwards():
            for each in build:
                each(plan)

    return add


def test_a_conditional_stretch_is_carried_out_only_if_its_condition_holds(tmp_path):
    passed_over, done = Deed(), Deed()
    run(tmp_path, only_if(Looks(False), do(passed_over)), only_if(Looks(True), do(done)))
    assert (passed_over.done, done.done) == (0, 1)


def test_a_plan_that_passes_has_no_aftermath(tmp_path):
    deed = Deed()
    result, *_ = run(tmp_path, expect(Looks(True)), afterwards(do(deed)))
    assert (result.outcome, deed.done) == (Outcome.PASSED, 0)


def test_an_unmet_guard_has_no_aftermath_since_the_arm_did_nothing_wrong(tmp_path):
    deed = Deed()
    run(tmp_path, guard(Looks(False)), afterwards(do(deed)))
    assert deed.done == 0


def test_every_stretch_of_the_aftermath_is_carried_out_whatever_came_of_the_one_before(tmp_path):
    deed = Deed()
    served, back = expect(Looks(False), "clients_served"), do(deed)
    result, events, _ = run(
        tmp_path, expect(Looks(False), "first"), afterwards(served), afterwards(phase("back"), back)
    )
    assert (result.outcome, result.expectation, deed.done) == (Outcome.FAILED, "first", 1)
    assert result.reason == "it is so: not within 0.1 s; and then: it is so: not within 0.1 s"
    assert PhaseStarted("back") in events


def test_before_a_fault_the_engine_remembers_who_leads_and_before_other_actions_it_does_not(tmp_path, monkeypatch):
    requested = []
    monkeypatch.setattr(StillCluster, "quorum", lambda _self: requested.append(1) or Quorum(1, 7))

    class Breaks(Deed, Fault):
        def perform(self, world):
            self.before = world.leader_before

    fault = Breaks()
    run(tmp_path / "one", do(Deed()))
    assert not requested
    run(tmp_path / "two", do(fault))
    assert (fault.before.leader, fault.before.epoch) == (1, 7)


def test_a_fault_that_lasts_when_a_plan_ends_early_ends_with_the_run(tmp_path):
    class Cuts(Deed, Fault):
        def perform(self, world):
            world.write(FaultChanged("cut", "cut it", "begun", links=(("node 0", "node 1"),)))

    _, events, _ = run(tmp_path, do(Cuts()), expect(Looks(False)), do(Deed()))
    assert [each.status for each in events if isinstance(each, FaultChanged)] == ["begun", "ended"]


def test_monitors_are_told_of_a_fault_that_is_done_and_of_no_other_action(tmp_path):
    told = []

    class Watches(Monitor):
        name: ClassVar[str] = "watches"

        def after_fault(self):
            told.append(fault.done)

    class Breaks(Deed, Fault):
        pass

    fault = Breaks()
    run(tmp_path, lambda plan: plan.always(Watches), do(Deed()), do(fault), do(Deed()))
    assert told == [1]


def test_monitors_are_told_of_who_comes_back_and_the_leader_before_is_still_that_before_the_fault(tmp_path):
    told = []

    class Watches(Monitor):
        name: ClassVar[str] = "watches"

        def after_fault(self):
            told.append("looked")

    class Returns(Deed, Rejoin):
        def perform(self, world):
            super().perform(world)
            told.append(world.leader_before)

    run(tmp_path, lambda plan: plan.always(Watches), do(Returns()))
    assert told == [Quorum(), "looked"]


def test_what_nodes_told_in_words_is_in_the_result_whoever_heard_it(tmp_path):
    class Hears(Monitor):
        name: ClassVar[str] = "hears"

        def told(self):
            return {"leader metrics": {"current-epoch": "whole"}}

    class Asks(Deed):
        def perform(self, world):
            super().perform(world)
            world.tell("refusals", "remove a stranger", "who?")
            world.tell("refusals", "remove a stranger", "nobody")

    result, *_ = run(tmp_path, lambda plan: plan.always(Hears), do(Asks()))
    assert result.told == {"leader metrics": {"current-epoch": "whole"}, "refusals": {"remove a stranger": "nobody"}}


def test_monitors_are_told_of_phases_and_their_figures_by_phase_are_in_the_result(tmp_path):
    class Counts(Monitor):
        name: ClassVar[str] = "counts"

        def __init__(self, record, cluster):
            super().__init__(record, cluster)
            self.phases = {}

        def begin_phase(self, name):
            self.phases[name] = {"phases_before": float(len(self.phases))}

        def measures_by_phase(self):
            return self.phases

    def two_phases(plan):
        plan.always(Counts)
        for name in ("start", "moves"):
            with plan.phase(name):
                plan.do(Deed())

    result, *_ = run(tmp_path, two_phases)
    assert result.by_phase == {"start": {"phases_before": 0.0}, "moves": {"phases_before": 1.0}}


def test_a_monitor_that_fails_keeps_no_other_from_telling_what_it_saw_nor_does_a_plan(tmp_path):
    class Fails(Monitor):
        name: ClassVar[str] = "fails"

        def after(self):
            raise RuntimeError("cannot read")

    class Sees(Monitor):
        name: ClassVar[str] = "sees"

        def after(self):
            self.record.report(Incident(IncidentKind.INVARIANT_BROKEN, "committed_stays", "gone"), 0)

    def always(kind):
        return lambda plan: plan.always(kind)

    for number, steps in enumerate(([always(Fails), always(Sees)], [always(Sees), do(Deed(RuntimeError("oops")))])):
        result, *_ = run(tmp_path / str(number), *steps, expect(Looks(True)))
        assert (result.outcome, result.expectation) == (Outcome.FAILED, "committed_stays")
    failed, *_ = run(tmp_path / "alone", always(Fails), expect(Looks(True)))
    assert failed.outcome is Outcome.BROKEN
    assert "RuntimeError: cannot read" in failed.reason


def test_a_scenario_whose_needs_this_host_lacks_is_unsupported_with_reason_and_remedy(tmp_path):
    @capability(fix="Buy a bigger one.")
    def a_big_host():
        """A big host."""
        return "it is small"

    deed = Deed()
    result, events, _ = run(tmp_path, do(deed), needs=("a_big_host",))
    assert (result.outcome, deed.done) == (Outcome.UNSUPPORTED, 0)
    assert result.reason == "this host cannot run it: A big host: it is small. Buy a bigger one."
    assert events[-1].outcome == "UNSUPPORTED"


class Grumbles(Monitor):
    """A monitor that breaks an invariant of its own and measures something."""

    name: ClassVar[str] = "never_grumbles"

    def stop(self):
        story = Incident(IncidentKind.INVARIANT_BROKEN, self.name, "it grumbled")
        self.record.report(story, 0)

    def measures(self):
        return {"grumbles": 1.0}


def test_a_monitor_that_a_plan_asks_for_contributes_its_invariant_and_its_measures(tmp_path):
    result, *_ = run(tmp_path, lambda plan: plan.always(Grumbles), expect(Looks(True)))
    assert (result.outcome, result.expectation) == (Outcome.FAILED, "never_grumbles")
    assert result.measures["grumbles"] == 1.0


def test_what_a_condition_says_is_in_the_way_stands_in_the_reason(tmp_path):
    condition = Looks(False)
    condition.sample = lambda _world: Sample(False, problem="orders-0 has ISR 1 of 1, 2")
    result, *_ = run(tmp_path, expect(condition, "safe_to_stop"))
    assert result.reason == "it is so: not within 0.1 s (orders-0 has ISR 1 of 1, 2)"


def test_a_wrong_answer_that_is_final_is_not_asked_for_again(tmp_path):
    condition, looks = Looks(False), []

    def answer(_world):
        looks.append(len(looks))
        return Sample(ok=len(looks) > 1, problem="none, not fenced", final=len(looks) == 1)

    condition.sample = answer
    result, events, _ = run(tmp_path, expect(condition, "error_is_exact", within="20s"))
    assert (result.outcome, result.expectation, looks) == (Outcome.FAILED, "error_is_exact", [0])
    assert result.reason == "it is so: not on the first try (none, not fenced)"
    (step,) = [event for event in events if isinstance(event, StepChanged) and event.name == "error_is_exact"]
    assert (step.status, step.seconds < 1) == ("unmet", True)


@pytest.fixture
def slow(monkeypatch):
    """Make the host slow by a share."""

    def make(share):
        monkeypatch.setattr("harness.scenario.world.World.slowness", lambda *_: Slowness(share, "processor: none"))

    return make


class LateBy:
    """A condition that holds from so many seconds after the first look on."""

    name, description = "late", "it is late"

    def __init__(self, seconds):
        self.seconds, self.began = seconds, None

    def sample(self, _world):
        self.began = self.began or time.monotonic()
        return Sample(time.monotonic() - self.began > self.seconds)


@pytest.mark.parametrize(("share", "outcome"), [(0.0, Outcome.FAILED), (0.55, Outcome.PASSED)])
def test_bounds_are_longer_on_a_host_that_holds_nodes_back(tmp_path, slow, share, outcome):
    slow(share)
    result, *_ = run(tmp_path, expect(LateBy(2.2), within="1600ms"))
    assert result.outcome is outcome


def test_a_bound_that_was_made_longer_is_stated_as_it_was_and_as_it_became(tmp_path, slow):
    slow(0.55)
    result, *_ = run(tmp_path, expect(Looks(False), "observer_recovers", within="2s"))
    assert (result.outcome, result.expectation) == (Outcome.FAILED, "observer_recovers")
    assert "it is so: not within 2 s, extended to 3 s on a slow host (processor: none)" in result.reason


@pytest.mark.parametrize("add", [guard(Looks(False)), expect(Looks(False)), do(Deed(ActionFailed("no way")))])
def test_what_goes_wrong_while_the_host_starves_nodes_names_the_host(tmp_path, slow, add):
    slow(0.8)
    result, events, _ = run(tmp_path, add)
    assert (result.outcome, result.expectation) == (Outcome.INCONCLUSIVE, "host_not_starved")
    assert result.reason.startswith("processor: none; and then: ")
    assert HostShort("processor: none") in events


class Seen:
    """A condition that judges what an action has got before, and so at its first look."""

    name, description = "seen", "it was taken"

    def sample(self, _world):
        return Sample(False, final=True)


def starving(monkeypatch, was_so):
    """Make the host one that starved nodes, where that is looked for since a time of which the function says so."""
    monkeypatch.setattr(
        "harness.scenario.world.World.slowness",
        lambda _, since: Slowness(0.8, "processor: none") if was_so(since) else Slowness(),
    )


def test_who_judges_what_an_action_got_names_the_host_that_starved_nodes_meanwhile(tmp_path, monkeypatch):
    """The expectation's own time is over at once."""
    began = []

    class Long(Deed):
        def perform(self, _world):
            began.append(time.monotonic())
            time.sleep(0.05)

    starving(monkeypatch, lambda since: since <= began[0])
    monkeypatch.setattr(step_runner, "_LOOKS_BACK_SECONDS", 0.0)
    result, *_ = run(tmp_path, do(Long()), expect(Seen(), within="1s"))
    assert (result.outcome, result.expectation) == (Outcome.INCONCLUSIVE, "host_not_starved")


@pytest.mark.parametrize(("ago", "outcome"), [(4.0, Outcome.INCONCLUSIVE), (60.0, Outcome.FAILED)])
def test_a_host_that_starved_nodes_some_seconds_before_is_named_and_of_one_a_minute_before_nothing_is_said(
    tmp_path, monkeypatch, ago, outcome
):
    starving(monkeypatch, lambda since: since <= time.monotonic() - ago)
    assert run(tmp_path, do(Deed()), expect(Seen(), within="1s"))[0].outcome is outcome


def test_a_plan_that_passes_while_the_host_is_slow_has_passed(tmp_path, slow):
    slow(0.8)
    assert run(tmp_path, expect(Looks(False, True)))[0].outcome is Outcome.PASSED


@pytest.mark.parametrize("add", [guard, expect])
def test_what_the_harness_saw_too_little_of_is_not_the_builds_doing(tmp_path, add):
    unseen = Looks(False)
    unseen.sample = lambda _world: Sample(False, testable=False, unseen="the harness came to look not once")
    result, *_ = run(tmp_path, add(unseen))
    assert (result.outcome, result.expectation) == (Outcome.INCONCLUSIVE, "host_not_starved")
    assert result.reason.startswith("harness: the harness came to look not once; and then: ")


@pytest.mark.parametrize(("share", "name"), [(0.0, "within_budget"), (0.7, "host_not_starved")])
def test_a_plan_over_its_budget_is_the_hosts_doing_only_where_the_host_was_slow(tmp_path, slow, share, name):
    slow(share)
    result, *_ = run(tmp_path, guard(LateBy(0.3), "2s"), do(Deed()), budget=0.1)
    assert (result.outcome, result.expectation) == (Outcome.INCONCLUSIVE, name)


def test_what_is_done_on_a_condition_waits_until_somebody_can_tell(tmp_path):
    election = [Sample(False, testable=False), Sample(False, testable=False), Sample(True)]
    settles, deed = Looks(False), Deed()
    settles.sample = lambda _world: election.pop(0) if len(election) > 1 else election[0]
    run(tmp_path, do(deed, settles))
    assert deed.done == 1


def test_what_is_done_on_a_condition_that_nobody_can_tell_is_not_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(step_runner, "_SETTLES_SECONDS", 0.05)
    never, deed = Looks(False), Deed()
    never.sample = lambda _world: Sample(False, testable=False)
    result, *_ = run(tmp_path, do(deed, never))
    assert (result.outcome, result.expectation, deed.done) == (Outcome.INCONCLUSIVE, "testable", 0)


def looked_at(*seen):
    """A world whose voters answered so (leader, epoch), the newest last."""
    looks = [Look(float(at), Quorum(*each), {}) for at, each in enumerate(seen)]
    return SimpleNamespace(quorum=lambda: looks[-1].quorum, looks_of=lambda _: looks[:-1])


@pytest.mark.parametrize(
    ("seen", "leads_it", "settled"),
    [
        (((1, 5), (1, 5), (1, 5)), True, True),
        (((0, 5), (0, 5)), False, True),
        (((0, 4), (1, 5)), True, False),
        (((1, 5), (-1, -1)), False, False),
        (((1, 4), (1, 5)), True, False),
    ],
    ids=["it has stayed", "another has stayed", "it was just elected", "an election", "elected again"],
)
def test_who_leads_can_be_told_once_a_leader_has_stayed(seen, leads_it, settled):
    sample = leads(fixed(1, "the last")).sample(looked_at(*seen))
    assert (sample.ok, sample.testable) == (leads_it, settled)


def test_a_broken_run_tells_what_went_wrong_first_and_not_what_cleaning_up_met_after_it(tmp_path, monkeypatch):
    def endless(*_):
        try:
            raise HarnessError("Node 1 did not end within 30 s of SIGKILL.")
        finally:
            raise HarnessError("Processes were left in the network of the run.")

    monkeypatch.setattr("harness.engine.executor.in_runtime", endless)
    result, *_ = run(tmp_path, guard(Looks(True)))
    assert result.outcome is Outcome.BROKEN
    assert result.reason == "Node 1 did not end within 30 s of SIGKILL."


class Teller(Client):
    """A client that would say that a record is gone, whoever is asked."""

    def __init__(self):
        super().__init__("orders", "records", (), ())

    description = "records"

    def work(self): ...

    def compare(self, _brokers):
        return ClientReport(self.name, self.description, 9, 1, 0, 0.0)


class Told:
    """A load with one client."""

    description = "a load"

    def start(self, _world):
        client = Teller()
        client.start()
        return client


@pytest.mark.parametrize(("split", "decided"), [(False, "nothing_lost"), (True, "ledger_read")])
def test_a_network_that_is_still_cut_in_the_end_is_not_asked_what_is_there(monkeypatch, tmp_path, split, decided):
    class Runtime(OnLoopback):
        is_split = split

    class Answers(StillCluster):
        def __init__(self, topology, *_):
            super().__init__(topology)
            self.client_brokers, self.runtime = [Address("h", 1)], Runtime()

    take_place_of_live_ones(monkeypatch, Answers)
    result, *_ = run(tmp_path, lambda plan: plan.background(Told()))
    assert result.expectation == decided, result.reason
    assert ("while the network was cut" in result.reason) is split


OLD, NEW = PartitionView(1, 3, (1, 2), (1, 2)), PartitionView(2, 4, (1, 2), (2,))


@pytest.mark.parametrize(
    ("told", "through_whom"),
    [
        ({1: {0: OLD}, 2: {0: NEW}}, [2]),
        ({1: {0: NEW}, 2: {0: NEW}}, [1, 2]),
        ({1: {}, 2: {0: NEW, 1: OLD}}, [2]),  # it never came to know the topic
        ({1: {0: NEW}, 2: Unreachable("no answer")}, [1]),
        ({1: {0: OLD, 1: NEW}, 2: {0: NEW, 1: OLD}}, None),
        ({1: Unreachable("no answer"), 2: Unreachable("no answer")}, None),
    ],
)
def test_records_are_read_back_only_through_brokers_that_know_who_leads(monkeypatch, tmp_path, told, through_whom):
    through = []

    class Asks(Teller):
        topic = "orders"

        def compare(self, brokers):
            through.extend(brokers)
            return ClientReport(self.name, self.description, 9, 0, 0, 0.0)

    class Load(Told):
        def start(self, _world):
            client = Asks()
            client.start()
            return client

    class Brokers(StillCluster):
        wire = None

        def __init__(self, topology, *_):
            super().__init__(topology)
            self.brokers, self.client_brokers = {each: each for each in told}, list(told)

        def client_brokers_among(self, nodes):
            return list(nodes)

    def views_of(_wire, broker, _topic):
        if isinstance(told[broker], Exception):
            raise told[broker]
        return told[broker]

    take_place_of_live_ones(monkeypatch, Brokers)
    monkeypatch.setattr(read_through, "views_of", views_of)
    monkeypatch.setattr(read_through, "_AGREE_SECONDS", 0.0)
    monkeypatch.setattr(read_through, "_POLL_SECONDS", 0.0)
    result, *_ = run(tmp_path, lambda plan: plan.background(Load()))
    assert through == (through_whom or [])
    assert (result.expectation == "ledger_read") is (through_whom is None)
    assert ("brokers differ about who leads" in result.reason) is (through_whom is None)
