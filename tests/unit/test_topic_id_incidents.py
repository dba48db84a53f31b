"""What scenarios of topic ids see in ZooKeeper and on disks, and what they do to both."""

import json
from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError
from disks_sample import X, Y, broker_disk

from harness.cluster.address import Address
from harness.cluster.modes.zookeeper import InZooKeeper
from harness.cluster.probes import Quorum
from harness.cluster.protocol import Unreachable
from harness.scenario.accounts import Account
from harness.scenario.actions import ask_clients
from harness.scenario.actions.ask_clients import ask_writer
from harness.scenario.actions.old_tools import add_partitions_by_own_tool, create_by_old_tool
from harness.scenario.actions.topic_ids import (
    change_controller,
    delete_id_files,
    remember_id,
)
from harness.scenario.conditions.lost_records import some_lost
from harness.scenario.conditions.topic_ids import (
    all_in_sync,
    answered,
    has_later_controller,
    ids_are,
    out_of_sync,
    runs_line,
)
from harness.scenario.loads import topics
from harness.scenario.refs import fixed
from harness.scenario.registry import load_all
from harness.scenario.steps import Background, Do, Expect, OnlyIf
from harness.scenario.topic_ids import id_in, in_zookeeper, look_at_ids
from harness.scenario.world import ActionFailed, FirstId

FIRST = fixed(0, "the first broker")


class Tree:
    """What ZooKeeper holds, as a test says."""

    def __init__(self, nodes):
        self.nodes = {path: value if isinstance(value, bytes) else json.dumps(value).encode() for path, value in nodes}

    def get(self, path):
        return self.nodes.get(path)

    def children(self, path):
        return tuple(
            sorted({each[len(path) + 1 :].split("/")[0] for each in self.nodes if each.startswith(f"{path}/")})
        )

    def delete(self, path):
        return self.nodes.pop(path, None) is not None


def world(tmp_path, topic_id, disks, isr=((0, 1), (0, 1)), first=None, **more):
    """Return a world of two brokers: ids of partitions by broker, brokers in sync by partition."""
    node = {"version": 3, "partitions": {}} | ({"topic_id": topic_id} if topic_id else {})
    states = [(f"/brokers/topics/t/partitions/{n}/state", {"isr": list(each)}) for n, each in enumerate(isr)]
    tree = Tree([("/brokers/topics/t", node), *states, ("/controller", {"brokerid": 1}), ("/controller_epoch", b"7")])
    server = SimpleNamespace(tree=tree, address=Address("127.0.0.1", 2181))
    nodes = {
        broker: SimpleNamespace(
            id=broker,
            data_dir=broker_disk(tmp_path / str(broker), broker, {f"t-{n}": each for n, each in enumerate(ids)}),
            line=SimpleNamespace(name="2.8"),
        )
        for broker, ids in enumerate(disks)
    }
    notes = []
    cluster = SimpleNamespace(mode=InZooKeeper(server, 4000), nodes=nodes, brokers={}, is_closed=False)
    known = {
        "first_ids": {"t": first} if first else {},
        "answers": {},
        "lost": {},
        "account": lambda _: Account(),
        "notes": notes,
    }
    return SimpleNamespace(cluster=cluster, note=lambda text, _=-1: notes.append(text), **{**known, **more})


def test_everything_that_has_an_id_is_seen(tmp_path):
    seen = look_at_ids(world(tmp_path, X, [(X, None), (X, Y)], isr=((0,), (0, 1))), "t")
    assert (seen.topic_id, seen.controller_epoch) == (X, "7")
    assert seen.disks == {0: {0: X, 1: ""}, 1: {0: X, 1: Y}}
    assert seen.isr == {0: (0,), 1: (0, 1)}


def test_a_partition_of_a_topic_whose_name_begins_alike_is_another_ones(tmp_path):
    here = world(tmp_path, X, [(X,), (X,)])
    broker_disk(here.cluster.nodes[0].data_dir, 0, {"t-a-0": Y})
    assert look_at_ids(here, "t").disks[0] == {0: X}


def test_what_names_no_id_is_none():
    assert [id_in(text) for text in ("", "version: 0\n", "topic_id: \n")] == ["", "", ""]


@pytest.mark.parametrize(
    ("topic_id", "disks", "is_so"),
    [
        (Y, [(X, Y), (X, Y)], True),
        (X, [(X, Y), (X, Y)], False),
        ("", [(X, Y), (X, Y)], False),
        (Y, [(X, Y), (Y, Y)], False),
        (Y, [(X, Y), (X, X)], False),
        (Y, [(X, Y), (X, None)], False),
    ],
)
def test_the_mix_is_told_from_all_that_is_nearly_it(tmp_path, topic_id, disks, is_so):
    sample = ids_are("t", zookeeper="new", first="old", added="new").sample(
        world(tmp_path, topic_id, disks, first=FirstId(X, 1))
    )
    assert sample.ok is is_so
    assert bool(sample.problem) is not is_so
    assert sample.detail["topic_id"] == topic_id


def test_without_added_partitions_there_must_be_none(tmp_path):
    wanted = ids_are("t", zookeeper="old", first="old")
    assert wanted.sample(world(tmp_path / "a", X, [(X,), (X,)], first=FirstId(X, 1))).ok
    assert not wanted.sample(world(tmp_path / "b", X, [(X, X), (X, X)], first=FirstId(X, 1))).ok


def test_either_of_two_kinds_may_be_there_and_no_third_one(tmp_path):
    wanted = ids_are("t", zookeeper="new", first="new/none", added="new/none")
    for number, (disks, is_so) in enumerate([([(Y, None), (None, Y)], True), ([(Y, None), (X, Y)], False)]):
        assert wanted.sample(world(tmp_path / str(number), Y, disks, first=FirstId(X, 1))).ok is is_so


def test_a_broker_is_out_of_sync_for_just_these_partitions(tmp_path):
    here = world(tmp_path, Y, [(X, Y), (X, Y)], isr=((1,), (0, 1)), first=FirstId(X, 1))
    assert [out_of_sync("t", FIRST, which).sample(here).ok for which in ("all", "old", "no")] == [False, True, False]
    with pytest.raises(ValueError, match='write "all", "old" or "no"'):
        out_of_sync("t", FIRST, "some")


def test_all_are_in_sync_only_if_everyone_with_a_directory_is(tmp_path):
    assert all_in_sync("t").sample(world(tmp_path / "a", X, [(X, X), (X, X)])).ok
    late = all_in_sync("t").sample(world(tmp_path / "b", X, [(X, X), (X, X)], isr=((0, 1), (1,))))
    assert (late.ok, late.problem) == (False, "out of sync are {1: [0]}")


def test_a_controller_of_a_later_epoch_may_be_the_same_broker(tmp_path):
    for epoch, is_so in ((7, False), (8, True)):
        here = world(tmp_path / str(epoch), X, [], leader_before=Quorum(1, 7), quorum=lambda at=epoch: Quorum(1, at))
        assert has_later_controller().sample(here).ok is is_so


def test_an_answer_is_what_was_asked_last(tmp_path):
    here = world(tmp_path, X, [], answers={"check": "exit 0: Healthy"})
    assert answered("check", "exit 0").sample(here).ok
    assert not answered("check", "exit 1").sample(here).ok
    assert not answered("plan", "exit 0").sample(here).ok


class HalfAProducer:
    """A producer of which every second record is acknowledged."""

    def __init__(self, settings):
        self.sent = []

    def produce(self, topic, key, value, partition, on_delivery):
        self.sent.append((key, on_delivery))

    def flush(self, _seconds):
        for key, delivered in self.sent:
            error = KafkaError(KafkaError._MSG_TIMED_OUT) if int(key) % 2 else None
            delivered(error, SimpleNamespace(key=lambda key=key: key.encode()))


def test_what_a_writer_that_is_asked_gets_acknowledged_is_counted_like_any_other(tmp_path, monkeypatch):
    monkeypatch.setattr(ask_clients, "Producer", HalfAProducer)
    account = Account(10, {*range(10)})
    here = world(tmp_path, X, [], account=lambda _: account)
    ask_writer("t", 3).perform(here)
    assert here.answers == {"writing t-3": "3 acknowledged, 2 _MSG_TIMED_OUT"}
    assert account == Account(15, {*range(10), 10, 12, 14})


class Known:
    """A wire to brokers, each of which learns of the topic at a moment of its own."""

    def __init__(self, monkeypatch, *answers):
        self.answers = list(answers)
        monkeypatch.setattr(topics, "replicas_of", self.ask)
        monkeypatch.setattr(topics, "_POLL_SECONDS", 0.01)
        monkeypatch.setattr(topics, "_KNOWN_SECONDS", 1.0)
        self.cluster = SimpleNamespace(brokers={1: "one", 2: "two"}, wire=None, is_closed=False)

    def ask(self, *_):
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_how_many_partitions_there_are_is_asked_until_all_brokers_that_answer_say_the_same(monkeypatch):
    two = {0: (1,), 1: (2,)}
    assert topics.partitions_of(Known(monkeypatch, Unreachable("gone"), {}, {}, two), "t") == 2
    grown = {**two, 2: (1,)}
    assert topics.partitions_of(Known(monkeypatch, two, grown, Unreachable("gone"), grown), "t") == 3
    with pytest.raises(ActionFailed, match=r"is not known: brokers differ: \[2, 3\]"):
        topics.partitions_of(Known(monkeypatch, *[two, grown] * 100), "t")
    with pytest.raises(ActionFailed, match="how many partitions “t” has is not known: no broker knows it"):
        topics.partitions_of(Known(monkeypatch, {}), "t")
    with pytest.raises(ActionFailed, match="is not known: gone"):
        topics.partitions_of(Known(monkeypatch, Unreachable("gone")), "t")


def test_a_line_is_that_of_every_node(tmp_path):
    here = world(tmp_path, X, [(X,), (X,)])
    assert runs_line("2.8").sample(here).ok
    here.cluster.nodes[0].line.name = "3.9"
    assert not runs_line("2.8").sample(here).ok


def test_an_id_is_remembered_with_the_number_of_partitions(tmp_path, monkeypatch):
    here = world(tmp_path, X, [(X, X), (X, X)])
    remember_id("t").perform(here)
    assert here.first_ids["t"] == FirstId(X, 2)
    monkeypatch.setattr("harness.scenario.actions.topic_ids._PATIENCE_SECONDS", 0.3)
    with pytest.raises(ActionFailed, match="ZooKeeper had no id of “t”"):
        remember_id("t").perform(world(tmp_path / "none", "", [(None,), (None,)]))


def test_the_controller_is_changed_once(tmp_path):
    here = world(tmp_path, X, [])
    change_controller().perform(here)
    with pytest.raises(ActionFailed, match="there was no controller"):
        change_controller().perform(here)


def test_files_are_deleted_by_hand_of_one_topic_on_one_broker(tmp_path):
    here = world(tmp_path, X, [(X, X), (X, X)])
    data = here.cluster.nodes[0].data_dir
    broker_disk(data, 0, {"other-0": X})
    (data / "t-0" / "leader-epoch-checkpoint").write_text("0\n0\n")
    delete_id_files("t", FIRST).perform(here)
    assert [each.name for each in (data / "t-0").iterdir()] == ["leader-epoch-checkpoint"]
    assert look_at_ids(here, "t").disks == {0: {0: "", 1: ""}, 1: {0: X, 1: X}}
    assert (data / "other-0" / "partition.metadata").exists()


def test_leader_epochs_go_too_if_told(tmp_path):
    here = world(tmp_path, X, [(X, X), (X, X)])
    folder = here.cluster.nodes[0].data_dir / "t-0"
    (folder / "leader-epoch-checkpoint").write_text("0\n0\n")
    (folder / "00000000000000000000.log").touch()
    deleting = delete_id_files("t", FIRST, epochs=True)
    assert "partition.metadata and leader-epoch-checkpoint of “t”" in deleting.description
    deleting.perform(here)
    assert [each.name for each in folder.iterdir()] == ["00000000000000000000.log"]


def test_of_a_topic_that_nobody_remembers_all_partitions_are_the_first(tmp_path):
    wanted = ids_are("t", zookeeper="none", first="none")
    assert wanted.sample(world(tmp_path / "a", "", [(None, None), (None, None)])).ok
    assert not wanted.sample(world(tmp_path / "b", "", [(None, X), (None, None)])).ok
    assert not wanted.sample(world(tmp_path / "c", X, [(None, None), (None, None)])).ok


def test_the_release_s_own_tool_is_called_with_its_own_jars(tmp_path, monkeypatch):
    here, called = world(tmp_path, X, [(X,), (X,)]), []
    for node in here.cluster.nodes.values():
        node.class_path = ("kafka.jar",)
    java = "harness.scenario.actions.old_tools.call_java"
    monkeypatch.setattr(java, lambda jars, main, words, _: called.append((jars, main, words)) or "")
    add_partitions_by_own_tool("t", 6).perform(here)
    words = ("--zookeeper", "127.0.0.1:2181", "--alter", "--topic", "t", "--partitions", "6")
    assert called == [(("kafka.jar",), "kafka.admin.TopicCommand", words)]


def test_some_are_lost_only_if_the_last_count_said_so():
    for gone, is_so in ((None, False), (0, False), (3, True)):
        counted = SimpleNamespace(lost={} if gone is None else {"t": gone}, account=lambda _: Account(3, {0, 1, 2}))
        sample = some_lost("t").sample(counted)
        assert (sample.ok, bool(sample.problem)) == (is_so, not is_so)


def test_a_cluster_without_zookeeper_is_a_sentence():
    with pytest.raises(ActionFailed, match="the cluster has no ZooKeeper"):
        in_zookeeper(SimpleNamespace(cluster=SimpleNamespace(mode=object())))


def test_the_old_tool_gets_settings_with_dots():
    words = create_by_old_tool("t", unclean_leader_election_enable="true").words
    assert words[-2:] == ("--config", "unclean.leader.election.enable=true")


HEALED = {name for name, each in load_all().items() if "topic-ids" in each.suites} - {
    "topic-id-before-ids",
    "topic-id-unclean",
    "topic-id-unclean-by-hand",
}


def flat(steps):
    """Return steps, those of stretches among them."""
    return [each for step in steps for each in (flat(step.steps) if isinstance(step, OnlyIf) else [step])]


@pytest.mark.parametrize("name", sorted(HEALED))
def test_whatever_is_healed_was_written_to_all_the_time_in_every_partition_and_is_read_in_added_ones_too(name):
    steps = flat(load_all()[name].plan().steps)
    (kept,) = [step.load for step in steps if isinstance(step, Background)]
    assert (kept.topic, kept.placement, kept.promise.acks) == ("orders", None, "all")
    at = next(number for number, step in enumerate(steps) if isinstance(step, Background))
    later = [step.action.description for step in steps[at:] if isinstance(step, Do)]
    assert any("controller" in each or each.startswith("restart") for each in later), "before what is to be survived"
    asked = [step.named for step in steps if isinstance(step, Expect)]
    assert any(each.endswith("_is_read_where_added") for each in asked)
    assert any(each.endswith("_loses_nothing") for each in asked)


def test_the_suite_has_the_incident_who_is_immune_and_every_repair():
    assert sorted(name for name, each in load_all().items() if "topic-ids" in each.suites) == [
        "topic-id-before-ids",
        "topic-id-both-deleted",
        "topic-id-controller-restarted",
        "topic-id-file-deleted",
        "topic-id-kept",
        "topic-id-lost",
        "topic-id-mixed",
        "topic-id-restarts-only",
        "topic-id-unclean",
        "topic-id-unclean-by-hand",
    ]
