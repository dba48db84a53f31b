"""Refusals beside base's: other words are shown, and no fault."""

from dataclasses import replace

import pytest
from test_judge import FIX, SOUND, H, R, declare, ran

from harness.judge.decision import decide
from harness.model.runs import Verdict
from harness.model.told import REFUSALS, in_words

ASKED = "remove a stranger"


@pytest.mark.parametrize(
    ("base", "candidate", "said"),
    [
        ({ASKED: "nobody"}, {ASKED: "not there"}, True),
        ({ASKED: "nobody"}, {ASKED: "nobody"}, False),
        ({ASKED: "nobody"}, {}, False),
        ({}, {ASKED: "not there"}, False),
    ],
    ids=["otherwise", "alike", "without a word", "only the candidate"],
)
def test_what_a_candidate_refuses_in_other_words_is_worth_knowing_and_no_fault(base, candidate, said):
    results = [*ran("turn1", H, H, H), *ran("turn2", R, R, H)]
    told = [replace(r, told={REFUSALS: candidate if r.arm == "patched-on" else base}) for r in results]
    record = decide(declare("turn1", "turn2", claims=(FIX,)), told, SOUND)
    sentence = "patched-on answers “remove a stranger” by “not there”, and stock by “nobody”."
    assert (record.verdict, record.remarks) == (Verdict.SHIP, (sentence,) if said else ())


def test_words_are_held_against_those_of_all_of_bases_runs():
    results = [*ran("turn1", H, H, H), *ran("turn2", R, R, H)]
    words = {("stock", "turn1"): "nobody", ("stock", "turn2"): "nothing", ("patched-on", "turn1"): "nothing"}
    told = [replace(r, told={REFUSALS: {ASKED: words.get((r.arm, r.scenario), "nobody")}}) for r in results]
    assert decide(declare("turn1", "turn2", claims=(FIX,)), told, SOUND).remarks == ()


def test_ids_and_numbers_are_no_words():
    text = "Voter (fAGTnJx7Qo2eMS-xV4bAPg) of 12, KafkaRaftClientDriverX, at 127.0.0.1:9093"
    assert in_words(text) == "Voter (<id>) of <n>, <id>, at <n>.<n>.<n>.<n>:<n>"
