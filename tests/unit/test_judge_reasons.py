"""Reasons as data: where they come from, what they weigh, which cell they are about; and how cells stand."""

import pytest
from test_judge import DIFFERENCE, FIX, SOUND, H, R, decide, declare, ran, rests
from test_judge_logs import FOUND, judged

from harness.judge.as_claimed import standing_of
from harness.judge.reasons import is_blocker, rests_on, worst
from harness.model.arms import Role
from harness.model.runs import Verdict
from harness.model.verdict import CellName, CellState, Check, Reason, ReasonSource, Standing


def reasons_of(record, source):
    return [(each.weight, each.cell) for each in record.reasons if each.source is source]


def test_every_reason_is_kept_whatever_it_weighs():
    record = decide(declare("turn2", "turn1", claims=(FIX,)), ran("turn2", R, R, R) + ran("turn1", H, H, H))
    assert reasons_of(record, ReasonSource.EFFECT) == [
        (Verdict.HOLD, CellName("turn2", "patched-on")),
        (Verdict.SHIP, CellName("turn1", "patched-on")),
    ]
    assert len(rests(record)) == 1


def test_reasons_of_the_flag_the_logs_and_a_claim_name_their_cells():
    flag = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, H, H))
    assert reasons_of(flag, ReasonSource.FLAG) == [(Verdict.HOLD, CellName("turn2", "patched-off"))]
    assert reasons_of(judged(FOUND), ReasonSource.LOGS) == [(Verdict.HOLD, CellName("turn2", "patched-on"))]
    claim = decide(declare("turn1", claims=(FIX,)), ran("turn1", H, H, H))
    assert reasons_of(claim, ReasonSource.CLAIM) == [(Verdict.INCONCLUSIVE, CellName("turn2", ""))]


def test_a_reason_about_an_arm_that_is_left_out_names_the_scenario_alone():
    from test_judge import ARMS

    arms = tuple(arm for arm in ARMS if arm.role is not Role.ON)
    record = decide(declare("turn2", arms=arms), ran("turn2", R, R, arms=arms))
    assert reasons_of(record, ReasonSource.EFFECT) == [(Verdict.INCONCLUSIVE, CellName("turn2", ""))]
    assert reasons_of(record, ReasonSource.ARM) == [(Verdict.INCONCLUSIVE, None)]


@pytest.mark.parametrize(("count", "shown"), [(5, 5), (6, 6), (9, 6)])
def test_many_reasons_of_the_proof_are_kept_and_a_few_shown_with_the_number_of_the_rest(count, shown):
    from dataclasses import replace

    record = decide(declare("turn1"), ran("turn1", H, H, H), replace(SOUND, differences=(DIFFERENCE,) * count))
    assert len(reasons_of(record, ReasonSource.PROOF)) == count
    assert len(rests(record)) == shown
    if count > 5:
        assert rests(record)[5] == f"{count - 5} more such reasons are in the proof."


def test_nothing_at_all_is_inconclusive():
    assert worst([]) is worst([None]) is Verdict.INCONCLUSIVE
    assert worst([Verdict.SHIP, None, Verdict.INCONCLUSIVE]) is Verdict.INCONCLUSIVE
    assert worst([Verdict.SHIP, Verdict.HOLD, Verdict.INCONCLUSIVE]) is Verdict.HOLD


@pytest.mark.parametrize("source", list(ReasonSource))
def test_the_jar_its_figures_and_its_logs_hold_a_candidate_back_whatever_its_scenarios_show(source):
    of_the_jar = source in (ReasonSource.PROOF, ReasonSource.FIGURES, ReasonSource.LOGS)
    assert is_blocker(Reason(source, Verdict.HOLD, None, "x")) == of_the_jar
    assert not is_blocker(Reason(source, Verdict.INCONCLUSIVE, None, "x"))


def test_a_hold_tells_what_a_scenario_shows_before_what_it_costs_and_logs_and_after_the_proof():
    told = [ReasonSource.PROOF, ReasonSource.EFFECT, ReasonSource.FIGURES, ReasonSource.LOGS]
    found = [Reason(source, Verdict.HOLD, None, str(source)) for source in reversed(told)]
    assert rests_on(Verdict.HOLD, found) == tuple(map(str, told))


@pytest.mark.parametrize(
    ("state", "checks", "standing"),
    [
        (CellState.PASSED, {Check.PASSED}, Standing.AS_CLAIMED),
        (CellState.FAILED, {Check.EXPECTED_FAILURE}, Standing.AS_CLAIMED),
        (CellState.FAILED, {Check.FAILED}, Standing.NOT_AS_CLAIMED),
        (CellState.UNSTABLE, {Check.PASSED, Check.FAILED, Check.ERROR}, Standing.NOT_AS_CLAIMED),
        (CellState.MISSING, {Check.FAILED}, Standing.NOT_AS_CLAIMED),
        (CellState.BROKEN, {Check.ERROR}, Standing.UNDECIDED),
        (CellState.MISSING, {Check.PASSED}, Standing.UNDECIDED),
        (CellState.UNSTABLE, {Check.PASSED}, Standing.UNDECIDED),
        (CellState.MISSING, set(), Standing.UNDECIDED),
        (CellState.PASSED, set(), Standing.UNDECIDED),
        (CellState.UNSUPPORTED, {Check.SKIPPED}, Standing.UNSUPPORTED),
    ],
)
def test_a_cell_stands_as_the_worst_of_its_runs(state, checks, standing):
    assert standing_of(state, checks) is standing
