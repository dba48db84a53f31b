"""What candidates add to the logs beyond the noise: a warning or an error that no claim expects holds a jar back."""

from dataclasses import replace

import pytest
from test_judge import FIX, FLAG, SOUND, H, R, declare, ran, rests

from harness.judge.decision import decide
from harness.model.findings import Contrast, Finding, FindingKind, Significance
from harness.model.proof import ClaimChain
from harness.model.runs import Verdict

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
        replace(FOUND, template=f"KafkaConfig: {FLAG.key} = true"),
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


def test_what_a_claim_expects_decides_nothing():
    chain = ClaimChain(FIX.id, "", "", (), (), "turn2", r"It failed \(\w\)")
    assert judged(FOUND, proof=replace(SOUND, chains=(chain,))).verdict is Verdict.SHIP


def test_what_the_flag_does_to_the_patched_build_is_judged_against_base_alone():
    assert judged(FOUND, base="patched-off").verdict is Verdict.SHIP


def test_the_same_line_in_many_places_is_named_once_and_many_lines_are_cut():
    places = [replace(FOUND, scenario="turn1"), FOUND]
    lines = [replace(FOUND, template=f"It failed {n}") for n in range(9)]
    reasons = rests(judged(*places, *lines))
    assert len([each for each in reasons if "It failed" in each]) == 5
    assert "5 more such lines are among the log differences." in reasons
