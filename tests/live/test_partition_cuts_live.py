"""Split networks on stock: an ISR of one, what is taken and lost there; and a heal that does nothing is noticed."""

import pytest

from harness.cluster.runtime.namespace_runtime import why_not
from harness.model.events import FaultChanged, Noted
from harness.model.runs import Outcome
from harness.scenario import election_moves, partition_cuts
from harness.scenario.actions.cut import Heal
from harness.scenario.plan import NETWORK, Scenario, kraft
from harness.scenario.registry import load_all

pytestmark = [
    pytest.mark.live,
    pytest.mark.clusters,
    pytest.mark.skipif(bool(why_not()), reason=f"no networks here: {why_not()}"),
]


def test_with_an_isr_of_one_only_an_unclean_election_loses_what_all_acks_promised(on_stock):
    result, events = on_stock(load_all()["isr-of-one"])
    assert result.outcome is Outcome.PASSED, result.summary
    lost = {event.text for event in events if isinstance(event, Noted) and event.text.endswith("are gone")}
    assert lost == {
        "0 of 27 acknowledged records of “isr-of-one-min-1” are gone",
        "0 of 12 acknowledged records of “isr-of-one-min-2” are gone",
        "16 of 27 acknowledged records of “unclean-min-1” are gone",
        "1 of 12 acknowledged records of “unclean-min-2” are gone",
    }
    faults = [event for event in events if isinstance(event, FaultChanged) and event.status == "proved"]
    assert faults
    assert all(fault.seconds < 0.1 for fault in faults)


def test_a_heal_that_heals_nothing_fails_the_run(on_stock, monkeypatch):
    """Break it once: the leader stays cut from its followers, and nobody comes back into the ISR."""
    monkeypatch.setattr(Heal, "perform", lambda *_: None)
    monkeypatch.setattr(partition_cuts, "_BACK", "10s")

    def build(plan, _cluster, *_brokers):
        partition_cuts.ask_of_a_leader_without_followers(plan, *election_moves.begin(plan))

    scenario = Scenario(
        "broken-on-purpose",
        "?",
        kraft(controllers=1, observers=3, combined=False, network=True),
        ("s",),
        240.0,
        build,
        __file__,
        (NETWORK,),
        partition_cuts.IN_KRAFT,
    )
    result, _ = on_stock(scenario)
    assert (result.outcome, result.expectation) == (Outcome.FAILED, "leader_alone_min_1_all_in_sync")
