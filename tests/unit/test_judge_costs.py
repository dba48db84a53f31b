"""Costs beside base: what is over a stated limit holds a jar back at one repeat, and stock against stock never does."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_judge import FIX, SOUND, H, R, declare, ran, rests

from harness.base.errors import HarnessError
from harness.judge.costs.beside_base import allowed, costs_of
from harness.judge.costs.held_back import MOST_HELD_BACK_PERCENT
from harness.judge.costs.limits import limit_of, parse_limits, shipped_limits
from harness.judge.decision import NOT_ROLLED, decide
from harness.model.arms import Role
from harness.model.claims import Expected
from harness.model.costs import CostLimit
from harness.model.runs import Outcome, RunKey, RunResult, Verdict
from harness.model.verdict import ClaimStatus, ReasonSource
from harness.scenario.conditions.is_up import is_up

BUSY = CostLimit("{role}_busy_percent", "the {role} took", "%", least=30, ratio=3, reason="r", any_outcome=True)
TOTAL = CostLimit("total_seconds", "all took", "s", least=10, ratio=2, reason="r")
WAIT = CostLimit("wait_seconds", "it waited", "s", least=1, ratio=2, reason="r", waits=True)
LIMITS = (BUSY, TOTAL, WAIT)
ONE = Outcome.PASSED, ""


def runs(base, candidate, *, shows=(ONE, ONE), scenario="turn1", phases=({}, {})):
    """Runs of both arms, one for each mapping of measures; `phases` are figures of every run of an arm by phase."""
    return [
        RunResult(scenario, arm, role, repeat, *outcome, measures=measures, by_phase=by_phase)
        for (arm, role), outcome, all_measures, by_phase in zip(
            (("stock", Role.BASE), ("jar", Role.ON)), shows, (base, candidate), phases, strict=True
        )
        for repeat, measures in enumerate(all_measures, 1)
    ]


def in_phases(**percents):
    """What an observer took by phase."""
    return {phase: {"observer_busy_percent": percent} for phase, percent in percents.items()}


def costs(*args, **kwargs):
    return costs_of([("stock", "jar")], runs(*args, **kwargs), LIMITS)


def over(*args, **kwargs):
    return [cost.figure for cost in costs(*args, **kwargs) if cost.over]


@pytest.mark.parametrize(
    ("base", "candidate", "is_over"),
    [
        (1.0, 98.0, True),
        (1.0, 31.0, False),
        (1.0, 31.1, True),
        (40.0, 110.0, False),
        (40.0, 121.0, True),
        (98.0, 1.0, False),
    ],
    ids=["a core", "at the limit", "beyond it", "not thrice", "thrice", "cheaper"],
)
def test_a_cost_is_over_where_it_is_both_so_much_more_and_so_many_times_as_much(base, candidate, is_over):
    assert bool(over([{"observer_busy_percent": base}], [{"observer_busy_percent": candidate}])) is is_over


def test_a_cost_names_what_it_is_with_both_amounts_and_what_base_allows():
    (cost,) = costs([{"observer_busy_percent": 1.0}], [{"observer_busy_percent": 98.0}])
    assert (cost.scenario, cost.control, cost.arm) == ("turn1", "stock", "jar")
    assert (cost.description, cost.base, cost.candidate, cost.allowed) == ("the observer took", 1.0, 98.0, 31.0)


LOST = (Outcome.FAILED, "observer_recovers")


def test_runs_that_ended_differently_are_compared_only_by_what_counts_in_any_outcome():
    measures = (
        [{"observer_busy_percent": 1.0, "total_seconds": 1.0}],
        [{"observer_busy_percent": 98.0, "total_seconds": 98.0}],
    )
    phases = in_phases(start=1.0, moved=1.0), in_phases(start=2.0, moved=98.0, after=3.0)
    assert over(*measures, shows=(LOST, ONE), phases=phases) == ["observer_busy_percent"]
    assert over(*measures, shows=(LOST, LOST)) == ["observer_busy_percent", "total_seconds"]
    assert {c.figure: c.not_judged for c in costs(*measures, shows=(LOST, ONE), phases=phases)} == {
        "observer_busy_percent": "",
        "total_seconds": "the runs were not decided in the same way",
    }


BUSIER = [{"observer_busy_percent": 20.0}], [{"observer_busy_percent": 75.0}]


@pytest.mark.parametrize("shown", [LOST, (Outcome.INCONCLUSIVE, "follows_leader")], ids=["failed", "undecided"])
def test_what_a_candidate_does_in_phases_that_base_never_reached_is_not_held_against_base(shown):
    reached, later = in_phases(start=20.0), in_phases(start=20.0, restart=75.0)
    (cost,) = costs(*BUSIER, shows=(shown, ONE), phases=(reached, later))
    assert (cost.base, cost.candidate, cost.over, cost.not_judged) == (20.0, 20.0, False, "")


@pytest.mark.parametrize("phases", [({}, {}), (in_phases(start=20.0), {}), (in_phases(start=1.0), in_phases(end=75.0))])
def test_a_base_that_ended_early_is_not_compared_where_no_phase_is_known_that_both_reached(phases):
    (cost,) = costs(*BUSIER, shows=(LOST, ONE), phases=phases)
    assert (cost.base, cost.candidate, cost.not_judged) == (20.0, 75.0, "the runs were not decided in the same way")


def test_a_base_that_passed_has_done_all_that_a_run_of_an_earlier_harness_did():
    assert over(*BUSIER, shows=(ONE, (Outcome.INCONCLUSIVE, "host_not_starved"))) == ["observer_busy_percent"]


@pytest.mark.parametrize("outcome", [Outcome.BROKEN, Outcome.UNSUPPORTED])
def test_a_run_that_was_not_carried_out_has_no_costs_to_judge(outcome):
    measures = [{"observer_busy_percent": 1.0}], [{"observer_busy_percent": 98.0}]
    assert over(*measures, shows=(ONE, (outcome, ""))) == over(*measures, shows=((outcome, ""), ONE)) == []


def test_a_node_that_spins_until_its_host_has_nothing_left_is_not_excused_by_that():
    starved = (Outcome.INCONCLUSIVE, "host_not_starved")
    spins = [{"observer_busy_percent": 38.0, "total_seconds": 98.0}]
    quiet = [{"observer_busy_percent": 1.0, "total_seconds": 1.0}]
    phases = in_phases(start=1.0, moved=1.0), in_phases(start=1.0, moved=38.0)
    assert over(quiet, spins, shows=(ONE, starved)) == ["observer_busy_percent"]
    assert over(quiet, spins, shows=(LOST, starved), phases=phases) == ["observer_busy_percent"]
    assert over(quiet, spins, shows=(starved, starved), phases=phases) == ["observer_busy_percent"]


def test_where_the_host_held_the_candidate_back_its_waits_say_nothing_and_its_processor_time_does():
    held = {"host_held_back_percent": MOST_HELD_BACK_PERCENT}
    slow = {"wait_seconds": 9.0, "total_seconds": 90.0}
    assert over([{"wait_seconds": 1.0, "total_seconds": 1.0}], [slow | held]) == ["total_seconds"]
    assert over([{"wait_seconds": 1.0, "total_seconds": 1.0}], [slow]) == ["total_seconds", "wait_seconds"]


def test_where_the_host_held_base_back_its_waits_are_no_measure_for_those_of_the_candidate():
    held = {"wait_seconds": 9.0, "host_held_back_percent": MOST_HELD_BACK_PERCENT}
    assert [(cost.over, cost.not_judged) for cost in costs([held], [{"wait_seconds": 15.0}])] == [
        (False, "the host slowed the nodes down")
    ]
    assert over([held, {"wait_seconds": 1.0}], [{"wait_seconds": 15.0}] * 2) == ["wait_seconds"]


APART = "one of the two runs was made again, minutes after the other"


@pytest.mark.parametrize(
    ("arms", "judged"),
    [((), True), (("stock",), False), (("jar",), False), (("stock", "jar"), True)],
    ids=["neither", "base's", "the candidate's", "both"],
)
def test_waits_are_not_compared_with_those_of_a_run_that_was_made_minutes_later(arms, judged):
    quick, slow = {"wait_seconds": 1.0, "total_seconds": 1.0}, {"wait_seconds": 9.0, "total_seconds": 90.0}
    again = frozenset(RunKey("turn1", arm, 1) for arm in arms)
    found = costs_of([("stock", "jar")], runs([quick], [slow]), LIMITS, again=again)
    assert {cost.figure: (cost.over, cost.not_judged) for cost in found} == {
        "total_seconds": (True, ""),
        "wait_seconds": (True, "") if judged else (False, APART),
    }


def test_of_several_rounds_those_count_in_which_both_runs_were_made_together():
    base, slow = [{"wait_seconds": 1.0}] * 2, [{"wait_seconds": 9.0}, {"wait_seconds": 1.0}]
    again = {RunKey("turn1", "jar", 1)}
    (cost,) = costs_of([("stock", "jar")], runs(base, slow), LIMITS, again=again)
    assert (cost.candidate, cost.over, cost.rounds, cost.not_judged) == (1.0, False, 1, "")


takes = st.floats(min_value=0, max_value=200)


@given(st.lists(st.tuples(takes, takes), min_size=1, max_size=6))
def test_the_round_that_is_shown_is_over_its_limit_where_more_than_half_of_the_rounds_are(pairs):
    base, candidate = ([{"total_seconds": seconds} for seconds in side] for side in zip(*pairs, strict=True))
    (cost,) = costs(base, candidate)
    many = sum(now > allowed(TOTAL, before) for before, now in pairs)
    assert cost.over is (2 * many > len(pairs)) is (cost.candidate > allowed(TOTAL, cost.base))
    assert (cost.base, cost.candidate) in pairs


@pytest.mark.parametrize(("times", "is_over"), [(1, False), (2, True), (3, True)])
def test_of_several_rounds_more_than_half_must_be_over(times, is_over):
    dear = [{"total_seconds": 50.0}] * times + [{"total_seconds": 1.0}] * (3 - times)
    assert bool(over([{"total_seconds": 1.0}] * 3, dear)) is is_over


def test_a_run_is_held_against_that_of_base_in_the_same_round():
    assert (
        over([{"total_seconds": 1.0}, {"total_seconds": 90.0}], [{"total_seconds": 2.0}, {"total_seconds": 91.0}]) == []
    )


def test_a_figure_that_only_the_candidate_has_is_compared_where_it_is_known_what_base_had():
    assert costs([{}], [{"wait_seconds": 1.0}]) == ()
    pause = replace(WAIT, figure="pause_seconds", where_absent=0.5)

    def found(base, candidate, **more):
        return [
            (cost.base, cost.candidate, cost.over)
            for cost in costs_of([("stock", "jar")], runs(base, candidate, **more), (pause,))
        ]

    assert found([{}], [{"pause_seconds": 9.0}]) == [(0.5, 9.0, True)]
    assert found([{}], [{"pause_seconds": 1.0}]) == [(0.5, 1.0, False)]
    assert found([{"pause_seconds": 9.0}], [{}]) == [(9.0, 0.5, False)]
    assert found([{}], [{}]) == []
    pause = replace(pause, any_outcome=True)
    phases = {"start": {}, "moved": {}}, {"start": {"pause_seconds": 2.5}, "later": {"pause_seconds": 9.0}}
    assert found([{}], [{"pause_seconds": 9.0}], shows=(LOST, ONE), phases=phases) == [(0.5, 2.5, True)]


@pytest.mark.parametrize(
    ("figure", "percent", "held_back"),
    [
        ("starting_voter_raft_busiest_percent", 99.0, True),
        ("commit_pause_longest_milliseconds", 30_000.0, True),
        ("commit_pause_longest_milliseconds", 900.0, False),
    ],
)
def test_a_voter_that_spins_or_stalls_where_bases_did_neither_holds_the_jar_back(figure, percent, held_back):
    shown = with_measures(ran("turn1", H, H, H), stock={}, patched_off={}, patched_on={figure: percent})
    record = decide(declare("turn1", "turn2"), [*shown, *ran("turn2", R, R, H)], SOUND)
    assert (record.verdict is Verdict.HOLD) is held_back


def test_one_round_that_is_over_its_limit_is_a_question_where_others_cannot_be_judged():
    held = {"host_held_back_percent": MOST_HELD_BACK_PERCENT}
    slow, quick = {"leaderless_seconds": 21.1}, {"leaderless_seconds": 10.4}

    def judged(*rounds):
        shown = [
            replace(run, repeat=repeat)
            for repeat, of_on in enumerate(rounds, 1)
            for run in with_measures(ran("turn1", H, H, H), stock=quick, patched_off=quick, patched_on=of_on)
        ]
        others = [replace(run, repeat=repeat) for repeat in range(1, len(rounds) + 1) for run in ran("turn2", R, R, H)]
        return decide(declare("turn1", "turn2", repeats=len(rounds)), [*shown, *others], SOUND)

    assert judged(slow).verdict is Verdict.HOLD
    assert judged(slow, slow, quick | held).verdict is Verdict.HOLD
    record = judged(slow, slow | held, quick | held)
    assert record.verdict is Verdict.INCONCLUSIVE
    assert "that is one round of 3, and the others cannot be judged by this figure" in rests(record)[0]


def test_how_long_an_endpoint_was_not_registered_is_chance_and_has_no_limit():
    assert limit_of("endpoint_unregistered_seconds", shipped_limits()) is None
    assert limit_of("endpoint_is_registered_seconds", shipped_limits()) is not None


def test_a_figure_of_base_that_a_candidate_which_passed_lacks_is_named_as_not_judged():
    (cost,) = costs([{"total_seconds": 1.0, "acked_records": 4.0}, {"total_seconds": 3.0}], [{}, {}])
    assert (cost.figure, cost.base, cost.candidate, cost.over) == ("total_seconds", 2.0, None, False)
    assert cost.not_judged == "no run of the candidate that passed measured them"


def test_a_figure_that_one_repeat_of_the_candidate_has_is_judged_by_that():
    assert over([{"total_seconds": 1.0}] * 2, [{}, {"total_seconds": 50.0}]) == ["total_seconds"]


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.BROKEN, Outcome.INCONCLUSIVE])
def test_a_candidate_that_did_not_pass_may_have_ended_before_it_was_measured(outcome):
    assert costs([{"total_seconds": 1.0}], [{}], shows=(ONE, (outcome, "x"))) == ()


RAFT = "leader_raft_busiest_percent"


def test_what_a_candidate_has_nowhere_measured_although_it_passes_is_a_gap_that_decides():
    """Such as the raft I/O thread by another name: with its figures the oracle is gone."""
    plan = declare("turn1", "a", "turn2", claims=(FIX,))
    both = [*ran("turn1", H, H, H), *ran("a", H, H, H)]
    shown = with_measures(both, stock={RAFT: 1.0}, patched_off={RAFT: 1.0})
    record = decide(plan, [*shown, *ran("turn2", R, R, H)], SOUND)
    gap = (
        "No run of patched-on measured these figures, which stock has, so what it costs is not known: "
        f"{RAFT} (in turn1 and a)."
    )
    assert (record.verdict, record.not_tested) == (Verdict.INCONCLUSIVE, (gap,))
    assert record.sentence == f"Too little could be tested. {gap}"


def test_what_a_candidate_lacks_in_the_one_scenario_that_has_it_may_be_chance():
    plan = declare("turn1", "turn2", claims=(FIX,))
    shown = with_measures([*ran("turn1", H, H, H)], stock={RAFT: 1.0}, patched_off={RAFT: 1.0})
    record = decide(plan, [*shown, *ran("turn2", R, R, H)], SOUND)
    row = "1 figure of patched-on in turn1, because no run of the candidate that passed measured them."
    assert (record.verdict, record.not_tested) == (Verdict.SHIP, (f"Not compared with stock: {row}", NOT_ROLLED))


def test_what_a_candidate_has_measured_elsewhere_it_lacks_by_chance():
    plan = declare("turn1", "turn2", "a", claims=(FIX,))
    both = {RAFT: 1.0}
    lacks = with_measures(ran("turn1", H, H, H), stock=both, patched_off=both)
    has = with_measures(ran("a", H, H, H), stock=both, patched_off=both, patched_on=both)
    record = decide(plan, [*lacks, *has, *ran("turn2", R, R, H)], SOUND)
    row = "1 figure of patched-on in turn1, because no run of the candidate that passed measured them."
    assert (record.verdict, record.not_tested) == (Verdict.SHIP, (f"Not compared with stock: {row}", NOT_ROLLED))


def test_what_a_run_may_be_without_by_chance_is_no_lack_of_it():
    typical = replace(TOTAL, may_lack=True)
    round_of = runs([{"total_seconds": 1.0}], [{}])
    assert costs_of([("stock", "jar")], round_of, [TOTAL]) != ()
    assert costs_of([("stock", "jar")], round_of, [typical]) == ()


figures = st.floats(0, 1e6, allow_nan=False)


@given(base=figures, candidate=figures)
def test_what_is_over_is_dearer_and_what_is_dearer_than_that_is_over_too(base, candidate):
    for limit in shipped_limits():
        assert allowed(limit, base) > base
        if candidate > allowed(limit, base):
            assert candidate + 1 > allowed(limit, base) >= allowed(limit, base / 2)


def test_every_shipped_limit_says_why_and_can_be_found_by_a_figure_of_its_form():
    for limit in shipped_limits():
        places = {"window": "idle_after_all", "question": "all_up_after_kill"}
        figures = (limit.figure.format(role=role, kind=role, **places) for role in ("voter", "observer"))
        found = [limit_of(figure, shipped_limits()) for figure in figures]
        assert limit in [each[0] for each in found if each]
        assert limit.reason
        assert "{" not in found[1]


@pytest.mark.parametrize(
    ("base", "candidate", "verdict"),
    [
        ({"all_up_after_kill_seconds": 5.0}, {"all_up_after_kill_seconds": 25.0}, Verdict.HOLD),
        ({"all_up_after_kill_seconds": 5.0}, {"all_up_after_kill_seconds": 10.0}, Verdict.SHIP),
        ({"log_is_cut_seconds": 29.0}, {"log_is_cut_seconds": 45.0}, Verdict.SHIP),
        ({"waits_typical_seconds": 0.6}, {"waits_typical_seconds": 5.0}, Verdict.HOLD),
        ({"waits_typical_seconds": 0.6}, {"waits_typical_seconds": 1.3}, Verdict.SHIP),
        ({"nodes_ready_seconds": 5.0}, {"nodes_ready_seconds": 45.0}, Verdict.HOLD),
        ({"nodes_ready_seconds": 7.1}, {"nodes_ready_seconds": 18.0}, Verdict.SHIP),
        ({"answer_typical_milliseconds": 9.0}, {"answer_typical_milliseconds": 1900.0}, Verdict.HOLD),
        ({"answer_typical_milliseconds": 9.0}, {"answer_typical_milliseconds": 80.0}, Verdict.SHIP),
        ({"observer_lag_records": 4}, {"observer_lag_records": 200_000}, Verdict.HOLD),
        ({"observer_lag_records": 1}, {"observer_lag_records": 401}, Verdict.SHIP),
        ({"voter_sets_written": 2.0}, {"voter_sets_written": 9.0}, Verdict.HOLD),
        ({"voter_sets_written": 3.0}, {"voter_sets_written": 4.0}, Verdict.SHIP),
    ],
)
def test_what_starts_or_recovers_late_within_its_bound_or_writes_voter_sets_in_vain_is_held_back(
    base, candidate, verdict
):
    shown = with_measures(ran("turn1", H, H, H), stock=base, patched_off=base, patched_on=candidate)
    assert decide(declare("turn1", "turn2"), [*shown, *ran("turn2", R, R, H)], SOUND).verdict is verdict


def test_what_a_question_took_is_told_by_its_name():
    found = limit_of("all_up_after_kill_seconds", shipped_limits())
    assert found is not None
    assert found[1] == "“all up after kill” took"
    assert [limit_of(f"{name}_seconds", shipped_limits())[0].least for name in ("leaderless", "voter_stop")] == [10, 8]


def test_a_figure_of_a_window_is_none_of_the_whole_run():
    found = limit_of("idle_observer_cpu_percent", shipped_limits())
    assert found is not None
    assert found[1] == "the process of the observer used, in the measured window “idle”,"
    assert limit_of("acked_records", shipped_limits()) is None


@pytest.mark.parametrize(
    ("least", "ratio"), [(0, 2), (-1, 2), (5, 0.9)], ids=["nothing", "less than nothing", "cheaper than base"]
)
def test_a_limit_that_equal_runs_would_break_is_refused(least, ratio):
    row = f'[[limit]]\nfigure = "x"\ndescription = "x"\nunit = "s"\nreason = "r"\nleast = {least}\nratio = {ratio}\n'
    with pytest.raises(HarnessError, match="lets noise through"):
        parse_limits(row)


@pytest.mark.parametrize("text", ["[[limit", '[[limit]]\nfigure = "x"\n', "other = 1\n"])
def test_a_file_of_limits_that_is_none_is_refused(text):
    with pytest.raises(HarnessError):
        parse_limits(text)


def with_measures(results, **by_arm):
    """Give the runs of an arm (dashes as underscores) these measures."""
    return [replace(run, measures=by_arm.get(run.arm.replace("-", "_"), {})) for run in results]


def test_a_lost_observer_that_burns_a_core_holds_the_jar_back_at_one_repeat_although_base_is_lost_alike():
    quiet, busy = {"observer_raft_busiest_percent": 1.2}, {"observer_raft_busiest_percent": 97.0}
    plan = declare("turn2", "turn1", claims=(FIX,))
    results = with_measures(ran("turn2", R, R, H), stock=quiet, patched_off=busy, patched_on=quiet)
    record = decide(plan, [*results, *ran("turn1", H, H, H)], SOUND)
    assert record.verdict is Verdict.HOLD
    assert rests(record)[0] == (
        "turn2: patched-off costs more than stock: the raft I/O thread of the observer used, in the busiest 3 s "
        "window, 97 % of a core against 1.2 % of a core; the limit is 11.2 % of a core"
    )


def test_what_a_loop_takes_of_the_processor_is_named_before_what_it_allocates_and_logs():
    stock = {
        "idle_observer_allocated_megabytes_per_second": 0.2,
        "idle_observer_info_lines_per_second": 0.0,
        "observer_raft_busiest_percent": 1.2,
    }
    jar = dict.fromkeys(stock, 90.0)
    results = with_measures(ran("turn1", H, H, H), stock=stock, patched_off=stock, patched_on=jar)
    found = rests(decide(declare("turn1"), results, SOUND))
    words = ("the raft I/O thread", "allocates", "lines a second at INFO")
    assert [word in said for word, said in zip(words, found, strict=True)] == [True, True, True]


@pytest.mark.parametrize(
    ("figure", "percent", "held_back", "says"),
    [
        (
            "leaderless_voter_raft_percent",
            23.0,
            True,
            "the raft I/O thread of the voter used, while there was no leader, 23 %",
        ),
        ("leaderless_voter_raft_percent", 5.0, False, ""),
        (
            "leaderless_observer_cpu_percent",
            30.0,
            True,
            "the process of the observer used, while there was no leader, 30 %",
        ),
        ("starting_voter_raft_busiest_percent", 60.0, True, "of any voter that did not come up within 6 s used"),
        ("starting_observer_raft_busiest_percent", 60.0, False, ""),
    ],
)
def test_what_spins_while_nobody_leads_holds_the_jar_back(figure, percent, held_back, says):
    shown = with_measures(
        ran("turn1", H, H, H), stock={figure: 1.0}, patched_off={figure: 1.0}, patched_on={figure: percent}
    )
    record = decide(declare("turn1", "turn2", claims=(FIX,)), [*shown, *ran("turn2", R, R, H)], SOUND)
    assert record.verdict is (Verdict.HOLD if held_back else Verdict.SHIP)
    assert says in record.sentence


def test_what_is_over_its_limit_is_not_named_again_for_what_repeats_say_of_it():
    plan = declare("turn1", "turn2", repeats=3, claims=(FIX,))
    shown = [
        replace(run, measures={"longest_stall_seconds": (40.0 if run.arm == "patched-on" else 1.0) + run.repeat / 10})
        for run in ran("turn1", [H] * 3, [H] * 3, [H] * 3)
    ]
    record = decide(plan, [*shown, *ran("turn2", [R] * 3, [R] * 3, [H] * 3)], SOUND)
    found = [each.sentence for each in record.reasons if each.source is ReasonSource.FIGURES]
    assert len(found) == 1
    assert "in the middle one of 3 rounds" in found[0]


def test_elections_that_nothing_gave_cause_for_hold_the_jar_back():
    shown = with_measures(
        ran("turn1", H, H, H),
        stock={"elections_beyond_faults": 0.0},
        patched_off={"elections_beyond_faults": 0.0},
        patched_on={"elections_beyond_faults": 25.0},
    )
    assert rests(decide(declare("turn1", "turn2"), [*shown, *ran("turn2", R, R, R)], SOUND)) == (
        "turn1: patched-on costs more than stock: beyond one for each time that the leader went away, there were 25 "
        "elections against 0 elections; the limit is 14 elections",
    )


@pytest.mark.parametrize(("elections", "held_back"), [(7.0, False), (9.0, False), (12.0, True)])
def test_a_voter_behind_that_stands_until_anothers_time_out_is_no_storm_of_elections(elections, held_back):
    """Seen of stock: two voters, of which one is behind, burn seven epochs where base beside it burns two."""
    figures = {"stock": {"elections_per_fault": 2.0}, "patched_on": {"elections_per_fault": elections}}
    shown = with_measures(ran("turn1", H, H, H), **figures)
    found = rests(decide(declare("turn1", "turn2"), [*shown, *ran("turn2", R, R, R)], SOUND))
    assert any("each time that the leader went away" in each for each in found) == held_back


LIMITED = replace(FIX, limits={"observer_recovers_seconds": 3.0})


def recovering(seconds, **more):
    measures = {} if seconds is None else {"observer_recovers_seconds": seconds, **more}
    results = with_measures(ran("turn2", R, R, H), patched_on=measures)
    return decide(declare("turn2", claims=(LIMITED,)), results, SOUND)


def test_a_claim_whose_limit_holds_is_held():
    record = recovering(3.0)
    assert (record.verdict, record.claims[0].status) == (Verdict.SHIP, ClaimStatus.HELD)


def test_a_claim_whose_limit_is_broken_is_refuted_and_holds_the_jar_back():
    record = recovering(3.5)
    assert (record.verdict, record.claims[0].status) == (Verdict.HOLD, ClaimStatus.REFUTED)
    assert rests(record)[0] == (
        "turn2: the limit of follows-moved-voters is broken: observer_recovers_seconds is 3.5 on patched-on, and the "
        "claim says 3 at most"
    )


def test_a_figure_that_a_claim_limits_and_nobody_measured_is_a_gap():
    record = recovering(None)
    assert record.verdict is Verdict.INCONCLUSIVE
    words = (
        "not every run measured observer_recovers_seconds in a way that can be judged, but follows-moved-voters limits"
    )
    assert words in rests(record)[0]


def test_a_claim_that_a_run_fails_is_no_less_limited():
    leaves = {Role.BASE: Expected(*R[:2]), Role.ON: Expected(*R[:2])}
    claim = replace(LIMITED, id="leaves", expected=leaves, limits={"leaderless_seconds": 3.0})
    record = decide(declare("turn2", claims=(claim,)), ran("turn2", R, R, R), SOUND)
    assert "not every run measured leaderless_seconds" in rests(record)[0]


@pytest.mark.parametrize(
    ("seconds", "percent", "verdict"), [(3.5, 40, "INCONCLUSIVE"), (2.5, 40, "SHIP"), (3.5, 20, "HOLD")]
)
def test_a_limit_in_wall_time_is_not_broken_by_a_host_that_held_the_nodes_back(seconds, percent, verdict):
    record = recovering(seconds, host_held_back_percent=percent)
    assert record.verdict == verdict
    if verdict == "INCONCLUSIVE":
        assert "in a way that can be judged" in rests(record)[0]


def test_where_a_fix_turns_a_scenario_the_verdict_names_what_was_not_held_against_base():
    measured = [replace(each, measures={"commit_at_best_milliseconds": 450.0}) for each in ran("turn2", R, R, H)]
    found = decide(declare("turn2", claims=(FIX,)), measured, SOUND)
    assert found.verdict is Verdict.SHIP
    row = "Not compared with stock: 1 figure of patched-on in turn2, because the runs were not decided in the same way."
    assert row in found.not_tested


LEVEL = CostLimit("{kind}_threads", "the {kind} had", "threads", least=3, ratio=1, reason="r", level=True)


@pytest.mark.parametrize(
    ("one_release", "over", "why"), [(True, True, ""), (False, False, "each release has its own level")]
)
def test_what_every_release_has_its_own_of_is_not_judged_between_two(one_release, over, why):
    measured = runs([{"voter_threads": 70.0}], [{"voter_threads": 79.0}])
    (cost,) = costs_of([("stock", "jar")], measured, (LEVEL,), one_release=one_release)
    assert (cost.candidate, cost.over, cost.not_judged) == (79.0, over, why)


def test_how_long_nodes_took_to_answer_has_a_limit_under_the_name_that_guards_give_it():
    guard = is_up()
    found = limit_of(f"{guard.name}_seconds", shipped_limits())
    assert found is not None
    assert (found[0].figure, found[0].least) == ("nodes_ready_seconds", 20)
