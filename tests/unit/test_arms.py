"""Arms follow from what the jars themselves say of the flag."""

from dataclasses import replace

import pytest

from harness.base.errors import HarnessError
from harness.logs.log_diff import pairs
from harness.model.arms import (
    Build,
    ClaimedFlag,
    Flag,
    Kafka,
    Role,
    choose_arms,
    kafkas_compared,
    plan_arms,
    settings_of,
)
from harness.stages.build import check_flag, flag_is_unknown

KEY = "some.flag"
CLAIMED_ON = ClaimedFlag(KEY, True)


def build(name, builder="javac 17", default=None):
    flag = Flag(KEY, default is not None, default or "")
    return Build(name, "3.9.1", f"{name}.jar", name * 8, builder, flag)


STOCK, PATCHED = build("stock", "release"), build("patched", default="true")


def text(arms):
    return {arm.name: (arm.role, arm.flag) for arm in arms}


def test_a_series_makes_stock_patched_off_and_patched_on():
    assert text(plan_arms(STOCK, PATCHED, CLAIMED_ON, "21")) == {
        "stock": (Role.BASE, "absent"),
        "patched-off": (Role.OFF, "false"),
        "patched-on": (Role.ON, "true"),
    }


def test_a_given_jar_makes_jar_off_and_jar_on():
    assert list(text(plan_arms(STOCK, build("jar", "given", "true"), CLAIMED_ON, "21"))) == [
        "stock",
        "jar-off",
        "jar-on",
    ]


def test_a_jar_that_does_not_know_the_flag_has_no_off_arm():
    arms = plan_arms(STOCK, build("jar", "given"), CLAIMED_ON, "21")
    assert text(arms) == {"stock": (Role.BASE, "absent"), "jar-on": (Role.ON, "absent")}


def test_on_leaves_the_key_out_when_the_claimed_default_is_true():
    _, off, on = plan_arms(STOCK, PATCHED, CLAIMED_ON, "21")
    assert (settings_of(off, CLAIMED_ON), settings_of(on, CLAIMED_ON)) == ({KEY: "false"}, {})


def test_a_jar_with_another_default_than_claimed_runs_with_its_own_default():
    *_, on = plan_arms(STOCK, build("jar", "given", "false"), CLAIMED_ON, "21")
    assert (on.flag, settings_of(on, CLAIMED_ON)) == ("false", {})


def test_on_sets_the_key_when_the_claimed_default_is_false():
    claimed = ClaimedFlag(KEY, False)
    *_, on = plan_arms(STOCK, build("jar", "given", "false"), claimed, "21")
    assert (on.flag, settings_of(on, claimed)) == ("true", {KEY: "true"})


def test_the_base_is_left_as_it_is_even_if_it_knows_the_flag():
    base, *_ = plan_arms(build("base", "given", "true"), PATCHED, CLAIMED_ON, "21")
    assert (base.flag, settings_of(base, CLAIMED_ON)) == ("true", {})


def test_a_base_that_has_the_flag_on_is_run_with_the_flag_off_as_well():
    arms = plan_arms(build("base", "given", "true"), build("jar", "given", "true"), CLAIMED_ON, "21")
    assert text(arms) == {
        "base": (Role.BASE, "true"),
        "base-off": (Role.BASE_OFF, "false"),
        "jar-off": (Role.OFF, "false"),
        "jar-on": (Role.ON, "true"),
    }
    assert [settings_of(arm, CLAIMED_ON) for arm in arms] == [{}, {KEY: "false"}, {KEY: "false"}, {}]


def test_a_base_whose_flag_is_off_by_default_is_its_own_control():
    arms = plan_arms(build("base", "given", "false"), build("jar", "given", "true"), CLAIMED_ON, "21")
    assert [arm.role for arm in arms] == [Role.BASE, Role.OFF, Role.ON]


def test_a_given_jar_without_claims_is_called_the_jar():
    arms = plan_arms(STOCK, build("jar", "given"), ClaimedFlag("", False), "21")
    assert text(arms) == {"stock": (Role.BASE, "absent"), "jar": (Role.ON, "absent")}


def test_a_whole_kafka_without_claims_is_called_the_kafka():
    arms = plan_arms(STOCK, build("kafka", "release"), ClaimedFlag("", False), "21")
    assert text(arms) == {"stock": (Role.BASE, "absent"), "kafka": (Role.ON, "absent")}


def test_a_whole_kafka_that_does_not_know_the_flag_of_the_claims_is_refused_and_a_jar_is_judged():
    kafka = replace(build("kafka", "release"), kafka=Kafka("4.1.0"))
    with pytest.raises(HarnessError, match=r"Kafka 4\.1\.0 does not know the flag some\.flag, which x\.toml is about"):
        check_flag(kafka, "x.toml")
    jar = replace(kafka, builder="given")
    check_flag(jar, "x.toml")
    assert flag_is_unknown(jar, "x.toml").startswith("kafka does not know the flag some.flag, which x.toml is about")
    assert flag_is_unknown(replace(jar, flag=Flag(KEY, True)), "x.toml") == ""
    check_flag(replace(kafka, flag=Flag("", False)), "")
    assert flag_is_unknown(replace(jar, flag=Flag("", False)), "") == ""


def test_two_kafkas_are_compared_where_any_jar_but_the_raft_jar_under_test_differs():
    one, other = Kafka("3.9.1", "", "r", {"r": "1", "x": "2"}), Kafka("3.9.2", "", "r", {"r": "1", "x": "3"})
    base, moved = replace(STOCK, kafka=one), replace(build("jar", "given"), kafka=replace(one, place="/opt"))
    assert kafkas_compared(plan_arms(base, moved, ClaimedFlag("", False), "21")) is None
    newer = replace(moved, kafka=other)
    assert kafkas_compared(plan_arms(base, newer, ClaimedFlag("", False), "21")) == (one, other)
    assert newer.jars == {"x": "3", "jar.jar": "jar" * 8}
    assert (one.label, replace(one, place="/opt/a.tgz").label) == ("Kafka 3.9.1", "Kafka 3.9.1 (a.tgz)")


def test_arms_are_chosen_by_name_or_by_role():
    arms = plan_arms(STOCK, PATCHED, CLAIMED_ON, "21")
    assert [arm.name for arm in choose_arms(arms, ["base", "patched-on"])] == ["stock", "patched-on"]
    assert choose_arms(arms, []) == arms


def test_base_stands_for_base_with_its_flag_off_too():
    arms = plan_arms(build("base", "given", "true"), build("jar", "given", "true"), CLAIMED_ON, "21")
    assert [arm.name for arm in choose_arms(arms, ["base", "off"])] == ["base", "base-off", "jar-off"]
    assert [arm.name for arm in choose_arms(arms, ["base-off"])] == ["base-off"]


def test_an_unknown_arm_is_answered_with_the_nearest_name():
    with pytest.raises(HarnessError, match="Did you mean patched-on"):
        choose_arms(plan_arms(STOCK, PATCHED, CLAIMED_ON, "21"), ["patchd-on"])


def test_the_logs_of_the_candidate_switched_off_are_compared_with_a_base_without_the_flag():
    plain = plan_arms(STOCK, PATCHED, CLAIMED_ON, "21")
    assert pairs(plain) == [("stock", "patched-off"), ("patched-off", "patched-on"), ("stock", "patched-on")]
    both = plan_arms(build("base", "given", "true"), PATCHED, CLAIMED_ON, "21")
    assert pairs(both) == [("base-off", "patched-off"), ("patched-off", "patched-on"), ("base", "patched-on")]
