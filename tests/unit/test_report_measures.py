"""Figures over repeats: medians with ranges, and the candidate's ratio to base with its interval."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly_sample import document

from harness.model.reuse import Origin
from harness.report.measures import measures_of, ratio_interval

times = st.lists(st.floats(0.01, 1e4), min_size=2, max_size=6)


def test_each_arm_has_its_figure_and_each_run_its_row():
    whole = document()
    shown = measures_of(whole, whole.runs, 99)
    assert len(shown.runs) == len(whole.runs)
    assert all(len(row.arms) == len(whole.arms) for row in shown.rows)
    assert not any(row.ratio for row in shown.rows)  # one run of each tells no interval


def test_what_runs_of_before_took_is_not_held_against_the_runs_of_today():
    whole = document()
    origin = Origin("/out/first", "2026-11-25T14:02:00+00:00", "a" * 64)
    runs = [replace(run, origin=origin) if run.arm == "stock" else run for run in whole.runs]
    shown = measures_of(whole, runs, 99)
    assert not any("stock" in name for name, _ in shown.runs)
    assert {row.arms[0] for row in shown.rows} == {"–"}


def test_what_takes_a_tenth_of_the_time_is_reported_with_its_interval():
    assert ratio_interval([100, 110, 90], [10, 11, 9]) == "×0.1 (0.0796 to 0.126)"


def test_equal_figures_have_no_width():
    assert ratio_interval([2, 2], [4, 4]) == "×2"


@pytest.mark.parametrize(("base", "candidate"), [([1], [2, 3]), ([0, 1], [2, 3]), ([], []), ([1, 2], [-1, 2])])
def test_without_repeats_or_with_zeros_there_is_no_ratio(base, candidate):
    assert ratio_interval(base, candidate) == ""


@given(times, times)
def test_the_interval_holds_the_ratio_and_turns_round_with_it(base, candidate):
    there, back = ratio_interval(base, candidate), ratio_interval(candidate, base)
    assert there.startswith("×")
    assert math.isclose(float(there[1:].split()[0]) * float(back[1:].split()[0]), 1, rel_tol=0.02)
