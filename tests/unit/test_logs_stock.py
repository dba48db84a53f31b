"""What the candidate logs against many runs of base's jar: noise is how often those logged it, and never a licence."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.chance import Stratum, chance_of_so_many, chance_of_so_many_over
from harness.judge.log_verdict import reasons_of_logs
from harness.logs.compare.contrasts import contrast
from harness.logs.compare.counts import Count, Where
from harness.logs.compare.observed_run import ObservedRun
from harness.logs.compare.observing import observe, stocks
from harness.logs.compare.stock import Stock
from harness.logs.compare.stock_runs import FLOOD_TIMES, LEAST_STOCK_RUNS, StockRuns
from harness.logs.compare.tables import Key, Place
from harness.model.findings import Contrast, FindingKind, Significance, StockRate
from harness.model.verdict import CellName, CellOutcome, CellState

SCENARIOS = ("new-mechanism", "turn1", "turn2")
BEYOND, UNKNOWN, WITHIN = Significance.BEYOND, Significance.UNKNOWN, Significance.WITHIN


def logged(template, number=1, level="WARN", role="voter", node=1, phase="start"):
    where = Where("", "", role, phase, 1)
    return Count(where, level, "a.B", template, number, "x.log", 1, f"{level} {template}", family=template, node=node)


STEADY = (logged("steady", 3, "INFO"), logged("steady", 2, "INFO", "observer"))


def run(arm, scenario, repeat, lines):
    return [
        replace(each, where=replace(each.where, arm=arm, scenario=scenario, repeat=repeat))
        for each in (*STEADY, *lines)
    ]


def learned(per_scenario=40, of=lambda scenario, number: (), scenarios=SCENARIOS) -> list[ObservedRun]:
    """Return runs of base's jar from before; `of` says what a run logged beside what all of them log."""
    counts = [count for name in scenarios for at in range(per_scenario) for count in run("b", name, at, of(name, at))]
    return list(observe(counts).values())


def judge(known, candidate, base=(), scenarios=SCENARIOS, repeats=1):
    """Return how findings are judged; both arms log the same lines in every run, or as a function of it says."""
    found = compare(known, candidate, base, scenarios, repeats)
    return {(each.kind, each.scenario): (each.significance, each.stock) for each in found}


def compare(known, candidate, base=(), scenarios=SCENARIOS, repeats=1, lengths=lambda arm, phase: 10.0):
    """Return the findings; `lengths` says how long a phase is in each run of an arm."""

    def lines(what, name, repeat):
        return what(name, repeat) if callable(what) else what

    runs = [
        count
        for name in scenarios
        for repeat in range(1, repeats + 1)
        for arm, what in (("stock", base), ("jar", candidate))
        for count in run(arm, name, repeat, lines(what, name, repeat))
    ]
    places = {replace(count.where, phase=phase) for count in runs for phase in ("start", "recovery")}
    seconds = {place: length for place in places if (length := lengths(place.arm, place.phase))}
    stock = stocks(runs, [("stock", "jar")], {"stock": known})["stock", "jar"]
    return contrast("stock", "jar", runs, seconds, None, stock).findings


def in_turn2(*lines):
    return lambda name, _repeat: lines if name == "turn2" else ()


def only(findings, kind=FindingKind.NEW, scenario="turn2"):
    return findings[kind, scenario][0]


def test_what_base_says_as_information_excuses_no_error():
    """Whether base beside the candidate happens to say it or not."""
    known = learned(of=lambda name, number: (logged("timed out", 400, "INFO"),) if number < 10 else ())
    candidate = in_turn2(logged("timed out", 400, "ERROR"))
    for base, kind in (((), FindingKind.NEW), (in_turn2(logged("timed out", 400, "INFO")), FindingKind.LEVEL)):
        significance, rate = judge(known, candidate, base)[kind, "turn2"]
        assert (significance, rate.flood) == (BEYOND, True)


def test_a_flood_of_what_no_run_of_base_ever_logged_is_beyond_the_noise_at_one_repeat():
    found = judge(learned(), in_turn2(logged("append failed", 400)))
    assert found == {(FindingKind.NEW, "turn2"): (BEYOND, StockRate(41, 0, 0, unmatched=True, flood=True))}


def test_what_the_candidates_own_kafka_always_floods_with_is_no_flood():
    """It is another version: what its own runs are known to log is no fault of this one's."""
    place, key = Place("turn2", "voter"), Key("a.B", "append failed")
    own = learned(of=lambda name, at: [logged("append failed", 200)])
    for number, is_flood in ((600, False), (601, True)):
        candidate = list(observe(run("c", "turn2", 1, [logged("append failed", number)])).values())
        known = StockRuns(learned(), ())
        assert Stock(known, candidate).new(place, key).rate.flood
        assert Stock(known, candidate, own).new(place, key).rate.flood is is_flood


def test_which_client_of_a_node_meets_one_that_is_down_is_chance_and_how_often_one_does_is_not():
    known = learned(
        of=lambda name, at: [logged("[heartbeat] no connection", 40), logged("[fetcher] no connection", 10)]
    )
    base = [logged("[heartbeat] no connection", 40), logged("[fetcher] no connection", 10)]
    for number, significance in ((150, UNKNOWN), (151, BEYOND)):
        candidate = in_turn2(*base, logged("[forwarding] no connection", number))
        assert only(judge(known, candidate, base)) is significance


def test_what_is_rare_here_and_frequent_elsewhere_is_no_flood_for_having_been_seen_here_once():
    """An ERROR of heartbeats in 4.2.1: up to 36 times where leaders are lost, and 24 times in one of ten of turn2."""

    def of(name, at):
        return [logged("heartbeat failed", 36 if name == "turn1" else 3)] if name == "turn1" or at == 0 else []

    for number, expected in ((108, (UNKNOWN, False)), (109, (BEYOND, True))):
        significance, rate = judge(learned(of=of), in_turn2(logged("heartbeat failed", number)))[
            FindingKind.NEW, "turn2"
        ]
        assert (significance, rate.flood) == expected


def test_one_new_warning_in_one_run_is_unknown():
    assert only(judge(learned(), in_turn2(logged("append failed")))) is UNKNOWN


def test_one_new_warning_in_every_scenario_is_beyond_the_noise_at_one_repeat():
    assert {each[0] for each in judge(learned(), [logged("append failed")]).values()} == {BEYOND}


def test_all_nodes_of_one_run_are_one_witness():
    nodes = [logged("append failed", node=node) for node in range(3)]
    assert only(judge(learned(), in_turn2(*nodes))) is UNKNOWN


def test_three_repeats_of_one_scenario_are_enough_and_two_are_not():
    new = [logged("append failed")]
    assert only(judge(learned(), new, scenarios=("turn2",), repeats=3)) is BEYOND
    assert only(judge(learned(), new, scenarios=("turn2",), repeats=2)) is UNKNOWN


def test_two_runs_share_what_befalls_the_host_however_many_runs_of_base_are_known():
    known = learned(100, of=lambda name, at: [logged("no connection", 80)], scenarios=("turn2",))
    base = [logged("no connection", 80)]
    found = judge(known, [logged("no connection", 200), logged("append failed")], base, ("turn2",), 2)
    assert (only(found), only(found, FindingKind.RATE)) == (UNKNOWN, UNKNOWN)


def test_one_scenario_among_several_is_less_sure_than_the_only_one():
    """Any of the scenarios might have shown something."""
    new = in_turn2(logged("append failed"))
    assert only(judge(learned(19), new, scenarios=("turn2",), repeats=3)) is BEYOND
    assert only(judge(learned(19), new, repeats=3)) is UNKNOWN


def test_what_is_only_shown_need_not_be_as_sure_as_what_decides():
    new = {level: in_turn2(logged("append failed", level=level)) for level in ("INFO", "WARN")}
    found = {level: only(judge(learned(19), lines, repeats=3)) for level, lines in new.items()}
    assert found == {"INFO": BEYOND, "WARN": UNKNOWN}


def test_where_much_comes_in_just_so_many_runs_a_new_warning_in_as_many_is_unknown():
    """Thirteen things were in three runs of base's jar each: the next may be the candidate's."""

    def rare(scenario, number):
        return [logged(f"rare {number // 3}")] if scenario == "turn2" and number < 39 else []

    new = [logged("append failed")]
    assert only(judge(learned(of=rare), new, scenarios=("turn2",), repeats=3)) is UNKNOWN


def sometimes(number_of_runs, times=1, scenario="turn2"):
    return lambda name, at: [logged("fetch failed", times)] if name == scenario and at < number_of_runs else []


def test_what_base_logs_in_some_runs_is_noise_as_often_as_it_did_and_no_more():
    known = learned(of=sometimes(3, 4))
    assert only(judge(known, in_turn2(logged("fetch failed", 4)))) is WITHIN
    assert only(judge(known, in_turn2(logged("fetch failed", 5)))) is UNKNOWN
    assert only(judge(known, in_turn2(logged("fetch failed", 20_000)))) is BEYOND


def bursting(*runs, times=50):
    """Let runs of base's jar burst into something that no other does; each in another message type, and its words."""

    def lines(name, at):
        return [logged(f"{run} again", times) for run in runs if run == (name, at)] * 2

    return lines


def test_a_flood_of_what_is_rare_must_exceed_what_two_runs_of_base_burst_into():
    known = learned(of=bursting(("turn1", 7), ("new-mechanism", 9), times=25))
    assert only(judge(known, in_turn2(logged("append failed", FLOOD_TIMES * 50)))) is UNKNOWN
    assert only(judge(known, in_turn2(logged("append failed", FLOOD_TIMES * 50 + 1)))) is BEYOND


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_one_odd_run_among_all_that_are_known_hides_no_flood(scenario):
    known = learned(of=bursting((scenario, 7), times=2000))
    assert only(judge(known, in_turn2(logged("append failed", 400)))) is BEYOND


def test_what_base_alone_bursts_into_beside_the_candidate_hides_no_flood():
    def base(name, _repeat):
        return [logged("no connection", 4000)] * (name == "turn2")

    assert only(judge(learned(), in_turn2(logged("append failed", 400)), base)) is BEYOND


def test_bursts_of_what_only_informs_make_floods_of_warnings_no_likelier():
    def burst(name, at):
        return [logged("loaded", 5000, "INFO")] if (name, at) == ("turn1", 7) else []

    assert only(judge(learned(of=burst), in_turn2(logged("append failed", 400)))) is BEYOND


ONCE = [logged("no connection")]


def base_failed_before_recovery(arm, phase):
    return 0.0 if (arm, phase) == ("stock", "recovery") else 10.0


@pytest.mark.parametrize("phase", ["recovery", ""], ids=["a phase that base did not reach", "outside of the phases"])
def test_a_flood_is_told_where_base_has_no_time_to_compare_it_with(phase):
    known = learned(of=lambda name, at: ONCE)
    flood = in_turn2(*ONCE, logged("no connection", 10_000, phase=phase))
    (found,) = (
        each
        for each in compare(known, flood, ONCE, lengths=base_failed_before_recovery)
        if each.scenario == "turn2"
    )  # fmt: skip
    assert (found.kind, found.significance, found.phase) == (FindingKind.RATE, BEYOND, phase)
    assert found.stock.unmatched


@given(st.dictionaries(st.sampled_from(["start", "recovery", ""]), st.integers(1, 9999), min_size=1))
def test_a_flood_is_told_wherever_it_falls(events):
    known = learned(10, of=lambda name, at: ONCE)
    lines = [logged("no connection", number, phase=phase) for phase, number in events.items()]
    found = compare(known, in_turn2(*lines), ONCE, lengths=base_failed_before_recovery)
    beyond = [each for each in found if each.scenario == "turn2" and each.significance is BEYOND]
    assert bool(beyond) is (sum(events.values()) >= 20)


@pytest.mark.parametrize("phase", ["recovery", ""])
def test_a_flood_where_the_fix_works_at_a_second_level_beside_a_line_that_vanished_is_a_hold(phase):
    """Base fails before the phase in which the candidate floods, and the connections that failed do so no more."""
    ended = [logged("Connection could not be established", 60)]
    always = [logged("retry failed", 1), logged("retry failed", 1, "DEBUG")]
    known = learned(of=lambda name, at: [*always, *ended])
    flood = in_turn2(logged("retry failed", 5000, phase=phase))
    contrasts = [
        Contrast("stock", "jar", compare(known, flood, [*always, *ended], lengths=base_failed_before_recovery))
    ]
    cells = {
        CellName(name, arm): CellOutcome(CellState.FAILED if arm == "stock" else CellState.PASSED, "observer_recovers")
        for name in SCENARIOS
        for arm in ("stock", "jar")
    }
    (reason,) = reasons_of_logs([("stock", "jar")], "", contrasts, None, cells)
    assert (
        "turn2: jar logs a line at WARN that no claim expects, 5000 times in its run and 1 times on stock"
        in reason.sentence
    )


@pytest.mark.parametrize(
    ("base", "candidate"),
    [((20,) * 3, (85, 0, 0)), ((20,) * 5, (70, 20, 20, 20, 20)), ((20,) * 10, (20,) * 9 + (120,))],
    ids=["the others log nothing", "the others log as base", "one of ten"],
)
def test_a_flood_in_one_run_of_several_is_told_and_holds_the_jar_back(base, candidate):
    def of(numbers):
        return lambda name, at: [logged("retry failed", numbers[at - 1])] if name == "turn2" and numbers[at - 1] else []

    known = learned(of=lambda name, at: [logged("retry failed", 20)] if name == "turn2" else [])
    (found,) = compare(known, of(candidate), of(base), repeats=len(base))
    assert (found.kind, found.significance, found.stock.flood) == (FindingKind.RATE, BEYOND, True)
    cells = {CellName(name, arm): CellOutcome(CellState.PASSED) for name in SCENARIOS for arm in ("stock", "jar")}
    (reason,) = reasons_of_logs([("stock", "jar")], "", [Contrast("stock", "jar", (found,))], None, cells)
    assert "turn2: jar logs a line at WARN" in reason.sentence


def test_more_in_a_phase_that_was_so_much_longer_is_no_flood():
    """A slow host stretches what goes on all the time."""
    known = learned(of=lambda name, at: [logged("no connection", 80)])
    base, candidate = [logged("no connection", 80)], [logged("no connection", 400)]
    longer = {"jar": 50.0, "stock": 10.0}
    assert compare(known, candidate, base, lengths=lambda arm, phase: longer[arm]) == ()


def at_levels(**numbers):
    return [logged("retry failed", number, level) for level, number in numbers.items() if number]


def beyond_at(base, candidate):
    """Return the levels at which a message type is told beyond the noise, with its counts."""
    found = compare(learned(of=lambda name, at: base), in_turn2(*candidate), in_turn2(*base))
    told = [each for each in found if (each.scenario, each.significance) == ("turn2", BEYOND)]
    return {each.level: (each.base_runs, each.candidate_runs) for each in told}


@pytest.mark.parametrize(
    ("base", "candidate"),
    [
        (at_levels(WARN=1, DEBUG=1), at_levels(WARN=5000)),
        (at_levels(WARN=1, ERROR=1), at_levels(WARN=5000)),
        (at_levels(WARN=1, INFO=5000), at_levels(WARN=5000, INFO=1)),
        (at_levels(WARN=1, INFO=1), at_levels(WARN=5000, ERROR=1)),
    ],
    ids=["and no more at another", "and no more at a worse one", "and fewer at another", "and now at a worse one"],
)
def test_a_flood_at_a_level_that_both_log_is_told_whatever_comes_at_others(base, candidate):
    assert beyond_at(base, candidate)["WARN"] == ((1,), (5000,))


def test_a_flood_at_a_new_level_is_told_beside_a_line_at_a_worse_one():
    assert beyond_at(at_levels(INFO=5), at_levels(WARN=5000, ERROR=1))["WARN"] == ((0,), (5000,))


def test_a_flood_that_only_informs_is_no_warning_because_one_of_them_warns():
    assert beyond_at(at_levels(WARN=1, INFO=1), at_levels(WARN=1, INFO=5000)).keys() == {"INFO"}
    assert beyond_at([], at_levels(WARN=1, INFO=5000)).keys() == {"INFO"}


COUNTS = st.dictionaries(st.sampled_from(["DEBUG", "INFO", "WARN", "ERROR"]), st.integers(0, 200))


@given(COUNTS, COUNTS)
def test_a_flood_at_any_level_is_told_at_that_level(base, candidate):
    floods = {
        level: number
        for level, number in candidate.items()
        if number >= 20 and number > FLOOD_TIMES * base.get(level, 0)
    }
    known = list(observe([c for n in range(10) for c in run("b", "turn2", n, at_levels(**base))]).values())
    found = compare(known, at_levels(**candidate), at_levels(**base), scenarios=("turn2",))
    told = {each.level: sum(each.candidate_runs) for each in found if each.significance is BEYOND}
    assert floods.items() <= told.items()


def test_as_much_as_another_scenario_always_logs_is_no_flood_here():
    def elsewhere(name, at):
        return [logged("no connection", 90)] if name == "turn1" else []

    known = learned(of=elsewhere)
    found = judge(known, in_turn2(logged("no connection", 200)), base=elsewhere)
    assert found[FindingKind.NEW, "turn2"] == (UNKNOWN, StockRate(41, 0, 0, elsewhere=41))


def test_more_of_what_base_always_warns_of_is_a_flood_above_three_times_its_most():
    def steady(name, at):
        return [logged("no connection", 80 + at)]

    known, base = learned(of=steady), [logged("no connection", 60)]
    rates = [only(judge(known, in_turn2(logged("no connection", n)), base), FindingKind.RATE) for n in (119, 357, 358)]
    assert rates == [WITHIN, UNKNOWN, BEYOND]


def test_far_more_than_any_run_of_base_in_each_of_three_scenarios_need_be_no_flood_nor_asked_often():
    known, base = learned(of=lambda name, at: [logged("no connection", 80 + at)]), [logged("no connection", 60)]
    rates = {n: judge(known, [logged("no connection", n)], base) for n in (178, 179)}
    found = {n: {each[0] for (kind, _), each in of.items() if kind is FindingKind.RATE} for n, of in rates.items()}
    assert found == {178: {UNKNOWN}, 179: {BEYOND}}


@pytest.mark.parametrize(
    ("of_40", "scenarios", "beside", "significance"),
    [
        (1, 4, (), BEYOND),
        (1, 4, (logged("closed"),), WITHIN),
        (1, 2, (), WITHIN),
        (20, 4, (), WITHIN),
        (20, 20, (), BEYOND),
    ],
)
def test_what_base_logs_now_and_then_excuses_no_candidate_that_always_does(of_40, scenarios, beside, significance):
    names = [f"s{at}" for at in range(scenarios)]
    known = learned(of=lambda name, at: [logged("closed")] if at < of_40 else [], scenarios=names)
    found = judge(known, [logged("closed")], beside, names).values()
    assert {each[0] for each in found} <= {significance}
    assert found or beside


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3), st.integers(0, 9), st.integers(9, 20)), max_size=6))
def test_the_chance_over_strata_is_one_where_none_is_mine_and_fishers_in_one_stratum(found):
    assert chance_of_so_many(3, 3, 0, 3) == pytest.approx(1 / 20)
    assert chance_of_so_many(9, 11, 1, 11) == pytest.approx(
        (math.comb(11, 9) * 11 + math.comb(11, 10)) / math.comb(22, 10)
    )
    strata = [Stratum(min(mine, of), of, theirs, of_theirs) for mine, of, theirs, of_theirs in found]
    assert 0 <= chance_of_so_many_over(strata) <= 1
    assert chance_of_so_many_over([replace(each, mine=0) for each in strata]) == pytest.approx(1)
    for each in strata:
        alone = chance_of_so_many(each.mine, each.of_mine, each.theirs, each.of_theirs)
        assert chance_of_so_many_over([each]) == pytest.approx(alone)


def test_three_runs_far_above_every_run_of_base_need_be_no_flood():
    def steady(name, at):
        return [logged("no connection", 80 + at)]

    known, base = learned(of=steady), [logged("no connection", 90)]
    rates = {
        n: only(judge(known, [logged("no connection", n)], base, ("turn2",), 3), FindingKind.RATE) for n in (178, 179)
    }
    assert rates == {178: UNKNOWN, 179: BEYOND}


def test_far_fewer_of_what_base_always_logs_often_is_beyond_the_noise_and_none_at_all_too():
    def steady(name, at):
        return [logged("no connection", 80 + at)]

    known, base = learned(of=steady), [logged("no connection", 90)]
    rates = [only(judge(known, [logged("no connection", n)], base), FindingKind.RATE) for n in (26, 27)]
    assert rates == [BEYOND, UNKNOWN]
    gone = judge(known, lambda name, _: base * (name != "turn2"), base)
    assert only(gone, FindingKind.VANISHED) is BEYOND


def test_what_base_lacks_beside_the_candidate_is_noise_where_runs_from_before_had_it():
    assert only(judge(learned(of=sometimes(39, 2)), in_turn2(logged("fetch failed", 2)))) is WITHIN


def test_what_vanishes_from_what_base_always_logs_is_beyond_the_noise_only_where_three_runs_lack_it():
    known = learned(of=lambda name, at: [logged("ready")])
    everywhere = judge(known, (), base=[logged("ready")])
    assert {significance for significance, _ in everywhere.values()} == {BEYOND}
    here = judge(known, lambda name, _: [logged("ready")] * (name != "turn2"), base=[logged("ready")])
    assert only(here, FindingKind.VANISHED) is UNKNOWN


def test_what_base_does_not_always_log_may_be_lacking():
    known = learned(of=sometimes(39))
    assert only(judge(known, (), base=in_turn2(logged("fetch failed"))), FindingKind.VANISHED) is WITHIN


def test_too_few_runs_of_base_are_told_and_judge_nothing():
    known = learned(LEAST_STOCK_RUNS - 2)  # and one beside the candidate
    assert only(judge(known, in_turn2(logged("append failed", 400)))) is UNKNOWN
    stock = Stock(StockRuns(known, ()), known)
    (sentence,) = stock.unknown_sentences()
    assert sentence.startswith("Too few runs of base's jar are known (8 are enough)")
    assert f"by chance in {', '.join(SCENARIOS)}: " in sentence


def test_with_few_runs_of_base_a_flood_in_each_of_three_runs_against_three_is_still_one():
    flood = [logged("append failed", 400)]
    assert only(judge([], flood, scenarios=("turn2",), repeats=3)) is BEYOND
    some = judge([], lambda _, repeat: flood * (repeat < 3), scenarios=("turn2",), repeats=3)
    assert only(some) is UNKNOWN


def test_where_base_here_warns_of_what_nobody_knew_only_floods_are_told_from_this_hosts_troubles():
    troubled = in_turn2(logged("the clock went back"))
    assert only(judge(learned(), [logged("append failed")], base=troubled)) is UNKNOWN
    assert only(judge(learned(), [logged("append failed", 400)], base=troubled)) is BEYOND


def test_what_troubles_one_run_of_base_excuses_nothing_that_all_runs_of_the_candidate_warn_of():
    names = tuple(f"s{number}" for number in range(11))
    found = compare(
        learned(scenarios=names),
        candidate=[logged("append failed")],
        base=lambda name, _repeat: [logged("the clock went back")] * (name == "s0"),
        scenarios=names,
    )
    new = [each.significance for each in found if each.kind is FindingKind.NEW]
    assert new == [BEYOND] * len(names)


def test_that_base_is_troubled_here_is_said_where_it_decides():
    def told(base):
        runs = [
            count
            for name in SCENARIOS
            for arm, what in (("stock", base(name)), ("jar", ()))
            for count in run(arm, name, 1, what)
        ]
        return stocks(runs, [("stock", "jar")], {"stock": learned()})["stock", "jar"].unknown_sentences()

    assert told(lambda _: ()) == []
    (sentence,) = told(lambda name: [logged("the clock went back")] * (name == "turn2"))
    assert sentence.startswith("Base warned here of what no known run of it did before")


def test_what_all_of_bases_runs_here_warn_of_is_no_trouble_of_this_host():
    always = [logged("this harness is new")]
    assert only(judge(learned(), [*always, logged("append failed")], base=always)) is BEYOND


def test_what_base_warns_of_in_a_scenario_that_was_never_learned_is_no_trouble_of_this_host():
    """Nobody knows what is chance there."""
    unlearned = lambda name, _repeat: [logged("rebalanced")] * (name == "busy-cluster")  # noqa: E731
    new = [logged("append failed")]
    found = judge(learned(), new, base=unlearned, scenarios=(*SCENARIOS, "busy-cluster"))
    assert {found[FindingKind.NEW, name][0] for name in SCENARIOS} == {BEYOND}


def test_what_all_runs_of_a_scenario_warn_of_here_belongs_to_the_scenario_and_some_of_them_are_troubled():
    def base(*repeats):
        return lambda name, repeat: [logged("turn2 is new")] * (name == "turn2" and repeat in repeats)

    new = [logged("append failed")]
    assert only(judge(learned(), new, base(1, 2), repeats=2)) is BEYOND
    assert only(judge(learned(), new, base(2), repeats=2)) is UNKNOWN


def test_a_word_that_base_never_writes_is_judged_as_a_line_is():
    def state(word):
        return replace(
            logged(f"Transition to {word}", level="ERROR"), wording="Transition to {}", values=(word,),
            family=f"Transition to {word}",
        )  # fmt: skip

    known = learned(of=lambda name, at: [state("Follower")])
    found = judge(known, [state("Resigned")], base=[state("Follower")])
    assert {(kind, significance) for (kind, _), (significance, _) in found.items()} == {(FindingKind.VALUE, BEYOND)}


def test_a_contrast_whose_base_is_no_base_is_judged_by_its_own_runs_alone():
    assert stocks([], [("off", "on")], {"stock": learned()}) == {}


@given(st.lists(st.integers(0, 300), min_size=LEAST_STOCK_RUNS, max_size=30), st.integers(0, 29), st.booleans())
def test_a_run_of_base_that_logs_no_more_than_another_is_never_beyond_the_noise(counts, at, warns):
    """Held back from what is learned, any run of a set is judged as a candidate by the others."""
    level, held = ("WARN" if warns else "INFO"), counts[at % len(counts)]
    others = [count for number, count in enumerate(counts) if number != at % len(counts)]
    runs = [
        count
        for number, n in enumerate(others)
        for count in run("b", "turn2", number, [logged("x", n, level)] * (n > 0))
    ]
    known = list(observe(runs).values())
    stock = Stock(StockRuns(known, ()), list(observe(run("c", "turn2", 1, [logged("x", held, level)])).values()))
    judged = stock.new(Place("turn2", "voter"), Key("a.B", "x"))
    if judged and held <= max(others):
        assert judged.significance is not BEYOND


@given(st.integers(1, 100_000), st.integers(1, 100_000))
def test_more_events_are_never_less_surely_beyond_the_noise(few, many):
    known = StockRuns(learned(12, sometimes(4, 9)), ())

    def significance(number):
        candidate = list(observe(run("c", "turn2", 1, [logged("fetch failed", number)])).values())
        judged = Stock(known, candidate).new(Place("turn2", "voter"), Key("a.B", "fetch failed"))
        return [WITHIN, UNKNOWN, BEYOND].index(judged.significance)

    assert significance(min(few, many)) <= significance(max(few, many))


@pytest.mark.parametrize("level", ["INFO", "WARN"])
def test_what_is_not_known_of_base_leaves_the_answer_to_the_repeats_only_where_it_does_not_warn(level):
    """Six repeats say that a line is new; of a warning base's own many runs have the last word."""
    new = [logged("Updated servers", level=level)]
    known = learned(9, scenarios=("turn1", "turn2"))
    found = judge(known, lambda _, repeat: new if repeat < 7 else (), scenarios=("turn1", "turn2"), repeats=6)
    assert only(found) in (BEYOND, UNKNOWN)


def state(word, times, level):
    line = logged(f"Transition to {word}", times, level)
    return replace(line, wording="Transition to {}", values=(word,), family=f"Transition to {word}")


def test_an_error_is_told_beside_the_same_words_as_information_though_those_are_another_value():
    calm = [state("Follower", 1, "INFO")]
    broken = replace(logged("Transition to Resigned", 400, "ERROR"), line=9)
    for more in ([], [state("Resigned", 1, "INFO")]):
        found = compare(learned(of=lambda *_: calm), [broken, *(more or calm)], base=calm)
        assert {(each.kind, each.level) for each in found} >= {(FindingKind.NEW, "ERROR")}, more


@pytest.mark.parametrize("phase", ["start", ""])
def test_a_flood_in_one_run_of_several_is_told_inside_of_phases_and_outside(phase):
    def of(numbers):
        return lambda name, at: (
            [logged("retry failed", numbers[at - 1], phase=phase)] * (name == "turn2" and numbers[at - 1] > 0)
        )

    known = learned(of=lambda name, at: [logged("retry failed", 28)] * (name == "turn2"))
    (found,) = compare(known, of((85, 0, 0)), of((28, 28, 28)), repeats=3)
    assert (found.significance, found.stock.flood) == (Significance.BEYOND, True)
