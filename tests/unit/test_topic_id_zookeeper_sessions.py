"""Connections to ZooKeeper: one that only reads has nothing to write with, and no request is waited for without end."""

import ast
import json
from contextlib import contextmanager
from pathlib import Path

import pytest
from disks_sample import X, Y, broker_disk, properties_of
from ensemble_sample import Ensemble, connect_to, plan
from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionLoss, NoAuthError
from kazoo.handlers.threading import KazooTimeoutError

import harness
from harness.base.errors import HarnessError
from harness.stages import topic_id_plan
from harness.stages import topic_id_repair as stage
from harness.stages.topic_ids import Sources
from harness.topicids import zookeeper
from harness.topicids.backups import BackupFolder
from harness.topicids.live_state import LiveState
from harness.topicids.records import ClusterTopics
from harness.topicids.zookeeper import ZooKeeper, connected
from harness.topicids.zookeeper_writes import WritableZooKeeper

# Reading


def test_a_connection_that_reads_holds_three_methods_of_its_client_and_none_that_writes():
    client = KazooClient()
    held = {value.__name__ for value in vars(ZooKeeper(client, "zk:1")).values() if hasattr(value, "__self__")}
    assert held == {"get_async", "get_children_async", "sync_async"}
    assert client not in vars(ZooKeeper(client, "zk:1")).values()
    more = {*dir(WritableZooKeeper(client, "zk:1"))} - {*dir(ZooKeeper(client, "zk:1"))}
    assert {name for name in more if not name.startswith("_")} == {"set", "delete"}


def importers(module: str) -> set[str]:
    """Return which modules of the harness import a module, wherever in their text."""
    root = Path(harness.__file__).parent
    return {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        for found in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(found, ast.ImportFrom) and found.module == module
    }


def test_only_the_repair_has_the_connection_that_writes():
    writes = "harness.topicids.zookeeper_writes"
    assert importers(writes) == {"topicids/put_back.py", "stages/topic_id_repair.py"}


def test_a_current_session_waits_for_the_leader_and_never_reads_from_a_server_that_is_cut_off(monkeypatch):
    asked: list[bool] = []
    ensemble = Ensemble()

    def client(connect: str, security: object, current: bool, met: object) -> Ensemble:
        asked.append(current)
        return ensemble

    monkeypatch.setattr(zookeeper, "_client", client)
    monkeypatch.setattr(zookeeper, "_start", lambda _: True)
    with connected("zk:2181", zookeeper.ZooKeeperSecurity(), current=True):
        assert ensemble.did == ["sync /"]
    with connected("zk:2181", zookeeper.ZooKeeperSecurity()):
        assert (ensemble.did, asked) == (["sync /"], [True, False])


@pytest.mark.parametrize("current", [True, False])
def test_only_a_session_that_is_not_current_may_read_from_a_server_that_is_cut_off(current):
    client = zookeeper._client("127.0.0.1:1", zookeeper.ZooKeeperSecurity(), current, zookeeper.LastError())
    assert client.read_only is not current


def test_a_plan_is_made_of_what_is_current(monkeypatch, tmp_path):
    asked: list[bool] = []

    @contextmanager
    def connected(connect: str, security: object, *, current: bool = False):
        asked.append(current)
        yield None

    monkeypatch.setattr(topic_id_plan, "connected", connected)
    monkeypatch.setattr(topic_id_plan, "read_topics", lambda _: ClusterTopics("zk", True, "c1", {}))
    monkeypatch.setattr(topic_id_plan, "read_live_state", lambda *_: LiveState(-1, frozenset(), {}, {}, {}))
    made = topic_id_plan.plan(Sources(data=(broker_disk(tmp_path / "d", 1),), zookeeper="zk:2181"))
    assert (made.topics, asked) == ((), [True])


def test_a_dry_run_has_a_connection_that_cannot_write(monkeypatch, tmp_path):
    connect_to(Ensemble(t=Y), monkeypatch)
    monkeypatch.setattr(stage, "connected_to_write", lambda *_: pytest.fail("it could write"))
    said = list(stage.repair_zookeeper(plan(t=Y), Sources(), BackupFolder(tmp_path / "b"), None, apply=False))
    assert said[-1] == "then change the controller. Nothing was changed. Do it with --apply."


# A ZooKeeper that goes away in the middle


@pytest.mark.parametrize("ask", [lambda zk: zk.children("/x"), lambda zk: zk.get("/x"), lambda zk: zk.catch_up()])
@pytest.mark.parametrize("error", [KazooTimeoutError(), ConnectionLoss()], ids=["silent", "lost"])
def test_a_question_that_nobody_answers_ends_in_a_sentence(monkeypatch, ask, error):
    ensemble = Ensemble()

    def fail(*_):
        raise error

    for name in ("get", "children"):
        monkeypatch.setattr(ensemble, name, fail)
    monkeypatch.setattr(ensemble, "did", type("", (), {"append": fail})())
    with pytest.raises(HarnessError, match="ZooKeeper at zk:2181 did not answer for /"):
        ask(ZooKeeper(ensemble, "zk:2181"))


def repaired(zk: Ensemble, monkeypatch, folder: Path) -> list[str]:
    connect_to(zk, monkeypatch)
    disks = Sources(configs=(properties_of(broker_disk(folder.parent / "disk", 1), 1),))
    return list(stage.repair_zookeeper(plan(t=Y, u=Y), disks, BackupFolder(folder), None, apply=True))


def test_where_there_is_no_session_nothing_is_put_back_nor_restored(monkeypatch, tmp_path):
    zk = Ensemble(t=Y, u=Y)
    repaired(zk, monkeypatch, tmp_path / "b")

    @contextmanager
    def refused(connect: str, security: object):
        raise HarnessError(f"ZooKeeper at {connect} gives no session: nobody listens there.", "Is the address right?")
        yield

    monkeypatch.setattr(stage, "connected_to_write", refused)
    before, journal = dict(zk.nodes), (tmp_path / "b" / "journal.jsonl").read_bytes()
    for tried in (
        stage.restore(BackupFolder(tmp_path / "b"), None, apply=True),
        stage.repair_zookeeper(plan(t=Y, u=Y), Sources(), BackupFolder(tmp_path / "other"), None, apply=True),
    ):
        with pytest.raises(HarnessError, match=r"gives no session: nobody listens there\. Nothing was changed\."):
            list(tried)
    assert (zk.nodes, (tmp_path / "b" / "journal.jsonl").read_bytes()) == (before, journal)
    assert not (tmp_path / "other").exists()


def fails_at(path: str, error: Exception):
    def fail(at: str) -> None:
        if at == path:
            raise error

    return fail


@pytest.mark.parametrize("error", [KazooTimeoutError(), ConnectionLoss()], ids=["silent", "lost"])
@pytest.mark.parametrize("topic", ["t", "u"], ids=["the first", "a later one"])
def test_of_a_write_that_nobody_answers_it_is_said_that_nobody_knows_and_the_same_command_goes_on(
    monkeypatch, tmp_path, error, topic
):
    zk, path = Ensemble(t=Y, u=Y), f"/brokers/topics/{topic}"
    zk.before_set = fails_at(path, error)
    with pytest.raises(HarnessError, match=f"Whether {path} was written is not known") as failed:
        repaired(zk, monkeypatch, tmp_path / "b")
    assert failed.value.hint == "Give the same command again: it sees what is so, and goes on."
    noted = [json.loads(line)["to"] for line in (tmp_path / "b" / "journal.jsonl").read_text().splitlines()]
    assert noted[-1] == path, "what may have been done is in the journal"
    zk.before_set = lambda _: None
    assert repaired(zk, monkeypatch, tmp_path / "b")[-2].startswith("2 topics put back; a new controller (epoch 6)")
    assert (zk.id_of("t"), zk.id_of("u")) == (X, X)


def test_a_controller_that_may_be_gone_or_not_is_said_to_be_so(monkeypatch, tmp_path):
    zk = Ensemble(t=Y, u=Y)
    zk.before_delete = fails_at("/controller", ConnectionLoss())
    with pytest.raises(HarnessError, match="Whether /controller was deleted is not known") as failed:
        repaired(zk, monkeypatch, tmp_path / "b")
    assert "The controller still remembers the other id: give the same command again." in failed.value.message


def test_a_node_that_this_login_may_read_and_not_write_is_a_sentence_and_is_left(monkeypatch, tmp_path):
    zk = Ensemble(t=Y, u=Y)
    zk.before_set = fails_at("/brokers/topics/t", NoAuthError())
    with pytest.raises(HarnessError, match="does not let /brokers/topics/t be written") as failed:
        repaired(zk, monkeypatch, tmp_path / "b")
    assert "--zookeeper-security" in failed.value.hint
    assert (zk.did, zk.id_of("t"), zk.id_of("u")) == ([], Y, Y)
