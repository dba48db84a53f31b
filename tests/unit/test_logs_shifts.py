"""First lines that come later or earlier in a phase: told beyond all that their times differed by, or not at all."""

import random

import pytest

from harness.logs.compare.contrasts import contrast
from harness.logs.compare.counts import Count, Where
from harness.logs.compare.shifts import Shifts
from harness.model.findings import FindingKind, Significance

ARMS, REPEATS = ("stock", "off", "on"), (1, 2, 3)
SECONDS = {Where(arm, "turn2", "voter", "stop", repeat): 60.0 for arm in ARMS for repeat in REPEATS}


def logged(arm, repeat, name, after, *, phase="stop", scenario="turn2", node=0):
    where = Where(arm, scenario, "voter", phase, repeat)
    file = f"{arm}/{repeat}/{node}.log"
    return Count(where, "INFO", "a.B", name, 1, file, int(after * 10) + 1, name, family=name, node=node, after=after)


def rest(seed=0, pace=None):
    """Return what a cluster logs anyway: each line at its own time, give or take a tenth; `pace` slows a run down."""
    chance = random.Random(seed)
    slower = pace or {}
    return [
        logged(arm, repeat, f"line {n}", n / 4 * chance.uniform(0.9, 1.1) * slower.get((arm, repeat), 1.0))
        for n in range(1, 41)
        for arm in ARMS
        for repeat in REPEATS
    ]


def late(times, name="recovered", **names):
    return [logged(arm, repeat, name, times[arm] + repeat / 50, **names) for arm in ARMS for repeat in REPEATS]


def text(counts, base="stock", candidate="on", is_enough=True):
    shifts = Shifts(counts).find(base, candidate, lambda few, many: is_enough)
    return [(shift.key.family, shift.others) for shift in shifts]


def test_a_shift_in_one_scenario_needs_runs_enough_and_one_in_two_does_not():
    times = {"stock": 0.5, "off": 0.5, "on": 9.0}
    once = [*rest(), *late(times)]
    assert (text(once), text(once, is_enough=False)) == ([("recovered", 0)], [])
    twice = [*once, *late(times, scenario="turn1")]
    assert text(twice, is_enough=False) == [("recovered", 0)] * 2
    the_other_way = [*once, *late({"stock": 9.0, "off": 9.0, "on": 0.5}, scenario="turn1")]
    assert text(the_other_way, is_enough=False) == []


def test_a_line_that_comes_much_later_in_every_run_is_reported_with_both_times():
    counts = [*rest(), *late({"stock": 0.5, "off": 0.5, "on": 9.0})]
    (found,) = [each for each in contrast("stock", "on", counts, SECONDS).findings if each.kind is FindingKind.SHIFT]
    assert (found.template, found.phase, found.significance) == ("recovered", "stop", Significance.BEYOND)
    assert found.detail == "first logged 9.0 s after the phase begins, not 0.5 s"
    assert found.fdr is not None
    assert found.fdr < 0.05


def test_earlier_is_a_shift_too():
    assert text([*rest(), *late({"stock": 9.0, "off": 9.0, "on": 0.5})]) == [("recovered", 0)]


def test_lines_that_shift_together_are_reported_once():
    times = {"stock": 0.5, "off": 0.5, "on": 9.0}
    together = [count for n in range(4) for count in late(times, f"recovered {n}")]
    apart = late({"stock": 1.0, "off": 1.0, "on": 40.0}, "and this")
    assert text([*rest(), *together, *apart]) == [("recovered 0", 3), ("and this", 0)]


@pytest.mark.parametrize("seed", range(8))
def test_runs_of_the_same_build_shift_nothing(seed):
    assert text(rest(seed)) == []


@pytest.mark.parametrize("arm", ARMS)
def test_a_busy_host_that_is_late_with_everything_shifts_nothing(arm):
    assert text(rest(pace={(arm, repeat): 3.0 for repeat in REPEATS})) == []


def test_a_line_whose_time_varies_as_much_elsewhere_is_no_shift():
    counts = [*rest(), *late({"stock": 0.5, "off": 0.5, "on": 9.0})]
    times = dict(zip(REPEATS, (0.4, 2.0, 11.0), strict=True))
    elsewhere = [logged("stock", repeat, "recovered", after, scenario="turn1") for repeat, after in times.items()]
    asked = [logged(arm, r, "recovered", 1.0, scenario="turn1") for arm in ("off", "on") for r in REPEATS]
    assert text(counts) == [("recovered", 0)]
    assert text([*counts, *elsewhere, *asked]) == []


def test_what_does_not_come_in_every_run_has_no_time():
    counts = [*rest(), *late({"stock": 0.5, "off": 0.5, "on": 9.0})]
    assert text([c for c in counts if (c.family, c.where.arm, c.where.repeat) != ("recovered", "stock", 2)]) == []


def test_two_runs_are_too_few():
    counts = [*rest(), *late({"stock": 0.5, "off": 0.5, "on": 9.0})]
    assert text([count for count in counts if count.where.repeat < 3]) == []


def test_the_first_of_several_nodes_counts():
    counts = [*rest(), *late({"stock": 0.5, "off": 0.5, "on": 9.0})]
    others = late({"stock": 30.0, "off": 30.0, "on": 30.0}, node=1)
    assert text([*counts, *others]) == [("recovered", 0)]
    assert text([*counts, *late({"stock": 30.0, "off": 30.0, "on": 0.5}, node=1)]) == []


def test_less_than_a_second_is_no_shift():
    assert text([*rest(), *late({"stock": 0.05, "off": 0.05, "on": 0.9})]) == []
