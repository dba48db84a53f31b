"""A candidate that is slower or dearer than base beyond the noise is held back; a noisy host never makes a HOLD."""

import math
import random
from dataclasses import replace

import pytest
from scipy import stats
from test_judge import FIX, SOUND, H, R, declare, ran, rests

from harness.judge.costs.held_back import MOST_HELD_BACK_PERCENT
from harness.judge.costs.limits import BY_CHANCE
from harness.judge.costs.over_repeats import p_larger, worse_figures
from harness.judge.decision import decide
from harness.model.arms import Role
from harness.model.runs import Outcome, RunResult, Verdict

ARMS = ("stock", Role.BASE), ("patched-on", Role.ON)


def runs(name, base, candidate, scenario="turn1", outcome=Outcome.PASSED):
    return [
        RunResult(scenario, arm, role, repeat, outcome, measures={name: value, "acked_records": 400.0})
        for (arm, role), values in zip(ARMS, (base, candidate), strict=True)
        for repeat, value in enumerate(values, 1)
    ]


def worse(*cells):
    found = worse_figures([("stock", "patched-on")], [run for cell in cells for run in cell])
    return tuple(each.sentence for each in found)


def test_a_stall_that_doubled_in_every_run_is_named_with_both_medians():
    assert worse(runs("longest_stall_seconds", (2.0, 2.2, 2.1), (5.0, 5.4, 5.2))) == (
        "turn1: patched-on takes longer than stock, beyond the noise: longest stall 5.2 s against 2.1 s "
        "(medians of 3 and 3 runs, none overlapping)",
    )


@pytest.mark.parametrize(
    ("base", "candidate"),
    [
        ((2.0, 2.2), (5.0, 5.4)),
        ((2.0, 2.2, 5.1), (5.0, 5.4, 5.2)),
        ((10.0, 10.2, 10.1), (12.0, 12.2, 12.1)),
        ((0.2, 0.21, 0.2), (0.8, 0.81, 0.8)),
        ((0.5, 0.52, 0.51), (1.2, 1.22, 1.21)),
        ((5.0, 5.4, 5.2), (2.0, 2.2, 2.1)),
        ((2.0, 2.0, 2.0), (2.0, 2.0, 2.0)),
    ],
    ids=["two runs", "overlapping", "less than half more", "a moment", "under a second", "quicker", "equal"],
)
def test_what_is_little_or_uncertain_or_better_is_not_worse(base, candidate):
    assert worse(runs("longest_stall_seconds", base, candidate)) == ()


@pytest.mark.parametrize(
    ("base", "candidate"),
    [
        ((2.0, 2.2, 2.1), (5.0, 5.4, 5.2)),
        ((2.0, 3.0, 2.5, 2.2, 2.9), (2.4, 3.3, 2.8)),
        ((5.0, 5.4, 5.2), (2.0, 2.2, 2.1)),
    ],
)
def test_the_test_is_students_of_the_logarithms(base, candidate):
    logs = [[math.log(value) for value in values] for values in (candidate, base)]
    assert p_larger(base, candidate) == pytest.approx(stats.ttest_ind(*logs, alternative="greater").pvalue)


@pytest.mark.parametrize(("candidate", "p"), [(5.0, 0.0), (2.0, 1.0), (1.0, 1.0)])
def test_runs_that_never_vary_are_certain(candidate, p):
    assert p_larger((2.0,) * 3, (candidate,) * 3) == p


def test_a_figure_that_only_the_candidate_has_is_not_compared():
    cells = runs("longest_stall_seconds", (2.0, 2.2, 2.1), (5.0, 5.4, 5.2))
    lacking = [replace(run, measures={}) if run.arm == "stock" else run for run in cells]
    assert worse(lacking) == ()


def with_figures(cells, arm, *figures):
    """Give the repeats of an arm other figures beside what they have."""
    beside = dict(enumerate(figures, 1))
    return [replace(run, measures={**run.measures, **beside[run.repeat]}) if run.arm == arm else run for run in cells]


SLOW = "leaderless_seconds", (3.1, 3.2, 3.3, 3.2), (9.1, 9.2, 9.3, 9.2)
HELD, FREE = {"host_held_back_percent": MOST_HELD_BACK_PERCENT}, {"host_held_back_percent": 5}


@pytest.mark.parametrize("arm", ["stock", "patched-on"])
def test_repeats_in_which_the_host_held_the_nodes_of_either_arm_back_say_nothing_of_wall_time(arm):
    cells = runs(*SLOW)
    assert len(worse(with_figures(cells, arm, FREE, FREE, FREE, FREE))) == 1
    assert "medians of 3 and 3 runs" in worse(with_figures(cells, arm, HELD, FREE, FREE, FREE))[0]
    assert worse(with_figures(cells, arm, HELD, HELD, FREE, FREE)) == ()


def test_processor_time_is_compared_however_slow_the_host_was():
    cells = with_figures(runs("node_cpu_seconds", *SLOW[1:]), "patched-on", HELD, HELD, HELD, HELD)
    assert len(worse(cells)) == 1


@pytest.mark.parametrize("arm", ["stock", "patched-on"])
@pytest.mark.parametrize("repeat", [1, 2, 4])
def test_a_figure_that_a_repeat_lacks_is_not_nought(arm, repeat):
    cells = [
        replace(run, measures={}) if (run.arm, run.repeat) == (arm, repeat) else run
        for run in runs("observer_recovers_seconds", (3.0, 3.1, 3.2, 3.1), (90.0, 92.0, 91.0, 90.0))
    ]
    assert len(worse(cells)) == 1


def test_a_figure_that_too_few_repeats_have_is_not_compared():
    cells = with_figures(runs("observer_recovers_seconds", (3.0, 3.1, 3.2), (90.0, 92.0, 91.0)), "stock", {}, {}, {})
    lacking = [replace(run, measures={}) if run.repeat == 1 and run.arm == "stock" else run for run in cells]
    assert (len(worse(cells)), worse(lacking)) == (1, ())


def test_of_a_repeat_that_one_arm_was_asked_alone_later_wall_time_says_nothing():
    cells = runs("observer_recovers_seconds", (3.0, 3.1, 3.2, 3.1), (90.0, 92.0, 91.0, 4.0))
    spare = {cells[-1].key}
    compared = [("stock", "patched-on")]
    (slower,) = worse_figures(
        compared, [*cells[:-1], replace(cells[-1], measures={"observer_recovers_seconds": 3.0})], spare
    )
    assert (len(slower.base), len(slower.candidate)) == (3, 3)
    assert worse_figures(compared, cells[:3] + cells[4:7], {cells[0].key}) == (), "two are too few"


def test_figures_of_runs_that_failed_are_not_compared():
    assert worse(runs("node_cpu_seconds", (2.0, 2.2, 2.1), (5.0, 5.4, 5.2), outcome=Outcome.FAILED)) == ()


def test_only_seconds_are_compared_as_more_records_are_no_worse():
    cells = [
        replace(run, measures={"acked_records": 400.0 + 400 * (run.arm != "stock")})
        for run in runs("x", *[[1] * 3] * 2)
    ]
    assert worse_figures([("stock", "patched-on")], cells) == ()


def test_among_many_figures_one_that_is_hardly_certain_is_not_worse():
    doubtful = runs("longest_stall_seconds", (1.0, 3.0, 1.2), (3.2, 7.0, 9.0))
    quiet = [runs("node_cpu_seconds", (9.0, 9.1, 9.2), (9.0, 9.2, 9.1), scenario=f"s{n}") for n in range(20)]
    assert worse(doubtful, *quiet) == ()


def test_noise_alone_makes_no_hold():
    """A hundred verifications of nine figures at three repeats, each run off by up to a third from one to the next."""
    chance = random.Random(7)

    def noisy():
        return tuple(10 * chance.lognormvariate(0, 0.3) for _ in range(3))

    alarms = sum(
        bool(worse(*(runs("a_seconds", noisy(), noisy(), scenario=f"s{n}") for n in range(9)))) for _ in range(100)
    )
    assert alarms <= 2


def test_a_candidate_that_is_slower_in_every_repeat_is_a_hold_whose_first_reason_says_so():
    plan = declare("turn2", "turn1", repeats=3, claims=(FIX,))
    slower = {"stock": 10.0, "patched-off": 10.0, "patched-on": 30.0}
    shown = [
        replace(run, measures={"observer_recovers_seconds": slower[run.arm] + run.repeat / 10})
        for run in ran("turn1", [H] * 3, [H] * 3, [H] * 3)
    ]
    record = decide(plan, [*ran("turn2", [R] * 3, [R] * 3, [H] * 3), *shown], SOUND)
    assert record.verdict is Verdict.HOLD
    assert rests(record)[0].startswith("turn1: patched-on takes longer than stock, beyond the noise: observer recovers")


def test_what_is_chance_in_most_lines_is_not_worse():
    name, zero, late = BY_CHANCE[0], (0.0, 0.0, 0.0), (9.8, 10.4, 11.2)
    assert worse(runs(name, zero, late)) == ()
    assert worse(runs("longest_stall_seconds", zero, late)) != ()
