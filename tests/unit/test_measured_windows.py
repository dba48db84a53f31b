"""Measured windows: stretches of a plan in which nothing of the harness runs."""

import threading
import time
from types import SimpleNamespace
from typing import ClassVar

import pytest
from still_cluster import ShutEyes, run_still, take_place_of_live_ones
from test_executor import Deed, Looks

from harness.base.errors import HarnessError
from harness.cluster.node import NodeState
from harness.cluster.probes import Quorum
from harness.cluster.watch import Look, Watcher
from harness.engine import step_runner
from harness.model.clients import ClientReport
from harness.model.events import ClientSeconds, StepChanged
from harness.model.request import Request
from harness.model.runs import Outcome
from harness.scenario import kraft
from harness.scenario.monitors.base import Monitor
from harness.scenario.monitors.quorum_progress import QuorumProgress
from harness.scenario.plan import Plan, Scenario, soak
from harness.scenario.steps import Measure, describe_step
from harness.stages.inputs import read_inputs
from harness.toolbox.toolbox import local_toolbox


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch):
    take_place_of_live_ones(monkeypatch)
    monkeypatch.setattr(step_runner, "_REST_SECONDS", 0.01)


def scenario_of(*build, budget=60.0):
    def plan_it(plan: Plan, _cluster):
        for add in build:
            add(plan)

    return Scenario("s", "?", kraft(controllers=1, observers=0), "suite", budget, plan_it, __file__)


def measure(lasts="100ms", name="idle"):
    return lambda plan: plan.measure(name, lasts)


def steps_of(events):
    return [(e.step, e.status, e.name) for e in events if isinstance(e, StepChanged)]


class Client:
    """A client of a load, which says when it was ended."""

    def __init__(self, said):
        self.said = said

    def stop(self):
        self.said.append("stopped")

    def abandon(self):
        self.said.append("abandoned")

    def by_second(self):
        return ClientSeconds("orders", 1.0, (1, 0), (0, 0), (5.0, 0.0), (5.0, 0.0))

    def report(self, _brokers):
        return ClientReport("orders", "records", 1, 0, 0, 0.1)


class Load:
    """A load with one client."""

    description = "a load"

    def __init__(self):
        self.said = []

    def start(self, _world):
        return Client(self.said)


class Noting(Monitor):
    """A monitor that notes the windows."""

    name: ClassVar[str] = "noting"
    said: ClassVar[list] = []

    def begin_window(self, name):
        self.said.append(f"begin {name}")

    def end_window(self, name):
        self.said.append(f"end {name}")


def test_a_window_lasts_as_long_as_the_plan_says_and_is_journaled_at_both_ends(tmp_path):
    began = time.monotonic()
    result, events, _ = run_still(scenario_of(measure("300ms")), tmp_path)
    assert time.monotonic() - began >= 0.3
    assert result.outcome is Outcome.PASSED
    assert steps_of(events) == [("measure", "begin", "idle"), ("measure", "done", "idle")]


def test_clients_have_ended_before_a_window_begins_and_are_not_ended_again(tmp_path):
    load = Load()
    load_is_over = Deed()
    load_is_over.perform = lambda _world: load.said.append("after the window")
    plan = [lambda p: p.background(load), measure(), lambda p: p.do(load_is_over)]
    result, *_ = run_still(scenario_of(*plan), tmp_path)
    assert (result.outcome, load.said) == (Outcome.PASSED, ["stopped", "after the window"])


@pytest.mark.parametrize("ends_early", [False, True])
def test_what_clients_were_answered_stands_in_the_journal_once_however_the_plan_ends(tmp_path, ends_early):
    plan = [lambda p: p.background(Load()), *([lambda p: p.guard(Looks(False), within="100ms")] if ends_early else [])]
    _, events, *_ = run_still(scenario_of(*plan), tmp_path)
    assert [event.client for event in events if isinstance(event, ClientSeconds)] == ["orders"]


def test_monitors_hear_of_a_window_while_nobody_looks(tmp_path, monkeypatch):
    said = Noting.said = []

    class Resting(ShutEyes):
        def __getattribute__(self, name):
            if name == "resting":
                said.append("the watch rests")
            return super().__getattribute__(name)

    take_place_of_live_ones(monkeypatch, watcher=Resting)
    run_still(scenario_of(lambda p: p.always(Noting), measure(name="leaderless")), tmp_path)
    assert said == ["the watch rests", "begin leaderless", "end leaderless"]


def test_a_window_is_no_part_of_the_budget(tmp_path):
    result, *_ = run_still(scenario_of(measure("3s"), lambda p: p.do(Deed()), budget=2.5), tmp_path)
    assert result.outcome is Outcome.PASSED


def test_a_plan_that_failed_before_is_not_measured(tmp_path):
    unmet = [lambda p: p.expect(Looks(False), within="10ms", named="asked"), measure("60s")]
    result, events, _ = run_still(scenario_of(*unmet), tmp_path)
    assert result.expectation == "asked"
    assert "measure" not in [step for step, *_ in steps_of(events)]


def test_the_watch_does_not_look_while_it_rests():
    looked = []
    cluster = SimpleNamespace(look=lambda: None, quorum=lambda: looked.append(1) or Quorum(), running=[])
    watcher = Watcher(cluster, lambda _: None, looked.append)
    watcher.start()
    with watcher.resting():
        before = len(looked)
        time.sleep(0.5)
        assert len(looked) == before
    assert threading.active_count() > 1
    watcher.stop()


def test_a_pause_of_looks_in_a_window_is_no_pause_of_the_quorum():
    progress = QuorumProgress(None, SimpleNamespace(nodes={}, running=[SimpleNamespace(id=1, state=NodeState.READY)]))
    progress.on_look(Look(0.0, Quorum(1, 2, 10, {1: 10}), {}), 0)
    progress.end_window("idle")
    progress.on_look(Look(30.0, Quorum(1, 2, 70, {1: 70}), {}), 0)
    assert progress.measures()["high_watermark_pause_seconds"] == 0


@pytest.mark.parametrize("name", ["", "Idle", "idle window", "1st"])
def test_a_window_has_a_name_that_figures_can_begin_with(name):
    with pytest.raises(ValueError, match="is no name of a window"):
        Plan().measure(name, "20s")


def test_a_window_can_be_read_in_words():
    assert describe_step(Measure("idle", 20), {}) == ("measure", "“idle” for 20 s: no clients, no looks")


def test_a_soak_makes_the_window_of_idle_nodes_longer_or_the_last_or_adds_one():
    plan = Plan()
    soak(plan, 600)
    assert plan.steps == [Measure("idle", 600)]
    plan.measure("leaderless", "5s")
    soak(plan, 60)
    assert plan.steps == [Measure("idle", 60), Measure("leaderless", 5)]
    other = Plan()
    other.measure("leaderless", "5s")
    soak(other, 60)
    assert other.steps == [Measure("leaderless", 60)]


def test_a_run_is_soaked_as_it_was_asked_for(tmp_path):
    _, events, _ = run_still(scenario_of(lambda p: p.do(Deed())), tmp_path, soak=0.1)
    assert steps_of(events)[-1] == ("measure", "done", "idle")


def test_a_soak_that_is_no_duration_is_refused_before_anything_is_built():
    with pytest.raises(HarnessError, match="--soak: 'ten' is not a duration; write 500ms, 30s or 3m"):
        read_inputs(Request(soak="ten"), local_toolbox())
