"""The verdict tables of docs/words.md are what the judge does: each case is in one row, and the row is right."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.paths import data_root
from harness.judge.cells import fold_repeats
from harness.judge.classify import Candidate, Control, Promise, candidate_of, control_of
from harness.judge.table import effect_of, inertness_of, rule, weight_of_effect, weight_of_inertness
from harness.model.arms import Role
from harness.model.claims import Expected
from harness.model.runs import Outcome, RunResult, Verdict
from harness.model.verdict import CellOutcome, CellState, Effect, Inertness

WORDS = (data_root() / "docs" / "words.md").read_text(encoding="utf-8")
LOST, OTHER = "observer_recovers", "nothing_lost"


def rows(title: str) -> list[list[str]]:
    """Return the rows of the first table under a heading."""
    section = WORDS.split(f"### {title}\n")[1].split("\n### ")[0]
    table = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    return table[2:]


def matches(cell: str, word: StrEnum) -> bool:
    return cell == "anything" or word.value in cell.split(", ")


def weight(cell: str) -> Verdict | None:
    return None if cell == "nothing" else Verdict(cell)


@pytest.mark.parametrize(("claimed", "control", "on"), list(itertools.product(Promise, Control, Candidate)))
def test_what_a_scenario_means_is_in_one_row_of_the_table(claimed, control, on):
    found = [
        (Effect(means), weight(weighs))
        for *case, means, weighs in rows("What a scenario means")
        if all(map(matches, case, (claimed, control, on)))
    ]
    effect = effect_of(claimed, control, on)
    assert found == [(effect, weight_of_effect(effect))]


CELLS = {
    Control.PASSED: CellOutcome(CellState.PASSED),
    Control.FAILED: CellOutcome(CellState.FAILED, LOST),
    Control.OTHERWISE: CellOutcome(CellState.FAILED, "node_alive"),
    Control.INCONCLUSIVE: CellOutcome(CellState.INCONCLUSIVE, "host_not_starved"),
    Control.BROKEN: CellOutcome(CellState.BROKEN),
    Control.UNSUPPORTED: CellOutcome(CellState.UNSUPPORTED),
    Control.UNSTABLE: CellOutcome(CellState.UNSTABLE),
    Control.MISSING: CellOutcome(CellState.MISSING),
}


def pairs() -> Iterator[tuple[CellOutcome, CellOutcome]]:
    """Yield every pair of a control's cell and a candidate's, which may also fail as the control does not."""
    others = (*CELLS.values(), CellOutcome(CellState.FAILED, OTHER))
    return itertools.product(CELLS.values(), others)


@pytest.mark.parametrize(("base", "off"), list(pairs()))
def test_whether_the_flag_is_inert_is_in_one_row_of_the_table(base, off):
    control, candidate = control_of(None, base), candidate_of(base, off)
    found = [
        (Inertness(means), weight(weighs))
        for *case, means, weighs in rows("Whether the flag is inert")
        if all(map(matches, case, (control, candidate)))
    ]
    inertness = inertness_of(base, off)
    assert found == [(inertness, weight_of_inertness(inertness))]


results = st.sampled_from(
    [
        (Outcome.PASSED, ""),
        (Outcome.FAILED, LOST),
        (Outcome.FAILED, OTHER),
        (Outcome.FAILED, "node_alive"),
        (Outcome.INCONCLUSIVE, "has_new_leader"),
        (Outcome.INCONCLUSIVE, "action_done"),
        (Outcome.INCONCLUSIVE, "ledger_read"),
        (Outcome.INCONCLUSIVE, "host_not_starved"),
        (Outcome.INCONCLUSIVE, "within_budget"),
        (Outcome.BROKEN, ""),
        (Outcome.UNSUPPORTED, ""),
    ]
)
repeats = st.lists(st.none() | results, min_size=1, max_size=5)


def folded(shown) -> CellOutcome:
    ran = [RunResult("turn2", "on", Role.ON, k, *what, reason="why") for k, what in enumerate(shown, 1) if what]
    return fold_repeats(ran, len(shown))


def decided(shown) -> set[tuple[Outcome, str]]:
    return {what for what in shown if what and what[0].is_decided}


@given(shown=repeats)
def test_repeats_make_the_cell_that_the_table_says(shown):
    cell = folded(shown)
    if len(decided(shown)) > 1:
        expected = CellState.UNSTABLE
    elif None in shown:
        expected = CellState.MISSING
    elif len(set(shown)) == 1:
        expected = CellState(shown[0][0].value)
    else:
        expected = CellState.INCONCLUSIVE
    assert cell.state is expected
    assert cell.declared == len(shown)
    if expected is CellState.INCONCLUSIVE and len(set(shown)) > 1:
        counts = sorted(map(int, re.findall(r"(?:^|, )(\d+) ", cell.reason)))
        assert counts == sorted(shown.count(what) for what in set(shown))
        assert cell.agreeing == max(counts)


@given(shown=st.lists(results, min_size=1, max_size=5), seed=st.randoms())
def test_the_order_of_repeats_changes_nothing(shown, seed):
    other = seed.sample(shown, len(shown))
    assert folded(other) == folded(shown)


HOST = {"host_not_starved", "within_budget"}
FIXES = {Role.BASE: Expected(Outcome.FAILED, LOST), Role.ON: Expected(Outcome.PASSED)}


@given(base=repeats, on=repeats, claim=st.sampled_from([None, FIXES]))
def test_only_what_the_candidate_did_itself_holds_it_back(base, on, claim):
    """A HOLD needs a decided control, and of the candidate a failure, or a guard missed in every repeat."""
    ruling = rule(claim, folded(base), None, folded(on))
    if ruling.verdict is Verdict.HOLD:
        assert len(set(base)) == 1
        assert decided(base)
        failed = any(outcome is Outcome.FAILED for outcome, _ in decided(on))
        missed = all(what and what[0] is Outcome.INCONCLUSIVE and what[1] not in HOST for what in on)
        assert failed or missed


@given(base=repeats, on=repeats, claim=st.sampled_from([None, FIXES]))
def test_a_scenario_speaks_for_shipping_only_if_every_repeat_of_both_arms_was_decided_alike(base, on, claim):
    if rule(claim, folded(base), None, folded(on)).verdict is Verdict.SHIP:
        assert len(set(base)) == len(set(on)) == 1
        assert decided(base)
        assert decided(on)


@given(base=results, on=repeats, unlucky=st.sampled_from(["host_not_starved", "within_budget", "has_new_leader"]))
def test_one_more_repeat_that_could_not_be_asked_makes_a_ship_inconclusive_and_never_a_hold(base, on, unlucky):
    before = rule(None, folded([base] * len(on)), None, folded(on)).verdict
    longer = [*on, (Outcome.INCONCLUSIVE, unlucky)]
    after = rule(None, folded([base] * len(longer)), None, folded(longer)).verdict
    assert before is not Verdict.SHIP or after is Verdict.INCONCLUSIVE
