"""What a run showed decides its outcome, in the order of trust."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.engine.outcome import Decision, Facts, answers, decide, measures
from harness.model.clients import ClientReport
from harness.model.events import ClientSeconds
from harness.model.incidents import Incident, IncidentKind
from harness.model.runs import Outcome
from harness.scenario.loads.records import lost_and_twice


def client(acknowledged=10, lost=0, unread="", binding=True, violations=(), name="orders"):
    report = (name, "records", acknowledged, lost, 0, 0.1, {"_TIMED_OUT": 3}, violations)
    return ClientReport(*report, unread=unread, binding=binding)


LOST, KEPT = client(lost=2), client()
UNREAD, UNASKED = client(unread="no answer"), client(acknowledged=0)
STALLED = Incident(IncidentKind.HOST_STALLED, "host_not_starved", "1.2 s")
SLOW = Incident(IncidentKind.HOST_SLOW, "host_not_starved", "processor: none")
FULL = Incident(IncidentKind.HOST_GAVE_OUT, "host_not_starved", "disk: full")
DIED = Incident(IncidentKind.NODE_DIED, "node_alive", "node 1 crashed")
FAULTED = Incident(IncidentKind.NODE_FAULTED, "node_alive", "node 1 crashed: IllegalStateException")
KNOWN = Incident(IncidentKind.KNOWN_CRASH, "known_crash", "node 1 crashed as released jars do")
GUARD = Incident(IncidentKind.GUARD_UNMET, "has_leader", "why")
EXPECTED = Incident(IncidentKind.EXPECTATION_UNMET, "observer_recovers", "why")
BROKEN = Incident(IncidentKind.INVARIANT_BROKEN, "one_leader_per_epoch", "two")
WRONG = Incident(IncidentKind.WRONG_BUILD, "live_proof", "another jar")
UNPROVED = Incident(IncidentKind.NOT_PROVED, "live_proof", "no answer")
NEVER = Incident(IncidentKind.NEVER_PROVED, "live_proof", "never ready")
OOPS = Incident(IncidentKind.HARNESS_FAILED, "", "oops")
LACKING = Incident(IncidentKind.UNSUPPORTED, "", "no namespaces")
GONE = Decision(Outcome.FAILED, "nothing_lost", "2 of 10 acknowledged orders are not found at the end")


@pytest.mark.parametrize(
    ("incidents", "clients", "expected"),
    [
        ((), (), Decision(Outcome.PASSED)),
        ((), (KEPT,), Decision(Outcome.PASSED)),
        ((EXPECTED,), (), Decision(Outcome.FAILED, "observer_recovers", "why")),
        ((GUARD,), (), Decision(Outcome.INCONCLUSIVE, "has_leader", "guard unmet: why")),
        ((DIED,), (), Decision(Outcome.FAILED, "node_alive", "node 1 crashed")),
        ((STALLED,), (), Decision(Outcome.INCONCLUSIVE, "host_not_starved", "1.2 s")),
        ((OOPS,), (), Decision(Outcome.BROKEN, "", "oops")),
        ((LACKING,), (), Decision(Outcome.UNSUPPORTED, "", "no namespaces")),
        ((UNPROVED,), (), Decision(Outcome.BROKEN, "", "no answer")),
        ((NEVER,), (), Decision(Outcome.BROKEN, "", "never ready")),
        ((NEVER, GUARD), (), Decision(Outcome.INCONCLUSIVE, "has_leader", "guard unmet: why")),
        ((NEVER, EXPECTED), (), Decision(Outcome.FAILED, "observer_recovers", "why")),
        ((UNPROVED, GUARD), (), Decision(Outcome.BROKEN, "", "no answer")),
        ((DIED, NEVER), (), Decision(Outcome.FAILED, "node_alive", "node 1 crashed")),
        ((BROKEN,), (), Decision(Outcome.FAILED, "one_leader_per_epoch", "two")),
        ((), (LOST,), GONE),
        ((BROKEN,), (LOST,), Decision(Outcome.FAILED, "one_leader_per_epoch", "two")),
        ((GUARD,), (LOST,), GONE),
        ((EXPECTED,), (LOST,), GONE),
        ((DIED,), (LOST,), GONE),
        ((STALLED,), (LOST,), GONE),
        ((KNOWN,), (LOST,), GONE),
        ((KNOWN, BROKEN), (), Decision(Outcome.FAILED, "one_leader_per_epoch", "two")),
        ((KNOWN, FAULTED), (), Decision(Outcome.FAILED, "node_alive", "node 1 crashed: IllegalStateException")),
        ((KNOWN, GUARD, DIED), (), Decision(Outcome.INCONCLUSIVE, "known_crash", "node 1 crashed as released jars do")),
        ((FAULTED,), (LOST,), GONE),
        ((FAULTED, NEVER), (), Decision(Outcome.FAILED, "node_alive", "node 1 crashed: IllegalStateException")),
        ((WRONG, FAULTED), (), Decision(Outcome.BROKEN, "", "another jar")),
        ((FULL, FAULTED), (), Decision(Outcome.INCONCLUSIVE, "host_not_starved", "disk: full")),
        ((STALLED, DIED, BROKEN), (), Decision(Outcome.FAILED, "one_leader_per_epoch", "two")),
        ((FULL, BROKEN), (LOST,), Decision(Outcome.INCONCLUSIVE, "host_not_starved", "disk: full")),
        ((BROKEN, OOPS), (LOST,), Decision(Outcome.FAILED, "one_leader_per_epoch", "two")),
        ((OOPS, BROKEN), (), Decision(Outcome.FAILED, "one_leader_per_epoch", "two")),
        ((OOPS,), (LOST,), Decision(Outcome.BROKEN, "", "oops")),
        ((OOPS, UNPROVED, BROKEN), (), Decision(Outcome.BROKEN, "", "oops")),
        ((OOPS, WRONG, BROKEN), (), Decision(Outcome.BROKEN, "", "oops")),
        ((WRONG, BROKEN), (LOST,), Decision(Outcome.BROKEN, "", "another jar")),
        ((UNPROVED, BROKEN), (LOST,), Decision(Outcome.BROKEN, "", "no answer")),
        ((WRONG, DIED), (), Decision(Outcome.BROKEN, "", "another jar")),
        ((DIED, GUARD), (), Decision(Outcome.FAILED, "node_alive", "node 1 crashed")),
        ((OOPS, STALLED), (), Decision(Outcome.BROKEN, "", "oops")),
        ((FULL, OOPS), (), Decision(Outcome.INCONCLUSIVE, "host_not_starved", "disk: full")),
        ((FULL, DIED, EXPECTED), (), Decision(Outcome.INCONCLUSIVE, "host_not_starved", "disk: full")),
        ((OOPS, FULL), (), Decision(Outcome.INCONCLUSIVE, "host_not_starved", "disk: full")),
        ((STALLED, FULL), (LOST,), Decision(Outcome.INCONCLUSIVE, "host_not_starved", "disk: full")),
        ((BROKEN, FULL, OOPS), (), Decision(Outcome.FAILED, "one_leader_per_epoch", "two")),
        ((FAULTED, FULL), (), Decision(Outcome.FAILED, "node_alive", "node 1 crashed: IllegalStateException")),
        ((EXPECTED, FULL, DIED), (), Decision(Outcome.FAILED, "observer_recovers", "why")),
        ((SLOW, EXPECTED, FULL), (), Decision(Outcome.INCONCLUSIVE, "host_not_starved", "disk: full")),
    ],
)
def test_the_outcome_follows_from_the_facts(incidents, clients, expected):
    assert decide(Facts(incidents, clients)) == expected


@pytest.mark.parametrize(
    ("report", "name", "reason"),
    [
        (UNREAD, "ledger_read", "it could not be checked what was lost: orders: no answer"),
        (UNASKED, "records_acknowledged", "nothing was ever acknowledged to orders, so that nothing could be lost"),
    ],
)
def test_a_client_that_could_not_be_tested_keeps_a_run_from_passing(report, name, reason):
    assert decide(Facts(clients=(KEPT, report))) == Decision(Outcome.INCONCLUSIVE, name, reason)


def test_a_loss_that_nobody_was_promised_anything_about_does_not_count():
    assert decide(Facts(clients=(client(lost=3, binding=False),))).outcome is Outcome.PASSED


def test_whatever_else_must_not_be_counts_as_a_loss_does():
    decision = decide(Facts(clients=(client(violations=("2 aborted transactions can be read",), name="payments"),)))
    assert decision == Decision(Outcome.FAILED, "nothing_lost", "payments: 2 aborted transactions can be read")


def test_where_stalls_only_excuse_what_went_wrong_a_run_without_fault_passes_on_a_starved_host():
    assert decide(Facts((STALLED,), (KEPT,), stalls_spoil=False)).outcome is Outcome.PASSED


@pytest.mark.parametrize("ended", [EXPECTED, DIED])
def test_where_stalls_only_excuse_what_went_wrong_the_end_of_a_plan_may_be_the_hosts_doing(ended):
    decision = decide(Facts((STALLED, ended), stalls_spoil=False))
    assert decision == Decision(Outcome.INCONCLUSIVE, "host_not_starved", f"1.2 s; and then: {ended.reason}")


def test_what_came_after_the_end_of_a_plan_is_reported_beside_its_reason():
    decision = decide(Facts((DIED,), aftermath=(EXPECTED, GUARD)))
    assert decision.reason == "node 1 crashed; and then: why; and then: why"
    assert decision.expectation == "node_alive"


@pytest.mark.parametrize("went_wrong", [GUARD, EXPECTED, DIED])
def test_what_goes_wrong_on_a_slow_host_says_nothing_of_the_build(went_wrong):
    decision = decide(Facts((SLOW, went_wrong), (KEPT,)))
    assert (decision.outcome, decision.expectation) == (Outcome.INCONCLUSIVE, "host_not_starved")
    assert decision.reason.startswith("processor: none; and then: ")
    assert went_wrong.reason in decision.reason


@pytest.mark.parametrize("host", [SLOW, STALLED])
def test_an_error_that_ended_a_node_is_no_doing_of_a_slow_host(host):
    decision = decide(Facts((host, FAULTED), aftermath=(EXPECTED,)))
    assert decision == Decision(Outcome.FAILED, "node_alive", f"{FAULTED.reason}; and then: why")


@pytest.mark.parametrize("report", [UNREAD, UNASKED])
def test_a_client_that_a_slow_host_kept_from_being_tested_names_the_host(report):
    assert decide(Facts((SLOW,), (report,))).expectation == "host_not_starved"


def test_a_run_that_passes_on_a_slow_host_has_passed():
    assert decide(Facts((SLOW,), (KEPT,))).outcome is Outcome.PASSED


@pytest.mark.parametrize("host", [SLOW, STALLED])
@pytest.mark.parametrize(("incidents", "lost"), [((BROKEN,), ()), ((EXPECTED,), (LOST,)), ((DIED,), (LOST,))])
def test_neither_a_slow_nor_a_stalled_host_excuses_a_loss_or_a_broken_invariant(host, incidents, lost):
    incidents = (host, *incidents)
    assert decide(Facts(incidents, lost)).outcome is Outcome.FAILED


INCIDENTS = [LACKING, FULL, OOPS, STALLED, WRONG, DIED, UNPROVED, NEVER, BROKEN, GUARD, EXPECTED]
ANY_FACTS = st.builds(
    Facts,
    st.lists(st.sampled_from(INCIDENTS), unique=True),
    st.lists(st.sampled_from([LOST, KEPT, UNREAD, UNASKED]), max_size=2),
)


@given(ANY_FACTS)
def test_only_a_run_without_anything_against_it_passes(facts):
    spoiled = bool(facts.incidents) or any(each is not KEPT for each in facts.clients)
    assert (decide(facts).outcome is Outcome.PASSED) == (not spoiled)


@given(ANY_FACTS.filter(lambda facts: STALLED in facts.incidents))
def test_on_a_starved_host_only_what_may_never_be_counts(facts):
    decision, breaches = decide(facts), ("one_leader_per_epoch", "nothing_lost")
    undecided = (Outcome.INCONCLUSIVE, Outcome.BROKEN, Outcome.UNSUPPORTED)
    assert decision.outcome in undecided or decision.expectation in breaches


@given(st.lists(st.integers(0, 50), unique=True), st.lists(st.integers(0, 50)))
def test_lost_is_acknowledged_and_not_stored_and_duplicates_are_stored_again(acked, stored):
    lost, duplicates = lost_and_twice(acked, stored)
    assert lost == len(set(acked) - set(stored))
    assert duplicates == len(stored) - len(set(stored))


def test_measures_name_their_units_and_sum_over_clients():
    figures = measures([client(lost=1), client(acknowledged=5)], 12.345, {"observer_recovers": 0.555})
    assert figures == {
        "node_cpu_seconds": 12.35,
        "observer_recovers_seconds": 0.56,
        "acked_records": 15,
        "failed_records": 6,
        "unanswered_records": 0,
        "lost_records": 1,
        "duplicate_records": 0,
        "longest_stall_seconds": 0.1,
    }


def test_what_half_of_many_guards_and_expectations_took_is_a_figure_of_its_own():
    waits = {"a": 0.2, "b": 9.0, "c": 0.6, "d": 0.4, "e": 7.0}
    assert measures([], 1.0, waits)["waits_typical_seconds"] == 0.6
    assert "waits_typical_seconds" not in measures([], 1.0, {"a": 0.2, "b": 9.0})


def test_a_run_without_clients_has_no_figures_of_records():
    assert measures([], 1.0, {}) == {"node_cpu_seconds": 1.0}


def test_guards_have_a_figure_for_each_kind_and_an_expectation_of_that_name_counts_before_them():
    found = measures([], 1.0, {"b": 0.5}, guards={"nodes_ready": 8.0, "b": 9.0})
    assert found == {"node_cpu_seconds": 1.0, "nodes_ready_seconds": 8.0, "b_seconds": 0.5}


def test_answers_are_those_of_the_slowest_client_that_knows_how_long_they_took():
    def seconds(*medians):
        return ClientSeconds("c", 9.0, (1,) * len(medians), (0,) * len(medians), medians, medians)

    quick, slow = seconds(9.0, 0.0, 11.0, 9.0, 9.0, 300.0), seconds(*[1900.0] * 5)
    assert answers([quick]) == {"answer_typical_milliseconds": 9.0}
    assert answers([quick, slow]) == {"answer_typical_milliseconds": 1900.0}
    assert answers([seconds(0.0, 0.0), seconds(*[5.0] * 4)]) == answers([]) == {}
