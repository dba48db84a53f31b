"""What a run showed decides its outcome, in the order of trust."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.engine.outcome import Decision, Facts, Miss, decide, measures
from harness.model.runs import Outcome
from harness.scenario.load import LedgerSummary, summarise

LOST = LedgerSummary(10, 0, 2, 0, 0.1)
KEPT = LedgerSummary(10, 0, 0, 0, 0.1)
UNREAD = LedgerSummary(10, 0, 0, 0, 0.1, unread="no answer")
UNASKED = LedgerSummary(0, 3, 0, 0, 9.0)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (Facts(), Decision(Outcome.PASSED)),
        (Facts(ledger=KEPT), Decision(Outcome.PASSED)),
        (Facts(refuted=Miss("observer_recovers", "why")), Decision(Outcome.FAILED, "observer_recovers", "why")),
        (
            Facts(unmet_guard=Miss("has_leader", "why")),
            Decision(Outcome.INCONCLUSIVE, "has_leader", "guard unmet: why"),
        ),
        (Facts(node_died="node 1 ended"), Decision(Outcome.FAILED, "node_alive", "node 1 ended")),
        (Facts(starved="1.2 s"), Decision(Outcome.INCONCLUSIVE, "host_not_starved", "1.2 s")),
        (Facts(harness_error="oops"), Decision(Outcome.BROKEN, "", "oops")),
        (Facts(unproved="another jar"), Decision(Outcome.BROKEN, "", "another jar")),
        (
            Facts(broken_invariant=Miss("one_leader_per_epoch", "two")),
            Decision(Outcome.FAILED, "one_leader_per_epoch", "two"),
        ),
        (Facts(ledger=LOST), Decision(Outcome.FAILED, "nothing_lost", "2 of 10 acknowledged records are gone")),
        (
            Facts(ledger=UNREAD),
            Decision(Outcome.INCONCLUSIVE, "ledger_read", "the ledger could not be checked: no answer"),
        ),
        (
            Facts(ledger=UNASKED),
            Decision(Outcome.INCONCLUSIVE, "ledger_asked", "no record was ever acknowledged, so none could be lost"),
        ),
        (
            Facts(unmet_guard=Miss("g", "w"), ledger=LOST),
            Decision(Outcome.FAILED, "nothing_lost", "2 of 10 acknowledged records are gone"),
        ),
        (Facts(wrong_arm="another jar", node_died="dead"), Decision(Outcome.BROKEN, "", "another jar")),
        (Facts(node_died="dead", unmet_guard=Miss("g", "w")), Decision(Outcome.FAILED, "node_alive", "dead")),
        (
            Facts(refuted=Miss("observer_recovers", "why"), ledger=LOST),
            Decision(Outcome.FAILED, "nothing_lost", "2 of 10 acknowledged records are gone"),
        ),
    ],
)
def test_the_outcome_follows_from_the_facts(facts, expected):
    assert decide(facts) == expected


ANY_FACTS = st.builds(
    Facts,
    *(st.none() | st.text(min_size=1) for _ in range(5)),
    *(st.none() | st.builds(Miss, st.text(min_size=1), st.text()) for _ in range(3)),
    st.none() | st.sampled_from([LOST, KEPT, UNREAD, UNASKED]),
)


@given(ANY_FACTS)
def test_only_a_run_without_any_fact_against_it_is_held(facts):
    spoiled = any(
        getattr(facts, field.name) is not None for field in dataclasses.fields(facts) if field.name != "ledger"
    )
    spoiled = spoiled or facts.ledger in (LOST, UNREAD, UNASKED)
    assert (decide(facts).outcome is Outcome.PASSED) == (not spoiled)


@given(ANY_FACTS.filter(lambda facts: facts.starved is not None))
def test_a_starved_host_never_counts_for_or_against_the_build(facts):
    assert decide(facts).outcome in (Outcome.INCONCLUSIVE, Outcome.BROKEN)


@given(st.lists(st.integers(0, 50), unique=True), st.lists(st.integers(0, 50)))
def test_lost_is_acknowledged_and_not_stored_and_duplicates_are_stored_again(acked, stored):
    summary = summarise(acked, 0, stored, 0.0)
    assert summary.lost == len(set(acked) - set(stored))
    assert summary.duplicates == len(stored) - len(set(stored))


def test_a_ledger_that_could_not_be_read_says_nothing_of_loss():
    assert summarise([1, 2], 0, [], 0.0, "no answer").lost == 0


def test_measures_name_their_units():
    figures = measures(KEPT, 12.345, {"observer_recovers": 0.5})
    assert figures["node_cpu_seconds"] == 12.35
    assert figures["observer_recovers_seconds"] == 0.5
    assert figures["acked_records"] == 10
