"""When a plan needs quiet: in measured windows, and from each fault until what is expected after it is decided."""

from contextlib import contextmanager

import pytest
from still_cluster import run_still, take_place_of_live_ones
from test_executor import Deed, Looks

from harness.engine import step_runner
from harness.engine.quiet import need_quiet
from harness.model.runs import Outcome
from harness.scenario import kraft
from harness.scenario.plan import Scenario
from harness.scenario.steps import Do, Expect, Fault, Guard, Measure, OnlyIf, Phase


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch):
    take_place_of_live_ones(monkeypatch)
    monkeypatch.setattr(step_runner, "_REST_SECONDS", 0.01)


class Harm(Fault):
    """A fault that does nothing."""

    description = "harm it"

    def perform(self, _world): ...


FAULT, DEED, WAIT, ASK = (
    Do(Harm(), None),
    Do(Deed(), None),
    Guard(Looks(True), 1.0),
    Expect(Looks(True), 1.0, "recovers"),
)


@pytest.mark.parametrize(
    ("steps", "quiet"),
    [
        ((WAIT, Phase("leader stops"), FAULT, ASK), "-###"),
        ((WAIT, FAULT, WAIT, ASK), "-###"),  # a new leader is waited for: the recovery goes on
        ((FAULT, WAIT, FAULT, WAIT), "----"),  # a node that starts anew takes what processors there are
        ((FAULT, WAIT, FAULT, ASK, ASK, FAULT), "--###-"),
        ((WAIT, DEED, WAIT, DEED, ASK, DEED, WAIT, ASK), "---##--#"),
        ((FAULT, WAIT, ASK, DEED, WAIT, ASK), "###--#"),  # the fault before was another question's
        ((WAIT, Measure("idle", 1.0), FAULT, WAIT), "-#--"),
        ((FAULT, OnlyIf(Looks(True), (FAULT, ASK)), ASK), "--#"),  # the steps inside are looked at by themselves
        ((), ""),
    ],
)
def test_quiet_is_needed_in_windows_and_from_a_fault_until_what_is_expected_of_it(steps, quiet):
    assert "".join("-#"[each] for each in need_quiet(steps)) == quiet


class Quiet:
    """Notes whether somebody needs quiet."""

    def __init__(self):
        self.depth, self.seen = 0, []

    @contextmanager
    def __call__(self):
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1


def test_a_run_asks_for_quiet_in_those_steps_alone_and_lets_go_where_it_fails(tmp_path):
    quiet, seen = Quiet(), []

    class Notes(Deed):
        def perform(self, world):
            seen.append(quiet.depth)

    def plan_it(plan, _cluster):
        plan.do(Notes())
        plan.guard(Looks(True), within="1s")
        plan.do(Notes())
        plan.expect(Looks(False), within="10ms", named="recovers")

    scenario = Scenario("s", "?", kraft(controllers=1, observers=0), ("suite",), 60.0, plan_it, __file__)
    result, _, _ = run_still(scenario, tmp_path, quiet=quiet)
    assert result.outcome is Outcome.FAILED
    assert (seen, quiet.depth) == ([0, 1], 0)
