"""What a repair of topic ids keeps: never taken for another's, never removed, on the disk, and restored as it was."""

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from disks_sample import X, Y, Z, broker_disk, metadata
from repair_sample import MIX, PART, disks, old_files, planned

from harness.base.errors import HarnessError
from harness.base.json import from_json, to_json
from harness.model.topic_repair import Backup, Choice, SavedNode
from harness.stages import topic_id_repair as stage
from harness.topicids.backups import BackupFolder
from harness.topicids.broker_files import check_places, check_stopped, delete_files, restore_files, stopped


@pytest.fixture
def backup(tmp_path) -> BackupFolder:
    return BackupFolder(tmp_path / "backup")


def repaired(backup: BackupFolder, tmp_path: Path, *names: str) -> tuple[Path, Backup]:
    """Return a broker's disk, its files deleted, and what was kept of them."""
    disk = broker_disk(tmp_path / "d", 1, names)
    kept = backup.copy_all(PART, [(disk, disk / name / "partition.metadata") for name in names])
    delete_files(backup, kept, paths_of(kept))
    return disk, kept


def paths_of(kept: Backup) -> set[Path]:
    return {Path(each.path) for each in kept.files}


def names_in(folder: Path) -> set[str]:
    return {str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file()}


# Nothing that was kept is removed


def test_the_copies_of_a_repair_whose_manifest_is_lost_stay(backup, tmp_path):
    repaired(backup, tmp_path, "t-0", "t-1")
    (backup.path / "backup.json").unlink()
    before = names_in(backup.path)
    with pytest.raises(HarnessError, match="is not empty, and no backup of a repair that could go on"):
        backup.copy_all(PART, [])
    assert (names_in(backup.path), len(before)) == (before, 3)


@pytest.mark.parametrize("name", ["files/thesis.txt", "files/0/t-0/partition.metadata.mine"])
def test_a_folder_of_somebody_else_that_is_called_files_stays(backup, name):
    (backup.path / name).parent.mkdir(parents=True)
    (backup.path / name).write_text("years of work")
    with pytest.raises(HarnessError, match="is not empty"):
        backup.copy_all(PART, [])
    assert (backup.path / name).read_text() == "years of work"


def test_copies_beside_something_else_stay(backup):
    (backup.path / "files" / "0" / "t-0").mkdir(parents=True)
    (backup.path / "files" / "0" / "t-0" / "partition.metadata").write_text(metadata(X))
    (backup.path / "notes.txt").write_text("")
    with pytest.raises(HarnessError, match="is not empty"):
        backup.copy_all(PART, [])
    assert (backup.path / "files" / "0" / "t-0" / "partition.metadata").exists()


def test_a_manifest_that_was_cut_short_is_cleaned_and_gone_on_from(backup, tmp_path):
    _, files = old_files(tmp_path)
    (backup.path / "files" / "0" / "t-0").mkdir(parents=True)
    for name in (".partial-backup.json-abc", "files/0/t-0/.partial-partition.metadata-abc"):
        (backup.path / name).write_text("{")
    backup.copy_all(PART, files)
    aside = "unfinished-1/0/t-0/.partial-partition.metadata-abc"
    assert names_in(backup.path) == {"backup.json", "files/0/t-0/partition.metadata", aside}


def test_copies_of_whom_nobody_knows_are_set_aside_and_never_removed(backup, tmp_path):
    """As those of another repair, whose files folder alone was moved to a safe place."""
    _, files = old_files(tmp_path)
    for topic_id in (Y, Z):
        (backup.path / "files" / "0" / "u-0").mkdir(parents=True)
        (backup.path / "files" / "0" / "u-0" / "partition.metadata").write_text(metadata(topic_id))
        backup.copy_all(PART, files)
        (backup.path / "backup.json").unlink()
    kept = [
        (backup.path / f"unfinished-{number}" / "0" / name / "partition.metadata").read_text()
        for number, name in ((1, "u-0"), (2, "t-0"), (2, "u-0"))
    ]
    assert kept == [metadata(Y), metadata(X), metadata(Z)]


def test_a_folder_that_cannot_be_looked_into_stays_as_it_is(backup, tmp_path, monkeypatch):
    _, files = old_files(tmp_path)
    (backup.path / "files" / "0" / "u-0").mkdir(parents=True)
    (backup.path / "files" / "0" / "u-0" / "partition.metadata").write_text(metadata(Y))

    def refused(self: Path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refused)
    with pytest.raises(HarnessError, match=r"cannot be written to .*: Permission denied\. Nothing was changed"):
        backup.copy_all(PART, files)
    assert (backup.path / "files" / "0" / "u-0" / "partition.metadata").read_text() == metadata(Y)


def test_a_file_that_was_cut_short_in_a_partition_is_cleaned_when_it_is_restored(backup, tmp_path):
    disk, kept = repaired(backup, tmp_path, "t-0")
    (disk / "t-0" / ".partial-partition.metadata-abc").write_text("ver")
    restore_files(backup, kept, {"t": Y})
    assert [each.name for each in (disk / "t-0").iterdir()] == ["partition.metadata"]


def test_what_a_topic_got_that_was_created_again_since_is_left_and_named(backup, tmp_path):
    disk, kept = repaired(backup, tmp_path, "t-0", "t-1")
    for name, topic_id in (("t-0", Z), ("t-1", Y)):
        (disk / name / "partition.metadata").write_text(metadata(topic_id))
    done = restore_files(backup, kept, {"t": Y})
    assert (done.count, done.gone, done.others) == (1, (), (str(disk / "t-0" / "partition.metadata"),))
    assert (disk / "t-0" / "partition.metadata").read_text() == metadata(Z)
    assert (disk / "t-1" / "partition.metadata").read_text() != metadata(Y)


def test_what_a_broker_wrote_anew_between_two_attempts_stays_and_the_rest_is_deleted(backup, tmp_path):
    """Power was cut after the first of two files; the broker started by itself, and was stopped again."""
    disk, kept = repaired(backup, tmp_path, "t-0", "t-1")
    restore_files(backup, kept, {"t": Y})
    (disk / "t-0" / "partition.metadata").write_text(metadata(Y))
    assert delete_files(backup, kept, {disk / "t-1" / "partition.metadata"}) == 1
    assert (disk / "t-0" / "partition.metadata").read_text() == metadata(Y)
    assert not (disk / "t-1" / "partition.metadata").exists()


# Whose it is

OTHERS = {
    "another broker": (replace(PART, broker=2), "the backup of another repair: of broker 1"),
    "another plan": (replace(PART, plan="other"), "of another plan"),
    "another cluster": (replace(PART, cluster_id="c2"), "of cluster c1 at zk:2181"),
    "another ensemble": (replace(PART, zookeeper="zk:2182"), "of cluster c1 at zk:2181"),
    "another kind": (replace(PART, choice=Choice.PUT_BACK), "to delete the files with the old id"),
}


def test_the_backup_of_a_plan_that_says_nothing_of_replicas_is_of_the_same_plan_as_before_plans_said_it():
    plan = planned(Y, disks(MIX))
    bare = replace(plan, topics=tuple(replace(each, replicas={}) for each in plan.topics))
    said = json.loads(to_json(bare))
    for repair in said["topics"]:
        del repair["replicas"]
    earlier = hashlib.sha256((json.dumps(said, ensure_ascii=False, indent=1) + "\n").encode()).hexdigest()
    told = replace(plan, topics=tuple(replace(each, replicas={0: (1, 2)}) for each in plan.topics))
    assert bare.part(Choice.DELETE, 1).plan == earlier
    assert told.part(Choice.DELETE, 1).plan != earlier


@pytest.mark.parametrize(("part", "says"), OTHERS.values(), ids=OTHERS)
def test_the_backup_of_another_repair_is_refused(backup, tmp_path, part, says):
    disk, files = old_files(tmp_path)
    backup.copy_all(PART, files)
    with pytest.raises(HarnessError, match=f"{says}.*Nothing was changed"):
        backup.copy_all(part, files)
    assert backup.begun(PART) is not None
    assert (disk / "t-0" / "partition.metadata").exists()


def test_a_file_that_the_backup_lacks_is_refused(backup, tmp_path):
    disk, files = old_files(tmp_path)
    backup.copy_all(PART, files)
    with pytest.raises(HarnessError, match=r"has no copy of .*other-0/partition\.metadata"):
        backup.copy_all(PART, [*files, (disk, disk / "other-0" / "partition.metadata")])


def test_a_plan_that_differs_at_all_is_another_one():
    plan = planned(Y, disks(MIX))
    assert plan.part(Choice.DELETE, 1) == plan.part(Choice.DELETE, 1)
    assert plan.part(Choice.DELETE, 1).plan != replace(plan, order=(3, 1, 2)).part(Choice.DELETE, 1).plan
    assert (plan.part(Choice.DELETE, 1).broker, plan.part(Choice.DELETE, 1).cluster_id) == (1, "c1")


def test_nodes_that_were_kept_by_another_plan_are_not_those_of_this_one(backup):
    part = replace(PART, choice=Choice.PUT_BACK, broker=-1)
    backup.keep(part, [SavedNode("/brokers/topics/t", "{}", '{"topic_id":"x"}')])
    assert backup.begun(part).nodes
    with pytest.raises(HarnessError, match="of another plan"):
        backup.begun(replace(part, plan="new"))


def test_a_backup_in_a_data_directory_is_refused(tmp_path):
    disk = broker_disk(tmp_path / "d", 1, ["t-0"])
    (tmp_path / "link").symlink_to(disk)
    config = tmp_path / "server.properties"
    config.write_text(f"broker.id=1\nzookeeper.connect=zk:1\nlog.dirs={disk}\n")
    for place in (disk / "backup-1", tmp_path / "link" / "b", disk):
        with pytest.raises(HarnessError, match="is in the data directory"):
            list(stage.repair_broker(planned(Y, disks(MIX)), config, (), BackupFolder(place), None, apply=True))


def test_a_backup_in_the_data_directory_of_another_broker_of_the_host_is_refused(tmp_path):
    """That broker would end at its next start: it takes every folder there for a partition's."""
    disk, other = broker_disk(tmp_path / "d", 1, ["t-0"]), broker_disk(tmp_path / "e", 2, ["t-0"])
    config = tmp_path / "server.properties"
    config.write_text(f"broker.id=1\nzookeeper.connect=zk:1\nlog.dirs={disk}\n")
    with pytest.raises(HarnessError, match=f"is in the data directory {other}. Nothing was changed"):
        list(stage.repair_broker(planned(Y, disks(MIX)), config, (), BackupFolder(other / "b"), None, apply=True))
    assert not (other / "b").exists()


# On the disk


@pytest.fixture
def flushed(monkeypatch):
    """Return the paths that were flushed, in order."""
    paths: list[Path] = []
    really = os.fsync

    def fsync(handle: int) -> None:
        paths.append(Path(f"/proc/self/fd/{handle}").readlink())
        really(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    return paths


def test_copies_manifest_and_their_folders_are_on_the_disk_before_a_change(backup, tmp_path, flushed):
    _, files = old_files(tmp_path)
    backup.copy_all(PART, files)
    copies = backup.path / "files" / "0" / "t-0"
    assert {tmp_path, backup.path, backup.path / "files", copies.parent, copies} <= set(flushed)
    staged = [path.name.split("-")[1] for path in flushed if path.name.startswith(".partial-")]
    assert (staged, flushed[-1]) == (["partition.metadata", "backup.json"], backup.path)


def test_the_journal_s_folder_is_on_the_disk_before_the_first_change(backup, tmp_path, flushed):
    _, files = old_files(tmp_path)
    kept = backup.copy_all(PART, files)
    flushed.clear()
    delete_files(backup, kept, paths_of(kept))
    assert flushed[:2] == [backup.path / "journal.jsonl", backup.path]


def test_what_is_restored_and_what_it_replaces_are_on_the_disk(backup, tmp_path, flushed):
    disk, kept = repaired(backup, tmp_path, "t-0")
    (disk / "t-0" / "partition.metadata").write_text(metadata(Y))
    flushed.clear()
    restore_files(backup, kept, {"t": Y})
    assert flushed[-1] == disk / "t-0"
    assert {backup.path, backup.path / "replaced"} <= set(flushed)
    assert any(path.name.startswith(".partial-partition.metadata") for path in flushed)


# Restored


def test_owner_and_mode_come_back(backup, tmp_path):
    disk = broker_disk(tmp_path / "d", 1, ["t-0"])
    path = disk / "t-0" / "partition.metadata"
    path.chmod(0o640)
    if os.getuid() == 0:
        os.chown(path, 12345, 12346)
    before = path.stat()
    kept = backup.copy_all(PART, [(disk, path)])
    delete_files(backup, kept, paths_of(kept))
    restore_files(backup, kept, {"t": Y})
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)


def test_what_is_gone_is_left_out_and_named_and_the_rest_restored(backup, tmp_path):
    disk, _ = repaired(backup, tmp_path, "t-0", "t-1", "t-2")
    (disk / "t-0").rmdir()
    said = []
    with pytest.raises(HarnessError, match=r"1 file not restored, the partition's folder is gone: .*t-0/"):
        said.extend(stage.restore(backup, None, apply=True))
    assert [(disk / name / "partition.metadata").exists() for name in ("t-1", "t-2")] == [True, True]


@pytest.mark.parametrize(("broker", "cluster"), [(2, "c1"), (1, "other")])
def test_files_are_restored_to_their_own_broker_only(backup, tmp_path, broker, cluster):
    disk, _ = repaired(backup, tmp_path, "t-0")
    (disk / "meta.properties").write_text(f"broker.id={broker}\ncluster.id={cluster}\n")
    with pytest.raises(
        HarnessError, match=f"belongs to broker {broker} of cluster {cluster}, and this is about broker 1"
    ):
        list(stage.restore(backup, None, apply=True))
    assert not (disk / "t-0" / "partition.metadata").exists()


def test_a_manifest_that_names_another_place_is_refused_before_anything_is_restored(backup, tmp_path):
    disk, kept = repaired(backup, tmp_path, "t-0")
    manifest = json.loads((backup.path / "backup.json").read_text())
    for place in (tmp_path / "etc.conf", tmp_path / "v" / "t-0" / "partition.metadata", disk / "t-0" / "00.log"):
        manifest["files"][0]["path"] = str(place)
        (backup.path / "backup.json").write_text(json.dumps(manifest))
        with pytest.raises(HarnessError, match="is no place of a partition's file"):
            list(stage.restore(backup, None, apply=True))
        assert not place.exists()
    check_places(kept)


def test_files_of_a_data_directory_that_is_named_by_a_way_round_come_back(backup, tmp_path, monkeypatch):
    """log.dirs may have `..` in it; what a repair kept of it, restore must take."""
    disk = broker_disk(tmp_path / "d", 1, {"t-0": X, "t-1": Y})
    config = tmp_path / "server.properties"
    config.write_text(f"broker.id=1\nzookeeper.connect=zk:1\nlog.dirs={tmp_path}/d/t-0/../../d\n")
    monkeypatch.setattr(stage, "_objections", lambda *_: [])
    list(stage.repair_broker(planned(Y, disks(MIX)), config, (), backup, None, apply=True))
    assert not (disk / "t-0" / "partition.metadata").exists()
    assert list(stage.restore(backup, None, apply=True))[-1] == "1 file restored."
    assert (disk / "t-0" / "partition.metadata").read_text() == metadata(X)


def test_a_copy_that_a_manifest_has_outside_of_the_backup_is_refused(backup, tmp_path):
    _, kept = repaired(backup, tmp_path, "t-0")
    for copy in ("../x", "files/../../x", "/x"):
        with pytest.raises(HarnessError, match=f"{copy} is not in the backup"):
            check_places(replace(kept, files=(replace(kept.files[0], copy=copy),)))


def test_nothing_is_restored_through_a_link(backup, tmp_path):
    disk, _ = repaired(backup, tmp_path, "t-0")
    (disk / "t-0").rename(tmp_path / "away")
    (disk / "t-0").symlink_to(tmp_path / "away")
    with pytest.raises(HarnessError, match="t-0 is a link"):
        list(stage.restore(backup, None, apply=True))
    assert list((tmp_path / "away").iterdir()) == []


def test_a_backup_survives_json(backup, tmp_path):
    _, kept = repaired(backup, tmp_path, "t-0")
    assert from_json(Backup, to_json(kept)) == kept


# Locks


def test_an_error_of_what_is_done_under_a_lock_stays_what_it_is(tmp_path):
    disk = broker_disk(tmp_path / "d", 1)
    with pytest.raises(BlockingIOError, match="of the body"), stopped([disk]):
        raise BlockingIOError(11, "of the body")


def test_asking_whether_a_broker_runs_leaves_no_lock_behind(tmp_path):
    disk = broker_disk(tmp_path / "d", 1)
    check_stopped([disk])
    assert not (disk / ".lock").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_a_new_lock_belongs_to_whom_the_data_directory_does(tmp_path):
    disk = broker_disk(tmp_path / "d", 1)
    os.chown(disk, 12345, 12346)
    with stopped([disk]):
        seen = (disk / ".lock").stat()
    assert (seen.st_uid, seen.st_gid) == (12345, 12346)
