"""What costs more than base by one round alone is asked once more beside base, and both rounds have to say it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_judge import FIX, SOUND, STARVED, H, R, declare, rests

from harness.judge.costs.another_round import another_round
from harness.judge.costs.reasons import told_apart
from harness.judge.decision import decide
from harness.judge.table import Effect
from harness.model.runs import AT_THE_END, Outcome, RunKey, RunResult, Shutdown, Verdict

BUSY = "observer_raft_busiest_percent"  # 10 more than base's, and three times it, are allowed
NAMES = ("turn1", "turn2", *"abcdef")


def plan(*scenarios, repeats=1, has_spares=True):
    return replace(declare(*scenarios, repeats=repeats, claims=(FIX,)), has_spares=has_spares)


PLAN = plan(*NAMES)


def cell(scenario, arm, *percents, shows=None):
    """The runs of one scenario on an arm: in each round the observer took so much of a core."""
    role = next(each.role for each in PLAN.arms if each.name == arm)
    shown = shows or (H if scenario != "turn2" or arm == "patched-on" else R)
    return [
        RunResult(scenario, arm, role, repeat, *shown, measures={BUSY: percent})
        for repeat, percent in enumerate(percents, 1)
    ]


def rounds(scenario, stock=(1.0,), off=(1.0,), on=(1.0,)):
    return [*cell(scenario, "stock", *stock), *cell(scenario, "patched-off", *off), *cell(scenario, "patched-on", *on)]


def with_all_others(*results):
    """Return these results, and of all other scenarios that nothing costs more in them."""
    there = {result.scenario for result in results}
    return [*results, *(run for name in NAMES if name not in there for run in rounds(name))]


def test_what_costs_more_is_asked_once_more_on_its_arm_and_on_base_and_nothing_else_is():
    results = with_all_others(*rounds("turn1", on=(97.0,)))
    assert another_round(PLAN, results) == [RunKey("turn1", "stock", 2), RunKey("turn1", "patched-on", 2)]
    assert another_round(PLAN, with_all_others()) == []


@pytest.mark.parametrize(
    ("percents", "told"), [((98.0, 1.0), "1 of 2"), ((1.0, 98.0, 1.0), "1 of 3"), ((1.0, 2.0), "")]
)
def test_what_costs_more_in_some_of_several_repeats_is_told_and_its_figure_is_within_the_limit(percents, told):
    quiet = (1.0,) * len(percents)
    results = [run for name in NAMES for run in rounds(name, quiet, quiet, percents if name == "turn1" else quiet)]
    record = decide(plan(*NAMES, repeats=len(percents)), results, SOUND)
    (cost,) = (each for each in record.costs if (each.scenario, each.arm, each.figure) == ("turn1", "patched-on", BUSY))
    assert (cost.over, cost.candidate <= cost.allowed, record.verdict) == (False, True, Verdict.SHIP)
    said = [remark for remark in record.remarks if "repeats, and not in most" in remark]
    assert [f"in {told} repeats" in remark and "98 % of a core against 1 %" in remark for remark in said] == [
        True
    ] * bool(told)


def test_a_figure_that_would_read_like_its_limit_has_decimals():
    assert told_apart(112.3, 110.0, 112.1) == ("112.30", "110.00", "112.10")
    assert told_apart(97.0, 1.0, 11.0) == ("97", "1", "11")


def test_what_costs_more_in_both_rounds_holds_the_jar_back_and_the_sentence_has_the_lesser():
    record = decide(PLAN, with_all_others(*rounds("turn1", stock=(1.0, 3.0), on=(97.0, 95.0))), SOUND)
    assert record.verdict is Verdict.HOLD
    assert rests(record)[0] == (
        "turn1: patched-on costs more than stock: the raft I/O thread of the observer used, in the busiest 3 s window, "
        "95 % of a core against 3 % of a core, in the lesser of 2 rounds; the limit is 13 % of a core"
    )


def test_what_costs_more_in_one_of_two_rounds_does_not_and_both_are_told_and_counted():
    record = decide(PLAN, with_all_others(*rounds("turn1", stock=(1.0, 3.0), on=(97.0, 2.0))), SOUND)
    assert record.verdict is Verdict.SHIP
    assert record.remarks == (
        "turn1 was run once more on stock and patched-on, because patched-on cost more: the raft I/O thread of the "
        "observer used, in the busiest 3 s window, 97 % of a core against 1 % of a core, then 2 % of a core against "
        "3 % of a core.",
    )
    assert [run.repeat for run in record.runs_of("turn1", "patched-on")] == [1, 2]
    turn1 = record.scenarios[0]
    assert (turn1.cell("stock").agreeing, turn1.cell("stock").declared) == (2, 2)


def test_all_that_cost_more_in_a_scenario_is_told_in_one_sentence():
    seconds = {"stock": 50.0, "patched-off": 50.0, "patched-on": 500.0}
    results = [
        replace(run, measures={**run.measures, "node_cpu_seconds": seconds[run.arm]})
        for run in rounds("turn1", stock=(1.0, 1.0), on=(97.0, 98.0))
    ]
    (said,) = decide(PLAN, with_all_others(*results), SOUND).remarks
    assert said.startswith(
        "turn1 was run once more on stock and patched-on, because patched-on cost more: the raft I/O"
    )
    assert said.endswith("; all nodes together used 500 CPU s against 50 CPU s, then 500 CPU s against 50 CPU s.")


@pytest.mark.parametrize("second", [(), (R,), (STARVED,)], ids=["not made", "failed", "spoiled by the host"])
def test_a_second_round_that_says_nothing_of_costs_takes_nothing_back(second):
    again = [replace(*cell("turn1", "patched-on", 1.0, shows=shown), repeat=2) for shown in second]
    of_base = cell("turn1", "stock", 1.0, 1.0)[: 1 + len(second)]
    results = [*of_base, *cell("turn1", "patched-off", 1.0), *cell("turn1", "patched-on", 97.0), *again]
    record = decide(PLAN, with_all_others(*results), SOUND)
    assert record.verdict is Verdict.HOLD
    assert "97 % of a core against 1 % of a core; the limit" in rests(record)[0]
    told = ["then no comparable figure."] * len(second)
    assert [each[-len(told[0]) :] for each in record.remarks] == told


def test_a_second_run_that_was_not_due_counts_for_nothing():
    worse = [replace(*cell("turn1", "patched-on", 1.0, shows=R), repeat=2)]
    results = [*cell("turn1", "stock", 1.0, 1.0), *cell("turn1", "patched-off", 1.0)]
    record = decide(PLAN, with_all_others(*results, *cell("turn1", "patched-on", 1.0), *worse), SOUND)
    assert record.verdict is Verdict.SHIP
    assert record.scenarios[0].effect is Effect.SAME


@pytest.mark.parametrize(
    ("declared", "results"),
    [
        (plan(*NAMES, has_spares=False), with_all_others(*rounds("turn1", on=(97.0,)))),
        (plan(*NAMES, repeats=3), with_all_others(*rounds("turn1", (1.0,) * 3, (1.0,) * 3, (97.0,) * 3))),
        (PLAN, with_all_others(*(run for name in ("turn1", "a", "b") for run in rounds(name, on=(97.0,))))),
    ],
    ids=["a folder of before", "three rounds tell already", "more than one scenario in four"],
)
def test_what_is_no_bad_luck_is_not_asked_again(declared, results):
    assert another_round(declared, results) == []
    assert decide(declared, results, SOUND).verdict is Verdict.HOLD


def test_a_scenario_whose_spare_stands_for_an_undecided_run_is_not_asked_a_third_time():
    crowded = cell("turn1", "patched-on", 97.0, shows=STARVED)
    results = [*cell("turn1", "stock", 1.0), *cell("turn1", "patched-off", 1.0), *crowded]
    assert another_round(PLAN, with_all_others(*results)) == []


def test_what_a_run_cost_that_a_spare_stands_for_is_told_beside_what_the_spare_cost():
    crowded = cell("turn1", "patched-on", 97.0, shows=STARVED)
    spare = replace(cell("turn1", "patched-on", 1.0)[0], repeat=2)
    results = [*cell("turn1", "stock", 1.0), *cell("turn1", "patched-off", 1.0), *crowded, spare]
    record = decide(PLAN, with_all_others(*results), SOUND)
    assert record.verdict is Verdict.SHIP
    assert record.remarks[-1] == (
        "turn1, of which a run was made again, first cost more on patched-on than on stock: the raft I/O thread of "
        "the observer used, in the busiest 3 s window, 97 % of a core against 1 % of a core, then 1 % of a core "
        "against 1 % of a core."
    )


GUARD = (Outcome.INCONCLUSIVE, "has_new_leader", "guard unmet: a new leader in 30 s")


def with_a_spare(first, spare, **of_first):
    """What one run of the candidate cost that missed its guard, and its spare after it."""
    before = [replace(run, **of_first) for run in cell("turn1", "patched-on", first, shows=GUARD)]
    after = replace(cell("turn1", "patched-on", spare)[0], repeat=2)
    results = [*cell("turn1", "stock", 1.0), *cell("turn1", "patched-off", 1.0), *before, after]
    return decide(PLAN, with_all_others(*results), SOUND)


def test_a_spare_that_costs_more_by_itself_does_not_hold_the_jar_back_and_is_told():
    record = with_a_spare(1.0, 97.0)
    assert record.verdict is Verdict.SHIP
    assert record.remarks[-1] == (
        "turn1, of which a run was made again, then cost more on patched-on than on stock: the raft I/O thread of "
        "the observer used, in the busiest 3 s window, 1 % of a core against 1 % of a core, then 97 % of a core "
        "against 1 % of a core."
    )


def test_what_costs_more_in_a_run_and_in_its_spare_holds_the_jar_back():
    record = with_a_spare(97.0, 98.0)
    assert record.verdict is Verdict.HOLD
    assert "97 % of a core against 1 % of a core, in the lesser of 2 rounds" in rests(record)[0]


def test_a_spare_that_costs_more_beside_a_run_that_measured_nothing_leaves_the_question_open():
    record = with_a_spare(1.0, 97.0, measures={})
    assert record.verdict is Verdict.INCONCLUSIVE
    assert "that is one round of 2, and the others cannot be judged by this figure" in rests(record)[0]


def test_wall_time_of_spares_is_not_told_as_a_cost_of_some_repeats():
    def waited(arm, repeat, seconds, shown=H):
        (run,) = cell("turn1", arm, 1.0, shows=shown)
        return replace(run, repeat=repeat, measures={**run.measures, "recovers_seconds": seconds})

    calm = [waited(arm, repeat, 1.0) for arm in ("stock", "patched-off") for repeat in (1, 2, 3)]
    on = [waited("patched-on", repeat, 1.0, GUARD if repeat < 3 else H) for repeat in (1, 2, 3)]
    spares = [waited("patched-on", 3 + repeat, 100.0) for repeat in (1, 2)]
    fixed = [replace(run, repeat=repeat) for repeat in (1, 2, 3) for run in rounds("turn2")]
    record = decide(plan("turn1", "turn2", repeats=3), [*calm, *on, *spares, *fixed], SOUND)
    assert not [each for each in record.remarks if "repeats, and not in most" in each]


def test_a_node_that_hung_in_the_declared_run_is_not_taken_back_by_a_round_that_was_made_for_costs():
    ends, hangs = (Shutdown(1, "voter", ended, 1.0 if ended else 20.0, AT_THE_END) for ended in (True, False))

    def ended(results, *how):
        return [replace(run, shutdowns=(each,)) for run, each in zip(results, how, strict=True)]

    of_base = ended(cell("turn1", "stock", 1.0, 1.0), ends, ends)
    of_on = ended(cell("turn1", "patched-on", 97.0, 1.0), hangs, ends)
    of_off = ended(cell("turn1", "patched-off", 1.0), ends)
    record = decide(PLAN, with_all_others(*of_base, *of_off, *of_on), SOUND)
    assert record.verdict is Verdict.HOLD
    assert any("stops_on_sigterm" in each for each in rests(record))


def test_that_another_arm_is_asked_again_keeps_no_arm_from_its_second_round():
    results = [
        *cell("turn1", "stock", 1.0),
        *cell("turn1", "patched-off", 1.0, shows=STARVED),
        *cell("turn1", "patched-on", 97.0),
    ]
    assert another_round(PLAN, with_all_others(*results)) == [
        RunKey("turn1", "stock", 2),
        RunKey("turn1", "patched-on", 2),
    ]
    spare = replace(cell("turn1", "patched-off", 1.0)[0], repeat=2)
    record = decide(PLAN, with_all_others(*results, spare), SOUND)
    assert not [each for each in record.remarks if "first cost more" in each]


percents = st.sampled_from([1.0, 2.0, 40.0, 97.0])


@given(st.lists(st.tuples(percents, percents), min_size=2, max_size=2))
def test_a_candidate_is_held_back_by_two_rounds_only_where_each_of_them_does_alone(both):
    (stock, on), alone = zip(*both, strict=True), []
    for base, candidate in both:
        held = decide(PLAN, with_all_others(*rounds("turn1", stock=(base,), on=(candidate,))), SOUND).verdict
        alone.append(held is Verdict.HOLD)
    record = decide(PLAN, with_all_others(*rounds("turn1", stock=stock, on=on)), SOUND)
    assert (record.verdict is Verdict.HOLD) is all(alone)
