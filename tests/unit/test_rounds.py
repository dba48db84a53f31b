"""In which order scenarios are run on a jar that is wrong on purpose, and what may decide after each round."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.detection import Expected
from harness.model.runs import Verdict
from harness.model.verdict import CellName, Reason, ReasonSource
from harness.stages.rounds import Round, against, costs_expected, gaps, plan_rounds, stage_of

NAMES = ("a", "b", "c")


def reason(source: ReasonSource, weight: Verdict | None = Verdict.HOLD, scenario: str = "a") -> Reason:
    return Reason(source, weight, CellName(scenario, "jar"), f"{source} of {scenario}")


def by(*stages: str) -> Expected:
    return Expected("x", stages)


def test_outcomes_are_asked_of_the_candidate_alone_and_then_costs_beside_a_base_of_their_own() -> None:
    assert plan_rounds(NAMES, NAMES, 2, by("scenarios")) == (
        Round(("a", "b"), beside=False, outcomes=True, costs=False),
        Round(("c",), beside=False, outcomes=True, costs=False, logs=True),
        Round(("a",), beside=True, outcomes=False, costs=True),
        Round(("b",), beside=True, outcomes=False, costs=True),
        Round(("c",), beside=True, outcomes=False, costs=True, last=True),
    )


def test_where_costs_are_expected_each_scenario_is_run_beside_base_at_once() -> None:
    assert plan_rounds(("a", "b"), ("a", "b"), 2, by("costs")) == (
        Round(("a",), beside=True, outcomes=True, costs=True),
        Round(("b",), beside=True, outcomes=True, costs=True, logs=True, last=True),
    )


def test_a_scenario_that_base_did_not_decide_is_run_beside_base() -> None:
    alone, beside, costs = plan_rounds(("a", "b"), ("a",), 2, by())
    assert (alone.scenarios, beside.scenarios, costs.scenarios) == (("a",), ("b",), ("a",))
    assert beside == Round(("b",), beside=True, outcomes=True, costs=True, logs=True)


def test_logs_are_compared_early_where_they_must_notice_the_jar() -> None:
    assert [each.logs for each in plan_rounds(NAMES, NAMES, 1, by("logs"))] == [True, False, True, False, False, False]


def test_the_scenario_that_must_show_a_jar_is_run_first_where_the_suite_has_it() -> None:
    first = plan_rounds(NAMES, NAMES, 1, Expected("x", ("scenarios",), "c"))
    assert [each.scenarios for each in first[:3]] == [("c",), ("a",), ("b",)]
    assert plan_rounds(NAMES, NAMES, 1, Expected("x", (), "gone")) == plan_rounds(NAMES, NAMES, 1, by())


@pytest.mark.parametrize(
    ("stages", "expected"),
    [
        (["costs"], True),
        (["tests", "drop-in", "costs", "logs"], True),
        (["costs", "has_new_leader"], False),
        (["logs"], False),
        ([], False),
    ],
)
def test_costs_are_expected_where_nothing_but_costs_and_logs_can_show_it_on_live_clusters(
    stages, expected: bool
) -> None:
    assert costs_expected(stages) is expected


@given(
    st.lists(st.text("abcdef", min_size=1), unique=True),
    st.sets(st.text("abcdef", min_size=1)),
    st.integers(1, 5),
    st.sets(st.sampled_from(["costs", "logs", "scenarios", "tests"])),
)
def test_every_outcome_and_every_cost_of_every_scenario_has_exactly_one_chance_and_costs_never_with_a_lent_base(
    names, lent, jobs, stages
) -> None:
    rounds = plan_rounds(names, lent, jobs, by(*stages))
    assert sorted(name for each in rounds if each.outcomes for name in each.scenarios) == sorted(names)
    assert sorted(name for each in rounds if each.costs for name in each.scenarios) == sorted(names)
    assert all(each.beside for each in rounds if each.costs)
    assert all(len(each.scenarios) <= jobs for each in rounds)
    assert not names or any(each.logs and each.outcomes for each in rounds)
    assert [each.last for each in rounds] == [False] * (len(rounds) - 1) + [True] * bool(rounds)


ALONE, BESIDE = Round(("a",), False, True, False), Round(("a",), True, False, True)


def test_costs_do_not_count_against_a_lent_base_and_outcomes_not_a_second_time() -> None:
    found = [reason(source) for source in ReasonSource]
    sources = [{each.source for each in against(found, after)} for after in (ALONE, BESIDE)]
    assert sources[1] == {ReasonSource.FIGURES}
    assert sources[0] == {*ReasonSource} - {ReasonSource.FIGURES, ReasonSource.PROOF}


def test_a_cost_of_another_scenario_does_not_count_whose_base_may_still_be_lent() -> None:
    of_another = [reason(ReasonSource.FIGURES, scenario="b")]
    assert against(of_another, BESIDE) == ()
    assert against(of_another, Round(("b",), True, False, True)) == tuple(of_another)


def test_a_cost_over_all_scenarios_counts_once_each_had_a_base_of_its_own() -> None:
    everywhere = [Reason(ReasonSource.FIGURES, Verdict.HOLD, None, "all scenarios: jar costs more")]
    assert against(everywhere, BESIDE) == ()
    assert against(everywhere, Round(("a",), True, False, True, last=True)) == tuple(everywhere)


def test_only_a_hold_speaks_against_a_jar() -> None:
    assert against([reason(ReasonSource.EFFECT, weight) for weight in (Verdict.SHIP, None)], ALONE) == ()


def test_a_gap_is_what_a_round_ought_to_have_decided() -> None:
    open_cells = [reason(ReasonSource.EFFECT, Verdict.INCONCLUSIVE, name) for name in ("a", "later")]
    assert [each.cell.scenario for each in gaps(open_cells, ALONE) if each.cell] == ["a"]
    uncompared = [Reason(ReasonSource.LOGS, Verdict.INCONCLUSIVE, None, "not compared")]
    assert gaps(uncompared, ALONE) == ()
    assert gaps(uncompared, Round(("a",), False, True, False, logs=True)) == tuple(uncompared)


@pytest.mark.parametrize(
    ("source", "stage"),
    [(ReasonSource.FIGURES, "costs"), (ReasonSource.EFFECT, "scenarios"), (ReasonSource.LOGS, "logs")],
)
def test_a_reason_is_named_by_the_stage_that_mutants_toml_names(source, stage: str) -> None:
    assert stage_of(reason(source)) == stage
