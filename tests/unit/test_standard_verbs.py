"""The verbs of the standard suite, on clusters that answer as the test says."""

import io
import os
import signal
import uuid
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError, KafkaException
from hypothesis import given
from hypothesis import strategies as st
from kio.index import load_entity_module
from kio.schema.describe_quorum.v2.response import (
    DescribeQuorumResponse,
    Listener,
    Node,
    PartitionData,
    ReplicaState,
    TopicData,
)
from kio.schema.errors import ErrorCode
from kio.schema.types import BrokerId, TopicName
from kio.serial import entity_reader, entity_writer
from kio.static.constants import EntityType
from kio.static.primitive import i32, i64, u16

from harness.cluster import probes, raft_requests
from harness.cluster.address import Address
from harness.cluster.install import Install
from harness.cluster.probes import Quorum
from harness.cluster.protocol import Unreachable, fitting
from harness.cluster.quorum_description import Description, description_of
from harness.cluster.topology import Topology
from harness.cluster.voter_changes import Answer
from harness.scenario import holding
from harness.scenario.actions import change_voters
from harness.scenario.actions.create_topics import create_topics
from harness.scenario.actions.hold_followers import hold_followers, release_followers
from harness.scenario.actions.install import install
from harness.scenario.actions.wipe import wipe
from harness.scenario.conditions import quorum_answers, quorum_descriptions
from harness.scenario.conditions import raft_requests as raft_condition
from harness.scenario.conditions.isolated_leader import has_given_up, has_uncommitted_tail
from harness.scenario.conditions.leadership import has_no_leader
from harness.scenario.conditions.membership import observes, votes, votes_no_more
from harness.scenario.conditions.snapshots import is_cut_like, log_files, starts_at_snapshot
from harness.scenario.loads import new_topics
from harness.scenario.loads.asking_again import ask_again
from harness.scenario.refs import fixed
from harness.scenario.world import ActionFailed

FIRST, OBSERVER = fixed(1, "voter 1"), fixed(3, "the observer")


def node(number, *, pid=0, is_running=True):
    listeners = {"CONTROLLER": Address("h", 20 + number)}
    config = SimpleNamespace(controller_listeners=listeners, announced=listeners)
    state = {"pid": pid, "is_running": is_running, "is_alive": is_running}
    return SimpleNamespace(id=number, config=config, directory=uuid.UUID(int=number), **state)


def world_of(quorum=None, nodes=None, **more):
    nodes = nodes or [node(number) for number in range(4)]
    cluster = SimpleNamespace(
        id=uuid.UUID(int=99),
        wire=None,
        nodes={each.id: each for each in nodes},
        voters=[each for each in nodes if each.id < 3],
        topology=Topology(3, 1),
        controllers={number: Address("h", 20 + number) for number in range(3)},
        brokers={number: Address("h", 10 + number) for number in range(4)},
        is_closed=False,
    )
    cluster.running = [each for each in nodes if getattr(each, "is_running", True)]
    cluster.endpoints = {number: Address("h", 20 + number) for number in range(3)}
    told = {}

    def tell(subject, name, text):
        told.setdefault(subject, {})[name] = text

    return SimpleNamespace(cluster=cluster, quorum=lambda: quorum or Quorum(), told=told, tell=tell, **more)


def led(voters=(0, 1, 2)):
    return Quorum(0, 1, 9, dict.fromkeys(voters, 10), {3: 10})


def test_every_voter_but_the_leader_is_held_and_excused_for_as_long_as_it_is(monkeypatch):
    sent, excused = [], set()
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append((pid, number)))
    nodes = [node(0, pid=100), node(1, pid=101), node(2, pid=0), node(3, pid=103)]
    written = []

    def monitor(_kind):
        lasting = {"lasts": lambda _: None, "lasts_no_more": lambda *_: None}
        return SimpleNamespace(allow=excused.add, disallow=excused.discard, held=frozenset(excused), **lasting)

    world = world_of(led(), nodes, monitor=monitor, write=written.append)
    monkeypatch.setattr(holding, "stands_still", lambda pid: dict(sent).get(pid) == signal.SIGSTOP)
    hold_followers().perform(world)
    assert (sent, excused) == ([(101, signal.SIGSTOP)], {1})
    release_followers().perform(world)
    assert [(each.fault, each.status, each.node) for each in written] == [
        ("hold", "begun", 1),
        ("hold", "proved", 1),
        ("hold", "ended", 1),
    ]
    assert (signal.SIGCONT in dict(sent).values(), excused) == (True, set())
    assert 0 not in dict(sent), "a signal to process 0 goes to this whole group"
    assert 103 not in dict(sent)


def test_a_disk_is_wiped_only_while_its_node_is_down(tmp_path):
    wiped = []
    world = world_of(nodes=[node(1, is_running=False), node(3)])
    world.cluster.nodes[1].data_dir = tmp_path
    world.cluster.wipe = lambda number, *, new_identity: wiped.append((number, new_identity))
    wipe(FIRST, identity="new").perform(world)
    assert wiped == [(1, True)]
    with pytest.raises(ActionFailed, match="node 3 runs"):
        wipe(OBSERVER).perform(world)
    with pytest.raises(ValueError, match="is unknown"):
        wipe(FIRST, identity="old")


def test_a_build_is_installed_only_while_its_node_is_down_and_only_one_that_was_given(tmp_path):
    jar = tmp_path / "given.jar"
    jar.write_bytes(b"a build")
    world = world_of(nodes=[node(1, is_running=False), node(3)])
    world.installs = {"candidate": Install("candidate", jar, "0" * 64, "absent")}
    for each in world.cluster.nodes.values():
        each.folder, each.install = tmp_path / str(each.id), None
        each.folder.mkdir()
    install(FIRST, "candidate").perform(world)
    assert world.cluster.nodes[1].install.jar.read_bytes() == b"a build"
    with pytest.raises(ActionFailed, match="node 3 runs: a build is installed on a node that is down"):
        install(OBSERVER, "candidate").perform(world)
    with pytest.raises(ActionFailed, match="no build candidat was given to install; those given: candidate"):
        install(FIRST, "candidat").perform(world)


@pytest.fixture
def answers(monkeypatch):
    """Have controllers give these answers, the last one for ever; return what they were asked."""
    given, asked = [Answer("none")], []

    def answer(_wire, address, _cluster, voter, *rest):
        asked.append((address.port, voter[0], *rest))
        return given.pop(0) if len(given) > 1 else given[0]

    monkeypatch.setattr(change_voters, "add_voter", answer)
    monkeypatch.setattr(change_voters, "remove_voter", answer)
    monkeypatch.setattr(change_voters, "_RETRY_SECONDS", 0.001)
    monkeypatch.setattr(change_voters, "directory_of", lambda *_: None)
    return SimpleNamespace(given=given, asked=asked)


def test_a_controller_is_added_with_its_listeners_by_the_leader_once_it_has_caught_up(answers):
    answers.given.insert(0, Answer("request_timed_out", "it is lagging behind"))
    change_voters.add_controller(FIRST).perform(world_of(led(voters=(0, 2))))
    assert answers.asked == [(20, 1, {"CONTROLLER": Address("h", 21)})] * 2


@pytest.mark.parametrize(
    ("later", "is_told"),
    [({}, True), ({"epoch": 6}, False), ({"leader": 2}, False)],
    ids=["same", "epoch", "leader"],
)
def test_a_leader_that_refuses_a_change_and_makes_it_all_the_same_is_told(answers, later, is_told):
    answers.given[:] = [Answer("request_timed_out", "it took too long")]
    before, world = led(voters=(0, 2)), world_of(led())
    looks = iter([before, replace(led(), **({"leader": before.leader, "epoch": before.epoch} | later))])
    world.quorum = looks.__next__
    with (
        pytest.raises(ActionFailed, match=r"refused to change the voter set \(request_timed_out")
        if is_told
        else nullcontext()
    ):
        change_voters.add_controller(FIRST).perform(world)


def test_a_controller_that_votes_is_not_added_again(answers):
    change_voters.add_controller(FIRST).perform(world_of(led()))
    assert answers.asked == []


def test_a_controller_with_a_new_disk_is_removed_by_the_directory_id_that_the_voter_set_has_for_it(monkeypatch):
    removed, lost = [], uuid.UUID(int=77)
    monkeypatch.setattr(change_voters, "directory_of", lambda _wire, _address, number: lost if number == 1 else None)
    monkeypatch.setattr(change_voters, "remove_voter", lambda *given: removed.append(given[3]) or Answer("none"))
    change_voters.remove_controller(FIRST).perform(world_of(led()))
    assert removed == [(1, lost)]


def test_what_the_leader_answered_is_why_a_change_failed(answers, monkeypatch):
    monkeypatch.setattr(change_voters, "_WITHIN_SECONDS", 0.01)
    answers.given[:] = [Answer("unsupported_version", "kraft.version is 0")]
    with pytest.raises(ActionFailed, match=r"was not changed: unsupported_version: kraft.version is 0"):
        change_voters.remove_controller(FIRST).perform(world_of(led()))


@pytest.mark.parametrize(
    ("condition", "voters", "holds"),
    [
        (votes(FIRST), (0, 1, 2), True),
        (votes(FIRST), (0, 2), False),
        (votes(FIRST), (1, 2), False),
        (votes_no_more(FIRST), (0, 2), True),
        (votes_no_more(FIRST), (0, 1, 2), False),
        (votes_no_more(FIRST), (2,), False),
    ],
)
def test_a_change_of_voters_leaves_every_other_voter(condition, voters, holds):
    assert condition.sample(world_of(led(voters))).ok is holds


@pytest.mark.parametrize(
    ("leader", "voters", "observers", "holds"),
    [(0, (0, 2), (1,), True), (0, (0, 2), (), False), (0, (0, 1, 2), (1,), False), (-1, (0, 2), (1,), False)],
    ids=["named", "nobody's", "a voter too", "nobody leads"],
)
def test_a_removed_controller_observes_once_the_leader_names_it_so(leader, voters, observers, holds):
    quorum = Quorum(leader, 1, 9, dict.fromkeys(voters, 9), dict.fromkeys(observers, 9))
    assert observes(FIRST).sample(world_of(quorum)).ok is holds


def test_without_a_leader_nobody_is_known_to_vote_no_more():
    assert not votes_no_more(FIRST).sample(world_of(Quorum(-1, 1, 9, {0: 1, 2: 1}))).ok


@pytest.mark.parametrize(
    ("accounts", "held", "is_down", "found"),
    [
        ({0: -1, 1: -1, 2: -1}, set(), set(), (True, True)),
        ({0: -1, 1: 1, 2: -1}, set(), set(), (False, True)),
        ({0: -1, 1: -1}, set(), set(), (False, False)),  # what node 2 would say nobody knows
        ({0: -1, 1: -1}, {2}, set(), (True, True)),
        ({0: -1, 1: -1}, set(), {2}, (True, True)),
        ({1: -1}, {2}, set(), (False, False)),
    ],
)
def test_nobody_leads_by_the_own_account_of_every_voter_that_runs_and_is_not_held(
    monkeypatch, accounts, held, is_down, found
):
    def own_account(_wire, address):
        voter = address.port - 20
        if voter not in accounts:
            raise Unreachable(f"node {voter} is silent")
        return Quorum(accounts[voter], 7)

    monkeypatch.setattr(probes, "own_account", own_account)
    nodes = [node(number, is_running=number not in is_down) for number in range(4)]
    sample = has_no_leader().sample(world_of(led(), nodes, monitor=lambda _: SimpleNamespace(held=held)))
    assert (sample.ok, sample.testable) == found


@pytest.mark.parametrize(
    ("high_watermark", "end", "leader", "has_tail"),
    [(500, 502, 0, True), (500, 501, 0, False), (-1, 501, 0, False), (500, 502, 1, False)],
    ids=["two records", "one on its way", "nothing committed yet", "another leads"],
)
def test_a_leader_has_a_tail_by_its_own_account_once_it_says_where_that_begins(
    monkeypatch, high_watermark, end, leader, has_tail
):
    account = Quorum(leader, 7, high_watermark, {0: end, 1: 500, 2: 500})
    monkeypatch.setattr(probes, "own_account", lambda *_: account)
    world = world_of(account, [node(number, is_running=True) for number in range(3)])
    assert has_uncommitted_tail(fixed(0, "the leader")).sample(world).ok is has_tail


def test_in_zookeeper_mode_nobody_leads_where_there_is_no_controller():
    world = world_of(Quorum())
    world.cluster.controllers = {}
    assert has_no_leader().sample(world).ok
    world.quorum = led
    assert not has_no_leader().sample(world).ok


@given(st.lists(st.integers(0, 10**12)), st.lists(st.integers(0, 10**12)))
def test_a_logs_files_are_read_by_their_names_whatever_lies_beside_them(segments, snapshots):
    names = [f"{each:020d}.log" for each in segments] + [f"{each:020d}-0000000003.checkpoint" for each in snapshots]
    others = ["quorum-state", "leader-epoch-checkpoint", "00000000000000000000.log.deleted", "x.checkpoint", "y.log"]
    found = log_files(names + others)
    assert found.first_segment == min(segments, default=0)
    assert found.newest_snapshot == max(snapshots, default=0)


@pytest.mark.parametrize(
    ("names", "begins"),
    [
        (("00000000000000000000.log", "00000000000000000050-0000000001.checkpoint"), False),
        (("00000000000000000040.log", "00000000000000000050-0000000001.checkpoint"), True),
        (("00000000000000000050.log", "00000000000000000040-0000000001.checkpoint"), False),
        ((), False),
    ],
)
def test_a_log_begins_at_a_snapshot_that_covers_what_is_gone(tmp_path, names, begins):
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    for name in names:
        (folder / name).touch()
    world = world_of(nodes=[SimpleNamespace(id=1, data_dir=tmp_path)])
    assert starts_at_snapshot(FIRST).sample(world).ok is begins


@pytest.mark.parametrize(("own", "cut", "is_like"), [(40, 40, True), (50, 40, True), (30, 40, False), (0, 0, False)])
def test_a_log_is_cut_like_anothers_that_was_cut_before(tmp_path, own, cut, is_like):
    for number, first in ((1, own), (3, cut)):
        folder = tmp_path / str(number) / "__cluster_metadata-0"
        folder.mkdir(parents=True)
        (folder / f"{first:020}.log").touch()
    nodes = [SimpleNamespace(id=number, data_dir=tmp_path / str(number)) for number in (1, 3)]
    assert is_cut_like(FIRST, OBSERVER).sample(world_of(nodes=nodes)).ok is is_like


def test_a_thousand_topics_are_asked_for_in_batches_over_all_brokers():
    asked = []
    create_topics("many", 450).perform(world_of(create_topics=lambda topics, _config: asked.append(topics)))
    assert [len(each) for each in asked] == [200, 200, 50]
    assert [asked[0][f"many-{number}"] for number in range(5)] == [[(0,)], [(1,)], [(2,)], [(3,)], [(0,)]]
    assert "many-449" in asked[-1]


FOLLOWER = Description(Answer("not_leader_or_follower", "not the leader"))
EVERYONE = Description(
    Answer("none"),
    leader=0,
    high_watermark=9,
    voters=frozenset({0, 1, 2}),
    observers=frozenset({3}),
    offsets={0: 10, 1: 10, 2: 9, 3: 9},
    behind={0: 0.0, 1: 0.5, 2: 0.4, 3: 1.0},
    endpoints={each: Address("h", 20 + each) for each in range(3)},
)
DESCRIBED = {20: EVERYONE, 21: FOLLOWER, 22: FOLLOWER, **dict.fromkeys(range(10, 14), EVERYONE)}


def described(monkeypatch, changes, world=None, older=None):
    """Ask a quorum that describes itself so, by port; `older` is what it answers in version 0."""
    answers = {2: DESCRIBED | changes, 0: DESCRIBED | (older or {})}
    world = world or world_of(led())
    world.cluster.wire = SimpleNamespace(versions=lambda _name, _address: {2: 2, 0: 0})
    monkeypatch.setattr(quorum_descriptions, "describe_in", lambda version, address: answers[version][address.port])
    return quorum_descriptions.quorum_is_described().sample(world)


def test_the_quorum_is_described_when_leader_and_brokers_name_all_of_it_and_followers_say_that_they_do_not_lead(
    monkeypatch,
):
    world = world_of(led())
    assert described(monkeypatch, {}, world).ok
    assert world.told == {"refusals": {"DescribeQuorum at a follower": "not the leader"}}


RIGHT_NOW = "none [0, 1, 2] observed by [3]"


@pytest.mark.parametrize(
    ("asked", "answer", "problem"),
    [
        (21, EVERYONE, f"controller 1: {RIGHT_NOW}, not not_leader_or_follower []"),
        (20, FOLLOWER, f"controller 0: not_leader_or_follower [], not {RIGHT_NOW}"),
        (13, replace(EVERYONE, voters=frozenset({0, 1})), f"broker 3: none [0, 1] observed by [3], not {RIGHT_NOW}"),
        (20, replace(EVERYONE, observers=frozenset()), f"controller 0: none [0, 1, 2] observed by [], not {RIGHT_NOW}"),
        (20, replace(EVERYONE, observers=frozenset({3, 7})), f"observed by [3, 7], not {RIGHT_NOW}"),
        (
            20,
            replace(EVERYONE, endpoints={**EVERYONE.endpoints, 2: Address("h", 99)}),
            "; voter 2 at h:99, where it does not listen, not",
        ),
        (
            20,
            replace(EVERYONE, endpoints={each: EVERYONE.endpoints[each] for each in (0, 1)}),
            "; voter 2 at no address, not",
        ),
        (20, replace(EVERYONE, behind={0: 0.0, 2: 10.4}), f"{RIGHT_NOW}; node 2 caught up last 10 s ago"),
        (20, replace(EVERYONE, behind={0: 0.0, 3: float("inf")}), f"{RIGHT_NOW}; node 3 caught up never"),
        (20, replace(EVERYONE, offsets={0: 10, 3: 11}), f"{RIGHT_NOW}; node 3 is at 11, beyond the leader at 10"),
        (20, replace(EVERYONE, high_watermark=11), f"{RIGHT_NOW}; 11 is committed, and the leader is at 10"),
    ],
)
def test_who_describes_the_quorum_otherwise_is_named(monkeypatch, asked, answer, problem):
    sample = described(monkeypatch, {asked: answer})
    assert not sample.ok
    assert problem in sample.problem


def test_who_has_ended_may_observe_for_a_while_and_old_disks_of_voters_too(monkeypatch):
    left = replace(EVERYONE, observers=frozenset({2, 3}))
    assert described(monkeypatch, dict.fromkeys((20, *range(10, 14)), left)).ok
    ended = world_of(led(), [node(number, is_running=number != 3) for number in range(4)])
    ended.cluster.brokers = {number: Address("h", 10 + number) for number in range(3)}
    assert described(monkeypatch, {}, ended).ok
    del ended.cluster.controllers[1]
    without = replace(EVERYONE, observers=frozenset())
    assert described(monkeypatch, dict.fromkeys((20, *range(10, 13)), without), ended).ok


@pytest.mark.parametrize(("port", "who"), [(20, "controller 0"), (11, "broker 1")])
def test_who_answers_an_old_version_with_an_error_is_named(monkeypatch, port, who):
    sample = described(monkeypatch, {}, older={port: Description(Answer("unsupported_version"))})
    assert sample.problem == f"{who}, in version 0: unsupported_version [], not {RIGHT_NOW}"


def test_who_hangs_up_when_an_old_version_is_asked_is_named(monkeypatch):
    def hang_up(version, address):
        if version == 0:
            raise Unreachable(f"{address}: it closed the connection")
        return DESCRIBED[address.port]

    world = world_of(led())
    world.cluster.wire = SimpleNamespace(versions=lambda *_: {2: 2, 0: 0})
    monkeypatch.setattr(quorum_descriptions, "describe_in", hang_up)
    sample = quorum_descriptions.quorum_is_described().sample(world)
    assert sample.detail == {"unreachable": "controller 0, in version 0: h:20: it closed the connection"}
    assert not sample.ok


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_description_is_read_in_every_version(version):
    """What a version does not say is left out of it."""
    of = load_entity_module("describe_quorum", version, EntityType.response)
    replicas = tuple(
        fitting(of.ReplicaState, replica_id=node, replica_directory_id=None, log_end_offset=9) for node in range(2)
    )
    found = fitting(
        of.PartitionData,
        partition_index=0,
        error_code=ErrorCode.none,
        error_message=None,
        leader_id=0,
        leader_epoch=1,
        high_watermark=9,
        current_voters=replicas,
        observers=(),
    )
    topic = of.TopicData(topic_name="__cluster_metadata", partitions=(found,))
    response = fitting(
        of.DescribeQuorumResponse, error_code=ErrorCode.none, error_message=None, topics=(topic,), nodes=()
    )
    said = description_of(response)
    assert (said.answer, said.voters, said.high_watermark) == (Answer("none"), frozenset({0, 1}), 9)


def test_an_answer_of_an_old_version_says_less_and_nothing_wrong(monkeypatch):
    older = replace(EVERYONE, behind={}, endpoints={})
    assert described(monkeypatch, dict.fromkeys((20, *range(10, 14)), older)).ok


@pytest.mark.parametrize(
    ("behind", "told"),
    [
        ({0: 0.0, 1: 4.0, 2: 0.5, 3: 1.0}, True),
        ({0: 0.0, 1: 0.0, 2: 0.0, 3: 0.0}, False),
        ({0: 0.0, 1: 4.0, 2: 4.1, 3: 1.0}, False),
        ({0: 0.0, 1: 4.0, 2: 3.0, 3: 3.0}, False),
        ({0: 0.0, 1: 1.9, 2: 0.1, 3: 0.1}, False),
        ({}, False),
    ],
    ids=["so it is", "always caught up", "another too", "all, some less", "for a moment", "an old version"],
)
def test_the_lag_of_a_replica_that_hangs_and_of_no_other_is_described(monkeypatch, behind, told):
    monkeypatch.setattr(quorum_descriptions, "describe", lambda *_: replace(EVERYONE, behind=behind))
    assert quorum_descriptions.lag_is_described(FIRST).sample(world_of(led())).ok is told
    nobody = quorum_descriptions.lag_is_described(FIRST).sample(world_of(Quorum()))
    assert (nobody.ok, nobody.testable) == (False, False)


def replica(node, *, fetched, caught_up, end=10):
    return ReplicaState(
        replica_id=BrokerId(node),
        replica_directory_id=uuid.UUID(int=node),
        log_end_offset=i64(end),
        last_fetch_timestamp=i64(fetched),
        last_caught_up_timestamp=i64(caught_up),
    )


def test_a_response_is_read_with_whom_it_names_and_for_how_long_each_has_not_caught_up():
    voters = (replica(0, fetched=9000, caught_up=9000), replica(1, fetched=8900, caught_up=4500, end=7))
    observers = (replica(3, fetched=8800, caught_up=-1), replica(3, fetched=100, caught_up=100, end=2))
    partition = PartitionData(
        partition_index=i32(0),
        error_code=ErrorCode.none,
        error_message=None,
        leader_id=BrokerId(0),
        leader_epoch=i32(5),
        high_watermark=i64(9),
        current_voters=voters,
        observers=observers,
    )
    nodes = (Node(node_id=BrokerId(1), listeners=(Listener(name="CONTROLLER", host="h", port=u16(21)),)),)

    def response(said):
        topics = (TopicData(topic_name=TopicName("__cluster_metadata"), partitions=(said,)),)
        return DescribeQuorumResponse(error_code=ErrorCode.none, error_message=None, topics=topics, nodes=nodes)

    said = description_of(response(partition))
    assert said == Description(
        Answer("none"),
        0,
        9,
        frozenset({0, 1}),
        frozenset({3}),
        {0: 10, 1: 7, 3: 10},
        {0: 0.0, 1: 4.5, 3: float("inf")},
        {1: Address("h", 21)},
    )
    refused = replace(partition, error_code=ErrorCode.not_leader_or_follower, error_message="not I")
    said = description_of(response(refused))
    assert said == Description(Answer("not_leader_or_follower", "not I"))
    empty = replace(response(partition), topics=(TopicData(topic_name=TopicName("__cluster_metadata"), partitions=()),))
    assert description_of(empty) == Description(Answer("none"))


def refused(monkeypatch, codes, world=None):
    def add(_wire, address, cluster, voter, listeners):
        own = "AAAAAAAAAAAAAAAAAAAAYw"
        if address.port != 20:
            return codes["add elsewhere"]
        kind = "foreign" if cluster != own else "again" if voter[0] == 0 else "unreachable" if not listeners else "new"
        return codes[kind]

    def remove(_wire, address, _cluster, voter):
        return codes["elsewhere"] if address.port != 20 else codes["stranger" if voter[0] else "other disk"]

    def update(_wire, address, cluster, epoch, voter, listeners):
        wrong = {
            "update elsewhere": address.port != 20,
            "update foreign": cluster != "AAAAAAAAAAAAAAAAAAAAYw",
            "update over": epoch < led().epoch,
            "update coming": epoch > led().epoch,
            "update unreachable": not listeners,
            "update stranger": voter != (0, uuid.UUID(int=0)),
        }
        (kind,) = [kind for kind, is_so in wrong.items() if is_so]
        return codes[kind]

    monkeypatch.setattr(quorum_answers, "add_voter", add)
    monkeypatch.setattr(quorum_answers, "remove_voter", remove)
    monkeypatch.setattr(quorum_answers, "update_voter", update)
    return quorum_answers.voter_changes_are_refused().sample(world or world_of(led()))


REFUSALS = {
    "again": Answer("duplicate_voter", "votes already"),
    "unreachable": Answer("invalid_request", "no endpoint"),
    "new": Answer("request_timed_out", "it is lagging behind"),
    "foreign": Answer("inconsistent_cluster_id", "another cluster"),
    "stranger": Answer("voter_not_found", "nobody"),
    "other disk": Answer("voter_not_found", "another directory"),
    "elsewhere": Answer("not_leader_or_follower"),
    "add elsewhere": Answer("not_leader_or_follower"),
    "update elsewhere": Answer("not_leader_or_follower"),
    "update foreign": Answer("inconsistent_cluster_id"),
    "update over": Answer("fenced_leader_epoch"),
    "update coming": Answer("unknown_leader_epoch"),
    "update unreachable": Answer("invalid_request"),
    "update stranger": Answer("voter_not_found"),
}


def test_changes_that_cannot_be_are_refused_each_with_its_error(monkeypatch):
    assert refused(monkeypatch, REFUSALS).problem == ""
    assert refused(monkeypatch, REFUSALS).ok


@pytest.mark.parametrize("kind", sorted(REFUSALS))
def test_a_change_that_is_not_refused_is_named(monkeypatch, kind):
    sample = refused(monkeypatch, REFUSALS | {kind: Answer("none")})
    assert not sample.ok
    assert ": none, not " in sample.problem


def test_the_words_of_a_refusal_are_told_without_what_differs_in_every_run(monkeypatch):
    world = world_of(led())
    words = Answer("voter_not_found", "node 4711 (fAGTnJx7Qo2eMS-xV4bAPg) at 127.0.0.1:29093 is no voter of 3")
    refused(monkeypatch, REFUSALS | {"stranger": words}, world)
    told = world.told["refusals"]
    assert told["remove a stranger"] == "node <n> (<id>) at <n>.<n>.<n>.<n>:<n> is no voter of <n>"
    assert told["add a voter that votes"] == "votes already"
    assert "remove the leader at follower <n>" not in told


def test_an_error_without_a_word_is_no_answer_to_an_operator(monkeypatch):
    sample = refused(monkeypatch, REFUSALS | {"stranger": Answer("voter_not_found")})
    assert sample.problem == "remove a stranger: voter_not_found, not voter_not_found with a message"


def test_a_topic_that_was_acknowledged_and_is_not_there_is_lost(monkeypatch):
    there = SimpleNamespace(topics={"steady-0": 1, "orders": 1})
    monkeypatch.setattr(new_topics, "AdminClient", lambda _: SimpleNamespace(list_topics=lambda timeout: there))
    client = new_topics.NewTopicsClient("steady", [])
    client._acknowledged = ["steady-0", "steady-1"]
    monkeypatch.setattr(new_topics, "_KNOWN_SECONDS", 0.0)
    report = client.compare([])
    assert (report.acknowledged, report.lost) == (2, 1)


def test_a_topic_that_a_broker_does_not_know_yet_is_asked_for_again(monkeypatch):
    views = [{"steady-0": 1}, {"steady-1": 1}]
    asked = SimpleNamespace(list_topics=lambda timeout: SimpleNamespace(topics=views.pop(0)))
    monkeypatch.setattr(new_topics, "AdminClient", lambda _: asked)
    assert new_topics.missing_topics(["steady-0", "steady-1"], []) == set()


REQUEST_MODULES = {"vote": 1, "begin_quorum_epoch": 1, "end_quorum_epoch": 1, "fetch": 17, "fetch_snapshot": 1}
RIGHT = raft_requests.Stray("cluster", 5, 0, 1)


def told_apart(port, name, stray):
    """Return what tells a request from every other that is sent; the directory of another disk is one of chance."""
    is_elsewhere = stray.receiver_directory is not None
    return port, name, replace(stray, cluster="", receiver_directory=None), is_elsewhere


def checked(monkeypatch, answer=lambda _name, error: error, after=None):
    """Return what comes of asking a cluster that answers so; `error` is what is right."""
    right = {
        told_apart(20 + node, name, stray): error
        for node in range(3)
        for _, (name, stray, error) in raft_condition._wrong(replace(RIGHT, receiver=node))
        if stray.cluster == "cluster"
    }

    def send_in(_of, address, name, stray):
        own = stray.cluster == "AAAAAAAAAAAAAAAAAAAAYw"
        return answer(name, right[told_apart(address.port, name, stray)] if own else "inconsistent_cluster_id")

    monkeypatch.setattr(raft_condition, "send_in", send_in)
    quorums = [Quorum(0, 5), after or Quorum(0, 5)]
    world = world_of()
    world.cluster.wire = SimpleNamespace(versions=versions_of)
    world.quorum = lambda: quorums.pop(0)
    return raft_condition.raft_requests_are_checked().sample(world)


def versions_of(name, _address=None):
    newest = REQUEST_MODULES[name]
    return {version: load_entity_module(name, version, EntityType.request) for version in range(newest, newest - 2, -1)}


def test_what_an_old_version_cannot_say_is_not_asked_in_it_and_all_else_is(monkeypatch):
    asked = checked(monkeypatch).detail
    assert "vote to another node, to voter 1" in asked
    assert "vote to another node, to voter 1, in version 0" not in asked
    assert "vote of an epoch that is over, to voter 1, in version 0" in asked
    assert "a vote for a voter without a log, to voter 1, in version 0" in asked
    assert "fetch of another cluster, to voter 0, in version 16" in asked


def test_a_version_that_cannot_name_the_metadata_partition_is_not_asked_in():
    for name, version in (("fetch", 12), ("fetch", 4)):
        of = load_entity_module(name, version, EntityType.request)
        assert not raft_requests.can_say(of, name, replace(RIGHT, cluster="another"), RIGHT)
        assert not raft_requests.can_say(of, name, RIGHT, RIGHT)


def test_a_quorum_that_refuses_whatever_is_wrong_checks_its_requests(monkeypatch):
    sample = checked(monkeypatch)
    assert (sample.ok, sample.problem, sample.final) == (True, "", False)
    assert len(sample.detail) > 40


@pytest.mark.parametrize("name", sorted(REQUEST_MODULES))
def test_a_voter_that_takes_a_wrong_request_is_named(monkeypatch, name):
    sample = checked(monkeypatch, lambda asked, error: "taken" if asked == name else error)
    assert (sample.ok, sample.final) == (False, True)
    assert f"{name} of another cluster, to voter 0: taken, not inconsistent_cluster_id" in sample.problem


def test_requests_that_are_taken_without_a_topic_or_for_another_disk_are_named(monkeypatch):
    sample = checked(
        monkeypatch, lambda _name, error: "none" if error in ("invalid_request", "invalid_voter_key") else error
    )
    for what in ("vote without a topic", "begin_quorum_epoch to another disk of the node", "fetch without a topic"):
        assert f"{what}, to voter 1: none, not invalid_" in sample.problem


def test_a_vote_that_is_granted_to_who_lacks_records_is_a_wrong_answer(monkeypatch):
    sample = checked(monkeypatch, lambda name, error: "none, granted" if (name, error) == ("vote", "none") else error)
    assert "a vote for a voter without a log, to voter 2: none, granted, not none" in sample.problem


@pytest.mark.parametrize("after", [Quorum(), Quorum(1, 6)])
def test_an_election_meanwhile_says_nothing_of_how_requests_are_checked(monkeypatch, after):
    assert not checked(monkeypatch, lambda *_: "x", after).testable


def test_every_wrong_request_is_one_that_a_node_can_read():
    said = [
        (what, *each[:2], of) for what, each in raft_condition._wrong(RIGHT) for of in versions_of(each[0]).values()
    ]
    for what, name, stray, of in said:
        made, written = raft_requests.REQUESTS[name](of, stray), io.BytesIO()
        entity_writer(type(made))(written, made)
        assert entity_reader(type(made))(written.getvalue(), 0)[0] == made, what


def test_no_wrong_request_names_a_replica_that_the_leader_would_take_for_an_observer():
    older, newer = (load_entity_module("fetch", version, EntityType.request) for version in (13, 17))
    assert raft_requests.fetch(newer, RIGHT).replica_state.replica_id == -1
    assert raft_requests.fetch(older, RIGHT).replica_id == -1


@pytest.mark.parametrize("dead_first", [True, False])
def test_an_observer_with_a_new_disk_is_judged_by_it_and_not_by_the_one_that_it_lost(dead_first, monkeypatch):
    of = load_entity_module("describe_quorum", 2, EntityType.response)
    lost, present = (
        of.ReplicaState(
            replica_id=3, replica_directory_id=uuid.UUID(int=when), log_end_offset=end, last_fetch_timestamp=when
        )
        for when, end in ((1, 86), (2, 40))
    )
    observers = (lost, present) if dead_first else (present, lost)
    found = of.PartitionData(
        partition_index=0,
        error_code=ErrorCode.none,
        error_message=None,
        leader_id=0,
        leader_epoch=1,
        high_watermark=90,
        current_voters=(),
        observers=observers,
    )
    topic = of.TopicData(topic_name="__cluster_metadata", partitions=(found,))
    answer = of.DescribeQuorumResponse(error_code=ErrorCode.none, error_message=None, topics=(topic,), nodes=())
    monkeypatch.setattr(probes, "ask", lambda *_, **__: answer)
    monkeypatch.setattr(probes, "describe_quorum_request", lambda *_: None)
    assert probes.describe_quorum(None, [Address("h", 1)]).observers == {3: 40}


def unanswered(*_, **__):
    raise Unreachable("timed out")


def no_leader(*_, **__):
    of = load_entity_module("describe_quorum", 2, EntityType.response)
    return of.DescribeQuorumResponse(
        error_code=ErrorCode.not_leader_or_follower, error_message=None, topics=(), nodes=()
    )


@pytest.mark.parametrize(("ask", "ok", "testable"), [(no_leader, True, True), (unanswered, False, False)])
def test_a_leader_that_takes_too_long_to_answer_has_not_given_up(ask, ok, testable, monkeypatch):
    monkeypatch.setattr(probes, "ask", ask)
    monkeypatch.setattr(probes, "describe_quorum_request", lambda *_: None)
    monkeypatch.setattr(probes, "answers", lambda *_: True)
    world = SimpleNamespace(cluster=SimpleNamespace(wire=None, controllers={0: Address("h", 1)}))
    looked = has_given_up(fixed(0, "the leader")).sample(world)
    assert (looked.ok, looked.testable) == (ok, testable)


def test_each_leader_says_when_its_voters_last_fetched_also_one_that_was_deposed(monkeypatch):
    of = load_entity_module("describe_quorum", 2, EntityType.response)

    def says(leader, epoch, fetched):
        voters = tuple(
            of.ReplicaState(replica_id=node, replica_directory_id=None, log_end_offset=1, last_fetch_timestamp=when)
            for node, when in fetched.items()
        )
        found = of.PartitionData(
            partition_index=0,
            error_code=ErrorCode.none,
            error_message=None,
            leader_id=leader,
            leader_epoch=epoch,
            high_watermark=90,
            current_voters=voters,
            observers=(),
        )
        topic = of.TopicData(topic_name="__cluster_metadata", partitions=(found,))
        return of.DescribeQuorumResponse(error_code=ErrorCode.none, error_message=None, topics=(topic,), nodes=())

    answers = {1: says(0, 3, {0: -1, 1: 5_000}), 2: says(1, 4, {0: -1, 1: -1, 2: 61_250})}
    monkeypatch.setattr(probes, "ask", lambda address, *_, **__: answers[address.port])
    monkeypatch.setattr(probes, "describe_quorum_request", lambda *_: None)
    found = probes.describe_quorum(None, [Address("h", 1), Address("h", 2)])
    assert (found.leader, found.leaders) == (1, ((3, 0), (4, 1)))
    assert found.fetched == {0: {0: -1.0, 1: 5.0}, 1: {0: -1.0, 1: -1.0, 2: 61.25}}


def failing(code):
    """Return a broker's answer that is an error."""

    def fail(*_, **__):
        raise KafkaException(KafkaError(code))

    return fail


def test_a_topic_whose_brokers_do_not_answer_at_one_look_is_asked_for_again(monkeypatch):
    looks = [failing(KafkaError._TIMED_OUT), lambda timeout: SimpleNamespace(topics={"steady-0": 1})]
    asked = SimpleNamespace(list_topics=lambda timeout: looks.pop(0)(timeout=timeout))
    monkeypatch.setattr(new_topics, "AdminClient", lambda _: asked)
    assert new_topics.missing_topics(["steady-0"], []) == set()


@pytest.mark.parametrize(("code", "raises"), [(KafkaError._TIMED_OUT, True), (KafkaError.UNKNOWN_TOPIC_OR_PART, False)])
def test_a_topic_that_brokers_do_not_know_to_the_end_is_lost_and_of_silent_brokers_nobody_can_say(code, raises):
    with pytest.raises(KafkaException) if raises else nullcontext():
        ask_again(failing(code), 0.0)


@pytest.mark.parametrize(
    ("code", "given_up", "problem"),
    [
        (ErrorCode.not_leader_or_follower, True, ""),
        (ErrorCode.unknown_server_error, False, "answers DescribeQuorum with unknown_server_error"),
    ],
)
def test_only_who_says_that_it_does_not_lead_has_given_up(monkeypatch, code, given_up, problem):
    partition = SimpleNamespace(error_code=code)
    answer = SimpleNamespace(error_code=ErrorCode.none, topics=(SimpleNamespace(partitions=(partition,)),))
    monkeypatch.setattr(probes, "describe_quorum_request", lambda *_: None)
    monkeypatch.setattr(probes, "ask", lambda *_, **__: answer)
    cluster = SimpleNamespace(wire=None, controllers={0: Address("127.0.0.1", 1)})
    sample = has_given_up(fixed(0, "the leader")).sample(SimpleNamespace(cluster=cluster))
    assert (sample.ok, sample.testable) == (given_up, True)
    assert problem in sample.problem
