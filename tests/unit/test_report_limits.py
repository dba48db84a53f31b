"""Every page is kept within its size, whatever it is about: what is cut is counted, and the page says where it is."""

import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import nightly_sample
import pytest
import sample_run
from hypothesis import given
from hypothesis import strategies as st
from upgrade_sample import BASE, CANDIDATE

from harness.logs.count_cache import SCHEMA
from harness.model.findings import Contrast
from harness.model.log_totals import FileTotal, Totals
from harness.model.topic_ids import Finding, IdState, Place, TopicIdCheck
from harness.nightly.judging import judge_night
from harness.nightly.nightpage import render_night
from harness.report.diffpage import render_diff
from harness.report.limits import BUDGET_BYTES, Limits, kept, within_budget
from harness.report.topic_ids_page import render_topic_ids
from harness.report.upgrade_page import render_upgrade
from harness.upgrade.changes import operator_changes

LONG = "<&>" * 400  # three characters that are written as twelve


def diff_of_much():
    finding = replace(sample_run.contrasts("ship")[2].findings[0], candidate_excerpt=LONG, base_excerpt=LONG)
    findings = tuple(replace(finding, template=f"{number} {LONG}") for number in range(400))
    files = tuple(FileTotal(f"/logs/{number}/{LONG[:200]}.log", "[%d] %p %m (%c)%n") for number in range(400))
    totals = Totals(SCHEMA, files, tuple(f"{number} {LONG}" for number in range(400)))
    return render_diff(Contrast("/logs/a", "/logs/b", findings), totals, Path("/logs/out"))


def upgrade_of_much():
    changes = operator_changes(BASE, CANDIDATE)
    many = tuple(
        replace(each, subject=f"{number} {LONG}", where=LONG, base=LONG, candidate=LONG, means=LONG)
        for each in changes.changes
        for number in range(120)
    )
    return render_upgrade(replace(changes, changes=many))


def check_of_much():
    place = Place(3, "/data/" + LONG, (0, 1))
    findings = tuple(
        Finding(state, f"{number}-{LONG[:240]}", "a" * 22, "b" * 22, LONG, (place,))
        for state in IdState
        for number in range(520)
    )
    counts = dict.fromkeys(IdState, 520)
    gaps = tuple(f"{number} {LONG}" for number in range(600))
    return render_topic_ids(TopicIdCheck("zk:2181", True, "c1", (3,), 9000, counts, findings, gaps))


def night_of_much():
    names = [f"verification-{number}" for number in range(320)]
    failed = nightly_sample.document("hold", nightly_sample.FAILED)
    documents = dict.fromkeys(names[:120], replace(failed, sentence=LONG, contrasts=()))
    return render_night(judge_night(nightly_sample.night(*names), documents, (), (), date(2026, 3, 5)))


@pytest.mark.parametrize(
    ("page", "cuts"),
    [
        (diff_of_much, ("differences are in", "files are in", "such sentences are in")),
        (upgrade_of_much, ("changes are in",)),
        (check_of_much, ("findings are in", "gaps are in")),
        (night_of_much, ("verifications are cut",)),
    ],
)
def test_a_page_about_very_much_is_within_the_budget_and_says_what_it_cut(page, cuts):
    text = page()
    assert len(text.encode()) <= BUDGET_BYTES
    for words in cuts:
        assert re.search(rf"\d+ more {words}", text), words


def test_limits_are_halved_until_the_page_fits_and_no_further():
    made = []

    def page(limits):
        made.append(limits)
        return "x" * limits.rows

    assert len(within_budget(page, Limits(rows=200), budget=60)) == 50
    assert [limits.rows for limits in made] == [200, 100, 50]


def test_a_page_that_nothing_makes_small_enough_is_made_as_small_as_it_can_be():
    assert within_budget(lambda limits: "x" * (1000 + limits.rows), budget=10) == "x" * 1005


@given(st.lists(st.booleans()), st.integers(0, 20))
def test_what_is_odd_is_kept_before_others_and_all_in_their_order(odd, most):
    items = list(enumerate(odd))
    found = kept(items, most, lambda item: item[1])
    assert list(found) == sorted(found)
    assert len(found) == min(most, len(items))
    assert sum(is_odd for _, is_odd in found) == min(most, sum(odd))
