"""The matrix of gaps is what verdicts say, build by build, and has a row for each expectation of the suite."""

import importlib
import re
import runpy
import sys
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from nightly_sample import document

from harness.base.errors import HarnessError
from harness.base.files import write_text
from harness.base.json import to_json
from harness.model.arms import Role
from harness.model.claims import Expected
from harness.model.runs import Outcome
from harness.model.verdict import Check, ClaimStatus, JudgedClaim, JudgedRun
from harness.scenario.registry import load_all
from harness.scenario.steps import Expect, OnlyIf

ROOT = Path(__file__).parents[2]
PAGE = "before\n<!-- gaps -->\nold\n<!-- end of gaps -->\nafter"
SERIES = {
    "dynamic-bootstrap": ("0001-dynamic-bootstrap-servers.patch",),
    "dynamic-bootstrap-v2": (
        "0001-ask-voters-and-configured-servers.patch",
        "0002-read-again-after-truncation.patch",
        "0003-announce-endpoint-when-leader-is-free.patch",
    ),
}


@pytest.fixture(scope="module")
def gaps():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield importlib.import_module("gaps")
    sys.path.remove(str(ROOT / "benchmarks"))
    for name in ("gaps", "versions", "versions_releases", "versions_predictions"):
        sys.modules.pop(name, None)


def run(scenario, arm, role, outcome=Outcome.PASSED, expectation="", reason="", unasked=(), **measures):
    return JudgedRun(
        scenario, arm, role, 1, outcome, expectation, reason, measures=measures, unasked=unasked, check=Check.PASSED
    )


def on_stock(*given, **named):
    return run(given[0], "stock", Role.BASE, *given[1:], **named)


def on_series(*given, **named):
    return run(given[0], "patched-on", Role.ON, *given[1:], **named)


def verified(folder, *runs, series="dynamic-bootstrap", claims=()):
    """Write a verdict on a series beside stock, and return its folder."""
    record = document("ship")
    arms = tuple(
        replace(arm, build=replace(arm.build, series=() if arm.role is Role.BASE else SERIES[series]))
        for arm in record.arms
    )
    host = {"cpus": "2", "clusters side by side": "2"}
    folder.mkdir()
    write_text(folder / "verdict.json", to_json(replace(record, runs=runs, arms=arms, claims=claims, host=host)))
    return folder


def row(page, about):
    (found,) = [line for line in page.splitlines() if line.startswith(f"| {about}")]
    return found.strip("| ").split(" | ")[3:]


def test_a_cell_is_what_each_build_showed_and_stocks_runs_count_from_every_verification(gaps, tmp_path):
    one = verified(
        tmp_path / "one",
        on_stock("observer-cut", Outcome.FAILED, "observer_recovers"),
        on_series("observer-cut", observer_recovers_seconds=1.04),
    )
    other = verified(
        tmp_path / "other",
        on_stock("observer-cut", Outcome.FAILED, "observer_recovers"),
        on_series("observer-cut", observer_recovers_seconds=0.9),
        on_series("observer-cut", observer_recovers_seconds=2.0),
        series="dynamic-bootstrap-v2",
    )
    page = gaps.written_anew(PAGE, [one, other])
    assert (page[:7], page[-6:]) == ("before\n", "\nafter")
    assert "| gap | scenario | expectation | Kafka 3.9.1 | `dynamic-bootstrap` | `dynamic-bootstrap-v2` |" in page
    assert row(page, "(14) cut from") == ["fails (2 runs)", "passes, 1.0 s", "passes, 0.9 to 2.0 s (2 runs)"]
    assert row(page, "(10)") == ["—", "—", "—"]


def test_repeats_that_differ_are_counted_and_what_was_not_decided_is_said(gaps, tmp_path):
    runs = [
        on_series("observer-held", observer_follows_after_pause_seconds=0.4),
        on_series("observer-held", Outcome.FAILED, "observer_follows_after_pause"),
        on_series("observer-held", Outcome.INCONCLUSIVE, "is_up"),
    ]
    page = gaps.written_anew(PAGE, [verified(tmp_path / "one", *runs)])
    assert row(page, "(14) held")[1] == "passes, 0.4 s (1 of 3), fails (1 of 3), not decided (1 of 3)"


def test_what_a_plan_did_not_come_to_is_not_asked_and_what_came_after_its_end_is_told(gaps, tmp_path):
    lost = on_stock(
        "observer-restarts",
        Outcome.FAILED,
        "observer_follows_by_its_disk",
        "it does not; and then: it does not either; not asked: observer_follows_after_another_restart",
        ("observer_follows_after_another_restart",),
        observer_follows_after_restart_seconds=1.2,
    )
    page = gaps.written_anew(PAGE, [verified(tmp_path / "one", lost)])
    assert [row(page, about)[0] for about in ("(1a)", "(1b)", "(1c)")] == ["passes, 1.2 s", "fails", "fails too"]
    assert row(page, "(13)")[0] == "not asked"


def test_ten_leaders_are_followed_where_each_of_them_is(gaps, tmp_path):
    times = {f"observer_follows_leader_{number}_seconds": number / 10 for number in range(1, 11)}
    stops = on_stock("ten-leaders", Outcome.FAILED, "observer_follows_leader_4", observer_follows_leader_1_seconds=0.1)
    page = gaps.written_anew(PAGE, [verified(tmp_path / "one", stops, on_series("ten-leaders", **times))])
    assert row(page, "(12) ten") == ["fails", "passes, 1.0 s"]
    assert row(page, "(4)") == ["passes, 0.1 s", "passes, 0.1 s"]


def test_callers_of_the_released_api_are_answered_by_the_claim(gaps, tmp_path):
    claim = JudgedClaim(
        "old-constructor-stays", "…", "", {Role.ON: Expected(Outcome.PASSED)}, status=ClaimStatus.HELD, why="so"
    )
    page = gaps.written_anew(PAGE, [verified(tmp_path / "one", on_series("observer-cut"), claims=(claim,))])
    assert row(page, "(7)") == ["—", "held"]


def test_a_folder_without_a_verdict_is_named(gaps, tmp_path):
    with pytest.raises(HarnessError, match=r"verdict\.json"):
        gaps.written_anew(PAGE, [tmp_path])
    with pytest.raises(HarnessError, match="No run directory"):
        gaps.written_anew(PAGE, [])


def asked_in(plan):
    return [step.named for steps in (plan.steps, *plan.aftermath) for step in expectations(steps)]


def expectations(steps):
    for step in steps:
        yield from expectations(step.steps) if isinstance(step, OnlyIf) else [step] if isinstance(step, Expect) else []


def test_the_page_has_the_rows_of_the_table_and_each_names_an_expectation_of_its_scenario(gaps):
    for gap in gaps.GAPS:
        asked = asked_in(load_all()[gap.scenario].plan()) if gap.scenario else gap.expectations
        assert all(any(gaps.named_so(each, name) for each in asked) for name in gap.expectations), gap
    page = (ROOT / "docs" / "gaps.md").read_text("utf-8")
    assert set(re.findall(r"\((\d+)", " ".join(gap.about for gap in gaps.GAPS))) >= {str(n) for n in (*range(1, 16),)}
    assert "<!-- gaps -->" in page


ROWS = runpy.run_path(str(ROOT / "tests" / "live" / "gap_rows.py"))
SAID = {"first": "passes", "second": "—", "third_*": "fails", "fourth": "not"}


def judged(outcome, expectation=""):
    return {"outcome": outcome, "expectation": expectation}


@pytest.mark.parametrize(
    ("run", "otherwise"),
    [
        (judged("FAILED", "third_7"), {}),
        (judged("FAILED", "first"), {"first": "fails"}),
        (judged("FAILED", "second"), {}),  # what comes after it was not asked, and no cell says anything of it
        (judged("FAILED", "fourth"), {"third_*": "passes"}),
        (judged("PASSED"), {"third_*": "passes"}),
        (judged("FAILED", "is_no_row"), {"is_no_row": "FAILED"}),
        (judged("INCONCLUSIVE", "is_up"), {"is_up": "INCONCLUSIVE"}),
        (judged("INCONCLUSIVE", "second"), {"second": "INCONCLUSIVE"}),
        (judged("INCONCLUSIVE", "first"), {"first": "INCONCLUSIVE"}),
        (judged("INCONCLUSIVE", "fourth"), {}),  # as the page says
    ],
)
def test_a_run_is_held_to_each_row_that_it_came_to_and_that_has_an_answer(run, otherwise):
    assert ROWS["unlike"](SAID, run) == otherwise


def test_what_no_cell_has_an_answer_for_may_go_in_any_way():
    assert ROWS["unlike"]({"first": "—", "second": "not"}, judged("FAILED", "first")) == {}


def test_the_live_tests_read_the_page_by_build_and_its_rows_are_in_the_order_of_the_plan():
    page = (ROOT / "docs" / "gaps.md").read_text("utf-8")
    assert ROWS["said_of"](page, "ten-leaders", "stock") == {
        "observer_follows_leader_1": "fails",
        "observer_follows_leader_*": "fails",
    }
    for scenario in (each for each in load_all().values() if "gaps" in each.suites):
        asked = asked_in(scenario.plan())
        rows = [*ROWS["said_of"](page, scenario.name, "dynamic-bootstrap")]
        first = [next(at for at, named in enumerate(asked) if fnmatchcase(named, row)) for row in rows]
        assert first == sorted(first), scenario.name
