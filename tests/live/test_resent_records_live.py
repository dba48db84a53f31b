"""Records that an idempotent producer sent in two epochs, on stock: there twice, and no fault of a broker."""

import pytest

from harness.model.events import ClientSettled
from harness.model.runs import Outcome
from harness.scenario import election_moves, hold, keep_ledger, let_pass, release
from harness.scenario.loads import ledger
from harness.scenario.plan import Scenario, kraft

pytestmark = [pytest.mark.live, pytest.mark.clusters]


# Brokers that hang stay in the ISR: their leader takes records and cannot say so.
PATIENT = {**election_moves.IN_KRAFT, "broker.session.timeout.ms": "60000"}


def build(plan, _cluster, *_brokers):
    first, second, _ = election_moves.begin(plan)
    with plan.phase("nobody answers for longer than a producer waits"):
        plan.background(keep_ledger("orders", per_second=500))
        plan.do(let_pass("5s"), hold(first), hold(second), let_pass("9s"))
        plan.do(release(first), release(second), let_pass("10s"))


def test_what_a_producer_sends_anew_when_it_gave_others_up_is_told_from_what_a_broker_took_twice(on_stock, monkeypatch):
    monkeypatch.setattr(ledger, "_GIVEN_UP_AFTER_MS", 3000)
    where = kraft(controllers=1, observers=3, combined=False)
    scenario = Scenario("sent-anew", "?", where, ("s",), 120.0, build, __file__, properties=PATIENT)
    result, events = on_stock(scenario)
    (said,) = [event.report for event in events if isinstance(event, ClientSettled)]
    assert said.failures
    assert said.duplicates
    assert said.violations == ()
    assert result.outcome is Outcome.PASSED, result.summary
