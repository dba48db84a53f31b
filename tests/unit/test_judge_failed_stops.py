"""A candidate whose nodes end with an error when they are stopped is held back where base's do so far less often."""

from dataclasses import replace

import pytest
import sample_run
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.judge.failed_stops import failed_stops, reasons_of_failed_stops
from harness.model.runs import Outcome, RunResult, Shutdown, Verdict

DECLARED = sample_run.declaration()
BASE = "stock"


def runs(arm, failed, ended, hung=0):
    """Return a run of an arm in which so many nodes ended when they were stopped, some of them with an error."""
    role = next(each.role for each in DECLARED.arms if each.name == arm)
    stops = [Shutdown(node, "voter", True, 0.8, failed=node < failed) for node in range(ended)]
    stops += [Shutdown(9, "observer", False, 20.0)] * hung
    return RunResult("turn1", arm, role, 1, Outcome.PASSED, shutdowns=tuple(stops))


def reasons(*results):
    return list(reasons_of_failed_stops(DECLARED, results))


def test_nodes_that_all_end_with_an_error_where_none_of_base_does_hold_the_candidate_back():
    found = reasons(runs(BASE, 0, 12), runs("patched-on", 12, 12))
    assert {reason.weight for reason in found} == {Verdict.HOLD}
    assert found[0].sentence == (
        "patched-on: nodes end with an error when they are stopped: 12 of 12 on patched-on, 0 of 12 on stock "
        "(turn1, repeat 1)"
    )


@pytest.mark.parametrize(
    ("base", "candidate"),
    [((0, 12), (2, 12)), ((6, 12), (12, 12)), ((2, 400), (5, 400)), ((0, 0), (12, 12)), ((0, 4), (4, 4))],
    ids=["two of twelve", "base's do half of the time", "a rare one", "base was not asked", "too few to tell"],
)
def test_what_chance_explains_is_told_and_holds_nobody_back(base, candidate):
    results = runs(BASE, *base), runs("patched-on", *candidate)
    assert reasons(*results) == []
    told = f"{base[0]} of {base[1]} on stock, 0 of 0 on patched-off and {candidate[0]} of {candidate[1]} on patched-on"
    assert failed_stops(DECLARED, results) == (
        f"Of the nodes that were stopped and ended by themselves, some ended with an error: {told}.",
    )


def test_what_one_node_of_three_does_in_every_run_and_never_on_base_holds_the_candidate_back():
    results = [
        replace(runs(arm, failed, 3), scenario=f"s{number}")
        for number in range(8)
        for arm, failed in ((BASE, 0), ("patched-on", 1))
    ]
    assert [reason.weight for reason in reasons(*results)] == [Verdict.HOLD]
    assert reasons(*results[:8]) == []  # four runs are too few to tell


def test_where_every_node_ends_in_order_nothing_is_told():
    assert failed_stops(DECLARED, [runs(BASE, 0, 4), runs("patched-on", 0, 4)]) == ()


def test_a_node_that_had_to_be_killed_is_none_of_those_that_ended():
    assert "1 of 4 on stock" in failed_stops(DECLARED, [runs(BASE, 1, 4, hung=1)])[0]


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_a_candidate_no_worse_than_base_is_never_held_back(ended, others, failed, more):
    failed = min(failed, ended)
    of_base = ended + others, min(failed + more, ended + others)
    assume(of_base[1] * ended >= failed * of_base[0])
    assert reasons(runs(BASE, of_base[1], of_base[0]), runs("patched-on", failed, ended)) == []
