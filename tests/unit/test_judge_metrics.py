"""Raft metrics beside base's: what base's nodes have, the candidate's have too, of the same type."""

from dataclasses import replace

import pytest
from test_judge import ARMS, FIX, SOUND, H, R, declare, ran

from harness.judge.decision import decide
from harness.model.arms import Kafka
from harness.model.runs import Verdict
from harness.model.told import changes_of, metrics_of

STOCK = {"commit-latency-max": "decimal", "current-epoch": "whole", "current-state": "text"}
FEWER = {name: kind for name, kind in STOCK.items() if name != "commit-latency-max"}
PLAN = declare("turn1", "turn2", claims=(FIX,))


def tells(*of_on, roles=("leader", "voter"), plan=PLAN, base=STOCK):
    """Judge runs in which base and off tell `base`, and on one of `of_on` in each scenario."""
    results = [*ran("turn1", H, H, H), *ran("turn2", R, R, H)]
    shown = {"turn1": of_on[0], "turn2": of_on[-1]}
    told = [
        replace(run, told={metrics_of(r): shown[run.scenario] if run.arm == "patched-on" else base for r in roles})
        for run in results
    ]
    return decide(plan, told, SOUND)


def test_a_metric_that_is_gone_holds_the_jar_back_in_every_role_at_once():
    record = tells(FEWER)
    assert record.verdict is Verdict.HOLD
    assert record.sentence == (
        "metrics_kept: patched-on lacks commit-latency-max among the raft metrics of the leader and voters, which "
        "stock has: tools that read them find nothing"
    )
    assert record.reasons[0].cell is None, "it is so wherever the jar runs"


@pytest.mark.parametrize("of_on", [(STOCK,), (FEWER, STOCK), (STOCK, FEWER)], ids=["all", "later", "first"])
def test_a_metric_that_any_run_of_the_candidate_has_is_there(of_on):
    assert tells(*of_on).verdict is Verdict.SHIP


def test_a_metric_that_only_some_runs_of_base_have_is_no_lack():
    results = [*ran("turn1", H, H, H), *ran("turn2", R, R, H)]
    sometimes = [
        replace(run, told={metrics_of("voter"): STOCK if (run.arm, run.scenario) == ("stock", "turn1") else FEWER})
        for run in results
    ]
    assert decide(PLAN, sometimes, SOUND).verdict is Verdict.SHIP


@pytest.mark.parametrize(
    ("metric", "was", "is_now"), [("current-epoch", "whole", "text"), ("current-state", "text", "whole")]
)
def test_text_for_a_number_and_the_reverse_hold_the_jar_back(metric, was, is_now):
    record = tells(STOCK | {metric: is_now})
    assert record.verdict is Verdict.HOLD
    assert f"of another type on patched-on than on stock: {metric} ({was}, now {is_now})" in record.sentence


def test_another_kind_of_number_is_shown_and_weighs_nothing():
    record = tells(STOCK | {"current-epoch": "decimal"})
    said = "Raft metrics of the leader and voters have other number types on patched-on than on stock: "
    assert (record.verdict, record.remarks) == (Verdict.SHIP, (f"{said}current-epoch (whole, now decimal).",))


def test_a_metric_that_is_added_is_shown_and_weighs_nothing():
    record = tells(STOCK | {"number-of-voters": "whole"})
    said = "patched-on has number-of-voters among the raft metrics of the leader and voters, which stock lacks."
    assert (record.verdict, record.remarks) == (Verdict.SHIP, (said,))


@pytest.mark.parametrize(("roles", "lacking"), [((), ["the leader", "observers"]), (("observer",), ["the leader"])])
def test_a_role_of_which_the_candidate_never_tells_a_metric_and_base_always_does_holds_it_back(roles, lacking):
    record = tells_in_roles(roles, always=True)
    assert record.verdict is Verdict.HOLD
    for who in lacking:
        assert f"metrics_kept: patched-on tells no raft metrics of {who}, and stock does in every run" in str(record)


def test_a_role_in_which_base_was_seen_in_some_runs_alone_says_nothing():
    assert tells_in_roles(("observer",), always=False).verdict is Verdict.SHIP


def tells_in_roles(roles, *, always):
    """Judge runs in which base tells of leaders, always or in one scenario, and of observers; and on of `roles`."""
    results = [*ran("turn1", H, H, H), *ran("turn2", R, R, H)]

    def told(run):
        of_base = ("leader", "observer") if always or run.scenario == "turn1" else ("observer",)
        return dict.fromkeys(map(metrics_of, of_base if run.role.is_control else roles), STOCK)

    return decide(PLAN, [replace(run, told=told(run)) for run in results], SOUND)


@pytest.mark.parametrize(("version", "verdict"), [("3.9.2", Verdict.SHIP), ("3.9.1-acme", Verdict.HOLD)])
def test_the_metrics_of_two_releases_are_not_compared_and_those_of_a_vendors_build_of_one_are(version, verdict):
    kafkas = (Kafka("3.9.1", "", "r", {"x": "2"}), Kafka(version, "", "r", {"x": "3"}))
    arms = []
    for arm in ARMS:
        kafka = kafkas[not arm.role.is_control]
        arms.append(replace(arm, build=replace(arm.build, kafka_version=kafka.version[:5], kafka=kafka)))
    assert tells(FEWER, plan=replace(PLAN, arms=tuple(arms))).verdict is verdict


FETCHED = "fetch-records-rate"
TURNS = ("turn1", "turn3", "turn4")
OFTEN, SELDOM, NEVER, BRIEFLY = "30 of 40", "2 of 40", "0 of 40", "0 of 4"


def moved(base, on, *, repeats=2, shown=H, on_in_one_run=None):
    """Judge scenarios in which a metric of voters changes as often as is said: `on` is patched-on's in all runs."""
    scenarios = [run for name in TURNS for run in ran(name, *[[shown] * repeats] * 3)]
    runs = [*scenarios, *ran("turn2", *([each] * repeats for each in (R, R, H)))]
    told = [
        replace(run, told={changes_of("voter"): {FETCHED: on if run.arm == "patched-on" else base}}) for run in runs
    ]
    if on_in_one_run:
        told[-1] = replace(told[-1], told={changes_of("voter"): {FETCHED: on_in_one_run}})
    return decide(declare(*TURNS, "turn2", claims=(FIX,), repeats=repeats), told, SOUND)


def test_a_metric_that_is_always_in_motion_on_base_and_never_on_the_candidate_holds_it_back():
    record = moved(OFTEN, NEVER)
    assert record.verdict is Verdict.HOLD
    assert record.sentence == (
        "metrics_kept: fetch-records-rate among the raft metrics of voters never changed on patched-on, in 6 runs or "
        "more, but changed in most seconds of each run on stock"
    )


@pytest.mark.parametrize(
    ("base", "on", "more"),
    [
        pytest.param(SELDOM, NEVER, {}, id="only an event changes it"),
        pytest.param(OFTEN, SELDOM, {}, id="it changes on the candidate too"),
        pytest.param(OFTEN, NEVER, {"on_in_one_run": SELDOM}, id="it changes in one run of any scenario"),
        pytest.param(OFTEN, NEVER, {"repeats": 1}, id="runs are few"),
        pytest.param(OFTEN, BRIEFLY, {}, id="the candidate was seldom seen in the role"),
        pytest.param(OFTEN, NEVER, {"shown": R}, id="base fails: its own defect may keep it in motion"),
        pytest.param(OFTEN, "", {}, id="nobody wrote it down"),
    ],
)
def test_a_metric_does_not_stand_still_where(base, on, more):
    assert FETCHED not in "".join(each.sentence for each in moved(base, on, **more).reasons)


def test_metrics_are_compared_where_both_arms_told_of_a_role():
    only_there = STOCK | {"observers-added": "whole"}
    told = {("stock", "turn1"): STOCK, ("stock", "turn2"): only_there, ("patched-on", "turn1"): STOCK}

    def shown(run):
        of = told.get(("stock" if run.arm == "patched-off" else run.arm, run.scenario))
        return replace(run, told={metrics_of("leader"): of} if of else {})

    results = [*ran("turn1", H, H, H), *ran("turn2", R, R, H)]
    assert decide(PLAN, [shown(run) for run in results], SOUND).verdict is Verdict.SHIP
