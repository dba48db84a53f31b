"""Differences against what runs of one arm differ by: beyond the noise, within it, or too few runs to know."""

import random
from collections.abc import Iterable
from dataclasses import replace

import pytest

from harness.logs.compare.contrasts import contrast
from harness.logs.compare.counts import Count, Where
from harness.logs.compare.noise import Noise
from harness.model.findings import FindingKind, Significance

ARMS, SCENARIOS, REPEATS = ("stock", "off", "on"), ("turn1", "turn2", "new"), (1, 2, 3)
SECONDS = {
    Where(arm, scenario, "voter", phase, repeat): 10.0
    for arm in ARMS
    for scenario in SCENARIOS
    for phase in ("start", "stop")
    for repeat in REPEATS
}


def logged(arm, repeat, template, number=1, *, scenario="turn2", level="INFO", phase="stop"):
    where = Where(arm, scenario, "voter", phase, repeat)
    return Count(where, level, "a.B", template, number, f"{arm}/{repeat}.log", 1, template)


def everywhere(template, number=1, **names):
    return [
        logged(arm, repeat, template, number, scenario=scenario, **names)
        for arm in ARMS
        for scenario in SCENARIOS
        for repeat in REPEATS
    ]


def rest(seed=0) -> list[Count]:
    """Return what a cluster logs anyway: steady lines, lines whose number varies, and incidents."""
    chance = random.Random(seed)
    counts = [count for n in range(40) for count in everywhere(f"steady {n}")]
    for arm in ARMS:
        for scenario in SCENARIOS:
            for repeat in REPEATS:
                place = {"scenario": scenario}
                counts += [logged(arm, repeat, f"varies {n}", chance.randint(20, 40), **place) for n in range(20)]
                if chance.random() < 0.4:
                    counts += [logged(arm, repeat, f"election {n}", **place) for n in range(5)]
    return counts


def findings(counts: Iterable[Count], base="stock", candidate="on", seconds=SECONDS):
    return contrast(base, candidate, list(counts), seconds).findings


def beyond(counts: Iterable[Count], **names):
    return [(f.kind, f.template) for f in findings(counts, **names) if f.significance is Significance.BEYOND]


def of_on(template, numbers=(1, 1, 1), **names):
    return [logged("on", repeat, template, number, **names) for repeat, number in zip(REPEATS, numbers, strict=True)]


@pytest.mark.parametrize("seed", range(12))
def test_runs_of_the_same_build_differ_by_nothing_beyond_the_noise(seed):
    assert beyond(rest(seed)) == []


def test_what_every_run_of_the_candidate_logs_and_no_other_is_new():
    assert beyond([*rest(), *of_on("Updated servers")]) == [(FindingKind.NEW, "Updated servers")]


def test_what_no_run_of_the_candidate_logs_and_every_other_has_vanished():
    counts = [count for count in [*rest(), *everywhere("gone")] if (count.template, count.where.arm) != ("gone", "on")]
    assert set(beyond(counts)) == {(FindingKind.VANISHED, "gone")}


def test_what_came_and_went_within_base_is_noise_however_it_falls():
    assert elected(1, by_observer=True) == (FindingKind.NEW, Significance.WITHIN)


def elected(times, *, base=1, arm="stock", scenario="turn2", by_observer=False, level="INFO"):
    """Judge a line that every run of the candidate logs so often, and one run of an arm at another place."""
    once = logged(arm, 1, "elected", base, scenario=scenario, level=level)
    if by_observer:
        once = replace(once, where=replace(once.where, node_role="observer"))
    observers = {replace(where, node_role="observer"): length for where, length in SECONDS.items()}
    counts = [*rest(), *of_on("elected", (times,) * 3, level=level), once]
    (found,) = [
        each
        for each in findings(counts, seconds=SECONDS | observers)
        if (each.template, each.scenario, each.node_kind) == ("elected", "turn2", "voter")
    ]
    return found.kind, found.significance


def test_noise_of_base_excuses_as_much_as_base_showed_and_no_more():
    """One ERROR line of base does not excuse twenty thousand of the candidate."""
    assert elected(20_000, by_observer=True, level="ERROR") == (FindingKind.NEW, Significance.BEYOND)
    assert elected(7, base=6, by_observer=True) == (FindingKind.NEW, Significance.BEYOND)
    assert elected(6, base=6, by_observer=True) == (FindingKind.NEW, Significance.WITHIN)


def test_what_came_and_went_in_another_scenario_of_base_makes_as_much_unknown_and_no_more():
    assert elected(6, base=6, scenario="turn1") == (FindingKind.NEW, Significance.UNKNOWN)
    assert elected(20_000, scenario="turn1", level="ERROR") == (FindingKind.NEW, Significance.BEYOND)


@pytest.mark.parametrize("scenario", ["turn1", "turn2"])
def test_the_candidates_jar_switched_off_is_no_witness_of_noise(scenario):
    """What it logs in some runs only may be the very fault of the jar."""
    assert elected(20, base=20, arm="off", scenario=scenario) == (FindingKind.NEW, Significance.BEYOND)


def coins(number):
    """Return so many lines that come and go in one scenario each, every one in other runs than the others."""
    runs = [(arm, repeat) for arm in ARMS for repeat in REPEATS]
    chance = random.Random(7)
    return [logged(*run, f"coin {n}") for n in range(number) for run in chance.sample(runs, 4)]


def at_nodes(template, nodes, arms=("on",), **names):
    return [
        replace(logged(arm, repeat, template, **names), node=node)
        for arm in arms
        for repeat in REPEATS
        for node in nodes
    ]


def test_where_much_comes_and_goes_a_difference_at_one_node_of_one_scenario_is_unknown():
    counts = [*rest(), *at_nodes("steady", (1, 2, 3), ARMS), *coins(16)]
    new = at_nodes("Updated servers", (2,))
    assert beyond([*counts, *new]) == []
    (found,) = [each for each in findings([*counts, *new]) if each.template == "Updated servers"]
    assert found.significance is Significance.UNKNOWN


def test_there_it_is_reported_if_another_scenario_shows_it_too():
    counts = [*rest(), *at_nodes("steady", (1, 2, 3), ARMS), *coins(16)]
    two_scenarios = [*at_nodes("Updated servers", (2,)), *at_nodes("Updated servers", (2,), scenario="turn1")]
    assert beyond([*counts, *two_scenarios]) == [(FindingKind.NEW, "Updated servers")] * 2


def test_the_nodes_of_one_run_are_one_witness_however_many_log_it():
    """An election hits them all."""
    counts = [*rest(), *at_nodes("steady", (1, 2, 3), ARMS), *coins(16)]
    assert beyond([*counts, *at_nodes("Updated servers", (0, 1, 2, 3))]) == []


def test_what_one_scenario_shows_of_one_arm_and_another_of_the_other_is_not_the_same_difference():
    counts = [*rest(), *at_nodes("steady", (1, 2, 3), ARMS), *coins(16)]
    crossed = [
        *at_nodes("Updated servers", (2,)),
        *at_nodes("Updated servers", (2,), ("stock", "off"), scenario="turn1"),
    ]
    assert beyond([*counts, *crossed]) == []


@pytest.mark.parametrize(("each", "beyond_noise"), [(1, False), (8, True)])
def test_few_events_of_a_line_whose_number_varies_elsewhere_are_no_difference(each, beyond_noise):
    """A line logged one to three times in each run of two scenarios, in the third once in each run of the candidate."""
    varying = [
        logged(arm, repeat, "fetch failed", repeat, scenario=scenario)
        for arm in ARMS
        for scenario in ("turn1", "new")
        for repeat in REPEATS
    ]
    text = beyond([*rest(), *varying, *of_on("fetch failed", (each, each, each))])
    assert text == [(FindingKind.NEW, "fetch failed")] * beyond_noise


def test_what_only_some_runs_of_the_candidate_log_is_not_called_noise_for_that():
    counts = [*rest(), *of_on("sometimes")[:2]]
    (found,) = [each for each in findings(counts) if each.template == "sometimes"]
    assert (found.significance, found.base_runs, found.candidate_runs) == (Significance.UNKNOWN, (0, 0, 0), (1, 1, 0))


@pytest.mark.parametrize(
    ("before", "numbers", "significance"),
    [
        ((5, 6, 5), (5000, 6, 5), Significance.UNKNOWN),
        ((5, 6, 5), (17, 6, 5), Significance.UNKNOWN),
        ((2, 9, 4), (13, 8, 9), Significance.WITHIN),
    ],
)
def test_far_more_in_one_run_of_the_candidate_is_not_called_noise_for_its_own_spread(before, numbers, significance):
    base = [logged("stock", repeat, "retry failed", number) for repeat, number in zip(REPEATS, before, strict=True)]
    found = findings([*rest(), *base, *of_on("retry failed", numbers)])
    assert [each.significance for each in found if each.template == "retry failed"] == [significance]


def test_ten_times_as_many_lines_are_a_rate_with_its_false_discovery_rate():
    counts = [c for c in rest() if (c.template, c.where.arm, c.where.scenario) != ("varies 3", "on", "turn2")]
    text = findings([*counts, *of_on("varies 3", (290, 310, 330))])
    (found,) = [each for each in text if each.significance is Significance.BEYOND]
    assert (found.kind, found.template) == (FindingKind.RATE, "varies 3")
    assert found.fdr is not None
    assert found.fdr < 0.01


def test_that_a_third_arm_logs_a_line_at_another_level_leaves_the_other_two_as_sure_as_they_were():
    counts = [c for c in rest() if (c.template, c.where.arm, c.where.scenario) != ("varies 3", "off", "turn2")]
    for repeat, number in zip(REPEATS, (290, 310, 330), strict=True):
        counts.append(logged("off", repeat, "varies 3", number))
        counts.append(logged("on", repeat, "varies 3", level="ERROR"))
    found = [each for each in findings(counts, candidate="off") if each.template == "varies 3"]
    assert [(each.kind, each.significance) for each in found if each.scenario == "turn2"] == [
        (FindingKind.RATE, Significance.BEYOND)
    ]


@pytest.mark.parametrize(
    ("base", "candidate", "text"),
    [((40, 42, 38), (400, 420, 400), True), ((30, 60, 40), (500, 700, 400), False)],
)
def test_a_rate_that_is_less_sure_is_reported_if_the_arms_lie_apart_by_more_than_any_spread(base, candidate, text):
    numbers = {"stock": base, "off": base, "on": candidate}
    counts = [
        count
        for arm in ARMS
        for repeat, number, elsewhere in zip(REPEATS, numbers[arm], (1, 3, 9), strict=True)
        for count in (
            logged(arm, repeat, "fetched", number),
            logged(arm, repeat, "fetched", elsewhere, scenario="turn1", phase="start"),
        )
    ]
    (found,) = [f for f in findings([*rest(), *counts]) if (f.template, f.scenario) == ("fetched", "turn2")]
    assert found.fdr is not None
    assert 0.01 < found.fdr < 0.05
    assert (found.significance is Significance.BEYOND) == text


def test_a_longer_phase_makes_neither_more_of_what_is_logged_once_nor_of_what_is_logged_always():
    longer = {where: 100.0 if where.arm == "on" else 10.0 for where in SECONDS}
    counts = [c for c in rest() if not (c.template.startswith("varies") and c.where.arm == "on")]
    for scenario in SCENARIOS:
        for n in range(20):
            counts += of_on(f"varies {n}", (300, 250, 350), scenario=scenario)
    assert beyond(counts, seconds=longer) == []


def test_another_level_in_every_run_is_beyond_the_noise():
    counts = [
        logged(c.where.arm, c.where.repeat, c.template, scenario=c.where.scenario, level="ERROR")
        if c.template == "steady 1" and c.where.arm == "on"
        else c
        for c in rest()
    ]
    assert set(beyond(counts)) == {(FindingKind.LEVEL, "steady 1")}
    found = [each for each in findings(counts) if each.kind is FindingKind.LEVEL]
    assert {(each.level, each.base_runs, each.candidate_runs) for each in found} == {("ERROR", (0, 0, 0), (1, 1, 1))}


def test_with_one_run_of_each_arm_nothing_is_known():
    once = {where: length for where, length in SECONDS.items() if where.repeat == 1}
    counts = [count for count in [*rest(), *of_on("Updated servers")] if count.where.repeat == 1]
    assert {each.significance for each in findings(counts, seconds=once)} == {Significance.UNKNOWN}


def test_two_arms_of_two_runs_are_too_few_to_know_what_is_new():
    few = {w: s for w, s in SECONDS.items() if w.arm != "off" and w.repeat < 3 and w.scenario == "turn2"}
    counts = [c for c in [*rest(), *of_on("Updated servers")] if c.where in few]
    (found,) = [each for each in findings(counts, seconds=few) if each.template == "Updated servers"]
    assert found.significance is Significance.UNKNOWN


def test_incidents_are_counted_once_however_many_lines_they_write():
    noise = Noise([logged("stock", 1, f"election {n}") for n in range(30)], SECONDS)
    assert set(noise._incidents.values()) == {1}


@pytest.mark.parametrize(
    ("base_runs", "incidents", "known"),
    [(5, 1, Significance.BEYOND), (4, 1, Significance.UNKNOWN), (5, 2, Significance.UNKNOWN)],
    ids=["just enough runs", "one run too few", "one more thing that comes and goes"],
)
def test_a_new_line_needs_as_many_more_runs_as_incidents_may_have_fallen_so(base_runs, incidents, known):
    runs = [("stock", repeat) for repeat in range(1, base_runs + 1)] + [("on", 1)]
    scenarios = ("turn1", "turn2")
    seconds = {Where(arm, name, "voter", "stop", repeat): 10.0 for arm, repeat in runs for name in scenarios}
    steady = [logged(arm, repeat, "steady", scenario=name) for arm, repeat in runs for name in scenarios]
    comes_and_goes = [logged("stock", at, f"election {at}") for at in range(1, incidents + 1)]
    new = [logged("on", 1, "new", scenario=name) for name in scenarios]
    found = findings([*steady, *comes_and_goes, *new], seconds=seconds)
    assert [each.significance for each in found if (each.template, each.scenario) == ("new", "turn2")] == [known]


def test_one_run_in_nine_is_enough_where_nothing_comes_and_goes_and_one_in_eight_is_not():
    noise = Noise(everywhere("steady"), SECONDS)
    assert noise.is_enough(1, 8)
    assert not noise.is_enough(1, 7)


def retries(start, stop, level="WARN"):
    """How often each run of each arm retries in two phases, by arm and repeat."""
    return [
        logged(arm, repeat, "retry", number, phase=phase, level=level)
        for arm in ARMS
        for repeat in REPEATS
        for phase, number in (("start", start(arm)), ("stop", stop(arm, repeat)))
        if number
    ]


@pytest.mark.parametrize(("base", "candidate"), [(1, 60), (0, 60), (60, 1), (60, 0)])
def test_what_one_arm_alone_logs_in_a_phase_is_no_more_within_the_noise_than_what_it_logs_once(base, candidate):
    counts = [
        replace(count, where=replace(count.where, scenario=scenario))
        for scenario in SCENARIOS
        for count in retries(lambda _: 200, lambda arm, _: candidate if arm == "on" else base)
    ]
    found = [each for each in findings([*rest(), *counts]) if each.template == "retry"]
    assert {each.significance for each in found} == {Significance.BEYOND}


def test_a_flood_in_one_run_and_one_phase_is_not_within_the_noise_because_another_phase_is_calmer():
    counts = retries(
        lambda arm: 100 if arm == "on" else 1000, lambda arm, repeat: 20_000 if (arm, repeat) == ("on", 2) else 1
    )
    (found,) = [each for each in findings([*rest(), *counts]) if each.template == "retry"]
    assert found.significance is not Significance.WITHIN


def test_what_observers_of_base_say_as_information_excuses_no_error_of_voters():
    observers = {replace(where, node_role="observer"): length for where, length in SECONDS.items()}
    calm = logged("stock", 1, "elected", 6, level="INFO")
    calm = replace(calm, where=replace(calm.where, node_role="observer"))
    counts = [*rest(), *of_on("elected", (6, 6, 6), level="ERROR"), calm]
    found = [each for each in findings(counts, seconds=SECONDS | observers) if each.level == "ERROR"]
    assert {each.significance for each in found} == {Significance.BEYOND}


def test_what_floods_outside_of_all_phases_is_told_by_repeats_alone():
    counts = [
        logged(arm, repeat, "fetch failed", 2000 if arm == "on" else 2, scenario=scenario, phase="", level="WARN")
        for arm in ARMS
        for repeat in REPEATS
        for scenario in SCENARIOS
    ]
    found = [each for each in findings([*rest(), *counts]) if each.template == "fetch failed"]
    assert {each.significance for each in found} == {Significance.BEYOND}
