"""Where nothing could be read of a candidate's steps from one state to another, the reader is told."""

from dataclasses import replace

import pytest
from test_judge import STARVED, H, R, decide, declare, ran

BLIND = "The rules of Raft judged no state changes of patched-on in turn2: its nodes log them in words that the"


def judged(steps, on=H):
    """Judge turn2, in which so many steps of each arm were judged."""
    results = [replace(run, measures={"raft_steps_judged": float(steps[run.arm])}) for run in ran("turn2", R, R, on)]
    return [each for each in decide(declare("turn2"), results).not_tested if "rules of Raft" in each]


@pytest.mark.parametrize(
    ("steps", "on", "told"),
    [
        ({"stock": 30, "patched-off": 28, "patched-on": 0}, H, True),
        ({"stock": 30, "patched-off": 28, "patched-on": 3}, H, False),
        ({"stock": 0, "patched-off": 0, "patched-on": 0}, H, False),
        ({"stock": 30, "patched-off": 28, "patched-on": 0}, STARVED, False),
    ],
    ids=["none of the candidate's", "some", "none of base's neither", "undecided"],
)
def test_it_is_told_where_bases_steps_could_be_read_and_the_candidates_could_not(steps, on, told):
    assert [each.startswith(BLIND) for each in judged(steps, on)] == [True] * told
