"""Where single waits for a processor could not be seen of an arm's nodes, and were of another's, the reader is told."""

from dataclasses import replace

import pytest
from test_judge import ARMS, BROKEN, GUARD, H, R, decide, declare, ran

SAID = (
    "Single waits for a processor could not be seen for nodes of {} in {}, but could for other arms: the host may have "
    "caused what failed or took long there."
)


def told(unseen, *shown, scenarios=("turn2",)):
    """Judge scenarios in which so many nodes of each arm hid their waits."""
    results = [
        replace(run, measures={"nodes_with_unseen_waits": float(unseen[run.arm])} if run.arm in unseen else {})
        for scenario in scenarios
        for run in ran(scenario, *shown)
    ]
    return [each for each in decide(declare(*scenarios), results).not_tested if "Single waits" in each]


@pytest.mark.parametrize(
    ("unseen", "shown", "arms"),
    [
        ({"patched-on": 4}, (R, R, H), "patched-on"),
        ({"patched-on": 1, "patched-off": 1}, (R, R, R), "patched-off and patched-on"),
        ({"stock": 4}, (R, R, H), "stock"),
        ({"patched-on": 4}, (H, H, GUARD), "patched-on"),
    ],
    ids=["the candidate's", "the candidate's with either setting", "base's", "of a run that missed a guard"],
)
def test_arms_are_named_whose_waits_were_hidden_where_others_were_seen(unseen, shown, arms):
    assert told(unseen, *shown) == [SAID.format(arms, "turn2")]


def test_all_scenarios_stand_in_one_sentence():
    assert told({"patched-on": 4}, R, R, H, scenarios=("turn1", "turn2")) == [
        SAID.format("patched-on", "turn1 and turn2")
    ]


@pytest.mark.parametrize(
    ("unseen", "shown"),
    [
        ({}, (R, R, H)),
        ({arm.name: 4 for arm in ARMS}, (R, R, H)),
        ({"patched-off": 4, "patched-on": 4}, (BROKEN, H, H)),
    ],
    ids=["nothing was hidden", "everything was, as without a raft thread", "nothing of the other came to be seen"],
)
def test_what_is_so_on_every_arm_or_on_none_is_not_told(unseen, shown):
    assert told(unseen, *shown) == []
