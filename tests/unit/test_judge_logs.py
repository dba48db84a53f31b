"""What candidates add to the logs beyond the noise: a warning or an error that no claim expects holds a jar back."""

from dataclasses import replace

import pytest
from test_judge import BROKEN, FIX, FLAG, SOUND, H, R, declare, ran, rests

from harness.judge.decision import decide
from harness.model.findings import Contrast, Finding, FindingKind, Significance
from harness.model.proof import ClaimChain
from harness.model.runs import Evidence, Verdict

FOUND = Finding(
    FindingKind.NEW, "It failed (…)", "turn2", "voter", "start", "ERROR", "a.B", 0, 6, "", "ERROR It failed (x)", (),
    significance=Significance.BEYOND, base_runs=(0, 0, 0), candidate_runs=(2, 2, 2),
)  # fmt: skip


def judged(*findings, base="stock", candidate="patched-on", proof=SOUND):
    plan = declare("turn2", repeats=3, claims=(FIX,))
    contrasts = [Contrast(base, candidate, findings)]
    return decide(plan, ran("turn2", [R, R, R], [R, R, R], [H, H, H]), proof, contrasts)


def test_an_error_in_every_run_of_the_candidate_and_in_none_of_base_is_a_hold_that_quotes_it():
    record = judged(FOUND)
    assert record.verdict is Verdict.HOLD
    assert rests(record)[0] == (
        "turn2: patched-on logs at ERROR what no claim expects, 2, 2, 2 times in its runs against 0, 0, 0 on stock: "
        "It failed (…)"
    )


@pytest.mark.parametrize(
    "finding",
    [
        replace(FOUND, level="INFO"),
        replace(FOUND, significance=Significance.UNKNOWN),
        replace(FOUND, significance=Significance.WITHIN),
        replace(FOUND, kind=FindingKind.VANISHED, base_runs=(2, 2, 2), candidate_runs=(0, 0, 0)),
        replace(FOUND, kind=FindingKind.RATE, base_runs=(20, 20, 20)),
        replace(FOUND, kind=FindingKind.LEVEL, base_runs=(2, 2, 2), candidate_runs=(0, 0, 0)),
        replace(FOUND, kind=FindingKind.ORDER),
        replace(FOUND, template=f"KafkaConfig: {FLAG.key} = true", level="INFO"),
    ],
    ids=["not a warning", "one run", "noise", "gone", "rarer", "a lesser level", "another order", "the flag's own key"],
)
def test_what_is_no_worse_or_no_more_than_noise_or_the_flags_own_decides_nothing(finding):
    assert judged(finding).verdict is Verdict.SHIP


def test_more_warnings_than_base_beyond_the_noise_are_a_hold():
    rate = replace(FOUND, kind=FindingKind.RATE, level="WARN", base_count=1, base_runs=(0, 1, 0))
    assert judged(rate).verdict is Verdict.HOLD


def test_as_many_lines_at_a_worse_level_than_base_are_a_hold():
    assert judged(replace(FOUND, kind=FindingKind.LEVEL, base_count=6)).verdict is Verdict.HOLD


def test_a_warning_with_a_value_that_base_never_writes_is_a_hold_and_a_value_that_is_gone_is_not():
    value = replace(FOUND, kind=FindingKind.VALUE, base_runs=(9, 9, 9))
    assert judged(value).verdict is Verdict.HOLD
    assert judged(replace(value, candidate_runs=(0, 0, 0))).verdict is Verdict.SHIP


def test_a_warning_that_only_comes_later_decides_nothing():
    assert judged(replace(FOUND, kind=FindingKind.SHIFT)).verdict is Verdict.SHIP


EXPECTS = ClaimChain(FIX.id, "", "", (), (), "turn2", r"It failed \(\w\)")
LINE = Evidence("runs/turn2/patched-on/1/3.log", 7, "It failed (x)")


def expecting(chain, *findings, logged=LINE):
    plan = declare("turn2", repeats=3, claims=(FIX,))
    contrasts = [Contrast("stock", "patched-on", findings)]
    results = ran("turn2", [R, R, R], [R, R, R], [H, H, H])
    found = {FIX.id: logged} if logged else {}
    return decide(plan, results, replace(SOUND, chains=(chain,)), contrasts, logged=found)


@pytest.mark.parametrize(
    ("expected", "found", "verdict"),
    [
        ("info", "INFO", Verdict.SHIP),
        ("info", "WARN", Verdict.HOLD),
        ("info", "ERROR", Verdict.HOLD),
        ("warn", "WARN", Verdict.SHIP),
        ("warn", "ERROR", Verdict.HOLD),
        ("error", "ERROR", Verdict.SHIP),
        ("error", "FATAL", Verdict.HOLD),
    ],
)
def test_what_a_claim_expects_decides_nothing_unless_it_is_logged_at_a_worse_level(expected, found, verdict):
    assert expecting(replace(EXPECTS, level=expected), replace(FOUND, level=found)).verdict is verdict


def test_the_flags_own_key_excuses_no_warning():
    assert judged(replace(FOUND, template=f"{FLAG.key} is ignored", level="WARN")).verdict is Verdict.HOLD


def test_a_claim_whose_line_was_never_logged_is_a_gap():
    record = expecting(EXPECTS, logged=None)
    assert record.verdict is Verdict.INCONCLUSIVE
    assert rests(record)[0] == (
        "The claim follows-moved-voters lacks its evidence: "
        "patched-on logs no line that matches It failed \\(\\w\\) in turn2."
    )
    assert expecting(replace(EXPECTS, evidence=""), logged=None).verdict is Verdict.SHIP


def test_a_line_is_missed_only_where_the_scenario_went_as_claimed():
    chain = replace(SOUND, chains=(EXPECTS,))
    record = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, R, BROKEN), chain)
    assert not any("lacks its evidence" in sentence for sentence in rests(record))


def test_logs_that_were_not_compared_are_a_gap_that_is_named_last():
    results = ran("turn2", R, R, H)
    record = decide(declare("turn2", claims=(FIX,)), results, SOUND, not_compared="The log diff failed: no memory.")
    assert (record.verdict, rests(record)) == (Verdict.INCONCLUSIVE, ("The log diff failed: no memory.",))
    assert record.not_tested == ("The log diff failed: no memory.",)
    undecided = ran("turn2", R, R, BROKEN)
    record = decide(declare("turn2", claims=(FIX,)), undecided, SOUND, not_compared="The log diff failed: no memory.")
    assert rests(record)[-1] == "The log diff failed: no memory."
    assert "the candidate is undecided" in rests(record)[0]
    held = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, R, R), SOUND, not_compared="The log diff failed.")
    assert (held.verdict, rests(held)[-1]) == (Verdict.HOLD, "The log diff failed.")


def test_what_the_flag_does_to_the_patched_build_is_judged_against_base_alone():
    assert judged(FOUND, base="patched-off").verdict is Verdict.SHIP


def test_the_same_line_in_many_places_is_named_once_and_many_lines_are_cut():
    places = [replace(FOUND, scenario="turn1"), FOUND]
    lines = [replace(FOUND, template=f"It failed {n}") for n in range(9)]
    reasons = rests(judged(*places, *lines))
    assert len([each for each in reasons if "It failed" in each]) == 5
    assert "5 more such lines are among the log differences." in reasons
