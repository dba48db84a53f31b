"""An id that is put back, beside partitions and directories that came after the plan was made."""

import json
import sys
from dataclasses import replace

import pytest
from disks_sample import X, Y, broker_disk, metadata, properties_of
from ensemble_sample import Ensemble, connect_to, node, plan
from hypothesis import given
from hypothesis import strategies as st
from repair_sample import OFF

from harness.base.errors import HarnessError
from harness.cli import app as cli
from harness.model.topic_repair import Choice, TopicRepair
from harness.stages import topic_id_repair as stage
from harness.stages.topic_id_plan import write_plan
from harness.stages.topic_ids import Sources
from harness.topicids.backups import BackupFolder
from harness.topicids.disks import read_data_directory
from harness.topicids.export import write_export
from harness.topicids.node_changes import moved


@pytest.fixture
def broker(tmp_path):
    """Return broker 1's data directory, with the id that is to be put back, and its server.properties."""
    disk = broker_disk(tmp_path / "d", 1, {"t-0": X})
    return disk, Sources(configs=(properties_of(disk, 1),))


@pytest.fixture
def repair(monkeypatch, tmp_path, broker):
    def run(ensemble, made, disks=broker[1], apply=True):
        connect_to(ensemble, monkeypatch)
        return list(stage.repair_zookeeper(made, disks, BackupFolder(tmp_path / "backup"), None, apply=apply))

    return run


# Partitions


@pytest.mark.parametrize(
    ("now", "says"),
    [
        (node(Y, p1=[1], p2=[1]), "it has partitions 1-2 too"),
        (node(Y).replace(b"[1]", b"[1, 4]"), "partition 0 is on other brokers"),
        (node(Y).replace(b"[1]", b"[4]"), "partition 0 is on other brokers"),
    ],
    ids=["added", "one more replica", "moved"],
)
def test_partitions_that_came_since_the_plan_are_refused_before_anything_is_changed(repair, tmp_path, now, says):
    """As by Kafka's own tool, which leaves the id in ZooKeeper, and gives it to their directories."""
    zk = Ensemble(t=Y)
    zk.put("/brokers/topics/t", now)
    for apply in (False, True):
        with pytest.raises(HarnessError, match=f"is not as the plan has it in ZooKeeper: {says}. Nothing was changed"):
            repair(zk, plan(t=Y), apply=apply)
    assert (zk.did, zk.nodes["/brokers/topics/t"][0], (tmp_path / "backup").exists()) == ([], now, False)


_REPLICAS = st.dictionaries(st.integers(0, 9), st.sets(st.integers(0, 4), min_size=1).map(tuple), max_size=5)


@given(_REPLICAS, _REPLICAS)
def test_partitions_have_changed_just_where_one_is_added_or_is_on_other_brokers(before, now):
    now = {**dict.fromkeys(before, (1,)), **now}  # none is ever removed
    same = {number: {*brokers} for number, brokers in now.items()} == {
        number: {*brokers} for number, brokers in before.items()
    }
    assert (moved(before, now) == "") is same


def test_replicas_in_another_order_are_the_same_brokers(repair):
    zk, made = Ensemble(t=Y), plan(t=Y)
    zk.put("/brokers/topics/t", node(Y).replace(b"[1]", b"[2, 1]"))
    zk.put("/config/topics/t", b'{"version":1,"config":{"unclean.leader.election.enable":"false"}}')
    repair(zk, replace(made, topics=(replace(made.topics[0], replicas={0: (1, 2)}),)))
    assert zk.id_of("t") == X


def test_a_plan_that_does_not_say_who_had_partitions_is_made_again(repair):
    zk = Ensemble(t=Y)
    made = replace(plan(t=Y), topics=(TopicRepair("t", Choice.PUT_BACK, Y, (X,), ()),))
    with pytest.raises(HarnessError, match="the plan does not say who had its partitions") as error:
        repair(zk, made)
    assert (zk.did, error.value.hint) == ([], "Make the plan again: harness topic-ids plan")


def test_partitions_that_come_while_it_is_put_back_are_told_of(repair):
    zk = Ensemble(t=Y)
    zk.before_delete = lambda _: zk.put("/brokers/topics/t", node(X, p1=[1]))
    with pytest.raises(HarnessError, match="is back in ZooKeeper, and meanwhile it has partition 1 too") as error:
        repair(zk, plan(t=Y))
    assert error.value.hint == "Restart no broker before a check of every disk: harness topic-ids check"


# Disks


def test_disks_that_are_named_are_compared_afterwards(repair, broker):
    assert repair(Ensemble(t=Y), plan(t=Y), broker[1])[-1] == "No directory of broker 1 differs from them."


def test_a_directory_that_has_the_other_id_by_now_is_refused_before_anything_is_changed(repair, broker, tmp_path):
    disk, named = broker
    (disk / "t-0" / "partition.metadata").write_text(metadata(Y))  # by a broker that wrote what was missing
    zk = Ensemble(t=Y)
    says = rf"Directories of topic t are “different” beside that id: broker 1, {disk}: 0\."
    with pytest.raises(HarnessError, match=f"It was not done. {says}") as error:
        repair(zk, plan(t=Y), named)
    assert (zk.did, zk.id_of("t"), (tmp_path / "backup").exists()) == ([], Y, False)
    assert error.value.hint == "Make the plan again: harness topic-ids plan"
    assert f"not now: Directories of topic t are “different” beside that id: broker 1, {disk}: 0." in repair(
        zk, plan(t=Y), named, apply=False
    )


def test_a_directory_that_gets_the_other_id_meanwhile_is_told_of(repair, broker):
    disk, named = broker
    zk = Ensemble(t=Y)
    zk.before_delete = lambda _: (disk / "t-0" / "partition.metadata").write_text(metadata(Y))
    with pytest.raises(HarnessError, match="The ids are back in ZooKeeper, and not every disk has them") as error:
        repair(zk, plan(t=Y), named)
    assert error.value.hint == "Restart no broker, and make the plan again: harness topic-ids plan"


def test_other_topics_and_directories_without_a_file_are_no_objection(repair, broker):
    disk, named = broker
    (disk / "t-0" / "partition.metadata").unlink()
    broker_disk(disk, 1, {"u-0": X})
    zk = Ensemble(t=Y)
    zk.put("/brokers/topics/u", node(Y))
    assert repair(zk, plan(t=Y), named)[-1] == "No directory of broker 1 differs from them."


def test_exports_are_disks_and_those_of_another_cluster_are_refused(repair, broker, tmp_path):
    disk, _ = broker
    export = write_export(tmp_path / "e.jsonl", [replace(read_data_directory(disk), settings=OFF)])
    zk = Ensemble(t=Y)
    assert repair(zk, plan(t=Y), Sources(merge=(export,)))[-1] == "No directory of broker 1 differs from them."
    other = write_export(tmp_path / "o.jsonl", [read_data_directory(broker_disk(tmp_path / "o", 1, ["t-0"], "c2"))])
    zk = Ensemble(t=Y)
    with pytest.raises(HarnessError, match="belongs to cluster c2"):
        repair(zk, plan(t=Y), Sources(merge=(other,)))
    assert (zk.did, zk.id_of("t")) == ([], Y)


def test_an_id_is_not_put_back_before_the_disks_of_every_broker_were_looked_at(repair, tmp_path):
    zk, made = Ensemble(t=Y), replace(plan(t=Y), brokers=(1, 2, 3))
    with pytest.raises(
        HarnessError, match=r"The disks of brokers 2, 3 were not looked at\. Nothing was changed"
    ) as error:
        repair(zk, made)
    assert "--config, or by --merge what its host exported now" in error.value.hint
    with pytest.raises(HarnessError, match=r"The disks of brokers 1, 2, 3 were not looked at\."):
        repair(zk, made, Sources())
    assert ([each for each in zk.did if each != "sync /"], (tmp_path / "backup").exists()) == ([], False)
    assert "not now: The disks of brokers 2, 3 were not looked at." in repair(zk, made, apply=False)


def test_a_repair_that_has_begun_ends_without_disks_and_says_so(repair):
    zk = Ensemble(t=Y)
    repair(zk, plan(t=Y))
    assert repair(zk, plan(t=Y), Sources())[-1] == (
        "No disk was looked at: check once more, with every broker's export."
    )


def test_how_old_an_export_is_is_said_before_it_is_trusted(repair, broker, tmp_path):
    old = replace(read_data_directory(broker[0]), settings=OFF, exported=5.0)
    export = write_export(tmp_path / "e.jsonl", [old])
    for apply in (False, True):
        said = repair(Ensemble(t=Y), plan(t=Y), Sources(merge=(export,)), apply=apply)[0]
        assert said.startswith("The disks of broker 1 are as they were exported at 1970-01-01 00:00 UTC, ")


def test_a_backup_of_nodes_is_not_put_into_a_data_directory_either(monkeypatch, broker):
    disk, named = broker
    connect_to(Ensemble(t=Y), monkeypatch)
    with pytest.raises(HarnessError, match="is in the data directory"):
        list(stage.repair_zookeeper(plan(t=Y), named, BackupFolder(disk / "b"), None, apply=True))


# The command


@pytest.fixture
def harness(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["harness", "topic-ids", *map(str, arguments)])
        code = cli._run()
        out, err = capsys.readouterr()
        return code, " ".join((out + err).split())

    return run


def test_the_command_does_what_of_a_plan_comes_first_and_reads_the_disks_that_it_names(
    harness, monkeypatch, broker, tmp_path
):
    disk, named = broker
    zk = Ensemble(t=Y)
    connect_to(zk, monkeypatch)
    write_plan(plan(t=Y), tmp_path / "plan.json")
    code, said = harness("repair", "plan.json", "--config", named.configs[0], "--backup", "b", "--apply")
    assert (code, said.endswith("No directory of broker 1 differs from them."), zk.id_of("t")) == (0, True, X)
    assert json.loads((tmp_path / "b" / "backup.json").read_text())["nodes"][0]["path"] == "/brokers/topics/t"
    assert (disk / "t-0" / "partition.metadata").read_text() == metadata(X)


def test_files_are_deleted_on_one_broker_at_a_time(harness, broker, tmp_path):
    made = replace(plan(), topics=(TopicRepair("t", Choice.DELETE, Y, (X,), (), {0: (1,)}),), order=(1,))
    write_plan(made, tmp_path / "plan.json")
    config = broker[1].configs[0]
    code, said = harness("repair", "plan.json", "--config", config, "--config", "other", "--backup", "b", "--apply")
    assert (code, said) == (
        2,
        "error: Files are deleted on one broker at a time, and 2 are named. Name the server.properties of the broker "
        "that is down by --config, and exports of others by --merge.",
    )
    code, said = harness("repair", "plan.json", "--backup", "b", "--apply")
    assert (code, said.startswith("error: By this plan nothing is put back in ZooKeeper. Name a broker's")) == (2, True)


# Elections

UNCLEAN_ON = "unclean.leader.election.enable=true"
TWO = {0: (1, 2)}


def in_sync(zk: Ensemble, *brokers: int, leader: int = 1) -> Ensemble:
    """Have a topic of two replicas, both brokers running, and these in sync."""
    zk.put("/brokers/topics/t", node(Y).replace(b"[1]", b"[1, 2]"))
    state = json.dumps({"leader": leader, "isr": brokers}).encode()
    zk.put("/brokers/topics/t/partitions/0/state", state)
    for broker in (1, 2):
        zk.put(f"/brokers/ids/{broker}", b"{}")
    return zk


def of_two(made):
    return replace(made, topics=(replace(made.topics[0], replicas=TWO),))


@pytest.mark.parametrize(("isr", "leader"), [([1], 1), ([1], -1)], ids=["alone", "leaderless"])
def test_an_id_is_not_put_back_where_that_would_make_an_unclean_election_effective(
    repair, tmp_path, broker, isr, leader
):
    properties_of(broker[0], 1, UNCLEAN_ON)
    zk = in_sync(Ensemble(t=Y), *isr, leader=leader)
    zk.put("/config/brokers/2", b'{"version":1,"config":{"unclean.leader.election.enable":"false"}}')
    says = "is on for topic t, by the settings of broker 1: nobody leads t-0, or one replica alone is in sync"
    with pytest.raises(HarnessError, match=f"It was not done. .*{says}.*Nothing was changed"):
        repair(zk, of_two(plan(t=Y)))
    assert ([each for each in zk.did if not each.startswith("sync")], (tmp_path / "backup").exists()) == ([], False)
    assert any(each.startswith("not now: ") and says in each for each in repair(zk, of_two(plan(t=Y)), apply=False))


def test_an_id_is_not_put_back_where_nobody_has_seen_whether_such_an_election_could_be(repair, broker):
    zk = in_sync(Ensemble(t=Y), 1)
    with pytest.raises(HarnessError, match="for topic t, the settings of broker 2 would say"):
        repair(zk, of_two(plan(t=Y)))
    assert zk.id_of("t") == Y


def test_a_repair_that_has_begun_ends_whatever_elections_there_may_be(repair, broker):
    zk, made = in_sync(Ensemble(t=Y), 1, 2), of_two(plan(t=Y))
    zk.before_delete = lambda _: (_ for _ in ()).throw(KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        repair(zk, made)
    zk.before_delete = lambda _: None
    in_sync_now = json.dumps({"leader": 1, "isr": [1]}).encode()
    zk.put("/brokers/topics/t/partitions/0/state", in_sync_now)
    assert "was elected and kept these ids" in repair(zk, made)[-2]
