"""Costs on the page: a picture beside base, what is over its limit first and open."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_report import document, journals

from harness.model.events import NodeSampled
from harness.model.runs import Outcome
from harness.report.context import report_context
from harness.report.costs import cost_views
from harness.report.html import render_html
from harness.report.share_curves import HEIGHT, LEFT, WIDTH, panels

DEAR = document("dear")


def view_of(arm, record=DEAR):
    return next(v for v in cost_views(record, journals("dear"), 24) if (v.scenario, v.arm) == ("turn2", arm))


def test_a_cost_over_its_limit_stands_first_with_both_amounts_and_the_limit():
    row = view_of("patched-on").rows[0]
    assert row.description == "the raft I/O thread of the observer used, in the busiest 3 s window"
    assert (row.base, row.candidate, row.limit, row.unit, row.standing) == ("1", "97.2", "11", "% of a core", "over")
    assert row.bars.candidate == 120 > row.bars.limit > row.bars.base


def test_the_picture_shows_both_curves_of_each_role_and_marks_what_is_over():
    shown = {panel.title: panel for panel in view_of("patched-on").panels}
    assert len(shown) == 6
    spinning = shown["raft I/O thread of the observer"]
    assert (spinning.over, spinning.top, spinning.peaks) == (True, 100, ("0.6 %", "97.2 %"))
    assert spinning.base != spinning.candidate
    quiet = shown["raft I/O thread of the leader"]
    assert (quiet.over, quiet.top) == (False, 5)


def test_the_curves_are_of_the_spare_run_that_stands_for_a_crash():
    decided = next(run for run in DEAR.runs if (run.scenario, run.arm) == ("turn2", "stock"))
    crashed = replace(decided, outcome=Outcome.INCONCLUSIVE, expectation="known_crash")
    spare = replace(decided, repeat=decided.repeat + DEAR.repeats)
    known = journals("dear")
    asked = {**known, spare.key.folder: known[crashed.key.folder], crashed.key.folder: ()}

    def drawn(record):
        return next(v for v in cost_views(record, asked, 24) if (v.scenario, v.arm) == ("turn2", "patched-on")).panels

    others = tuple(run for run in DEAR.runs if run is not decided)
    assert drawn(replace(DEAR, runs=(*others, crashed, spare))) == view_of("patched-on").panels
    assert drawn(replace(DEAR, runs=(*DEAR.runs, spare))) == (), "asked again for its costs: the first is shown"
    assert drawn(DEAR) == ()


def test_only_what_has_a_cost_over_its_limit_is_open():
    page = render_html(DEAR, journals("dear"))
    assert '<details class="run" id="costs-turn2-patched-on" open>' in page
    assert '<details class="run" id="costs-turn2-patched-off">' in page
    assert '<b class="over">over the limit</b>' in page
    assert "97.2 % of a core against 1 % of a core" in page


def test_the_nearest_to_their_limits_come_first_and_what_was_not_judged_says_why_and_comes_last():
    standings = [row.standing for row in view_of("patched-on").rows]
    assert standings == ["over", "within", *["the runs were not decided in the same way"] * 3]


def test_a_cost_that_the_candidate_was_not_measured_for_has_a_dash_and_no_bar():
    lacking = replace(DEAR.costs[0], candidate=None, over=False, not_judged="no run has them")
    (view,) = cost_views(replace(DEAR, costs=(lacking,)), {}, 24)
    assert [(row.candidate, row.bars.candidate, row.standing) for row in view.rows] == [("–", 0.0, "no run has them")]


def test_many_costs_are_folded_but_for_those_that_are_over():
    many = [replace(cost, figure=f"f{n}", over=n < 9) for cost in DEAR.costs[:1] for n in range(40)]
    (view,) = cost_views(replace(DEAR, costs=tuple(many)), {}, 24)
    assert (len(view.rows), len(view.more)) == (9, 31)
    assert {row.standing for row in view.rows} == {"over"}
    assert "31 more costs" in render_html(replace(DEAR, costs=tuple(many)), {})


def test_costs_without_journals_have_their_table():
    (view, *_) = cost_views(DEAR, {}, 24)
    assert (view.panels, bool(view.rows)) == ((), True)


def test_what_is_shown_as_a_cost_is_no_measure_again():
    shown = report_context(DEAR, journals("dear")).measures.names
    assert "acked writes" in shown
    assert not {name for name in shown if name.startswith(("observer raft", "commit", "node cpu"))}


def test_a_page_without_costs_has_no_part_for_them():
    assert 'id="costs"' not in render_html(replace(DEAR, costs=()), {})


def sample(share, role="observer"):
    return NodeSampled(3, role, share, share, 70, 95)


def test_a_curve_is_broken_where_nobody_had_the_role():
    led = [(float(at), sample(1.0, "leader")) for at in (1, 2, 3, 20, 21)]
    (raft, _) = panels(led, led, set())
    assert raft.base.count("M") == 2


shares = st.floats(0, 1000)
runs = st.lists(st.tuples(st.floats(0, 1e5), st.builds(sample, shares)), min_size=1, max_size=400)


@given(base=runs, candidate=runs)
def test_every_curve_stays_within_its_picture(base, candidate):
    for panel in panels(base, candidate, set()):
        for path in (panel.base, panel.candidate):
            points = [
                tuple(map(float, each.split())) for each in path.replace("M", "\n").replace("L", "\n").split("\n")[1:]
            ]
            assert len(points) <= 400
            assert all(LEFT <= x <= WIDTH + 0.1 and 0 <= y <= HEIGHT for x, y in points)


@pytest.mark.parametrize("kind", ["ship", "hold"])
def test_runs_that_cost_what_base_does_are_not_over(kind):
    assert all(view.over == 0 for view in cost_views(document(kind), journals(kind), 24))
