"""Every pair of the verdict table, against a second, independent statement of it."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judge.classify import Candidate, Control, Promise
from harness.judge.table import effect_of, rule
from harness.model.arms import Role
from harness.model.claims import Expected
from harness.model.runs import Outcome, Verdict
from harness.model.verdict import CellOutcome, CellState, Effect, Inertness

LOST = "observer_recovers"
FIXES = {
    Role.BASE: Expected(Outcome.FAILED, LOST),
    Role.OFF: Expected(Outcome.FAILED, LOST),
    Role.ON: Expected(Outcome.PASSED),
}
PASSED = CellOutcome(CellState.PASSED, agreeing=1)
FAILED = CellOutcome(CellState.FAILED, LOST, "no progress in 15 s", 1)
CRASHED = CellOutcome(CellState.FAILED, "node_alive", "node 1 exited", 1)
OTHERWISE = CellOutcome(CellState.FAILED, "nothing_lost", "3 records", 1)
BROKEN = CellOutcome(CellState.BROKEN, "", "port taken", 1)
UNSUPPORTED = CellOutcome(CellState.UNSUPPORTED, "", "needs root", 1)
MISSING = CellOutcome(CellState.MISSING, "", "no result")
UNSTABLE = CellOutcome(CellState.UNSTABLE, "", "repeats differ", 2, 3)
UNLUCKY = CellOutcome(CellState.INCONCLUSIVE, "", "2 of 3 repeats passed, 1 missed the guard has_new_leader", 2, 3)
LOST_TWICE = CellOutcome(CellState.INCONCLUSIVE, "", "2 of 3 repeats failed, 1 missed the guard x", 2, 3, failed=LOST)
GUARD = CellOutcome(CellState.INCONCLUSIVE, "has_new_leader", "guard unmet: has_new_leader in 30 s", 1)
STARVED = CellOutcome(CellState.INCONCLUSIVE, "host_not_starved", "guard unmet: stall of 2 s on node 3", 1)

# One letter per pair: the rows are how base stands, the columns how on stands, in the order of the enums.
# S supports, C claim refuted, R regression, U unstable, N not fixed, I improvement, = same, B blind,
# b control undecided, c candidate undecided, m not run, - not asked.
TABLE = {
    #                          held alike anew incon broken unsup unstable missing
    Promise.NOTHING: {
        Control.PASSED: "=RRccc" + "Um",
        Control.FAILED: "INRccc" + "Um",
    },
    Promise.FIXES: {
        Control.PASSED: "BRRccc" + "Um",
        Control.FAILED: "SCCccc" + "Um",
    },
    Promise.KEEPS: {
        Control.PASSED: "=RRccc" + "Um",
        Control.FAILED: "SCCccc" + "Um",
    },
    Promise.LEAVES: {
        Control.PASSED: "BRRccc" + "Um",
        Control.FAILED: "CNCccc" + "Um",
    },
}
WHATEVER_IS_PROMISED = {
    Control.OTHERWISE: "bbbbbbbb",
    Control.INCONCLUSIVE: "bbbbbbbb",
    Control.BROKEN: "bbbbbbbb",
    Control.UNSUPPORTED: "bbbbb-bm",
    Control.UNSTABLE: "bbbbbbbb",
    Control.MISSING: "mmmmmmmm",
}
LETTERS = {
    "S": Effect.SUPPORTS,
    "C": Effect.CLAIM_REFUTED,
    "R": Effect.REGRESSION,
    "U": Effect.UNSTABLE,
    "N": Effect.NOT_FIXED,
    "I": Effect.IMPROVES,
    "=": Effect.SAME,
    "B": Effect.BLIND,
    "b": Effect.CONTROL_UNDECIDED,
    "c": Effect.CANDIDATE_UNDECIDED,
    "m": Effect.NOT_RUN,
    "-": Effect.UNSUPPORTED,
}


@pytest.mark.parametrize(("promise", "base", "on"), list(itertools.product(Promise, Control, Candidate)))
def test_every_pair_means_what_the_table_says(promise: Promise, base: Control, on: Candidate) -> None:
    row = (TABLE[promise] | WHATEVER_IS_PROMISED)[base]
    assert LETTERS[row[list(Candidate).index(on)]] == effect_of(promise, base, on)


@pytest.mark.parametrize(
    ("claim", "base", "on", "effect", "verdict"),
    [
        (FIXES, FAILED, PASSED, Effect.SUPPORTS, Verdict.SHIP),
        (FIXES, FAILED, FAILED, Effect.CLAIM_REFUTED, Verdict.HOLD),
        (FIXES, FAILED, CRASHED, Effect.CLAIM_REFUTED, Verdict.HOLD),
        (FIXES, FAILED, GUARD, Effect.CLAIM_REFUTED, Verdict.HOLD),
        (FIXES, FAILED, STARVED, Effect.CANDIDATE_UNDECIDED, Verdict.INCONCLUSIVE),
        (FIXES, PASSED, PASSED, Effect.BLIND, Verdict.INCONCLUSIVE),
        (FIXES, PASSED, FAILED, Effect.REGRESSION, Verdict.HOLD),
        (FIXES, OTHERWISE, PASSED, Effect.CONTROL_UNDECIDED, Verdict.INCONCLUSIVE),
        (FIXES, CRASHED, PASSED, Effect.CONTROL_UNDECIDED, Verdict.INCONCLUSIVE),
        (FIXES, GUARD, PASSED, Effect.CONTROL_UNDECIDED, Verdict.INCONCLUSIVE),
        (FIXES, BROKEN, FAILED, Effect.CONTROL_UNDECIDED, Verdict.INCONCLUSIVE),
        (FIXES, FAILED, BROKEN, Effect.CANDIDATE_UNDECIDED, Verdict.INCONCLUSIVE),
        (FIXES, FAILED, UNSTABLE, Effect.UNSTABLE, Verdict.HOLD),
        (FIXES, FAILED, UNLUCKY, Effect.CANDIDATE_UNDECIDED, Verdict.INCONCLUSIVE),
        (FIXES, UNLUCKY, PASSED, Effect.CONTROL_UNDECIDED, Verdict.INCONCLUSIVE),
        (FIXES, LOST_TWICE, PASSED, Effect.CONTROL_UNDECIDED, Verdict.INCONCLUSIVE),
        (FIXES, FAILED, LOST_TWICE, Effect.CLAIM_REFUTED, Verdict.HOLD),
        (FIXES, PASSED, LOST_TWICE, Effect.REGRESSION, Verdict.HOLD),
        (None, PASSED, UNLUCKY, Effect.CANDIDATE_UNDECIDED, Verdict.INCONCLUSIVE),
        (None, PASSED, LOST_TWICE, Effect.REGRESSION, Verdict.HOLD),
        (None, FAILED, LOST_TWICE, Effect.CANDIDATE_UNDECIDED, Verdict.INCONCLUSIVE),
        (None, OTHERWISE, LOST_TWICE, Effect.REGRESSION, Verdict.HOLD),
        (None, BROKEN, LOST_TWICE, Effect.CONTROL_UNDECIDED, Verdict.INCONCLUSIVE),
        (FIXES, UNSTABLE, UNSTABLE, Effect.CONTROL_UNDECIDED, Verdict.INCONCLUSIVE),
        (FIXES, FAILED, MISSING, Effect.NOT_RUN, Verdict.INCONCLUSIVE),
        (FIXES, MISSING, PASSED, Effect.NOT_RUN, Verdict.INCONCLUSIVE),
        (FIXES, UNSUPPORTED, UNSUPPORTED, Effect.UNSUPPORTED, None),
        (None, PASSED, PASSED, Effect.SAME, Verdict.SHIP),
        (None, PASSED, GUARD, Effect.REGRESSION, Verdict.HOLD),
        (None, FAILED, PASSED, Effect.IMPROVES, Verdict.SHIP),
        (None, FAILED, FAILED, Effect.NOT_FIXED, Verdict.SHIP),
        (None, FAILED, OTHERWISE, Effect.REGRESSION, Verdict.HOLD),
        (None, CRASHED, CRASHED, Effect.CONTROL_UNDECIDED, Verdict.INCONCLUSIVE),
        (None, GUARD, GUARD, Effect.CONTROL_UNDECIDED, Verdict.INCONCLUSIVE),
    ],
)
def test_cells_weigh_what_the_design_says(claim, base, on, effect, verdict) -> None:
    ruling = rule(claim, base, None, on)
    assert (effect, verdict) == (ruling.effect, ruling.verdict)


@pytest.mark.parametrize(
    ("base", "off", "inertness"),
    [
        (FAILED, FAILED, Inertness.INERT),
        (PASSED, PASSED, Inertness.INERT),
        (FAILED, PASSED, Inertness.NOT_INERT),
        (PASSED, FAILED, Inertness.NOT_INERT),
        (FAILED, OTHERWISE, Inertness.NOT_INERT),
        (FAILED, CRASHED, Inertness.NOT_INERT),
        (PASSED, GUARD, Inertness.NOT_INERT),
        (PASSED, UNSTABLE, Inertness.NOT_INERT),
        (PASSED, STARVED, Inertness.UNDECIDED),
        (PASSED, UNLUCKY, Inertness.UNDECIDED),
        (PASSED, LOST_TWICE, Inertness.NOT_INERT),
        (FAILED, LOST_TWICE, Inertness.UNDECIDED),
        (PASSED, BROKEN, Inertness.UNDECIDED),
        (PASSED, MISSING, Inertness.UNDECIDED),
        (PASSED, UNSUPPORTED, Inertness.UNDECIDED),
        (BROKEN, PASSED, Inertness.UNDECIDED),
        (CRASHED, CRASHED, Inertness.UNDECIDED),
        (UNSUPPORTED, UNSUPPORTED, Inertness.UNSUPPORTED),
        (PASSED, None, Inertness.NO_FLAG),
    ],
)
def test_the_flag_is_inert_only_where_off_shows_what_base_shows(base, off, inertness) -> None:
    assert inertness == rule(None, base, off, PASSED).inertness


def test_a_flag_that_is_not_inert_holds_back_a_candidate_that_is_otherwise_as_claimed() -> None:
    assert rule(FIXES, FAILED, PASSED, PASSED).verdict is Verdict.HOLD


def test_a_scenario_discriminates_only_when_its_base_is_refuted_for_the_named_reason() -> None:
    shown = [rule(FIXES, base, None, PASSED).discriminates for base in (FAILED, PASSED, OTHERWISE, CRASHED)]
    assert shown == [True, False, False, False]


def test_a_guard_missed_by_the_candidate_only_is_a_question_it_made_unreachable() -> None:
    on = rule(None, PASSED, None, GUARD).on
    assert (on.state, on.expectation) == (CellState.FAILED, "question_reachable")
    assert "guard unmet: has_new_leader" in on.reason


def test_an_unmet_guard_is_known_by_its_name_whatever_the_reason_says() -> None:
    worded = CellOutcome(CellState.INCONCLUSIVE, "action_done", "stop the leader: no answer", 1)
    assert rule(None, PASSED, None, worded).on.expectation == "question_reachable"


def test_a_plan_that_only_the_candidate_does_not_end_in_its_time_is_a_question_it_made_unreachable() -> None:
    slow = CellOutcome(CellState.INCONCLUSIVE, "within_budget", "guard unmet: the plan took longer than its 240 s", 1)
    assert rule(None, PASSED, None, slow).on.expectation == "question_reachable"
    assert rule(None, slow, None, slow).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("name", ["host_not_starved", ""])
def test_what_harness_or_host_failed_to_ask_stays_inconclusive_on_the_candidate(name: str) -> None:
    missed = CellOutcome(CellState.INCONCLUSIVE, name, "guard unmet: no answer", 1)
    for claim, base in ((None, PASSED), (FIXES, FAILED)):
        ruling = rule(claim, base, missed, missed)
        assert (ruling.on, ruling.off) == (missed, missed)
        assert (ruling.effect, ruling.inertness) == (Effect.CANDIDATE_UNDECIDED, Inertness.UNDECIDED)
        assert ruling.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("name", ["ledger_read", "records_acknowledged"])
def test_a_ledger_that_only_the_candidate_leaves_unreadable_or_empty_is_its_failure(name: str) -> None:
    """A topic that is gone from the metadata cannot be read back, on no run of the candidate."""
    missed = CellOutcome(CellState.INCONCLUSIVE, name, "orders: no such topic", 3, 3)
    ruling = rule(None, PASSED, missed, missed)
    assert (ruling.on.state, ruling.on.expectation) == (CellState.FAILED, "question_reachable")
    assert ruling.on.reason == (
        "the base leaves a ledger that can be checked, this arm never does: orders: no such topic"
    )
    assert (ruling.effect, ruling.inertness) == (Effect.REGRESSION, Inertness.NOT_INERT)
    assert rule(None, missed, None, missed).verdict is Verdict.INCONCLUSIVE
    assert rule(FIXES, FAILED, None, missed).verdict is Verdict.INCONCLUSIVE  # nobody looked at base's ledger


cells = st.sampled_from(
    [PASSED, FAILED, CRASHED, OTHERWISE, BROKEN, UNSUPPORTED, MISSING, UNSTABLE, UNLUCKY, LOST_TWICE, GUARD, STARVED]
)


@given(claim=st.sampled_from([None, FIXES]), base=cells, off=st.none() | cells, on=cells)
def test_only_decided_cells_speak_for_shipping(claim, base, off, on) -> None:
    ruling = rule(claim, base, off, on)
    if ruling.verdict is Verdict.SHIP:
        assert base.state in (CellState.PASSED, CellState.FAILED)
        assert on.state in (CellState.PASSED, CellState.FAILED)
        assert on.state is CellState.PASSED or (claim is None and on == base)
        assert off is None or (off.state, off.expectation) == (base.state, base.expectation)


@given(claim=st.sampled_from([None, FIXES]), base=cells, off=st.none() | cells, on=cells)
def test_only_a_base_that_answered_can_hold_a_candidate_back(claim, base, off, on) -> None:
    if rule(claim, base, off, on).verdict is Verdict.HOLD:
        assert base in (PASSED, FAILED, OTHERWISE)


@given(claim=st.sampled_from([None, FIXES]), base=cells, base_off=cells, off=st.none() | cells, on=cells)
def test_a_base_that_has_the_flag_is_the_control_for_a_rollout_and_its_off_arm_for_flag_and_claims(
    claim, base, base_off, off, on
) -> None:
    ruling = rule(claim, base, off, on, base_off)
    alone = rule(claim, base if claim is None else base_off, None, on)
    assert (ruling.effect, ruling.discriminates) == (alone.effect, alone.discriminates)
    assert ruling.inertness is rule(claim, base_off, off, on).inertness
    assert ruling.control is (Role.BASE if claim is None else Role.BASE_OFF)


def test_beside_a_control_that_failed_otherwise_than_claimed_nobody_can_say_whether_the_flag_is_inert() -> None:
    ruling = rule(FIXES, OTHERWISE, FAILED, PASSED)
    assert (ruling.effect, ruling.inertness) == (Effect.CONTROL_UNDECIDED, Inertness.UNDECIDED)
    assert ruling.verdict is Verdict.INCONCLUSIVE
