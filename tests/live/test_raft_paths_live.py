"""The suite `raft` on stock: wrong requests and garbage are refused, and a way that was not taken is not proven."""

import pytest

from harness.model.events import Sampled
from harness.model.runs import Outcome
from harness.scenario import follows_leader, has_logged, is_up, kraft, raft_lines, start_all
from harness.scenario.plan import Scenario
from harness.scenario.registry import load_all

pytestmark = [pytest.mark.live, pytest.mark.clusters]
WAYS = [name for name, each in load_all().items() if "raft" in each.suites and name != "raft-requests"]


def samples_of(events):
    """Return what was looked at and seen at last, by the condition's words."""
    return {event.condition: event.detail for event in events if isinstance(event, Sampled) and event.ok}


def test_stock_answers_every_wrong_request_with_its_error_and_lives_on(on_stock):
    result, events = on_stock(load_all()["raft-requests"])
    assert result.outcome is Outcome.PASSED, result.summary
    samples = samples_of(events)
    (asked,) = [detail for text, detail in samples.items() if "refuses requests of Raft" in text]
    assert len(asked) > 80
    lines = [detail["line"] for text, detail in samples.items() if "closing connection" in text]
    assert len(lines) == 3
    assert all("closing connection" in line or "Closing socket for " in line for line in lines)


@pytest.mark.whole
@pytest.mark.parametrize("name", WAYS)
def test_stock_takes_every_way_as_its_scenario_expects(on_stock, name):
    scenario = load_all()[name]
    result, _ = on_stock(scenario)
    failure = scenario.failure_of("3.9.1")
    assert result.label == (failure.label if failure else "PASSED"), result.summary


def test_a_way_that_nobody_took_is_not_proven(on_stock):
    """Break it once: nothing was ever cut off, and the leader was told of no end."""

    def build(plan, cluster, observer):
        plan.do(start_all())
        plan.guard(is_up(), follows_leader(observer), within="90s")
        leads = has_logged(cluster.leader, *raft_lines.LEADS)
        plan.expect(leads, within="5s", named="leads")
        soon = has_logged(cluster.leader, *raft_lines.LEADS, soon_after=raft_lines.TOLD_OF_END)
        plan.expect(soon, within="2s", named="leads_because_it_was_told")

    scenario = Scenario("not-taken", "?", kraft(controllers=1, observers=1), ("s",), 120.0, build, __file__)
    result, events = on_stock(scenario)
    assert (result.outcome, result.expectation) == (Outcome.FAILED, "leads_because_it_was_told")
    (proof,) = [
        detail["line"] for text, detail in samples_of(events).items() if text.startswith("the leader has logged")
    ]
    assert "Completed transition to Leader" in proof
