"""Marks and history: what is new, recurring, fixed or flaky, and what a night that could not ask does not say."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly_sample import BROKEN, FAILED, STARVED, cell, document, found, showing

from harness.base.errors import HarnessError
from harness.model.arms import Kafka, Role
from harness.model.runs import Outcome
from harness.nightly.cell_history import Standing, cells_of, findings_of
from harness.nightly.history import SCHEMA, PastNight, add_to_history, before, read_history, with_night
from harness.nightly.trend import Trend, cell_trends, finding_trends

OK, NOT, OPEN = Standing.AS_CLAIMED, Standing.NOT_AS_CLAIMED, Standing.UNDECIDED
LOST = "FAILED(observer_recovers)"
UNABLE = showing("turn2", "patched-on", Outcome.UNSUPPORTED)
NIGHT = PastNight(SCHEMA, "n", "2026-03-01T01:00:00+00:00", (), (), ())


def nights(*standings, **more):
    """Return a history in which a cell stood so, night after night."""
    return [
        PastNight(SCHEMA, f"n{number}", f"2026-03-{number:02}", (), (standing(each, **more),), ())
        for number, each in enumerate(standings, 1)
    ]


def standing(each, **more):
    return cell(each, LOST if each is NOT else "PASSED" if each is OK else "INCONCLUSIVE", **more)


def mark(today, *past, **more):
    (marked,) = cell_trends([standing(today, **more)], nights(*past))
    return marked.trend


def test_another_kafka_with_the_same_raft_jar_is_another_build():
    record = document("ship")
    newer = Kafka("3.9.2", "", "r", {"r": "1", "lz4.jar": "2"})
    on = next(arm for arm in record.arms if arm.role is Role.ON)
    arms = tuple(replace(arm, build=replace(arm.build, kafka=newer)) if arm is on else arm for arm in record.arms)
    (before, *_), (after, *_) = cells_of("v", record), cells_of("v", replace(record, arms=arms))
    assert before.jars != after.jars


def test_what_fails_for_the_first_time_is_new():
    assert mark(NOT) is Trend.NEW
    assert mark(NOT, OK, OK) is Trend.NEW


def test_what_fails_again_in_the_same_way_is_recurring_and_in_another_way_new():
    assert mark(NOT, OK, NOT) is Trend.RECURRING
    (other,) = cell_trends([cell(NOT, "FAILED(node_alive)")], nights(NOT))
    assert other.trend is Trend.NEW


def test_what_is_as_claimed_after_a_failure_is_fixed_once():
    assert mark(OK, NOT, NOT) is Trend.FIXED
    assert mark(OK, NOT, OK) is Trend.SAME
    assert mark(OK, OK) is Trend.SAME


def test_a_night_that_could_not_ask_neither_fixes_nor_breaks():
    assert mark(OPEN, NOT) is Trend.UNDECIDED
    assert mark(NOT, NOT, OPEN) is Trend.RECURRING
    assert mark(OK, NOT, OPEN, OPEN) is Trend.FIXED
    assert mark(OK, OPEN) is Trend.SAME
    assert mark(NOT, OPEN) is Trend.NEW


@given(st.lists(st.sampled_from(Standing), max_size=20))
def test_whatever_came_before_what_is_undecided_is_never_fixed(past):
    assert mark(OPEN, *past) is Trend.UNDECIDED


def test_the_same_jars_with_changing_answers_are_flaky():
    assert mark(OK, OK, NOT) is Trend.FLAKY
    assert mark(NOT, NOT, OK) is Trend.FLAKY
    assert mark(OK, OK, NOT, OPEN) is Trend.FLAKY


def test_another_jar_may_change_the_answer_as_often_as_it_likes():
    past = [*nights(OK, jars="a"), *nights(NOT, jars="b")]
    (marked,) = cell_trends([standing(OK, jars="c")], past)
    assert marked.trend is Trend.FIXED


def test_a_change_long_ago_is_forgotten():
    assert mark(OK, OK, NOT, *[OK] * 10) is Trend.SAME


def test_repeats_that_differ_in_one_night_are_flaky():
    assert mark(NOT, unstable=True) is Trend.FLAKY


def test_a_cell_is_compared_with_itself_only():
    (marked,) = cell_trends([standing(NOT, verification="w")], nights(NOT))
    assert (marked.trend, marked.past) == (Trend.NEW, (None,))


@pytest.mark.parametrize(
    ("change", "stands"),
    [
        (None, OK),
        (FAILED, NOT),
        (STARVED, OPEN),
        (BROKEN, OPEN),
        (UNABLE, Standing.UNSUPPORTED),
    ],
)
def test_a_cell_stands_as_its_runs_were_judged(change, stands):
    cells = {each.key: each for each in cells_of("v", document("ship", change))}
    assert cells["v", "turn2", "patched-on"].standing is stands
    assert cells["v", "turn1", "stock"].standing is OK


def declaration(*findings, stock=OK):
    cells = (cell(stock, arm="stock"), cell(OK, arm="on"))
    return PastNight(SCHEMA, "n", "2026-03-01", (), cells, findings)


def finding_marks(today, *past, cells=None):
    marked = finding_trends(today, declaration().cells if cells is None else cells, past)
    return {each.found.template: each.trend for each in marked}


def test_findings_are_new_recurring_or_gone():
    old, new, gone = found("old"), found("new"), found("gone")
    assert finding_marks([old, new], declaration(old, gone)) == {
        "old": Trend.RECURRING,
        "new": Trend.NEW,
        "gone": Trend.FIXED,
    }


def test_a_finding_is_not_gone_when_one_of_its_arms_could_not_be_tested():
    blind = (cell(OPEN, arm="stock"), cell(OK, arm="on"))
    assert finding_marks([], declaration(found("old")), cells=blind) == {}
    assert finding_marks([found("old")], declaration(found("old")), declaration(stock=OPEN)) == {"old": Trend.RECURRING}


def test_a_finding_is_not_gone_when_no_logs_were_compared():
    blind = tuple(replace(each, logs_compared=False) for each in declaration().cells)
    assert finding_marks([], declaration(found("old")), cells=blind) == {}


def test_a_finding_that_comes_and_goes_is_flaky():
    assert finding_marks([found("x")], declaration(found("x")), declaration()) == {"x": Trend.FLAKY}


def test_a_finding_that_another_jar_brings_back_is_new():
    there, away = declaration(found("x")), declaration()
    other = replace(away, cells=tuple(replace(each, jars="another") for each in away.cells))
    assert finding_marks([found("x")], there, other) == {"x": Trend.NEW}


def test_findings_of_logs_and_proof_have_ids_that_stay():
    one, other = findings_of("v", document("hold")), findings_of("v", document("hold"))
    assert one == other
    assert {each.scenario for each in one} == {"turn2", "proof"}
    assert "config-default" in {each.kind for each in one}
    assert {each.id for each in one}.isdisjoint(each.id for each in findings_of("w", document("hold")))


def test_a_history_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "deep" / "history.jsonl"
    verdict = document("hostile")
    night = PastNight(SCHEMA, "n", "2026", (), cells_of("v", verdict), findings_of("v", verdict))
    assert read_history(path) == ()
    add_to_history(path, night)
    assert read_history(path) == (night,)
    assert path.read_text().count("\n") == 1


@pytest.mark.parametrize("label", ["n", "a\u2028b", "a\u0085b"])
def test_an_empty_file_is_a_history_without_nights_and_no_character_of_a_label_ends_a_line(tmp_path, label):
    (path := tmp_path / "history.jsonl").write_text("")
    assert read_history(path) == ()
    add_to_history(path, replace(NIGHT, label=label))
    assert [each.label for each in read_history(path)] == [label]


def test_the_same_night_concluded_again_replaces_and_the_oldest_are_pruned():
    history = ()
    for day in (3, 1, 2, 3):
        history = with_night(history, PastNight(SCHEMA, f"n{day}", f"2026-03-0{day}", (), (), ()), kept=2)
    assert [each.label for each in history] == ["n2", "n3"]


def test_a_night_is_compared_with_those_before_it_only():
    history = nights(OK, NOT, OK)
    assert [each.label for each in before(history, "n2", "2026-03-02")] == ["n1"]


def test_nights_that_end_together_all_get_in(tmp_path):
    path = tmp_path / "history.jsonl"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: add_to_history(path, PastNight(SCHEMA, f"n{n}", f"{n}", (), (), ())), range(24)))
    assert len(read_history(path)) == 24


@pytest.mark.parametrize("line", ["{", "[]", '{"schema": 2}', '{"schema": 1}'])
def test_a_history_that_cannot_be_read_is_reported_by_its_line(tmp_path, line):
    path = tmp_path / "history.jsonl"
    add_to_history(path, NIGHT)
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(HarnessError, match=r"history\.jsonl, line 2"):
        read_history(path)
