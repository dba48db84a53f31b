"""The suite `raft` on stock: wrong requests and garbage are refused, and a way that was not taken is not proven."""

import pytest

from harness.engine.cancel import Cancellation
from harness.engine.executor import run_cell
from harness.engine.planned_run import PlannedRun
from harness.model.arms import Role
from harness.model.runs import Outcome, RunKey
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import read_journal
from harness.scenario import follows_leader, has_logged, is_up, kraft, raft_lines, start_all
from harness.scenario.host_meter import calibrate
from harness.scenario.plan import Scenario
from harness.scenario.registry import load_all

pytestmark = [pytest.mark.live, pytest.mark.clusters]


def run(scenario, parts, stock, folder):
    """Run a scenario on stock; return the result and the journal's samples, as pairs of what was looked at and seen."""
    RunDirectory(folder).host.write(calibrate())
    cell = PlannedRun(RunKey(scenario.name, "stock", 1), scenario, Role.BASE, parts, stock)
    result = run_cell(cell, folder, lambda _: None, Cancellation())
    events = [entry.event for entry in read_journal(RunDirectory(folder).run(cell.key).journal)]
    return result, {event.condition: event.detail for event in events if event.kind == "sample" and event.ok}


def test_stock_answers_every_wrong_request_with_its_error_and_lives_on(node_parts, stock, tmp_path):
    result, samples = run(load_all()["raft-requests"], node_parts, stock, tmp_path)
    assert result.outcome is Outcome.PASSED, result.summary
    (asked,) = [detail for text, detail in samples.items() if "refuses requests of Raft" in text]
    assert len(asked) > 80
    lines = [detail["line"] for text, detail in samples.items() if "closing connection" in text]
    assert len(lines) == 3
    assert all("closing connection" in line or "Closing socket for " in line for line in lines)


def test_a_way_that_nobody_took_is_not_proven(node_parts, stock, tmp_path):
    """Break it once: nothing was ever cut off, and the leader was told of no end."""

    def build(plan, cluster, observer):
        plan.do(start_all())
        plan.guard(is_up(), follows_leader(observer), within="90s")
        leads = has_logged(cluster.leader, *raft_lines.LEADS)
        plan.expect(leads, within="5s", named="leads")
        soon = has_logged(cluster.leader, *raft_lines.LEADS, soon_after=raft_lines.TOLD_OF_END)
        plan.expect(soon, within="2s", named="leads_because_it_was_told")

    scenario = Scenario("not-taken", "?", kraft(controllers=1, observers=1), ("s",), 120.0, build, __file__)
    result, samples = run(scenario, node_parts, stock, tmp_path)
    assert (result.outcome, result.expectation) == (Outcome.FAILED, "leads_because_it_was_told")
    (proof,) = [detail["line"] for text, detail in samples.items() if text.startswith("the leader has logged")]
    assert "Completed transition to Leader" in proof
