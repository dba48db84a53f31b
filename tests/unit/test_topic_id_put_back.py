"""An old id put back in ZooKeeper: all nodes or none, and no other topic loses its id to the new controller."""

import os
from contextlib import suppress
from itertools import count

import pytest
from disks_sample import V, X, Y, Z, broker_disk, properties_of
from ensemble_sample import Ensemble, connect_to, node, plan
from repair_sample import MIX, disks, planned

from harness.base.errors import HarnessError
from harness.model.topic_repair import RepairPlan
from harness.stages import topic_id_repair as stage
from harness.stages.topic_ids import Sources
from harness.topicids.backups import BackupFolder

REMEMBERS = "The controller still remembers the other id: give the same command again."


@pytest.fixture
def repair(monkeypatch, tmp_path):
    """Carry out a plan's part in an ensemble, beside the disk of its only broker; the backup may be named."""
    named = Sources(configs=(properties_of(broker_disk(tmp_path / "disk", 1), 1),))

    def run(ensemble: Ensemble, made: RepairPlan, backup: str = "backup", apply: bool = True) -> list[str]:
        connect_to(ensemble, monkeypatch)
        return list(stage.repair_zookeeper(made, named, BackupFolder(tmp_path / backup), None, apply=apply))

    return run


@pytest.fixture
def restore(monkeypatch, tmp_path):
    """Restore the backup of such a part."""

    def run(ensemble: Ensemble) -> list[str]:
        connect_to(ensemble, monkeypatch)
        return list(stage.restore(BackupFolder(tmp_path / "backup"), None, apply=True))

    return run


def test_an_id_is_put_back_and_kept_by_the_next_controller(repair):
    zk = Ensemble(t=Y)
    said = repair(zk, plan(t=Y))
    assert said[-2:] == [
        "1 topic put back; a new controller (epoch 6) was elected and kept these ids.",
        "No directory of broker 1 differs from them.",
    ]
    assert (zk.id_of("t"), zk.did) == (X, ["set /brokers/topics/t", "delete /controller"])


def test_the_backup_of_an_earlier_plan_is_refused_and_nothing_is_changed(repair):
    zk = Ensemble(t=Y, u=V)
    repair(zk, plan(t=Y))
    zk.put("/brokers/topics/u", node(""))
    zk.did.clear()
    lost = plan(V, u="")
    with pytest.raises(HarnessError, match="is the backup of another repair: of another plan"):
        repair(zk, lost)
    assert (zk.did, zk.id_of("u")) == ([], "")
    repair(zk, lost, "backup-2")
    assert zk.id_of("u") == V


def test_a_topic_that_has_lost_its_id_since_the_plan_stops_it_before_anything_is_written(repair, tmp_path):
    zk = Ensemble(t=Y, u="")
    with pytest.raises(HarnessError, match="Topic u has no id in ZooKeeper, and is not in the plan"):
        repair(zk, plan(t=Y))
    assert (zk.did, (tmp_path / "backup").exists()) == ([], False)


def test_an_id_that_another_topic_has_by_now_is_not_put_back(repair, tmp_path):
    zk = Ensemble(t=Y, u=X)
    with pytest.raises(HarnessError, match=f"Topic u has the id {X} in ZooKeeper, which is to be put back for another"):
        repair(zk, plan(t=Y))
    assert (zk.did, (tmp_path / "backup").exists()) == ([], False)


def test_a_topic_that_loses_its_id_meanwhile_keeps_the_controller(repair):
    zk = Ensemble(t=Y, u=V)
    zk.before_set = lambda _: zk.put("/brokers/topics/u", node(""))
    with pytest.raises(HarnessError, match="Topic u has no id") as error:
        repair(zk, plan(t=Y))
    assert REMEMBERS in error.value.message
    assert zk.did == ["set /brokers/topics/t"]


def test_an_id_that_the_old_tool_drops_once_more_keeps_the_controller(repair):
    """Another one would make a third id."""
    zk = Ensemble(t=Y)
    zk.after_set = lambda path: zk.put(path, node("", p1=[1]))
    says = "Somebody has written topic t in ZooKeeper since its id was put back. The controller was left"
    with pytest.raises(HarnessError, match=says) as error:
        repair(zk, plan(t=Y))
    assert REMEMBERS not in error.value.message, "the same command would find another node than it knows"
    assert (zk.did, zk.id_of("t")) == (["set /brokers/topics/t"], "")
    assert error.value.hint.endswith("Make the plan again: harness topic-ids plan, with another --backup.")


def test_every_node_is_looked_at_before_the_first_is_written(repair):
    zk = Ensemble(t=Y, u=Y)
    zk.before_set = lambda path: pytest.fail(f"{path} is written")
    zk.put("/brokers/topics/u", node(Z))
    with pytest.raises(HarnessError, match="is not as the plan has it"):
        repair(zk, plan(t=Y, u=Y))
    assert zk.did == []


def test_a_node_that_changes_behind_a_kept_backup_stops_it_before_the_first_is_written(repair):
    zk = Ensemble(t=Y, u=Y)
    made = plan(t=Y, u=Y)

    def interrupted(path: str) -> None:
        raise KeyboardInterrupt

    zk.before_set = interrupted
    with pytest.raises(KeyboardInterrupt):
        repair(zk, made)
    zk.before_set = lambda path: pytest.fail(f"{path} is written")
    zk.put("/brokers/topics/u", node(Z))
    with pytest.raises(HarnessError, match="/brokers/topics/u has changed in ZooKeeper") as error:
        repair(zk, made)
    assert REMEMBERS not in error.value.message


def test_half_a_repair_says_what_the_controller_remembers_and_the_same_command_ends_it(repair):
    zk = Ensemble(t=Y, u=Y)
    made = plan(t=Y, u=Y)

    def changes_u(path: str) -> None:
        if path.endswith("/u"):
            zk.put(path, zk.nodes[path][0])

    zk.before_set = changes_u
    with pytest.raises(HarnessError, match="/brokers/topics/u changes in ZooKeeper at this moment") as error:
        repair(zk, made)
    assert (REMEMBERS in error.value.message, zk.did) == (True, ["set /brokers/topics/t"])
    zk.before_set = lambda _: None
    repair(zk, made)
    assert (zk.id_of("t"), zk.id_of("u"), zk.did[-1]) == (X, X, "delete /controller")


def test_a_topic_that_cannot_be_read_and_a_kraft_controller_stop_it(repair):
    zk = Ensemble(t=Y)
    zk.nodes["/brokers/topics/bad"] = (b"{", 0)
    with pytest.raises(HarnessError, match="Topic bad cannot be read in ZooKeeper"):
        repair(zk, plan(t=Y))
    del zk.nodes["/brokers/topics/bad"]
    zk.nodes["/controller"] = (b'{"brokerid":3000,"kraftControllerEpoch":7}', 0)
    with pytest.raises(HarnessError, match="A KRaft controller leads"):
        repair(zk, plan(t=Y))
    assert zk.did == []


def test_nothing_is_written_back_once_a_kraft_controller_leads(repair, restore):
    zk = Ensemble(t=Y)
    repair(zk, plan(t=Y))
    zk.did.clear()
    zk.nodes["/controller"] = (b'{"brokerid":3000,"kraftControllerEpoch":7}', 0)
    for change in (lambda: restore(zk), lambda: repair(zk, plan(t=Y))):
        with pytest.raises(HarnessError, match="A KRaft controller leads"):
            change()
        assert (zk.did, zk.id_of("t")) == ([], X)


OTHER_CLUSTER = r"is that of cluster \w+, and this is about cluster c1\. Nothing was changed"
IDENTITIES = {
    "other": (b'{"version":"1","id":"c2"}', OTHER_CLUSTER),
    "none": (None, OTHER_CLUSTER),
    "damaged": (b"{", r"/cluster/id cannot be read in ZooKeeper at zk:2181: its node holds no JSON but “{”\."),
    "empty": (b'{"version":"1"}', "/cluster/id cannot be read in ZooKeeper at zk:2181: its node holds no id but"),
}


@pytest.mark.parametrize(("identity", "says"), IDENTITIES.values(), ids=IDENTITIES)
def test_a_plan_of_another_cluster_is_refused_before_anything_is_changed(repair, tmp_path, identity, says):
    """As where another ensemble has the address of the one that the plan was made of."""
    zk = Ensemble(t=Y)
    zk.nodes["/cluster/id"] = (identity, 0)
    if identity is None:
        del zk.nodes["/cluster/id"]
    for apply in (False, True):
        with pytest.raises(HarnessError, match=says):
            repair(zk, plan(t=Y), apply=apply)
    assert (zk.did, zk.id_of("t"), (tmp_path / "backup").exists()) == ([], Y, False)


def test_a_backup_is_restored_to_its_own_cluster_only(repair, restore):
    zk = Ensemble(t=Y)
    repair(zk, plan(t=Y))
    zk.did.clear()
    own, zk.nodes["/cluster/id"] = zk.nodes["/cluster/id"], (b'{"version":"1","id":"c2"}', 0)
    with pytest.raises(HarnessError, match="is that of cluster c2, and this is about cluster c1"):
        restore(zk)
    assert (zk.did, zk.id_of("t")) == ([], X)
    zk.nodes["/cluster/id"] = own
    assert restore(zk)[-1].startswith("1 topic in ZooKeeper as before")
    assert zk.id_of("t") == Y


@pytest.mark.parametrize("path", ["/controller", "/brokers/topics", "/brokers/topics/t/partitions/0/state", "/x/t"])
def test_a_backup_that_names_another_node_than_a_topic_s_is_refused(repair, restore, tmp_path, path):
    zk = Ensemble(t=Y)
    repair(zk, plan(t=Y))
    zk.did.clear()
    manifest = tmp_path / "backup" / "backup.json"
    manifest.write_text(manifest.read_text().replace("/brokers/topics/t", path))
    with pytest.raises(HarnessError, match=f"{path} is no topic's node in ZooKeeper. Nothing was changed"):
        restore(zk)
    assert (zk.did, zk.id_of("t")) == ([], X)


def test_a_controller_s_node_that_cannot_be_read_is_named(repair):
    zk = Ensemble(t=Y)
    zk.nodes["/controller"] = (b"{", 0)
    with pytest.raises(HarnessError, match="/controller cannot be read in ZooKeeper: its node holds no JSON but"):
        repair(zk, plan(t=Y))
    assert zk.did == []


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "cut"])
def test_whenever_a_disk_is_full_or_it_is_cut_short_the_journal_names_what_was_done_and_it_can_go_on(
    repair, tmp_path, monkeypatch, error
):
    for call in range(1, 9):
        zk, calls, backup = Ensemble(t=Y, u=Y), count(1), tmp_path / f"backup-{call}"

        def fsync(_, calls=calls, call=call):
            if next(calls) == call:
                raise error

        monkeypatch.setattr(os, "fsync", fsync)
        with suppress(HarnessError, KeyboardInterrupt):
            repair(zk, plan(t=Y, u=Y), backup.name)
        journal = backup / "journal.jsonl"
        named = journal.read_text() if journal.exists() else ""
        assert [each for each in zk.did if f'"{each.partition(" ")[2]}"' not in named] == []
        monkeypatch.setattr(os, "fsync", lambda _: None)
        repair(zk, plan(t=Y, u=Y), backup.name)
        assert (zk.id_of("t"), zk.id_of("u"), zk.did[-1]) == (X, X, "delete /controller")


def test_a_journal_that_cannot_be_written_stops_it_and_says_what_the_controller_remembers(
    repair, monkeypatch, tmp_path
):
    zk = Ensemble(t=Y, u=Y)

    def no_room(_: str) -> None:
        monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))

    zk.before_set = no_room
    with pytest.raises(HarnessError, match=r"journal\.jsonl cannot be written: No space left on device") as error:
        repair(zk, plan(t=Y, u=Y))
    assert "Nothing was done that it does not name." in error.value.message
    assert REMEMBERS in error.value.message
    assert (zk.did, zk.id_of("t"), zk.id_of("u")) == (["set /brokers/topics/t"], X, Y)


def test_of_many_topics_the_first_are_named_and_how_many_more_there_are(repair):
    ids = {f"t{number}": Y for number in range(23)}
    said = repair(Ensemble(**ids), plan(**ids), apply=False)
    assert (sum(each.startswith("put back: ") for each in said), "… and 3 more" in said) == (20, True)


def test_a_dry_run_says_what_would_stop_it_as_a_note(repair, tmp_path):
    said = repair(Ensemble(t=Y, u=""), plan(t=Y), apply=False)
    assert said[1].startswith("not now: Topic u has no id in ZooKeeper")
    assert (said[-1].endswith("Do it with --apply."), (tmp_path / "backup").exists()) == (True, False)


def test_a_dry_run_on_a_broker_s_host_notes_what_forbids_it_and_writes_nothing(monkeypatch, tmp_path):
    disk = broker_disk(tmp_path / "d", 1, {"t-0": X, "t-1": Y})
    config = properties_of(disk, 1)
    monkeypatch.setattr(stage, "_objections", lambda *_: ["Broker 3 does not run: one broker at a time."])
    said = list(
        stage.repair_broker(planned(Y, disks(MIX)), config, (), BackupFolder(tmp_path / "b"), None, apply=False)
    )
    assert said[0] == "not now: Broker 3 does not run: one broker at a time."
    assert said[-1] == "1 file of broker 1. Nothing was changed. Do it with --apply."
    assert ((disk / ".lock").exists(), (tmp_path / "b").exists()) == (False, False)
    with pytest.raises(HarnessError, match=r"Broker 3 does not run: one broker at a time\. Nothing was changed\."):
        list(stage.repair_broker(planned(Y, disks(MIX)), config, (), BackupFolder(tmp_path / "b"), None, apply=True))
