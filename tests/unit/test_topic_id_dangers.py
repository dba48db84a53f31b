"""What forbids a repair of topic ids: settings as Kafka reads them, whoever may lead, and what has changed since."""

import json
from dataclasses import replace

import pytest
from disks_sample import X, Y
from repair_sample import ALL, MIX, OFF, WRITTEN, disks, down, live, planned, turn

from harness.base.errors import HarnessError
from harness.model.topic_repair import Choice
from harness.topicids.broker_config import UNCLEAN, is_unclean, parse_broker_config, read_broker_config, same_ensemble
from harness.topicids.comparing import compare
from harness.topicids.live_state import read_live_state
from harness.topicids.planning import plan_repair
from harness.topicids.records import ClusterTopics, DataDirectory, PartitionDirectory, Topic
from harness.topicids.turns import objections
from harness.topicids.zookeeper import Node
from harness.topicids.zookeeper_nodes import PartitionState, parse_topic

ZK = "zookeeper.connect=zk:2181\n"

# server.properties


@pytest.mark.parametrize(
    ("line", "unclean"),
    [
        ("", False),
        (f"{UNCLEAN}=false", False),
        (f"{UNCLEAN} : false  ", False),
        (f"{UNCLEAN}: true", True),
        (f"{UNCLEAN} true", True),
        (f"{UNCLEAN}=\\\n  true", True),
        (f"{UNCLEAN}=tr\\u0075e", True),
        (f"{UNCLEAN}=false\n{UNCLEAN}=true", True),
        (f"{UNCLEAN}=${{env:UNCLEAN}}", None),
        (f"{UNCLEAN}=", None),
        (f"{UNCLEAN}=no", None),
    ],
)
def test_only_a_plain_false_or_no_setting_at_all_turns_unclean_elections_off(line, unclean):
    assert is_unclean(parse_broker_config(ZK + line).settings[UNCLEAN]) is unclean


def test_a_comment_in_utf8_never_becomes_a_setting(tmp_path):
    config = tmp_path / "server.properties"
    config.write_text(f"{ZK}# Å {UNCLEAN}=true\n", encoding="utf-8")  # the second byte of Å is a line's end elsewhere
    assert read_broker_config(config).settings == OFF


def test_data_directories_are_read_as_kafka_reads_a_list():
    found = parse_broker_config("zookeeper.connect: zk:2181\nlog.dirs: /a, /b ,, \n")
    assert ([str(path) for path in found.data], found.zookeeper) == (["/a", "/b"], "zk:2181")


def test_a_folder_is_named_as_kafka_decodes_it_which_is_never_utf8(tmp_path):
    (tmp_path / "s").write_text(f"{ZK}log.dirs=/\u00e9\n", encoding="utf-8")
    assert str(read_broker_config(tmp_path / "s").data[0]) == "/\u00c3\u00a9"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("log.dirs=/a\n", "neither zookeeper.connect nor process.roles"),
        (f"{ZK}log.dirs=data\n", "the folder data depends on where the broker was started"),
        (f"{ZK}log.dirs= , \n", "names no folder"),
        (f"{ZK}x=\\u12\n", "wants four hex digits"),
    ],
)
def test_what_is_no_broker_s_configuration_is_a_sentence(tmp_path, text, says):
    (tmp_path / "s").write_text(text)
    with pytest.raises(HarnessError, match=says):
        read_broker_config(tmp_path / "s")


def test_a_broker_with_roles_has_a_metadata_log_though_a_migration_names_zookeeper():
    found = parse_broker_config(f"{ZK}process.roles=broker\nlog.dirs=/a\n")
    assert (found.zookeeper, str(found.metadata_log)) == ("", "/a/__cluster_metadata-0")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("zk1:2181,zk2:2181/kafka", "zk2, zk3/kafka/", True),
        ("zk1:2181", "zk1:2181/", True),
        ("zk1:2181", "zk1:2182", False),
        ("zk1/kafka", "zk1/other", False),
        ("zk1", "zk2", False),
    ],
)
def test_brokers_have_one_ensemble_where_they_name_a_server_in_common_and_one_chroot(one, other, same):
    assert same_ensemble(one, other) is same_ensemble(other, one) is same


# Who may lead


def test_a_broker_without_a_replica_may_become_the_controller_and_is_asked_too():
    state = live(brokers=frozenset({1, 2, 3, 4}))
    stranger = DataDirectory("/d", 4, "c1", (), settings={UNCLEAN: "true"})
    assert "by the settings of broker 4:" in planned(Y, [*disks(MIX), stranger], state).refusals[0]
    assert "the settings of broker 4 would say" in planned(Y, disks(MIX), state).refusals[0]
    fine = replace(stranger, settings=OFF)
    assert planned(Y, [*disks(MIX), fine], state).refusals == ()
    assert (
        "by the settings of broker 4:"
        in planned(Y, [*disks(MIX), fine], replace(state, broker_unclean={4: True})).refusals[0]
    )


def test_a_setting_that_may_mean_anything_is_asked_for():
    data = [replace(disk, settings={UNCLEAN: "${env:X}"}) for disk in disks(MIX)]
    assert "the settings of brokers 1, 2, 3 would say" in planned(Y, data).refusals[0]


def test_the_dynamic_default_counts_where_a_broker_says_nothing():
    assert "brokers 1, 2, 3:" in planned(Y, disks(MIX), live(default_unclean=True)).refusals[0]
    state = live(default_unclean=True, broker_unclean=dict.fromkeys(ALL, False))
    assert planned(Y, disks(MIX), state).refusals == ()


class Nodes:
    """Nodes of a ZooKeeper, read as the connection reads them."""

    def __init__(self, nodes: dict[str, bytes]) -> None:
        self.nodes = {"/brokers/ids/1": b"", "/controller": b'{"brokerid":1}', **nodes}

    def children(self, path: str) -> list[str]:
        return sorted(each[len(path) + 1 :] for each in self.nodes if each.startswith(f"{path}/"))

    def get_all(self, paths):
        return (Node(path, self.nodes[path], 0, 0.0) for path in paths if path in self.nodes)

    def get(self, path: str) -> Node | None:
        return next(self.get_all([path]), None)


def config(value: str) -> bytes:
    return b'{"version":1,"config":{"%s":"%s"}}' % (UNCLEAN.encode(), value.encode())


def test_dynamic_settings_of_brokers_that_are_down_are_read_too():
    found = read_live_state(
        Nodes({"/config/brokers/3": config("true"), "/config/brokers/<default>": config("false")}), []
    )
    assert (dict(found.broker_unclean), found.default_unclean, found.brokers) == ({3: True}, False, frozenset({1}))


@pytest.mark.parametrize(("value", "unclean"), [(" true ", True), (" false ", False), ("maybe", True)])
def test_dynamic_settings_are_stripped_and_anything_but_false_is_on(value, unclean):
    assert dict(read_live_state(Nodes({"/config/brokers/3": config(value)}), []).broker_unclean) == {3: unclean}


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/brokers/ids/seed", "/brokers/ids/seed in ZooKeeper is named after no broker"),
        ("/brokers/ids/" + "9" * 5000, "is named after no broker"),
        ("/config/brokers/1", "/config/brokers/1 cannot be read in ZooKeeper"),
    ],
)
def test_nodes_that_cannot_be_read_are_sentences_with_their_path(path, says):
    with pytest.raises(HarnessError, match=says):
        read_live_state(Nodes({path: b"{"}), [])


@pytest.mark.parametrize(
    ("adding", "removing", "is_reassigned"), [({}, {}, False), ({"0": [3]}, {}, True), ({}, {"0": [1]}, True)]
)
def test_a_reassignment_by_brokers_stands_in_the_topic_s_own_node(adding, removing, is_reassigned):
    node = {"partitions": {"0": [1, 2]}, "adding_replicas": adding, "removing_replicas": removing, "version": 3}
    topic = parse_topic("t", json.dumps(node).encode(), 0.0)
    assert read_live_state(Nodes({}), [topic]).reassigning is is_reassigned


def test_a_reassignment_by_zookeeper_stands_in_a_node_of_its_own():
    assert read_live_state(Nodes({"/admin/reassign_partitions": b"{}"}), []).reassigning


def test_a_kraft_controller_that_has_taken_over_forbids_every_repair():
    migrating = Nodes({"/controller": b'{"version":2,"brokerid":3000,"kraftControllerEpoch":7}'})
    epoch = read_live_state(migrating, []).kraft_epoch
    assert (epoch, read_live_state(Nodes({}), []).kraft_epoch) == (7, -1)
    zk = Nodes({"/controller": b'{"version":2,"brokerid":1,"kraftControllerEpoch":-1}'})
    assert read_live_state(zk, []).kraft_epoch == -1
    for ids in (MIX, dict.fromkeys(ALL, (X, X))):
        assert "A KRaft controller leads (epoch 7" in planned(Y, disks(ids), live(kraft_epoch=7)).refusals[0]
    assert "A KRaft controller" in turn(planned(Y, disks(MIX)), 1, disks(MIX)[:1], down(1, kraft_epoch=7))[0]


# How old files are


def aged(ids, created: float, **changes):
    data = [
        replace(disk, partitions=tuple(replace(each, **changes) for each in disk.partitions)) for disk in disks(ids)
    ]
    topic = Topic("t", Y, {0: ALL, 1: ALL}, created)
    cluster = ClusterTopics("ZooKeeper at zk:2181", True, "c1", {"t": topic})
    return plan_repair(compare(cluster, data), cluster, data, live(), "zk:2181")


@pytest.mark.parametrize("ids", [MIX, dict.fromkeys(ALL, (X, X))])
def test_a_node_that_is_younger_than_its_files_by_however_little_is_refused(ids):
    assert "older than its node in ZooKeeper" in aged(ids, WRITTEN + 0.001).refusals[0]
    assert aged(ids, WRITTEN).refusals == ()


@pytest.mark.parametrize("ids", [MIX, dict.fromkeys(ALL, (X, X))])
def test_copied_files_whose_age_nobody_knows_are_no_ground_for_any_repair(ids):
    """A topic that was removed by hand and created again would get the id of the one that is gone."""
    assert "When files of topic t were written, nobody knows" in aged(ids, 1.0, written=0.0).refusals[0]


def test_a_partition_that_is_moved_between_data_directories_is_waited_for():
    data = disks(MIX)
    moved = PartitionDirectory("t", 0, X, written=WRITTEN, folder=f"t-0.{'0' * 32}-future")
    data[2] = replace(data[2], partitions=(*data[2].partitions, moved))
    assert planned(Y, data).refusals == (
        "Broker 3 moves t-0 between data directories: wait until it has, or cancel it.",
    )


# Everything again, at each turn


def own_disk(**changes) -> DataDirectory:
    disk = disks(MIX)[0]
    return replace(disk, partitions=tuple(replace(each, **changes) for each in disk.partitions))


@pytest.mark.parametrize(
    ("own", "state", "says"),
    [
        (own_disk(epochless=True), down(1), "without leader epochs"),
        (own_disk(), down(1, reassigning=True), "Partitions are being reassigned"),
        (own_disk(), down(1, deleted=frozenset({"t"})), "waits for its deletion"),
        (own_disk(), down(1, topic_unclean={"t": True}), "is on for topic t"),
        (own_disk(), down(1, default_unclean=True), "is on for topic t"),
        (own_disk(problem="it is empty", refused=True, topic_id=""), down(1), "“unreadable” (it is empty)"),
        (own_disk(topic_id="Vb1sVo9MQ6qUlkIuG8UUsw"), down(1), "“different”, and the plan does not know"),
        (
            replace(own_disk(), problems=("/d/meta.properties cannot be read.",)),
            down(1),
            "Not everything was looked at",
        ),
        (replace(own_disk(), partitions=own_disk().partitions[:1]), down(1), "Broker 1 has no directory for 1 replica"),
        (own_disk(), replace(down(1), brokers=frozenset({2, 3, 4})), "Broker 4 runs, and the plan knows nothing of it"),
    ],
)
def test_what_has_come_about_since_the_plan_is_an_objection(own, state, says):
    said = turn(planned(Y, disks(MIX)), 1, [own], state)
    assert any(says in each for each in said), said


def test_disks_of_another_cluster_have_no_turn():
    with pytest.raises(HarnessError, match="belongs to cluster c2"):
        turn(planned(Y, disks(MIX)), 1, [replace(own_disk(), cluster_id="c2")], down(1))


def alone(broker: int):
    state = PartitionState(-1, (broker,))
    return replace(down(broker), states={"t": {0: state, 1: state}})


def test_only_the_last_broker_may_be_alone_in_sync():
    plan = planned(Y, disks(MIX))
    assert plan.order == (1, 3, 2)
    assert turn(plan, 1, disks(MIX)[:1], alone(1)) == [
        f"Nobody but broker 1 is in sync for t-{number}: wait until others are." for number in (0, 1)
    ]
    repaired = disks({1: (Y, Y), 3: (Y, Y)})
    assert turn(plan, 2, [disks(MIX)[1], *repaired], alone(2)) == []


def test_the_last_of_a_partition_s_own_brokers_may_be_alone_though_others_come_later():
    plan = planned(Y, disks(MIX))
    topic = Topic("t", Y, {0: (1, 3), 1: ALL})
    cluster = ClusterTopics("ZooKeeper at zk:2181", True, "c1", {"t": topic})
    states = {0: PartitionState(-1, (3,)), 1: PartitionState(2, (2,))}
    state = replace(down(3), states={"t": states})
    data = [disks(MIX)[2], *disks({1: (Y, Y)})]
    assert list(objections(plan, 3, cluster, data, state)) == []


def test_a_partition_that_came_to_the_broker_since_the_plan_is_an_objection_and_an_orphan_is_none():
    plan = planned(Y, disks(MIX))
    disk = own_disk()
    more = replace(disk, partitions=(*disk.partitions, PartitionDirectory("t", 2, X, written=WRITTEN)))
    topic = Topic("t", Y, dict.fromkeys(range(3), ALL))
    cluster = ClusterTopics("ZooKeeper at zk:2181", True, "c1", {"t": topic})
    states = {number: PartitionState(2, (2, 3)) for number in range(3)}
    state = replace(down(1), states={"t": states})
    assert list(objections(plan, 1, cluster, [more], state)) == [
        "Directories of topic t are “different”, and the plan does not know of it: broker 1, /d: 0, 2."
    ]
    assert turn(plan, 1, [more], down(1)) == [], "of a topic with two partitions nobody serves a third"


def test_an_orphan_with_an_old_id_is_no_reason_to_wait_for_an_earlier_broker():
    plan = planned(Y, disks(MIX))
    repaired = disks({1: (Y, Y)})[0]
    orphan = replace(repaired, partitions=(*repaired.partitions, PartitionDirectory("t", 7, X)))
    assert turn(plan, 3, [disks(MIX)[2], orphan], down(3)) == []


# What shows that an earlier broker is repaired


def partitions(*ids: str, **changes) -> tuple[PartitionDirectory, ...]:
    return tuple(PartitionDirectory("t", number, each, **changes) for number, each in enumerate(ids))


@pytest.mark.parametrize(
    ("export", "says"),
    [
        (DataDirectory("/other", 1, "c1", ()), "does not show that t-0 is repaired"),
        (DataDirectory("/d", 1, "zzz", partitions(Y, Y)), "is of another cluster"),
        (DataDirectory("/d", 1, "", partitions(Y, Y)), "is of another cluster"),
        (DataDirectory("/d", 1, "c1", partitions("Vb1sVo9MQ6qUlkIuG8UUsw", Y)), "does not show that t-0 is repaired"),
        (DataDirectory("/d", 1, "c1", partitions(Y, Y, folder=f"t-0.{'0' * 32}-future")), "does not show that t-0"),
        (DataDirectory("/d", 1, "c1", partitions("", Y, problem="it is empty")), "does not show that t-0"),
        (DataDirectory("/d", 1, "c1", partitions(X, Y)), "still has directories with an old id"),
    ],
)
def test_an_export_that_does_not_show_every_planned_place_repaired_is_no_evidence(export, says):
    plan = planned(Y, disks(MIX))
    assert any(says in each for each in turn(plan, 3, [disks(MIX)[2], export], down(3)))


@pytest.mark.parametrize("topic_id", [Y, ""])  # without a file until the partition's next leader, in 2.8
def test_an_export_that_shows_every_planned_place_without_its_old_id_is_enough(topic_id):
    plan = planned(Y, disks(MIX))
    assert plan.chosen(Choice.DELETE)
    assert turn(plan, 3, [disks(MIX)[2], DataDirectory("/d", 1, "c1", partitions(topic_id, Y))], down(3)) == []


# Tiered storage


@pytest.mark.parametrize(("said", "refused"), [("true", True), ("yes", True), ("false", False), (None, False)])
def test_files_of_a_topic_whose_older_records_lie_in_remote_storage_are_not_deleted(said, refused):
    config = {"remote.storage.enable": said} if said else {}
    zookeeper = Nodes({"/config/topics/t": json.dumps({"version": 1, "config": config}).encode()})
    tiered = read_live_state(zookeeper, [Topic("t", Y, {})]).tiered
    refusals = planned(Y, disks(MIX), live(tiered=tiered)).refusals
    objected = turn(planned(Y, disks(MIX)), 1, disks(MIX)[:1], down(1, tiered=tiered))
    assert [any("remote storage" in each for each in told) for told in (refusals, objected)] == [refused] * 2
