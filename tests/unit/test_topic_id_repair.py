"""Repairs of topic ids: which one fits, what is refused, and whose turn it is."""

import json
from dataclasses import replace

import pytest
from disks_sample import X, Y, Z
from repair_sample import ALL, MIX, disks, down, live, planned, turn

from harness.base.json import from_json, to_json
from harness.model.topic_repair import Choice, RepairPlan
from harness.topicids.broker_config import UNCLEAN
from harness.topicids.comparing import compare
from harness.topicids.node_changes import with_id
from harness.topicids.planning import plan_repair
from harness.topicids.records import ClusterTopics, PartitionDirectory, Topic
from harness.topicids.steps import outcome, steps
from harness.topicids.turns import objections
from harness.topicids.zookeeper_nodes import PartitionState, parse_topic

# The choice


def test_where_all_directories_agree_their_id_is_put_back_and_no_broker_restarts():
    plan = planned(Y, disks(dict.fromkeys(ALL, (X, X))))
    (repair,) = plan.topics
    assert (repair.choice, repair.on_disk, repair.in_zookeeper) == (Choice.PUT_BACK, (X,), Y)
    assert (plan.order, plan.refusals, plan.exit_code) == ((), (), 1)


def test_an_id_that_zookeeper_lacks_is_put_back_and_a_missing_file_is_no_other_opinion():
    plan = planned("", disks(dict.fromkeys(ALL, (X, None))))
    assert [(each.choice, each.on_disk) for each in plan.topics] == [(Choice.PUT_BACK, (X,))]
    assert plan.refusals == ()


def test_where_some_have_the_new_id_the_old_files_go_and_the_controller_comes_last():
    plan = planned(Y, disks(MIX))
    (repair,) = plan.topics
    assert (repair.choice, repair.on_disk) == (Choice.DELETE, (X,))
    assert {(place.broker, place.partitions) for place in repair.places} == {(broker, (0,)) for broker in ALL}
    assert plan.order == (1, 3, 2)


def test_whoever_has_fallen_out_comes_first():
    plan = planned(Y, disks(MIX), live(isr=((1, 2), ALL)))
    assert (plan.order, plan.refusals) == ((3, 1, 2), ())


def test_three_ids_are_two_old_ones():
    plan = planned(Y, disks({1: (X, Y), 2: (Z, Y), 3: (Y, Y)}))
    assert (plan.topics[0].on_disk, plan.order) == ((X, Z), (1, 2))


def test_nothing_is_planned_for_a_healthy_cluster():
    plan = planned(X, disks(dict.fromkeys(ALL, (X, X))))
    assert (plan.topics, plan.refusals, plan.exit_code) == ((), (), 0)
    assert (outcome(plan), steps(plan, "plan.json")) == ("Nothing to repair.", ())


def test_directories_that_disagree_while_zookeeper_has_no_id_are_refused():
    plan = planned("", disks(MIX))
    assert (plan.topics, plan.exit_code) == ((), 3)
    assert "nothing says which is right" in plan.refusals[0]


# Refusals

REFUSED = {
    "unclean election by the topic": (MIX, live(topic_unclean={"t": True}), "is on for topic t, by its own settings"),
    "unclean election by a broker": (MIX, live(broker_unclean={2: True}), "by the settings of broker 2:"),
    "somebody behind": (MIX, live(isr=(ALL, (1, 2))), "Broker 3 is not in sync for t-1, and not for its id"),
    "one alone in sync": (MIX, live(isr=((1,), ALL)), "Only broker 1 is in sync for t-0"),
    "nobody leads": (MIX, live(isr=((), ALL)), "Nobody leads t-0."),
    "a broker down": (MIX, live(brokers=frozenset({1, 2})), "Broker 3, a replica of t-0, does not run."),
    "a reassignment": (MIX, live(reassigning=True), "Partitions are being reassigned"),
    "nobody is the controller": (MIX, live(controller=-1), "Nobody is the controller: wait until a broker is"),
    "a deletion": (MIX, live(deleted=frozenset({"t"})), "Topic t waits for its deletion."),
}


@pytest.mark.parametrize(("ids", "state", "says"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_safe_is_refused_with_its_reason(ids, state, says):
    plan = planned(Y, disks(ids), state)
    assert any(says in refusal for refusal in plan.refusals), plan.refusals
    assert (plan.exit_code, steps(plan, "plan.json")) == (3, ())


def test_whoever_cannot_follow_a_leader_for_its_new_id_is_not_waited_for():
    ids = {1: (X, Y), 2: (X, Y), 3: (Y, Y)}
    (refusal,) = planned(Y, disks(ids), live(isr=((1, 2), ALL))).refusals
    assert refusal.startswith(
        "Broker 3 is not in sync for t-0, with ZooKeeper's id already, by which nobody follows broker 1, which has an "
        "old one: waiting does not help. Where a repair was begun, go on by its own plan"
    )
    assert planned(Y, disks({**ids, 1: (Y, Y)}), live(isr=((1, 2), ALL))).refusals == (
        "Broker 3 is not in sync for t-0, and not for its id: wait.",
    )


def test_nobody_is_waited_for_as_the_controller_where_nothing_is_to_be_repaired():
    assert planned(X, disks(dict.fromkeys(ALL, (X, X))), live(controller=-1)).refusals == ()


def test_a_topic_that_turns_unclean_elections_off_may_be_repaired_where_brokers_allow_them():
    state = live(topic_unclean={"t": False}, broker_unclean={1: True})
    assert planned(Y, disks(MIX), state).refusals == ()


def test_settings_that_nobody_has_seen_are_asked_for():
    data = [replace(disk, settings={}) for disk in disks(MIX)]
    assert ["the settings of brokers 1, 2, 3 would say" in each for each in planned(Y, data).refusals] == [True]
    assert planned(Y, data, live(broker_unclean=dict.fromkeys(ALL, False))).refusals == ()


def test_a_broker_s_dynamic_setting_counts_before_its_file():
    data = [replace(disk, settings={UNCLEAN: "true"}) for disk in disks(MIX)]
    assert "by the settings of brokers 1, 2, 3:" in planned(Y, data).refusals[0]
    assert planned(Y, data, live(broker_unclean=dict.fromkeys(ALL, False))).refusals == ()


def test_a_topic_whose_name_only_holds_that_of_an_internal_one_is_repaired():
    name = "archive-of-consumer_offsets"
    assert planned(Y, disks(MIX, name), live(name), name).refusals == ()


def test_internal_topics_are_refused():
    name = "__consumer_offsets"
    plan = planned(Y, disks(MIX, name), live(name), name)
    assert "is Kafka's own" in plan.refusals[0]


def test_logs_without_epochs_are_refused_since_they_would_be_cut_off():
    data = disks(MIX)
    bare = tuple(replace(each, epochless=True) for each in data[0].partitions)
    plan = planned(Y, [replace(data[0], partitions=bare), *data[1:]])
    assert "Broker 1 has 2 partitions of topic t with records and without leader epochs" in plan.refusals[0]


def test_a_disk_that_was_not_seen_a_file_that_cannot_be_read_and_a_recreated_topic_are_refused():
    assert "Not everything was looked at" in planned(Y, disks({1: (X, Y), 2: (X, Y)})).refusals[0]
    data = disks(MIX)
    unread = (PartitionDirectory("t", 0, problem="it is empty", refused=True), data[0].partitions[1])
    assert any("it is empty" in each for each in planned(Y, [replace(data[0], partitions=unread), *data[1:]]).refusals)
    topic = Topic("t", Y, {0: ALL, 1: ALL}, created=2_000_000.0)
    old = [replace(disk, partitions=(PartitionDirectory("t", 0, X, written=1.0), disk.partitions[1])) for disk in data]
    cluster = ClusterTopics("ZooKeeper at zk:2181", True, "c1", {"t": topic})
    plan = plan_repair(compare(cluster, old), cluster, old, live(), "zk:2181")
    assert ("was probably deleted and created again: the topic was created at" in plan.refusals[0], plan.topics) == (
        True,
        (),
    )


AGREED = dict.fromkeys(ALL, (X, X))


@pytest.mark.parametrize("isr", [((1,), ALL), ((), ())], ids=["alone", "leaderless"])
def test_putting_back_needs_nobody_else_in_sync_where_no_election_can_be_unclean(isr):
    assert planned(Y, disks(AGREED), live(isr=isr)).refusals == ()


def test_putting_back_needs_no_clean_elections_where_nobody_was_elected_by_another():
    state = live(isr=((1, 2), (2, 3)), topic_unclean={"t": True})
    assert planned(Y, disks(AGREED), state).refusals == ()


DOUBTFUL = {
    "alone in sync": live(isr=((1,), ALL)),
    "leaderless": live(isr=((), ALL)),
    "in sync are brokers that are down": live(isr=((1, 2), ALL), brokers=frozenset({3})),
}


@pytest.mark.parametrize("state", DOUBTFUL.values(), ids=DOUBTFUL)
def test_an_id_whose_absence_keeps_an_unclean_election_from_being_effective_is_not_put_back(state):
    on = replace(state, topic_unclean={"t": True})
    (refusal,) = planned(Y, disks(AGREED), on).refusals
    assert "is on for topic t, by its own settings: nobody leads t-0, or one replica alone is in sync" in refusal
    unseen = [replace(disk, settings={}) for disk in disks(AGREED)]
    assert "the settings of brokers 1, 2, 3 would say" in planned(Y, unseen, state).refusals[0]
    assert planned(Y, disks(AGREED), state).refusals == ()


# Turns


def test_the_first_broker_has_its_turn_when_it_is_down():
    plan, data = planned(Y, disks(MIX)), disks(MIX)
    assert turn(plan, 1, data[:1], down(1)) == []
    assert turn(plan, 1, data[:1], live()) == [
        "Broker 1 runs, by ZooKeeper's account: stop it, or wait until its session has ended."
    ]


def test_a_later_broker_needs_the_export_of_every_earlier_one_repaired():
    plan, data = planned(Y, disks(MIX)), disks(MIX)
    repaired = disks({1: (Y, Y)})
    assert turn(plan, 3, data[2:], down(3)) == [
        "Broker 1 comes first: name by --merge what it exported after its repair."
    ]
    assert "still has directories with an old id" in turn(plan, 3, [*data[2:], data[0]], down(3))[0]
    assert turn(plan, 3, [*data[2:], *repaired], down(3)) == []


def test_one_broker_at_a_time():
    plan, data = planned(Y, disks(MIX)), disks(MIX)
    both = replace(down(1), brokers=frozenset({2}))
    assert turn(plan, 1, data[:1], both) == ["Broker 3 does not run: one broker at a time."]


def test_conditions_are_looked_at_again_at_each_turn():
    plan, data = planned(Y, disks(MIX)), disks(MIX)
    assert "by its own settings" in turn(plan, 1, data[:1], down(1, topic_unclean={"t": True}))[0]
    offline = replace(down(1), states={"t": {0: PartitionState(-1, (2,)), 1: PartitionState(2, (2, 3))}})
    assert turn(plan, 1, data[:1], offline) == ["Nobody leads t-0, and broker 1 is not the one that could."]


def test_settings_that_decide_by_now_are_those_of_the_plan_where_no_others_are_seen():
    data = [replace(disk, settings={}) for disk in disks(MIX)]
    dynamic = planned(Y, data, live(default_unclean=False))
    assert dynamic.refusals == ()
    assert turn(dynamic, 1, data[:1], down(1, default_unclean=False)) == []
    assert "the settings of brokers 1, 2, 3 would say" in turn(dynamic, 1, data[:1], down(1))[0]
    assert "the settings of brokers 2, 3 would say" in turn(dynamic, 1, disks(MIX)[:1], down(1))[0]
    assert turn(planned(Y, disks(MIX)), 1, data[:1], down(1)) == []
    on = [replace(data[0], settings={UNCLEAN: "true"})]
    assert "by the settings of broker 1:" in turn(planned(Y, disks(MIX)), 1, on, down(1))[0]


def test_a_plan_of_an_earlier_harness_that_kept_no_settings_is_gone_on_with():
    plan = planned(Y, disks(MIX))
    earlier = replace(plan, unclean={})
    assert turn(earlier, 1, disks(MIX)[:1], down(1)) == []
    assert earlier.part(Choice.DELETE, 1) != plan.part(Choice.DELETE, 1)
    told = json.loads(to_json(earlier))
    assert told.pop("unclean") == {}
    assert from_json(RepairPlan, json.dumps(told)) == earlier


def test_a_plan_that_puts_back_as_well_a_refusal_and_a_stranger_have_no_turn():
    plan, data = planned(Y, disks(MIX)), disks(MIX)
    assert "nothing to repair by this plan" in turn(plan, 4, data, live())[0]
    assert turn(replace(plan, refusals=("why.",)), 1, data[:1], down(1)) == ["The plan itself is a refusal: why."]
    both = replace(plan, topics=(*plan.topics, replace(plan.topics[0], topic="u", choice=Choice.PUT_BACK)))
    assert "do that first" in turn(both, 1, data[:1], down(1))[0]


def test_an_id_that_has_changed_since_asks_for_another_plan():
    plan, data = planned(Y, disks(MIX)), disks(MIX)
    cluster = ClusterTopics("ZooKeeper at zk:2181", True, "c1", {"t": Topic("t", Z, {0: ALL, 1: ALL})})
    assert "another id in ZooKeeper" in next(iter(objections(plan, 1, cluster, data[:1], down(1))))


def test_steps_name_each_broker_in_its_turn_with_the_exports_that_it_needs():
    said = steps(planned(Y, disks(MIX)), "plan.json")
    assert [line.split(":")[0] for line in said[:3]] == [f"Broker {each} (1 directory)" for each in (1, 3, 2)]
    assert "--merge broker-1.jsonl --merge broker-3.jsonl --backup backup-2" in said[2]
    assert [("It is the last" in line) for line in said[:3]] == [False, False, True]


EXPORT = "On each broker's host, now: harness topic-ids check --config server.properties --export broker-N.jsonl."
MERGED = "--merge broker-1.jsonl --merge broker-2.jsonl --merge broker-3.jsonl"


def test_a_put_back_has_every_broker_export_its_disks_as_they_are_now():
    first, last = steps(planned(Y, disks(dict.fromkeys(ALL, (X, X)))), "plan.json")
    assert first.endswith(f"harness topic-ids repair plan.json {MERGED} --backup backup-zookeeper --apply")
    assert EXPORT in first
    assert last.startswith(f"Check once more. {EXPORT}")
    assert last.endswith(f"harness topic-ids check --zookeeper zk:2181 {MERGED}")


def test_the_commands_of_steps_are_whole_and_name_how_zookeeper_is_talked_to():
    secured = "--zookeeper-security 'zk 1.toml'"
    put = planned(Y, disks(dict.fromkeys(ALL, (X, X))))
    said = [
        *steps(planned(Y, disks(MIX)), "plan.json", "zk 1.toml"),
        *steps(replace(put, order=(1,)), "plan.json", "zk 1.toml"),
    ]
    commands = [
        f"repair plan.json --config server.properties {secured} --backup backup-1 --apply",
        f"repair plan.json --config server.properties {secured} --merge broker-1.jsonl --backup backup-3 --apply",
        f"repair plan.json --config server.properties {secured} --merge broker-1.jsonl --merge broker-3.jsonl --backup",
        f"check --zookeeper zk:2181 {secured} {MERGED}",
        f"repair plan.json {secured} {MERGED} --backup backup-zookeeper --apply",
        f"plan --zookeeper zk:2181 {secured} {MERGED} --out plan.json",
    ]
    assert [f"harness topic-ids {each}" in line for each, line in zip(commands, said, strict=True)] == [True] * 6
    assert "…" not in "".join(said)


def test_a_plan_survives_json():
    plan = planned(Y, disks(MIX))
    assert from_json(RepairPlan, to_json(plan)) == plan


# ZooKeeper's nodes


def test_a_node_gets_an_id_and_keeps_the_rest():
    old_tool = b'{"version":1,"partitions":{"0":[1,2],"1":[2,3]}}'
    found = with_id(old_tool, X)
    assert json.loads(found) == {"version": 3, "topic_id": X, "partitions": {"0": [1, 2], "1": [2, 3]}}
    new = b'{"partitions":{"0":[1]},"topic_id":"%s","adding_replicas":{"0":[2]},"version":3}' % Y.encode()
    assert json.loads(with_id(new, X)) == {**json.loads(new), "topic_id": X}
    assert parse_topic("t", with_id(new, X), 0.0).topic_id == X
