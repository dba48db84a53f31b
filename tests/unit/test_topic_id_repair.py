"""Repairs of topic ids: which one fits, what is refused, whose turn it is, and what becomes of files."""

import json
import multiprocessing
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from disks_sample import X, Y, Z, broker_disk, metadata
from repair_sample import ALL, MIX, PART, disks, down, live, old_files, planned, turn

from harness.base.errors import HarnessError
from harness.base.json import from_json, to_json
from harness.model.topic_repair import Choice, RepairPlan
from harness.topicids.backups import BackupFolder
from harness.topicids.broker_config import UNCLEAN
from harness.topicids.broker_files import delete_files, files_of, refuse_links, restore_files, stopped
from harness.topicids.comparing import compare
from harness.topicids.planning import plan_repair
from harness.topicids.put_back import with_id
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
    "a deletion": (MIX, live(deleted=frozenset({"t"})), "Topic t waits for its deletion."),
}


@pytest.mark.parametrize(("ids", "state", "says"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_safe_is_refused_with_its_reason(ids, state, says):
    plan = planned(Y, disks(ids), state)
    assert any(says in refusal for refusal in plan.refusals), plan.refusals
    assert (plan.exit_code, steps(plan, "plan.json")) == (3, ())


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


def test_putting_back_needs_neither_all_in_sync_nor_clean_elections():
    state = live(isr=((1,), (1,)), topic_unclean={"t": True})
    assert planned(Y, disks(dict.fromkeys(ALL, (X, X))), state).refusals == ()


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


# Files


def test_only_files_with_an_old_id_of_a_planned_topic_are_found(tmp_path):
    disk, files = old_files(tmp_path)
    assert files == [(disk, disk / "t-0" / "partition.metadata")]


def test_disks_of_another_broker_or_cluster_are_refused(tmp_path):
    plan, (disk, *_) = planned(Y, disks(MIX)), disks(MIX)
    with pytest.raises(HarnessError, match="belongs to broker 1 of cluster c1, and this is about broker 2"):
        files_of(plan, 2, [disk])
    with pytest.raises(HarnessError, match="of cluster c2, and this"):
        files_of(plan, 1, [replace(disk, cluster_id="c2")])


def test_what_is_deleted_was_copied_and_noted_before_and_can_be_restored_with_its_time(tmp_path):
    disk, files = old_files(tmp_path)
    os.utime(files[0][1], ns=(5_000_000_000, 5_000_000_000))
    folder = BackupFolder(tmp_path / "backup")
    backup = folder.copy_all(PART, files)
    assert delete_files(folder, backup) == 1
    assert not (disk / "t-0" / "partition.metadata").exists()
    assert (disk / "other-0" / "partition.metadata").exists()
    noted = json.loads((folder.path / "journal.jsonl").read_text())
    assert (noted["does"], noted["to"]) == ("delete", str(files[0][1]))
    assert restore_files(folder, folder.checked()) == (1, ())
    restored = disk / "t-0" / "partition.metadata"
    assert (restored.read_text(), restored.stat().st_mtime_ns) == (metadata(X), 5_000_000_000)
    assert restore_files(folder, folder.checked()) == (0, ())


def test_a_restore_keeps_what_the_broker_wrote_meanwhile(tmp_path):
    disk, files = old_files(tmp_path)
    folder = BackupFolder(tmp_path / "backup")
    delete_files(folder, folder.copy_all(PART, files))
    (disk / "t-0" / "partition.metadata").write_text(metadata(Y))
    restore_files(folder, folder.checked())
    assert (disk / "t-0" / "partition.metadata").read_text() == metadata(X)
    assert [each.read_text() for each in (folder.path / "replaced").iterdir()] == [metadata(Y)]


def test_a_repair_that_was_cut_short_goes_on(tmp_path):
    disk = broker_disk(tmp_path / "d", 1, {"t-0": X, "t-1": X})
    files = [(disk, disk / f"t-{number}" / "partition.metadata") for number in (0, 1)]
    folder = BackupFolder(tmp_path / "backup")
    folder.copy_all(PART, files)
    files[0][1].unlink()  # and then it was killed
    again = folder.copy_all(PART, files[1:])
    assert (len(again.files), delete_files(folder, again)) == (2, 1)
    assert restore_files(folder, folder.checked()) == (2, ())


def test_a_copy_that_was_cut_short_begins_anew_since_nothing_had_changed(tmp_path):
    _, files = old_files(tmp_path)
    folder = BackupFolder(tmp_path / "backup")
    (folder.path / "files" / "0" / "t-0").mkdir(parents=True)
    (folder.path / "files" / "0" / "t-0" / "partition.metadata").write_text("half")
    assert folder.copy_all(PART, files).files[0].written_ns > 0
    assert folder.checked().files


def test_a_file_that_has_changed_since_is_left(tmp_path):
    disk, files = old_files(tmp_path)
    folder = BackupFolder(tmp_path / "backup")
    backup = folder.copy_all(PART, files)
    (disk / "t-0" / "partition.metadata").write_text(metadata(Y))
    with pytest.raises(HarnessError, match=r"has changed since it was backed up; 0 files were deleted before it\."):
        delete_files(folder, backup)
    assert (disk / "t-0" / "partition.metadata").read_text() == metadata(Y)


def test_a_backup_that_was_damaged_is_not_restored(tmp_path):
    _, files = old_files(tmp_path)
    folder = BackupFolder(tmp_path / "backup")
    backup = folder.copy_all(PART, files)
    (folder.path / backup.files[0].copy).write_text(metadata(Y))
    with pytest.raises(HarnessError, match="is not what was backed up"):
        folder.checked()
    with pytest.raises(HarnessError, match=r"is no backup of a repair: it has no backup\.json"):
        BackupFolder(tmp_path / "nothing").checked()


def test_a_full_disk_ends_the_backup_and_leaves_nothing_behind(tmp_path, monkeypatch):
    disk, files = old_files(tmp_path)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    folder = BackupFolder(tmp_path / "backup")
    with pytest.raises(HarnessError, match=r"No space left on device\. Nothing was changed\."):
        folder.copy_all(PART, files)
    assert not folder.path.exists()
    assert (disk / "t-0" / "partition.metadata").read_text() == metadata(X)


def test_a_folder_with_something_else_in_it_is_no_place_for_a_backup(tmp_path):
    _, files = old_files(tmp_path)
    (tmp_path / "backup").mkdir()
    (tmp_path / "backup" / "holiday.jpg").write_text("")
    with pytest.raises(HarnessError, match="is not empty, and no backup of a repair"):
        BackupFolder(tmp_path / "backup").copy_all(PART, files)


def test_links_are_refused(tmp_path):
    disk, files = old_files(tmp_path)
    refuse_links(path for _, path in files)
    (disk / "t-0").rename(tmp_path / "elsewhere")
    (disk / "t-0").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HarnessError, match=r"t-0 is a link\. Nothing was changed\."):
        refuse_links(path for _, path in files)


def hold_as_a_broker_does(path: Path, ready, over) -> None:
    import fcntl

    with path.open("w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)  # what Java's FileChannel.tryLock asks the kernel for
        ready.set()
        over.wait(30)


def test_a_broker_that_runs_is_noticed_by_its_lock_and_one_that_starts_meanwhile_is_kept_out(tmp_path):
    disk = broker_disk(tmp_path / "d", 1, ["t-0"])
    fork = multiprocessing.get_context("spawn")
    ready, over = fork.Event(), fork.Event()
    broker = fork.Process(target=hold_as_a_broker_does, args=(disk / ".lock", ready, over))
    broker.start()
    assert ready.wait(30)
    with pytest.raises(HarnessError, match=r"A broker runs on .*: it holds \.lock"), stopped([disk]):
        pass
    over.set()
    broker.join(30)
    with stopped([disk]):
        starts = fork.Process(target=starts_as_a_broker_does, args=(disk / ".lock",))
        starts.start()
        starts.join(30)
        assert starts.exitcode == 7
    starts = fork.Process(target=starts_as_a_broker_does, args=(disk / ".lock",))
    starts.start()
    starts.join(30)
    assert starts.exitcode == 0


def starts_as_a_broker_does(path: Path) -> None:
    import fcntl
    import sys

    with path.open("w") as lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(7)


def test_a_file_that_cannot_be_deleted_is_a_sentence(tmp_path, monkeypatch):
    disk, files = old_files(tmp_path)
    folder = BackupFolder(tmp_path / "backup")
    backup = folder.copy_all(PART, files)

    def refused(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refused)
    with pytest.raises(HarnessError, match=r"cannot be deleted: Permission denied\. Work as the user"):
        delete_files(folder, backup)
    assert stat.S_ISREG((disk / "t-0" / "partition.metadata").stat().st_mode)
