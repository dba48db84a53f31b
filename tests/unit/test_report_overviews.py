"""Costs at a glance, and what would have been noticed: what the report says before anything is unfolded."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_report import document

from harness.report.cost_multiples import BASE_X, LIMIT_X, WIDTH, cost_overview
from harness.report.noticed import noticed

DEAR = document("dear")
(COST, *_) = DEAR.costs


def overview(*costs):
    return cost_overview(replace(DEAR, costs=costs))


def priced(figure="f", base=10.0, candidate=12.0, allowed=20.0, **more):
    return replace(
        COST, figure=figure, base=base, candidate=candidate, allowed=allowed, over=False, not_judged="", **more
    )


def test_what_is_over_its_limit_is_said_and_drawn_first():
    shown = cost_overview(DEAR)
    assert (
        "over the limit. The furthest: the raft I/O thread of the observer used, in the busiest 3 s window, in turn2"
        in shown.sentence
    )
    assert shown.charts[0].over
    assert shown.charts[0].dots[0].candidate_x > LIMIT_X


def test_the_nearest_is_that_which_takes_most_of_its_room_above_base_and_not_of_its_limit():
    level, grown = priced("level", 98.0, 98.0, 100.0), priced("grown", 10.0, 15.0, 20.0)
    shown = overview(level, grown)
    assert [chart.id for chart in shown.charts] == ["cost-grown", "cost-level"]
    assert "uses 50 % of its room above base" in shown.sentence
    assert shown.charts[0].dots[0].values == "15 (10)"
    assert shown.charts[1].dots[0].candidate_x == BASE_X


def test_what_was_not_judged_is_counted_by_its_reason_and_not_drawn():
    shown = overview(priced(), replace(priced("g"), not_judged="nobody measured"), replace(priced("h"), candidate=None))
    assert shown.not_judged == "1 not judged: nobody measured"
    assert [chart.id for chart in shown.charts] == ["cost-f"]


def test_a_chart_has_few_rows_and_says_how_many_are_further_away():
    (chart,) = overview(*(priced(scenario=f"s{n}") for n in range(7))).charts
    assert (len(chart.dots), chart.hidden) == (4, 3)


def test_without_costs_there_is_no_overview():
    assert overview() is None


@given(*[st.floats(0, 1e9, allow_nan=False)] * 3)
def test_a_dot_stays_on_its_picture(base, candidate, allowed):
    (chart,) = overview(priced("f", base, candidate, allowed)).charts
    assert 0 < chart.dots[0].candidate_x < WIDTH


@pytest.mark.parametrize(
    "sentence",
    [
        "A candidate that does not fix what it claims: on the control, new-mechanism, turn2 fail by the claimed name.",
        "A candidate that fails where base does not: 1 scenario passes on base.",
        "A candidate that logs differently: the logs of 3 pairs of arms were compared line by line.",
        "A jar that is not a drop-in: 3 rules applied; 201 tests, 0 failed.",
        "Changed code that fails when it runs: 2 of 3 changed lines were run, in 1 of 1 changed methods.",
    ],
)
def test_what_would_have_been_noticed_is_said_with_what_was_looked_at(sentence):
    assert sentence in noticed(document(), 700)


def test_a_scenario_that_no_claim_is_about_is_no_evidence_for_one_however_its_control_fails():
    record = document()
    about_turn2 = replace(record, claims=tuple(claim for claim in record.claims if claim.scenario == "turn2"))
    assert (record.proving, about_turn2.proving) == (("new-mechanism", "turn2"), ("turn2",))
    assert "A candidate that does not fix what it claims: on the control, turn2 fails by the claimed name." in noticed(
        about_turn2, 700
    )
    assert replace(record, claims=()).proving == ()


def test_planted_defects_that_the_suite_noticed_are_named_together():
    seen = noticed(replace(document(), would_show=("5 % of a core", "2 lines of log a second")), 700)
    assert (
        "A defect as small as the planted ones that the suite noticed: 5 % of a core; 2 lines of log a second." in seen
    )


def test_where_nothing_is_claimed_nothing_is_said_of_a_fix():
    assert not any("fix" in sentence for sentence in noticed(replace(document(), claims=()), 700))
