"""What lines of a node's log say of Raft, as Kafka 3.9 and 4.3 write them, and how a log is read while it grows."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from log_bytes import segment

from harness.cluster.conformance.log_lines import _READERS, parse_state, read_line
from harness.cluster.conformance.observations import (
    CANDIDATE,
    FOLLOWER,
    LEADER,
    PROSPECTIVE,
    RESIGNED,
    UNATTACHED,
    Attempted,
    Booted,
    ControllerClaimed,
    Counted,
    Files,
    HighWatermarkMoved,
    ListenerTold,
    LogStartMoved,
    MajorityMissed,
    Metered,
    Named,
    Place,
    PreVoteGranted,
    SnapshotKept,
    State,
    Transitioned,
    Truncated,
    Unseen,
    VersionApplied,
    VoteGranted,
    VotersApplied,
)
from harness.cluster.conformance.reading import LogReader, files_of, metered_of
from harness.cluster.metadata_log.control_records import Voter, alike
from harness.cluster.metadata_log.files import QuorumState
from harness.kafka.release_lines import Mode, line_of

TIME = "2026-11-24 10:45:58,301"
AT = datetime(2026, 11, 24, 10, 45, 58, 301000, UTC).timestamp()
KEY = "directoryId=Optional[bErbaPAhTSWZWTxeGsV2QQ]"
VOTERS_REQUEST = (
    "Vote request VoteRequestData(clusterId='x', voterId=0, topics=[TopicData(topicName='__cluster_metadata', "
    "partitions=[PartitionData(partitionIndex=0, {candidate}, voterDirectoryId=VKYqilrwTICEDKhWYTv0Yg, "
    "lastOffsetEpoch=4, lastOffset=31{more})])]) with epoch 1 is {answer}"
)
COUNTED = (
    "based on indexOfHw 1 and voters [ReplicaState(replicaKey=ReplicaKey(id=0, directoryId=Optional[a_-b]), "
    "endOffset=Optional[LogOffsetMetadata(offset=427, metadata=Optional[(segmentBaseOffset=424,"
    "relativePositionInSegment=275)])], lastFetchTimestamp=1795517224154, lastCaughtUpTimestamp=1795517224154, "
    "hasAcknowledgedLeader=true), ReplicaState(replicaKey=ReplicaKey(id=2, directoryId=Optional.empty), "
    "endOffset=Optional.empty, lastFetchTimestamp=-1, lastCaughtUpTimestamp=-1, hasAcknowledgedLeader=false)]"
)
REPLICA = (
    "ReplicaState(replicaKey=ReplicaKey(id={0}, directoryId=Optional[a]), endOffset=Optional.empty, "
    "lastFetchTimestamp=-1, lastCaughtUpTimestamp=-1, hasAcknowledgedLeader=true)"
)
STATES = {
    "Unattached(epoch=3, votedKey=null, voters=[0, 1], electionTimeoutMs=444, highWatermark=Optional.empty)": State(
        UNATTACHED, 3
    ),
    f"Unattached(epoch=3, votedKey=ReplicaKey(id=2, {KEY}), voters=[0], electionTimeoutMs=4, highWatermark=x)": State(
        UNATTACHED, 3, voted=2
    ),
    f"UnattachedState(epoch=3, leaderId=OptionalInt[1], votedKey=Optional[ReplicaKey(id=2, {KEY})], voters=[0])": State(
        UNATTACHED, 3, 1, 2, of_4=True
    ),
    "UnattachedState(epoch=3, leaderId=OptionalInt.empty, votedKey=Optional.empty, voters=[0])": State(
        UNATTACHED, 3, of_4=True
    ),
    "FollowerState(fetchTimeoutMs=2000, epoch=11, leader=2, leaderEndpoints=Endpoints(endpoints={}), voters=[])": State(
        FOLLOWER, 11, 2, fetch_timeout=2.0
    ),
    f"FollowerState(fetchTimeoutMs=50, epoch=11, leader=2, leaderEndpoints=x, votedKey=Optional[ReplicaKey(id=7, {KEY})"
    "], voters=[])": State(FOLLOWER, 11, 2, 7, fetch_timeout=0.05),
    "CandidateState(localId=1, localDirectoryId=VtPE,epoch=3, retries=2, voteStates={0=org.apache.kafka.raft.Candidate"
    "State$VoterState@6386b6b7}, highWatermark=Optional.empty, electionTimeoutMs=1643)": State(CANDIDATE, 3),
    "CandidateState(localId=1, localDirectoryId=VtPE, epoch=3, epochElection=EpochElection(voterStates={0=VoterState("
    "state=GRANTED)}), highWatermark=Optional.empty, electionTimeoutMs=1643)": State(CANDIDATE, 3, of_4=True),
    f"ProspectiveState(epoch=3, leaderId=OptionalInt[1], votedKey=Optional[ReplicaKey(id=0, {KEY})], epochElection=x,"
    " electionTimeoutMs=1, highWatermark=Optional.empty)": State(PROSPECTIVE, 3, 1, 0, of_4=True),
    f"Leader(localReplicaKey=ReplicaKey(id=1, {KEY}), epoch=3, epochStartOffset=424, highWatermark=Optional.empty, "
    f"voterStates={{0={REPLICA.format(0)}, 1={REPLICA.format(1)}}})": State(
        LEADER, 3, start=424, voters=frozenset({0, 1})
    ),
    f"Leader(localReplicaKey=ReplicaKey(id=1, {KEY}), epoch=3, observerStates={{8={REPLICA.format(8)}}}, "
    f"voterStates={{0={REPLICA.format(0)}, 1={REPLICA.format(1)}}}, observers={{7={REPLICA.format(7)}}})": State(
        LEADER, 3, voters=frozenset({0, 1})
    ),
    "ResignedState(localId=0, epoch=2, voters=[0, 1, 2], electionTimeoutMs=1762, unackedVoters=[1, 2], preferred"
    "Successors=[])": State(RESIGNED, 2),
}
TWO_STATES = [*STATES][:2]
NODE = "127.0.0.1/<unresolved>:26080"
SAID = {
    "[RaftManager id=7] Reading KRaft snapshot and log as part of the initialization": (Booted,),
    f"[RaftManager id=7] Completed transition to {TWO_STATES[1]} from {TWO_STATES[0]}": (
        Transitioned,
        State(UNATTACHED, 3, voted=2),
        State(UNATTACHED, 3),
    ),
    f"[RaftManager id=7] Attempting durable transition to {TWO_STATES[0]} from null": (
        Attempted,
        STATES[TWO_STATES[0]],
    ),
    f"[RaftManager id=7] Completed transition to {TWO_STATES[0]} from null": (
        Transitioned,
        State(UNATTACHED, 3),
        None,
    ),
    "[RaftManager id=7] "
    + VOTERS_REQUEST.format(candidate="candidateEpoch=1, candidateId=2", more="", answer="granted"): (
        VoteGranted,
        1,
        2,
        (4, 31),
    ),
    "[RaftManager id=7] "
    + VOTERS_REQUEST.format(candidate="replicaEpoch=1, replicaId=2", more=", preVote=false", answer="granted"): (
        VoteGranted,
        1,
        2,
        (4, 31),
    ),
    "[RaftManager id=7] "
    + VOTERS_REQUEST.format(candidate="replicaEpoch=1, replicaId=2", more=", preVote=true", answer="granted"): (
        PreVoteGranted,
        1,
        2,
        (4, 31),
    ),
    "[RaftManager id=7] Follower high watermark updated to 42": (HighWatermarkMoved, 42),
    "[RaftManager id=7] Leader high watermark updated to LogOffsetMetadata(offset=42, metadata=Optional[(segmentBase"
    "Offset=0,relativePositionInSegment=9)])": (HighWatermarkMoved, 42),
    "[RaftManager id=7] High watermark set to LogOffsetMetadata(offset=427, metadata=Optional[(segmentBaseOffset=4,"
    f"relativePositionInSegment=2)]) from LogOffsetMetadata(offset=425, metadata=x) {COUNTED}": (
        Counted,
        427,
        {0: 427, 2: -1},
        -1,
    ),
    "[RaftManager id=7] High watermark set to LogOffsetMetadata(offset=427, metadata=x) for the first time for epoch 3"
    f" {COUNTED}": (Counted, 427, {0: 427, 2: -1}, 3),
    "[RaftManager id=7] High watermark set to LogOffsetMetadata(offset=427, metadata=x) for the first time for epoch 3"
    f" {COUNTED} and observers [{REPLICA.format(9)}]": (Counted, 427, {0: 427, 2: -1}, 3),
    "[RaftManager id=7] Notifying listener org.apache.kafka.image.loader.MetadataLoader@1070530088 of batch for "
    "baseOffset 17 and lastOffset OptionalLong.empty": (
        ListenerTold,
        "org.apache.kafka.image.loader.MetadataLoader@1070530088",
        17,
    ),
    "[RaftManager id=7] Truncated to offset 69 from Fetch response from leader 2": (Truncated, 69, False),
    "[RaftManager id=7] Fully truncated the log at (LogOffsetMetadata(offset=155, metadata=x), 1) after downloading "
    "snapshot OffsetAndEpoch(offset=155, epoch=1) from leader 2": (Truncated, 155, True),
    "[RaftManager id=7] Fetching snapshot OffsetAndEpoch(offset=155, epoch=1) from Fetch response from leader 2": (
        SnapshotKept,
        155,
        1,
        True,
    ),
    "[RaftManager id=7] Latest set of voters is VoterSet(voters={0=VoterNode(voterKey=ReplicaKey(id=0, directoryId="
    "Optional[a]), listeners=Endpoints(endpoints={ListenerName(CONTROLLER)=" + NODE + "}), supportedKRaftVersion="
    "SupportedVersionRange[min_version:0, max_version:1]), 1=VoterNode(voterKey=ReplicaKey(id=1, directoryId=Optional"
    ".empty), listeners=Endpoints(endpoints={ListenerName(SECOND)=/10.0.0.1:2, "
    "ListenerName(CONTROLLER)=h/<unresolved>:1}), supportedKRaftVersion=x)}) "
    "at offset -1": (
        VotersApplied,
        -1,
        frozenset(
            {
                Voter(0, "a", frozenset({("CONTROLLER", "127.0.0.1", 26080)})),
                Voter(1, "", frozenset({("CONTROLLER", "h", 1), ("SECOND", "", 2)})),
            }
        ),
    ),
    "[RaftManager id=7] Latest kraft.version is KRAFT_VERSION_1 at offset 154": (VersionApplied, 154, 1),
    "[SnapshotEmitter id=7] Successfully wrote snapshot 00000000000000000074-0000000003": (SnapshotKept, 74, 3, False),
    "[UnifiedLog partition=__cluster_metadata-0, dir=/d] Incremented log start offset to 291 due to snapshot "
    "generated": (LogStartMoved, 291),
    "[QuorumController id=7] Becoming the active controller at epoch 3, next write offset 425.": (ControllerClaimed, 3),
    "[RaftManager id=7] Did not receive fetch request from the majority of the voters within 3000ms. Current fetched "
    "voters are [], and voters are java.util.stream.ReferencePipeline$3@1": (MajorityMissed,),
}
SAID["[RaftManager id=7] Latest set of voters is VoterSet(voters={0=VoterNode(0 at h:1)}) at offset 9"] = (
    VotersApplied,
    9,
    frozenset(),
)
SAYS_NOTHING = (
    "[RaftManager id=7] Registered the listener org.apache.kafka.image.loader.MetadataLoader@1",
    f"[RaftManager id=7] Completed transition to {TWO_STATES[0]}",
    f"[RaftManager id=7] Completed transition to Muddled(epoch=3) from {TWO_STATES[0]}",
    f"[RaftManager id=7] Completed transition to {TWO_STATES[0]} from Muddled(epoch=3)",
    "[RaftManager id=7] "
    + VOTERS_REQUEST.format(candidate="candidateEpoch=1, candidateId=2", more="", answer="rejected"),
    "[RaftManager id=7] "
    + VOTERS_REQUEST.format(candidate="replicaEpoch=1, replicaId=2", more=", preVote=true", answer="rejected"),
    "[RaftManager id=7] High watermark set to Optional[LogOffsetMetadata(offset=3, metadata=Optional.empty)] for the "
    "first time for epoch 1",
    "[UnifiedLog partition=orders-0, dir=/d] Incremented log start offset to 291 due to client delete records request",
)


def line(text, level="INFO"):
    return f"[{TIME}] {level} {text} (org.apache.kafka.Some$Class)\n".encode()


@pytest.mark.parametrize("text", STATES)
def test_a_state_is_read_as_kafka_prints_it(text):
    assert parse_state(text) == STATES[text]


@pytest.mark.parametrize("text", SAID)
def test_a_line_is_read_with_its_place_and_its_time(text):
    kind, *values = SAID[text]
    assert read_line(7, 12, line(text)) == kind(Place(7, 12, AT), *values)


@pytest.mark.parametrize("text", SAYS_NOTHING)
def test_a_line_that_says_too_little_says_nothing(text):
    assert read_line(7, 12, line(text)) is None


def test_half_a_line_with_another_behind_it_says_nothing():
    half = line("[RaftManager id=7] Follower high watermark updated to 1234")[:-40]
    assert read_line(7, 12, half + line("[KafkaRaftServer] Starting")) is None


@given(st.binary(max_size=300), st.sampled_from([*SAID]))
def test_no_line_is_too_odd_to_be_read(noise, text):
    whole = line(text)
    for odd in (noise, whole[:-10] + noise, noise + whole, whole[: len(noise)]):
        read_line(7, 1, odd)


STATEMENTS = Path(__file__).parents[2] / "builds" / "statements"
# Those of lines whose modes have KRaft in them (builds/lines).
RELEASES = sorted(
    version
    for path in STATEMENTS.glob("*.json.gz")
    if Mode.KRAFT in line_of(version := path.name.removesuffix(".json.gz")).modes
)


@pytest.mark.parametrize("version", RELEASES)
def test_every_statement_that_is_read_is_one_of_the_release(version):
    statements = json.loads(gzip.decompress((STATEMENTS / f"{version}.json.gz").read_bytes()))["statements"]
    fixed = {part.strip() for _, _, _, _, *parts in statements for part in parts}
    for asked in _READERS:
        begins = asked.decode().removeprefix("] ").removesuffix(" snapshot ").removesuffix(" kraft.version is ").strip()
        assert any(part == begins or part.startswith(f"{begins} ") for part in fixed), begins


def test_a_log_is_read_on_by_whole_lines(tmp_path):
    log = tmp_path / "server.log"
    reader = LogReader(7, log)
    assert list(reader.read_on()) == []
    first, second = (line(f"[RaftManager id=7] Follower high watermark updated to {at}") for at in (3, 4))
    log.write_bytes(b"Picked up\n" + first + second[:50])
    assert [(said.offset, said.place.line) for said in reader.read_on()] == [(3, 2)]
    assert list(reader.read_on()) == []
    with log.open("ab") as stream:
        stream.write(second[50:])
    assert [(said.offset, said.place.line) for said in reader.read_on()] == [(4, 3)]


def test_an_empty_line_that_is_read_by_itself_counts_as_one(tmp_path):
    log = tmp_path / "server.log"
    reader = LogReader(7, log)
    log.write_bytes(b"\n")
    assert list(reader.read_on()) == []
    with log.open("ab") as stream:
        stream.write(line("[RaftManager id=7] Follower high watermark updated to 3"))
    assert [said.place.line for said in reader.read_on()] == [2]


def test_a_line_that_ends_behind_what_is_read_at_once_is_read_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.cluster.conformance.reading._CHUNK", 64)
    log = tmp_path / "server.log"
    log.write_bytes(b"".join(line(f"[RaftManager id=7] Follower high watermark updated to {at}") for at in range(9)))
    assert [said.offset for said in LogReader(7, log).read_on()] == [*range(9)]


def test_what_is_no_line_of_a_log_has_nothing_to_say():
    said = "[2026-{}-01 00:00:00,000] INFO [RaftManager id=7] Follower high watermark updated to {} (a.B)"
    assert read_line(7, 1, said.format("12", 3).encode()) is not None
    assert read_line(7, 1, said.format("13", 3).encode()) is None
    assert read_line(7, 1, said.format("12", "3" * 5000).encode()) is None


def test_a_line_without_an_end_is_not_held_and_what_comes_behind_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.cluster.conformance.reading._CHUNK", 64)
    monkeypatch.setattr("harness.cluster.conformance.reading._MOST_LINE_BYTES", 256)
    log = tmp_path / "server.log"
    log.write_bytes(b"x" * 1000)
    reader = LogReader(7, log)
    assert list(reader.read_on()) == []
    assert reader._position > 500
    with log.open("ab") as stream:
        stream.write(b"\n" + line("[RaftManager id=7] Follower high watermark updated to 3"))
    assert [(said.offset, said.place.line) for said in reader.read_on()] == [(3, 2)]


def test_a_log_that_became_shorter_is_read_anew_and_lacks_lines(tmp_path):
    log = tmp_path / "server.log"
    reader = LogReader(7, log)
    log.write_bytes(line("[RaftManager id=7] Follower high watermark updated to 300"))
    assert len(list(reader.read_on())) == 1
    log.write_bytes(line("[RaftManager id=7] Follower high watermark updated to 4"))
    gap, said = reader.read_on()
    assert (gap, said.offset) == (Unseen(Place(7, 0)), 4)


def test_of_a_flood_only_the_beginning_is_read_and_the_rest_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.cluster.conformance.reading.MOST_BYTES", 100)
    log = tmp_path / "server.log"
    log.write_bytes(line("[RaftManager id=7] Follower high watermark updated to 3") * 9)
    reader = LogReader(7, log)
    assert isinstance([*reader.read_on()][-1], Unseen)
    assert list(reader.read_on()) == []


def test_the_files_of_a_metadata_log_are_where_segments_begin_and_snapshots_end(tmp_path):
    for name in (
        "00000000000000000050.log",
        "00000000000000000030.log.deleted",
        "00000000000000000050-0000000002.checkpoint",
    ):
        (tmp_path / name).write_bytes(segment((1, [b"a"])))
    assert files_of(3, tmp_path, 9.0) == Files(3, 9.0, (50,), (50,), named={50: Named()})
    assert files_of(3, tmp_path / "none", 9.0) == Files(3, 9.0)


KEPT = Path(__file__).parent / "metadata-log"


def test_the_control_records_of_segments_and_snapshots_are_read(tmp_path):
    segment_, snapshot = "00000000000000000000.log", "00000000000000000007-0000000002.checkpoint"
    (tmp_path / segment_).write_bytes((KEPT / "1" / segment_).read_bytes())
    (tmp_path / snapshot).write_bytes((KEPT / "formatted.checkpoint").read_bytes())
    (tmp_path / "00000000000000000003-0000000001.checkpoint").write_bytes(b"damaged")
    files = files_of(1, tmp_path, 9.0)
    assert ({*files.voters}, files.versions) == ({2}, {1: 1})
    assert {each.node for each in files.voters[2]} == {0, 1, 2}
    assert [*files.named] == [7]
    assert (len(files.named[7].voters), files.named[7].version) == (3, 1)


def test_the_quorum_state_beside_a_log_is_read_and_one_that_is_damaged_says_nothing(tmp_path):
    (tmp_path / "quorum-state").write_bytes((KEPT / "1" / "quorum-state").read_bytes())
    assert files_of(1, tmp_path, 9.0).quorum == QuorumState(6, 1, -1)
    (tmp_path / "quorum-state").write_text("{")
    assert files_of(1, tmp_path, 9.0).quorum is None


def test_metrics_are_of_the_time_from_the_beginning_of_their_line_to_that_of_the_next(tmp_path):
    (tmp_path / "figures.txt").write_text(
        "1000 heap-after-gc=1\n"
        "2000 current-state=leader current-epoch=3.0 current-leader=0.0 current-vote=0.0 high-watermark=9.0 "
        "log-end-offset=11.0 active-controller=1\n"
        "3000 current-state=unattached current-epoch=3.0 current-leader=-1.0 current-vote=-1.0 high-watermark=NaN "
        "active-controller=0\n"
    )
    assert list(metered_of(7, tmp_path / "figures.txt")) == [
        Metered(7, 1.0, 2.0),
        Metered(7, 2.0, 3.0, "leader", 3, 0, 0, 9, 11, is_active=True),
        Metered(7, 3.0, float("inf"), "unattached", 3),
    ]
    assert list(metered_of(7, tmp_path / "none")) == []


def test_where_one_segment_is_too_large_to_be_read_nothing_is_said_of_any(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.cluster.conformance.reading._MOST_SEGMENT_BYTES", 100)
    (tmp_path / "00000000000000000000.log").write_bytes((KEPT / "1" / "00000000000000000000.log").read_bytes())
    assert files_of(1, tmp_path, 9.0).voters == {}


def test_a_snapshot_without_such_records_names_nobody_and_version_0(tmp_path):
    (tmp_path / "00000000000000000003-0000000001.checkpoint").write_bytes(segment((1, [b"a"])))
    (named,) = files_of(1, tmp_path, 9.0).named.values()
    assert (named.voters, named.version) == (frozenset(), 0)


def test_both_releases_name_the_same_voters_in_their_own_way():
    voter = (
        "VoterNode(voterKey=ReplicaKey(id=0, directoryId={0}), listeners=Endpoints(endpoints={{ListenerName(C)={1}:9}})"
    )
    older, newer = (
        read_line(7, 1, line(f"[RaftManager id=7] Latest set of voters is VoterSet(voters={{0={each}}}) at offset 2"))
        for each in (voter.format("Optional[x_-y]", "h/<unresolved>"), voter.format("x_-y", "h/10.0.0.1"))
    )
    assert alike(older.voters, newer.voters)


def test_a_state_with_an_absurd_time_out_says_nothing():
    state = f"FollowerState(fetchTimeoutMs={'9' * 4000}, epoch=1, leader=2)"
    text = f"[RaftManager id=1] Completed transition to {state} from null (org.apache.kafka.raft.QuorumState)"
    assert read_line(1, 1, f"[2026-11-29 02:00:00,000] INFO {text}".encode()) is None
