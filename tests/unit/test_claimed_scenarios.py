"""Claims about scenarios: a slip in a name is refused before anything is built."""

import pytest

from harness.base.errors import HarnessError
from harness.model.arms import Role
from harness.model.claims import Claim, Expected
from harness.model.runs import Outcome
from harness.scenario.registry import load_all
from harness.stages.claimed_scenarios import check_claimed_scenarios


def claim(scenario: str, name: str) -> Claim:
    return Claim("mine", "It works.", scenario, {Role.BASE: Expected(Outcome.FAILED, name)})


@pytest.mark.parametrize(
    ("scenario", "name", "problem"),
    [
        ("trun2", "observer_recovers", "c.toml: claim mine: No scenario is named 'trun2'. Did you mean turn2"),
        ("turn2", "observer_recoverz", "turn2 has no expectation observer_recoverz. Did you mean observer_recovers?"),
    ],
)
def test_a_slip_in_a_name_is_refused_with_the_nearest(scenario, name, problem):
    with pytest.raises(HarnessError, match=problem):
        check_claimed_scenarios([claim(scenario, name)], load_all(), "c.toml")


@pytest.mark.parametrize("name", ["observer_recovers", "one_leader_per_epoch", "rule_of_my_own"])
def test_an_invariant_of_anybodys_may_be_claimed_to_break(name):
    check_claimed_scenarios([claim("turn2", name), claim("chaos-17", "nothing_lost")], load_all(), "c.toml")
