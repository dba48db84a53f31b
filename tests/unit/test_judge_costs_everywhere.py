"""What a jar costs in every cluster is noticed where each cluster's figure alone is within its limit."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judge.costs.beside_base import costs_of
from harness.judge.costs.limits import shipped_limits
from harness.judge.costs.over_scenarios import LEAST_SCENARIOS, costs_everywhere, in_too_few
from harness.judge.costs.reasons import over_its_limit
from harness.model.arms import Role
from harness.model.costs import EVERYWHERE, Cost, CostLimit
from harness.model.runs import Outcome, RunResult

LIMIT = CostLimit("{role}_busy_percent", "the {role} took", "%", least=10, ratio=2, reason="r", everywhere=0.5)
ONE = Cost("s0", "jar", "stock", "observer_busy_percent", "the observer took", "%", 2.0, 2.0, 12.0, over=False)


def beside(*differences, base=2.0, **fields):
    """A cost of each scenario, by how much more the candidate has."""
    return [
        replace(ONE, scenario=f"s{at}", base=base, candidate=base + more, **fields)
        for at, more in enumerate(differences)
    ]


def over(costs, limit=LIMIT):
    return [cost.over for cost in costs_everywhere(costs, [limit])]


@pytest.mark.parametrize(
    ("differences", "is_over"),
    [
        ((0.6,) * 8, True),
        ((*(0.6,) * 7, -3.0), True),
        ((*(0.6,) * 6, -0.1, -0.1), False),
        ((*(0.4,) * 7, 9.0), False),
        ((-0.6,) * 8, False),
        ((0.6,) * 6, True),
        ((*(0.6,) * 6, -0.1), False),
    ],
    ids=["in each", "in all but one", "not in two", "mostly within", "cheaper", "in each of six", "in six of seven"],
)
def test_it_is_over_where_the_median_is_and_all_scenarios_agree_or_of_eight_all_but_one(differences, is_over):
    assert over(beside(*differences)) == [is_over]


@pytest.mark.parametrize("rounds", [(1.0,), (1.0, 18.0), (1.0, 18.0, 18.0)], ids=["one", "two", "three"])
def test_the_same_cost_in_every_round_is_seen_however_many_there_are_and_however_they_differ(rounds):
    runs = [
        RunResult(f"s{n}", arm, role, repeat, Outcome.PASSED, "", measures={ONE.figure: base + more})
        for n in range(LEAST_SCENARIOS)
        for arm, role, more in (("stock", Role.BASE, 0.0), ("jar", Role.ON, 2.0), ("alike", Role.OFF, 0.0))
        for repeat, base in enumerate(rounds, 1)
    ]
    found = costs_everywhere(costs_of([("stock", "jar"), ("stock", "alike")], runs, [LIMIT]), [LIMIT])
    assert {cost.arm: (cost.candidate - cost.base, cost.over) for cost in found} == {
        "jar": (2.0, True),
        "alike": (0.0, False),
    }


def test_too_few_scenarios_say_nothing():
    assert over(beside(*[9.0] * (LEAST_SCENARIOS - 1))) == []


def test_what_too_few_scenarios_have_is_named_where_others_were_judged():
    few = beside(*[0.1] * (LEAST_SCENARIOS - 1), figure="voter_busy_percent")
    many = beside(*[0.1] * LEAST_SCENARIOS)
    says = "Judged in fewer than 6 scenarios, and so not compared over all of them: voter_busy_percent."
    assert in_too_few([*costs_everywhere(many, [LIMIT]), *many, *few], [LIMIT]) == (says,)
    assert in_too_few(many, [LIMIT]) == in_too_few(few, [LIMIT]) == ()


def test_what_was_not_judged_in_a_scenario_does_not_count():
    assert (
        over([*beside(*[9.0] * (LEAST_SCENARIOS - 1)), *beside(9.0, not_judged="the host slowed the nodes down")]) == []
    )


def test_a_figure_without_such_a_limit_is_not_asked():
    assert over(beside(*[9.0] * LEAST_SCENARIOS), replace(LIMIT, everywhere=0.0)) == []


def test_each_arm_and_each_figure_stands_for_itself():
    other = beside(*[9.0] * LEAST_SCENARIOS, arm="jar-off", figure="voter_busy_percent", description="the voter took")
    found = costs_everywhere([*beside(*[0.0] * LEAST_SCENARIOS), *other], [LIMIT])
    assert [(cost.arm, cost.figure, cost.over) for cost in found] == [
        ("jar", "observer_busy_percent", False),
        ("jar-off", "voter_busy_percent", True),
    ]


def test_its_sentence_names_the_medians_over_scenarios():
    (cost,) = costs_everywhere(beside(0.5, 0.6, 0.6, 0.6, 0.7, 0.8, 0.8, 0.8, 0.9), [LIMIT])
    assert cost.scenario == EVERYWHERE
    assert over_its_limit(cost) == (
        "all scenarios: jar costs more than stock: the observer took 2.7 % against 2 %, medians of 9 scenarios; the "
        "limit is 2.5 %"
    )


@given(st.lists(st.floats(-5, 5, allow_nan=False), min_size=6, max_size=12))
def test_an_arm_and_its_control_are_never_both_over(differences):
    there, back = beside(*differences), beside(*(-each for each in differences))
    assert not (over(there) == [True] and over(back) == [True])


@pytest.mark.parametrize("role", ["leader", "voter"])
def test_who_leads_the_partitions_of_clients_is_luck_in_however_many_scenarios(role):
    """As stock beside stock: in all seven scenarios that could tell, its partitions were led by another voter."""
    by_luck = (7.7, 5.8, 0.7, 6.3, 4.3, 9.9, 11.3)
    assert costs_everywhere(beside(*by_luck, figure=f"{role}_cpu_typical_percent"), shipped_limits()) == ()


def test_what_all_nodes_together_took_more_in_each_cluster_is_no_luck():
    assert (
        over_shipped("cluster_cpu_typical_percent", 3.2) == over_shipped("observer_cpu_typical_percent", 1.6) == [True]
    )
    assert (
        over_shipped("cluster_cpu_typical_percent", 2.0) == over_shipped("observer_cpu_typical_percent", 0.5) == [False]
    )


def over_shipped(figure, more):
    costs = beside(*[more] * LEAST_SCENARIOS, figure=figure)
    return [cost.over for cost in costs_everywhere(costs, shipped_limits())]
