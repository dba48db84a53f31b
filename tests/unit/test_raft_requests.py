"""Requests of Raft by nobody of the quorum, garbage, and what their answers are held against."""

import socket
import struct
import threading
import uuid
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest
from kio.index import load_entity_module
from kio.schema.errors import ErrorCode
from kio.static.constants import EntityType

from harness.cluster import feature_updates, voter_changes
from harness.cluster.address import Address
from harness.cluster.garbage import GARBAGE, reply
from harness.cluster.probes import Quorum
from harness.cluster.protocol import Unreachable
from harness.cluster.raft_requests import Fetched, Stray, fetch_snapshot
from harness.cluster.topology import Topology
from harness.cluster.voter_changes import Answer
from harness.scenario.actions import ask_for_votes as votes_module
from harness.scenario.actions import update_feature as feature_module
from harness.scenario.actions.ask_for_votes import ask_for_votes
from harness.scenario.actions.update_feature import update_feature
from harness.scenario.conditions import garbage as garbage_condition
from harness.scenario.conditions import pre_votes, quorum_answers, raft_fetches, snapshot_requests
from harness.scenario.refs import fixed
from harness.scenario.world import ActionFailed

OTHER = fixed(1, "the other")


@contextmanager
def listening(answer):
    """Listen once on loopback; `answer` gets the connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=lambda: answer(server.accept()[0]), daemon=True)
        thread.start()
        yield Address("127.0.0.1", server.getsockname()[1])
        thread.join(5)


def test_a_listener_that_closes_the_connection_has_refused_what_was_sent():
    with listening(lambda connection: (connection.recv(999), connection.close())) as address:
        assert reply(address, b"GET /") == "closed"


def test_a_reset_is_an_end_of_the_connection_too():
    def reset(connection):
        connection.recv(1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

    with listening(reset) as address:
        assert reply(address, b"x" * 100_000) == "closed"


def test_a_listener_that_answers_or_waits_has_not(monkeypatch):
    monkeypatch.setattr("harness.cluster.garbage._SECONDS", 1.0)
    with listening(lambda connection: (connection.recv(999), connection.sendall(b"?"), connection.close())) as address:
        assert reply(address, b"GET /") == "answered"
    release = threading.Event()
    with listening(lambda connection: (release.wait(5), connection.close())) as address:
        assert reply(address, b"GET /") == "left open"
        release.set()


def test_where_nobody_listens_nothing_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = Address("127.0.0.1", server.getsockname()[1])
    with pytest.raises(Unreachable):
        reply(address, b"GET /")


@pytest.mark.parametrize("what", [what for what in GARBAGE if what.startswith("a Vote") or "there is not" in what])
def test_frames_are_as_long_as_they_say_so_that_it_is_their_content_that_is_wrong(what):
    (length,) = struct.unpack(">i", GARBAGE[what][:4])
    assert length == len(GARBAGE[what]) - 4


def quorum_of(voters=3, **more):
    nodes = {
        number: SimpleNamespace(
            id=number,
            is_running=True,
            directory=uuid.UUID(int=number + 100),
            config=SimpleNamespace(controller_listeners={"CONTROLLER": Address("h", 20 + number)}),
        )
        for number in range(voters)
    }
    cluster = SimpleNamespace(
        id=uuid.UUID(int=99),
        wire=None,
        nodes=nodes,
        voters=list(nodes.values()),
        topology=Topology(voters, 1),
        controllers={number: Address("h", 20 + number) for number in nodes},
    )
    notes = []
    quorum = Quorum(0, 7, 90, dict.fromkeys(nodes, 100))
    world = SimpleNamespace(cluster=cluster, quorum=lambda: quorum, notes=notes, **more)
    world.note = lambda text, _node=-1: notes.append(text)
    world.told = {}
    world.tell = lambda subject, name, text: world.told.setdefault(subject, {}).update({name: text})
    return world


def test_every_kind_of_garbage_goes_to_every_controller_that_runs(monkeypatch):
    sent = []
    monkeypatch.setattr(garbage_condition, "reply", lambda address, data: sent.append((address.port, data)) or "closed")
    world = quorum_of()
    world.cluster.nodes[2].is_running = False
    assert garbage_condition.garbage_is_refused().sample(world).ok
    assert sent == [(port, data) for port in (20, 21) for data in GARBAGE.values()]


def test_a_controller_that_answers_garbage_is_named(monkeypatch):
    answers = {GARBAGE["an empty frame"]: "answered"}
    monkeypatch.setattr(garbage_condition, "reply", lambda _, data: answers.get(data, "closed"))
    sample = garbage_condition.garbage_is_refused().sample(quorum_of())
    assert (sample.ok, sample.final) == (False, True)
    assert "an empty frame, to controller 1: answered, not closed" in sample.problem


ANSWERS = {
    (6, 100): Fetched("fenced_leader_epoch", 0.01),
    (7, 99): Fetched("none", 0.01, size=70),
    (7, 1100): Fetched("none", 0.01, diverging=100),
    (7, 0): Fetched("none", 0.01, snapshot=50),
    (7, 100, 0.0): Fetched("none", 0.01),
    (7, 100, 2.0): Fetched("none", 0.3, size=70),
    (7, 100, 0.15): Fetched("none", 0.16),
}


def fetching(monkeypatch, changes=None):
    answers = ANSWERS | (changes or {})

    def fetched(_wire, address, stray, wait):
        assert address.port == 20, "only the leader is asked"
        at = (stray.epoch, stray.offset)
        return answers.get((*at, wait)) or answers[at]

    monkeypatch.setattr(raft_fetches, "fetched", fetched)
    return raft_fetches.fetches_are_answered().sample(quorum_of())


def test_a_leader_that_answers_at_once_where_it_must_and_ends_long_polls_is_right(monkeypatch):
    sample = fetching(monkeypatch)
    assert (sample.ok, sample.problem) == (True, "")
    assert sample.detail["at the end of the log"] == "records meanwhile"


@pytest.mark.parametrize(
    ("key", "answer", "problem"),
    [
        ((6, 100), Fetched("none", 2.0), "of an epoch that is over: nothing when its time is over, not fenced_"),
        ((7, 99), Fetched("none", 0.4, size=70), "where there is a record: records meanwhile, not records at once"),
        ((7, 1100), Fetched("none", 2.1), "behind the end of the log: nothing when its time is over, not a diverging"),
        ((7, 0), Fetched("none", 0.01, size=9), "of the whole log: records at once, not a snapshot at once"),
        (
            (7, 100, 0.0),
            Fetched("none", 0.5),
            "without time to wait: nothing when its time is over, not nothing at once",
        ),
        ((7, 100, 2.0), Fetched("none", 2.1), "at the end of the log: nothing when its time is over, not records"),
        ((7, 100, 0.15), Fetched("none", 0.01), "for a moment: nothing at once, not nothing when its time is over"),
    ],
)
def test_a_fetch_that_is_answered_otherwise_is_named(monkeypatch, key, answer, problem):
    sample = fetching(monkeypatch, {key: answer})
    assert not sample.ok
    assert problem in sample.problem


def test_a_voter_is_asked_four_times_for_its_vote_of_the_next_epoch(monkeypatch):
    sent = []
    monkeypatch.setattr(votes_module, "send", lambda *given: sent.append(given[1:]) or f"answer {len(sent)}")
    world = quorum_of()
    ask_for_votes(OTHER).perform(world)
    assert {(address.port, name) for address, name, _ in sent} == {(21, "vote")}
    older, whole, rival, again = [stray for *_, stray in sent]
    assert {stray.epoch for *_, stray in sent} == {8}
    assert (older.node, older.offset, older.last_epoch) == (0, 0, 0)
    assert (whole.node, rival.node, again) == (0, 2, whole)
    assert whole.offset > 100
    assert rival.directory == uuid.UUID(int=102)
    assert world.notes[1] == "a Vote of epoch 8 for node 0 with a whole log: answer 2"


def test_one_voter_alone_can_be_asked_by_no_two_candidates():
    with pytest.raises(ActionFailed, match="two must be able to stand"):
        ask_for_votes(OTHER).perform(quorum_of(voters=2))


@pytest.mark.parametrize(
    ("answers", "journaled"),
    [
        ([Answer("none")], "none"),
        ([Answer("invalid_update_version", "not yet"), Answer("none")], "none"),
        ([Answer("invalid_update_version", "never")], "invalid_update_version: never"),
    ],
)
def test_a_feature_is_asked_for_until_it_is_raised_and_the_last_answer_is_journaled(monkeypatch, answers, journaled):
    monkeypatch.setattr(feature_module, "_WITHIN_SECONDS", 0.02)
    monkeypatch.setattr(feature_module, "_RETRY_SECONDS", 0.005)
    asked = []

    def answer(_wire, address, feature, level):
        asked.append((address.port, feature, level))
        return answers.pop(0) if len(answers) > 1 else answers[0]

    monkeypatch.setattr(feature_module, "ask_to_update", answer)
    world = quorum_of(is_over=lambda: False)
    update_feature("kraft.version", 1).perform(world)
    assert world.notes == [f"UpdateFeatures of kraft.version to 1: {journaled}"]
    assert set(asked) == {(20, "kraft.version", 1)}


@pytest.mark.parametrize(
    ("top", "of_feature", "told"),
    [
        ("none", "none", "none"),
        ("not_controller", "none", "not_controller"),
        ("none", "invalid_request", "invalid_request"),
    ],
)
def test_a_feature_may_be_refused_as_a_whole_or_by_itself(monkeypatch, top, of_feature, told):
    of = load_entity_module("update_features", 1, EntityType.response)
    asks = load_entity_module("update_features", 1, EntityType.request)
    result = of.UpdatableFeatureResult(feature="f", error_code=ErrorCode[of_feature], error_message=None)
    answer = of.UpdateFeaturesResponse(
        throttle_time=asks.UpdateFeaturesRequest.__dataclass_fields__["timeout"].default,
        error_code=ErrorCode[top],
        error_message=None,
        results=(result,),
    )
    sent = []
    monkeypatch.setattr(feature_updates, "ask", lambda _address, request, timeout: sent.append(request) or answer)
    wire = SimpleNamespace(schemas=lambda *_: asks)
    assert feature_updates.update_feature(wire, None, "f", 3).code == told
    assert [(each.feature, each.max_version_level) for each in sent[0].feature_updates] == [("f", 3)]


def test_a_voter_is_known_by_the_directory_id_that_the_voter_set_names(monkeypatch):
    of = load_entity_module("describe_quorum", 2, EntityType.response)
    voter = of.ReplicaState(replica_id=1, replica_directory_id=uuid.UUID(int=5), log_end_offset=1)
    found = of.PartitionData(
        partition_index=0,
        error_code=ErrorCode.none,
        error_message=None,
        leader_id=0,
        leader_epoch=1,
        high_watermark=9,
        current_voters=(voter,),
        observers=(),
    )
    topic = of.TopicData(topic_name="__cluster_metadata", partitions=(found,))
    answer = of.DescribeQuorumResponse(error_code=ErrorCode.none, error_message=None, topics=(topic,), nodes=())
    monkeypatch.setattr(voter_changes, "ask", lambda *_, **__: answer)
    monkeypatch.setattr(voter_changes, "describe_quorum_request", lambda *_: None)
    assert voter_changes.directory_of(None, None, 1) == uuid.UUID(int=5)
    assert voter_changes.directory_of(None, None, 2) is None


@pytest.mark.parametrize(("newest", "known"), [(1, False), (2, True)])
def test_the_versions_of_vote_tell_whether_voters_ask_first(monkeypatch, newest, known):
    monkeypatch.setattr(pre_votes, "understood", lambda _address: {52: (0, newest)})
    assert pre_votes.has_pre_votes().sample(quorum_of()).ok is known
    assert pre_votes.has_no_pre_votes().sample(quorum_of()).ok is not known


def test_where_no_controller_answers_nobody_knows_whether_they_ask(monkeypatch):
    def unreachable(address):
        raise Unreachable(str(address))

    monkeypatch.setattr(pre_votes, "understood", unreachable)
    for condition in (pre_votes.has_pre_votes(), pre_votes.has_no_pre_votes()):
        sample = condition.sample(quorum_of())
        assert (sample.ok, sample.testable) == (False, False)


UNSUPPORTED = Answer("unsupported_version", "kraft.version is 0")


def unsupported(monkeypatch, **changes):
    answers = {"add_voter": UNSUPPORTED, "remove_voter": UNSUPPORTED, **changes}
    for name, answer in answers.items():
        monkeypatch.setattr(quorum_answers, name, lambda *_, answer=answer: answer)
    return quorum_answers.voter_changes_are_unsupported().sample(quorum_of())


def test_static_voters_are_changed_by_nobody(monkeypatch):
    assert unsupported(monkeypatch).ok


@pytest.mark.parametrize(
    ("name", "answer"),
    [("add_voter", Answer("none")), ("remove_voter", Answer("unsupported_version"))],
)
def test_a_change_of_static_voters_that_is_taken_or_refused_without_a_word_is_named(monkeypatch, name, answer):
    sample = unsupported(monkeypatch, **{name: answer})
    assert (sample.ok, sample.final) == (False, True)
    assert sample.problem.startswith(name.replace("_", " a ", 1))


def asking(monkeypatch, tmp_path, answer):
    """Ask a quorum of which node 0 leads, with snapshots up to 0 and 40, for snapshots; it answers as told."""
    world = quorum_of()
    for node in world.cluster.nodes.values():
        node.metadata_log = tmp_path
    for name in ("0" * 20 + "-" + "0" * 10, f"{40:020d}-{3:010d}"):
        (tmp_path / f"{name}.checkpoint").write_text("")
    monkeypatch.setattr(snapshot_requests, "send", lambda _wire, address, name, stray: answer(address.port, stray))
    return world


def as_meant(port, stray):
    if port != 20:
        return "not_leader_or_follower"
    if stray.epoch != 7:
        return "fenced_leader_epoch" if stray.epoch < 7 else "unknown_leader_epoch"
    if stray.topic != "__cluster_metadata":
        return "unknown_topic_or_partition"
    return "snapshot_not_found" if (stray.offset, stray.last_epoch) != (40, 3) else "position_out_of_range"


def test_a_leader_that_says_of_each_snapshot_why_it_cannot_be_had_checks_requests_for_snapshots(monkeypatch, tmp_path):
    sample = snapshot_requests.snapshot_requests_are_checked().sample(asking(monkeypatch, tmp_path, as_meant))
    assert (sample.ok, sample.problem, len(sample.detail)) == (True, "", 11)


@pytest.mark.parametrize(
    "error",
    [
        "fenced_leader_epoch",
        "unknown_leader_epoch",
        "unknown_topic_or_partition",
        "snapshot_not_found",
        "position_out_of_range",
        "not_leader_or_follower",
    ],
)
def test_an_answer_that_could_not_be_written_is_a_wrong_one(monkeypatch, tmp_path, error):
    def answer(port, stray):
        right = as_meant(port, stray)
        return "unknown_server_error" if right == error else right

    sample = snapshot_requests.snapshot_requests_are_checked().sample(asking(monkeypatch, tmp_path, answer))
    assert (sample.ok, sample.final) == (False, True)
    assert f"unknown_server_error, not {error}" in sample.problem


def test_a_request_without_a_topic_is_sent_once_and_has_none(monkeypatch, tmp_path):
    sent = []
    world = asking(monkeypatch, tmp_path, lambda port, stray: sent.append((port, stray.has_topic)) or "invalid_request")
    assert snapshot_requests.snapshot_without_topics_is_refused().sample(world).ok
    assert sent == [(20, False)]


def test_a_leader_that_ends_by_it_gives_a_wrong_answer_and_no_other_is_asked(monkeypatch, tmp_path):
    def end(*_):
        raise Unreachable("h:20: it closed the connection")

    sample = snapshot_requests.snapshot_without_topics_is_refused().sample(asking(monkeypatch, tmp_path, end))
    assert (sample.ok, sample.testable, sample.final) == (False, True, True)
    assert sample.problem == "it answered nothing (h:20: it closed the connection)"


def test_a_request_for_a_snapshot_may_name_no_topic_and_any_byte():
    of = load_entity_module("fetch_snapshot", 1, EntityType.request)
    stray = Stray("cluster", 5, 0, 1, offset=40, last_epoch=3, position=-1)
    (topic,) = fetch_snapshot(of, stray).topics
    assert (topic.partitions[0].position, topic.partitions[0].snapshot_id.end_offset) == (-1, 40)
    assert fetch_snapshot(of, replace(stray, has_topic=False)).topics == ()
