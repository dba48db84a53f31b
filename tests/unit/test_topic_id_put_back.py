"""An old id put back in ZooKeeper: all nodes or none, and no other topic loses its id to the new controller."""

import json
from contextlib import contextmanager

import pytest
from disks_sample import V, X, Y, Z, broker_disk
from repair_sample import MIX, disks, planned

from harness.base.errors import HarnessError
from harness.model.topic_repair import Choice, RepairPlan, TopicRepair
from harness.stages import topic_id_repair as stage
from harness.topicids.backups import BackupFolder
from harness.topicids.live_state import LiveState
from harness.topicids.records import ClusterTopics
from harness.topicids.zookeeper import ZooKeeper

REMEMBERS = "The controller still remembers the other id: give the same command again."


class Answer:
    def __init__(self, node: tuple[bytes, int] | None) -> None:
        self.node = node

    def get(self, timeout: float):
        from kazoo.exceptions import NoNodeError

        if self.node is None:
            raise NoNodeError
        data, version = self.node
        return data, type("Stat", (), {"version": version, "ctime": 0, "mzxid": 0})()


class Ensemble:
    """A client of a ZooKeeper whose controller reads every id when it is elected, and makes one where there is none."""

    def __init__(self, **topics: str) -> None:
        self.nodes = {f"/brokers/topics/{name}": (node(topic_id), 0) for name, topic_id in topics.items()}
        self.nodes |= {"/controller": (b'{"brokerid":1}', 0), "/controller_epoch": (b"5", 0)}
        self.nodes |= {"/cluster/id": (b'{"version":"1","id":"c1"}', 0)}
        self.did: list[str] = []
        self.before_set = lambda _: None

    def get_async(self, path: str) -> Answer:
        return Answer(self.nodes.get(path))

    def get_children(self, path: str) -> list[str]:
        return [each[len(path) + 1 :] for each in self.nodes if each.startswith(f"{path}/")]

    def sync(self, path: str) -> None:
        self.did.append(f"sync {path}")

    def set(self, path: str, data: bytes, version: int) -> None:
        from kazoo.exceptions import BadVersionError

        self.before_set(path)
        if self.nodes[path][1] != version:
            raise BadVersionError
        self.put(path, data)
        self.did.append(f"set {path}")

    def put(self, path: str, data: bytes) -> None:
        self.nodes[path] = (data, self.nodes.get(path, (b"", -1))[1] + 1)

    def delete(self, path: str) -> None:
        self.did.append(f"delete {path}")
        self.put("/controller_epoch", str(int(self.nodes["/controller_epoch"][0]) + 1).encode())
        for name in self.get_children("/brokers/topics"):
            if not self.id_of(name):
                self.put(f"/brokers/topics/{name}", node(Z))

    def id_of(self, name: str) -> str:
        return json.loads(self.nodes[f"/brokers/topics/{name}"][0]).get("topic_id", "")

    def stop(self) -> None: ...

    close = stop


def node(topic_id: str) -> bytes:
    named = {"version": 3, "topic_id": topic_id} if topic_id else {"version": 1}
    return json.dumps({**named, "partitions": {"0": [1]}}).encode()


def plan(back: str = X, **in_zookeeper: str) -> RepairPlan:
    repairs = (TopicRepair(name, Choice.PUT_BACK, each, (back,), ()) for name, each in in_zookeeper.items())
    return RepairPlan("zk:2181", "c1", (1,), (), tuple(repairs), ())


def connect_to(ensemble: Ensemble, monkeypatch) -> None:
    @contextmanager
    def connected(connect: str, security: object, *, current: bool = False):
        assert current
        yield ZooKeeper(ensemble, connect)

    monkeypatch.setattr(stage, "connected", connected)


@pytest.fixture
def repair(monkeypatch, tmp_path):
    """Carry out a plan's part in an ensemble; the backup may be named."""

    def run(ensemble: Ensemble, made: RepairPlan, backup: str = "backup", apply: bool = True) -> list[str]:
        connect_to(ensemble, monkeypatch)
        return list(stage.repair_zookeeper(made, BackupFolder(tmp_path / backup), None, apply=apply))

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
    assert said[-1] == "1 topic put back; a new controller (epoch 6) was elected and kept these ids."
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


def test_a_dry_run_says_what_would_stop_it_as_a_note(repair, tmp_path):
    said = repair(Ensemble(t=Y, u=""), plan(t=Y), apply=False)
    assert said[1].startswith("not now: Topic u has no id in ZooKeeper")
    assert (said[-1].endswith("Do it with --apply."), (tmp_path / "backup").exists()) == (True, False)


def test_a_dry_run_on_a_broker_s_host_notes_what_forbids_it_and_writes_nothing(monkeypatch, tmp_path):
    disk = broker_disk(tmp_path / "d", 1, {"t-0": X, "t-1": Y})
    config = tmp_path / "server.properties"
    config.write_text(f"broker.id=1\nzookeeper.connect=zk:2181\nlog.dirs={disk}\n")
    monkeypatch.setattr(stage, "_objections", lambda *_: ["Broker 3 does not run: one broker at a time."])
    said = list(
        stage.repair_broker(planned(Y, disks(MIX)), config, (), BackupFolder(tmp_path / "b"), None, apply=False)
    )
    assert said[0] == "not now: Broker 3 does not run: one broker at a time."
    assert said[-1] == "1 file of broker 1. Nothing was changed. Do it with --apply."
    assert ((disk / ".lock").exists(), (tmp_path / "b").exists()) == (False, False)
    with pytest.raises(HarnessError, match=r"Nothing was changed\. Broker 3 does not run"):
        list(stage.repair_broker(planned(Y, disks(MIX)), config, (), BackupFolder(tmp_path / "b"), None, apply=True))


# Sessions


def test_a_current_session_waits_for_the_leader_and_never_reads_from_a_server_that_is_cut_off(monkeypatch):
    from harness.topicids import zookeeper

    asked: list[bool] = []
    ensemble = Ensemble()

    def client(connect: str, security: object, current: bool, met: object) -> Ensemble:
        asked.append(current)
        return ensemble

    monkeypatch.setattr(zookeeper, "_client", client)
    monkeypatch.setattr(zookeeper, "_start", lambda _: True)
    with zookeeper.connected("zk:2181", zookeeper.ZooKeeperSecurity(), current=True):
        assert ensemble.did == ["sync /"]
    with zookeeper.connected("zk:2181", zookeeper.ZooKeeperSecurity()):
        assert (ensemble.did, asked) == (["sync /"], [True, False])


@pytest.mark.parametrize("current", [True, False])
def test_only_a_session_that_is_not_current_may_read_from_a_server_that_is_cut_off(current):
    from harness.topicids import zookeeper

    client = zookeeper._client("127.0.0.1:1", zookeeper.ZooKeeperSecurity(), current, zookeeper.LastError())
    assert client.read_only is not current


def test_a_plan_is_made_of_what_is_current(monkeypatch, tmp_path):
    from harness.stages.topic_ids import Sources

    asked: list[bool] = []

    @contextmanager
    def connected(connect: str, security: object, *, current: bool = False):
        asked.append(current)
        yield None

    monkeypatch.setattr(stage, "connected", connected)
    monkeypatch.setattr(stage, "read_topics", lambda _: ClusterTopics("zk", True, "c1", {}))
    monkeypatch.setattr(stage, "read_live_state", lambda *_: LiveState(-1, frozenset(), {}, {}, {}))
    made = stage.plan(Sources(data=(broker_disk(tmp_path / "d", 1),), zookeeper="zk:2181"))
    assert (made.topics, asked) == ((), [True])
