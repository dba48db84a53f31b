"""Topic ids on disks: what a file and a folder say, and how they compare with the cluster's."""

import base64
import os
import uuid
from dataclasses import replace
from pathlib import Path

import pytest
from disks_sample import V, X, Y, Z, broker_disk, metadata, written_at
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.base.json import from_json, to_json
from harness.base.kafka_id import kafka_id
from harness.model.topic_ids import Answer, IdState, TopicIdCheck
from harness.report.topic_ids_page import render_topic_ids
from harness.topicids.comparing import compare
from harness.topicids.disks import read_collected, read_data_directory
from harness.topicids.names import Kind, parse_folder_name
from harness.topicids.records import ClusterTopics, Topic
from harness.topicids.sentences import ranges, sentence
from harness.topicids.topic_id import MOST_BYTES, is_topic_id, parse_partition_metadata


def topic(name: str, topic_id: str, *replicas: tuple[int, ...], created: float = 0.0) -> Topic:
    return Topic(name, topic_id, dict(enumerate(replicas)), created)


def zookeeper(*topics: Topic) -> ClusterTopics:
    return ClusterTopics("ZooKeeper at zk:2181", True, "c1", {each.name: each for each in topics})


def states(found: TopicIdCheck) -> dict[IdState, int]:
    return dict(found.counts)


# partition.metadata


@given(st.binary(min_size=16, max_size=16).filter(any))
def test_what_kafka_writes_is_read_as_its_id(data):
    topic_id = base64.urlsafe_b64encode(data).decode().rstrip("=")
    assert parse_partition_metadata(metadata(topic_id).encode()).topic_id == topic_id
    assert kafka_id(uuid.UUID(bytes=data).bytes) == topic_id


@given(st.binary(max_size=200))
def test_any_bytes_are_an_id_or_a_reason_and_never_both(data):
    found = parse_partition_metadata(data)
    assert bool(found.topic_id) != bool(found.problem)
    assert not found.topic_id or is_topic_id(found.topic_id)


@given(st.integers(0, 43), st.integers(0, 255))
def test_a_changed_byte_never_makes_a_text_that_is_no_id_an_id(at, byte):
    data = bytearray(metadata(X).encode())
    data[at] = byte
    found = parse_partition_metadata(bytes(data))
    assert found.problem or is_topic_id(found.topic_id)


@pytest.mark.parametrize(
    ("content", "says", "refused"),
    [
        ("", "it is empty", True),
        ("\n\n", "it is empty", True),
        ("version: 0\n", "second line", True),
        (metadata("A" * 22), "second line", True),
        (metadata("AAAA"), "second line", True),
        (metadata(X[:-1] + "B"), "second line", True),
        (metadata(X, -1), "version -1", True),
        ("version 0\ntopic_id: x\n", "names no version", True),
        (metadata(X, 1), "it is of version 1, and known is version 0", False),
        (metadata(X) + "x" * MOST_BYTES, "more than", True),
    ],
)
def test_a_file_that_is_none_says_why_and_whether_kafka_stops_at_it_too(content, says, refused):
    found = parse_partition_metadata(content.encode())
    assert says in found.problem
    assert (found.topic_id, found.refused) == ("", refused)


# Names


@pytest.mark.parametrize(
    ("name", "kind", "partition_of"),
    [
        ("a-b-1", Kind.PARTITION, ("a-b", 1)),
        ("a.b_c-0", Kind.PARTITION, ("a.b_c", 0)),
        ("x-1-2", Kind.PARTITION, ("x-1", 2)),
        ("my.topic-0-delete-3", Kind.PARTITION, ("my.topic-0-delete", 3)),
        ("a-0.0123456789abcdef0123456789abcdef-delete", Kind.DELETED, ("a", 0)),
        ("a-0.0123456789abcdef0123456789abcdef-future", Kind.FUTURE, ("a", 0)),
        ("a-0.0123456789abcdef0123456789abcdef-stray", Kind.STRAY, ("a", 0)),
        ("__cluster_metadata-0", Kind.METADATA, ("__cluster_metadata", 0)),
        ("lost+found", Kind.OTHER, ("", -1)),
        ("a-01", Kind.OTHER, ("", -1)),
        ("a-2147483648", Kind.OTHER, ("", -1)),
        ("-1", Kind.OTHER, ("", -1)),
        ("..-1", Kind.OTHER, ("", -1)),
    ],
)
def test_the_partition_stands_behind_the_last_dash(name, kind, partition_of):
    found = parse_folder_name(name)
    assert (found.kind, (found.topic, found.partition)) == (kind, partition_of)


# Disks


def test_a_data_directory_says_whose_it_is_and_what_its_partitions_are(tmp_path):
    disk = broker_disk(tmp_path / "d", 7, {"a-b-1": X, "orders-0": None, "__cluster_metadata-0": X})
    (disk / "a-0.0123-delete").mkdir()
    (disk / "recovery-point-offset-checkpoint").write_text("0\n0\n")
    found = read_data_directory(disk)
    assert (found.broker, found.cluster_id, dict(found.passed_over)) == (7, "c1", {"being deleted": 1})
    assert [(each.topic, each.partition, each.topic_id) for each in found.partitions] == [
        ("a-b", 1, X),
        ("orders", 0, ""),
    ]


def test_a_link_to_a_folder_is_a_partition_as_it_is_to_kafka(tmp_path):
    disk = broker_disk(tmp_path / "d", 1)
    (broker_disk(tmp_path / "e", 1, ["t-0"]) / "t-0").rename(tmp_path / "elsewhere")
    (disk / "t-0").symlink_to(tmp_path / "elsewhere")
    (disk / "u-0").symlink_to(tmp_path / "nowhere")
    assert [(each.topic, each.topic_id) for each in read_data_directory(disk).partitions] == [("t", X)]


def test_a_file_that_is_a_pipe_a_folder_or_a_dead_link_is_unreadable_and_holds_nobody_up(tmp_path):
    disk = broker_disk(tmp_path / "d", 1, dict.fromkeys(["a-0", "b-0", "c-0"]))
    os.mkfifo(disk / "a-0" / "partition.metadata")
    (disk / "b-0" / "partition.metadata").mkdir()
    (disk / "c-0" / "partition.metadata").symlink_to("gone")
    problems = [each.problem for each in read_data_directory(disk).partitions]
    assert problems[:2] == ["it is no regular file"] * 2
    assert problems[2].startswith("it is a link that leads nowhere")


def test_a_log_with_records_and_without_epochs_is_told(tmp_path):
    disk = broker_disk(tmp_path / "d", 1, ["a-0", "b-0", "c-0"])
    for name in ("a-0", "b-0"):
        (disk / name / "00000000000000000000.log").write_bytes(b"records")
    (disk / "b-0" / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
    (disk / "c-0" / "leader-epoch-checkpoint").write_text("0\n0\n")
    assert [each.epochless for each in read_data_directory(disk).partitions] == [True, False, False]


def test_an_unreadable_data_directory_is_a_sentence(tmp_path):
    with pytest.raises(HarnessError, match=r"gone cannot be read: No such file or directory\. Name a folder"):
        read_data_directory(tmp_path / "gone")


def test_collected_files_are_found_at_any_depth_and_a_folder_names_the_broker(tmp_path):
    broker_disk(tmp_path / "all" / "host-a" / "var" / "kafka", 4, ["t-0"])
    (broker_disk(tmp_path / "all" / "broker-2" / "data", 9, ["t-1"]) / "meta.properties").unlink()
    found = list(read_collected(tmp_path / "all"))
    assert [(each.broker, each.partitions[0].partition) for each in found] == [(2, 1), (4, 0)]


# States


def check_one(tmp_path: Path, cluster: ClusterTopics, on_disk: dict[str, str | None]) -> TopicIdCheck:
    return compare(cluster, [read_data_directory(broker_disk(tmp_path / "d", 1, on_disk))])


def test_a_healthy_cluster_is_said_in_a_line(tmp_path):
    found = check_one(tmp_path, zookeeper(topic("t", X, (1,), (1,))), {"t-0": X, "t-1": X})
    assert sentence(found) == "Healthy: 2 directories of broker 1 have the ids that ZooKeeper at zk:2181 has."
    assert (found.answer, found.answer.exit_code, found.findings, found.gaps) == (Answer.HEALTHY, 0, (), ())


def test_the_mix_of_new_and_old_partitions_is_a_mismatch_of_the_old_ones(tmp_path):
    found = check_one(tmp_path, zookeeper(topic("t", Y, (1,), (1,), (1,))), {"t-0": X, "t-1": X, "t-2": Y})
    (finding,) = found.findings
    assert states(found) == {IdState.DIFFERENT: 2, IdState.EQUAL: 1}
    assert (finding.expected, finding.found, finding.places[0].partitions) == (Y, X, (0, 1))
    assert (found.answer, found.answer.exit_code) == (Answer.MISMATCH, 1)
    assert sentence(found) == "Mismatch: restart no broker. 2 directories of 1 topic have another id than ZooKeeper."


def test_a_topic_without_an_id_in_zookeeper_is_missing_there_if_any_directory_has_one(tmp_path):
    found = check_one(tmp_path, zookeeper(topic("t", "", (1,), (1,))), {"t-0": X, "t-1": None})
    assert states(found) == {IdState.MISSING_IN_CLUSTER: 2}
    assert found.answer is Answer.MISMATCH


def test_a_topic_without_ids_on_either_side_is_healthy(tmp_path):
    found = check_one(tmp_path, zookeeper(topic("t", "", (1,))), {"t-0": None})
    assert (states(found), found.answer) == ({IdState.WITHOUT_ID: 1}, Answer.HEALTHY)


def test_a_missing_file_is_told_and_is_no_mismatch(tmp_path):
    found = check_one(tmp_path, zookeeper(topic("t", X, (1,))), {"t-0": None})
    assert (states(found), found.answer) == ({IdState.MISSING_FILE: 1}, Answer.HEALTHY)
    assert sentence(found).startswith("Healthy: no id in 1 directory of broker 1 differs from ZooKeeper at zk:2181;")
    assert sentence(found).endswith("; missing file: 1.")


def test_directories_of_no_topic_no_partition_and_no_replica_are_orphans(tmp_path):
    cluster = zookeeper(topic("t", X, (1,)), topic("u", Y, (2,)))
    found = check_one(tmp_path, cluster, {"gone-0": Y, "t-0": X, "t-5": X, "u-0": Z})
    reasons = {each.topic: each.reason for each in found.findings}
    assert reasons == {
        "gone": "the cluster has no such topic",
        "t": "the topic has 1 partition",
        "u": "broker 1 is no replica of it",
    }
    assert states(found) == {IdState.ORPHAN: 3, IdState.EQUAL: 1}


@pytest.mark.parametrize("place", ["gone-0", "t-5"])
def test_a_file_that_cannot_be_read_is_never_healthy_in_a_directory_that_is_nobodys_either(tmp_path, place):
    disk = broker_disk(tmp_path / "d", 1, {"t-0": X, place: Y})
    file = disk / place / "partition.metadata"
    file.unlink()
    file.symlink_to("nowhere")
    found = compare(zookeeper(topic("t", X, (1,))), [read_data_directory(disk)])
    assert (states(found), found.answer) == ({IdState.EQUAL: 1, IdState.UNREADABLE: 1}, Answer.UNDECIDED)


def test_a_topic_that_is_younger_than_the_file_was_recreated(tmp_path):
    disk = broker_disk(tmp_path / "d", 1, {"t-0": X, "u-0": V})
    written_at(disk, "t-0", 1_000_000.0)
    written_at(disk, "u-0", 1_000_990.0)  # clocks of two hosts may differ by that
    cluster = zookeeper(topic("t", Y, (1,), created=1_001_000.0), topic("u", Z, (1,), created=1_001_000.0))
    found = compare(cluster, [read_data_directory(disk)])
    assert {each.topic: each.state for each in found.findings} == {"t": IdState.RECREATED, "u": IdState.DIFFERENT}
    assert found.findings[1].reason == "the topic was created at 1970-01-12 14:03 UTC, after its file was written"


def test_a_metadata_log_that_removed_the_id_shows_that_the_topic_was_recreated(tmp_path):
    cluster = replace(zookeeper(topic("t", Y, (1,))), in_zookeeper=False, removed=frozenset({X}))
    assert check_one(tmp_path, cluster, {"t-0": X}).findings[0].state is IdState.RECREATED


def test_a_missing_file_heals_beside_zookeeper_and_costs_the_replica_in_kraft_mode(tmp_path):
    cluster = zookeeper(topic("t", X, (1,)))
    healed = check_one(tmp_path / "zk", cluster, {"t-0": None})
    lost = check_one(tmp_path / "kraft", replace(cluster, in_zookeeper=False), {"t-0": None})
    assert (healed.answer, lost.answer) == (Answer.HEALTHY, Answer.MISMATCH)
    assert "sets a log without an id aside, as <name>-stray" in lost.findings[0].reason
    assert sentence(lost).startswith("Mismatch: restart no broker. 1 directory of 1 topic has no id, without which")


def test_a_topic_that_waits_for_its_deletion_lacks_nothing(tmp_path):
    cluster = zookeeper(topic("t", X, (1,)), topic("u", Y, (1,)))
    gone = check_one(tmp_path / "a", cluster, {"t-0": X})
    deleting = check_one(tmp_path / "b", replace(cluster, deleting=frozenset({"u"})), {"t-0": X})
    assert (gone.answer, deleting.answer) == (Answer.UNDECIDED, Answer.HEALTHY)


def test_a_partition_in_two_data_directories_of_a_broker_keeps_it_from_starting(tmp_path):
    data = [read_data_directory(broker_disk(tmp_path / name, 1, {"t-0": X})) for name in ("a", "b")]
    other = read_data_directory(broker_disk(tmp_path / "c", 2, {"t-0": X}))
    found = compare(zookeeper(topic("t", X, (1, 2))), [*data, other])
    assert found.gaps == (f"Broker 1 has t-0 in {tmp_path}/a and in {tmp_path}/b: with both it does not start.",)
    assert found.answer is Answer.UNDECIDED


def test_a_file_that_kafka_cannot_read_is_a_mismatch_and_one_that_we_cannot_is_undecided(tmp_path):
    cluster = zookeeper(topic("t", X, (1,)), topic("u", Y, (1,)))
    disk = broker_disk(tmp_path / "d", 1, {"t-0": X, "u-0": Y})
    (disk / "u-0" / "partition.metadata").write_text(metadata(Y, 1))
    newer = compare(cluster, [read_data_directory(disk)])
    (disk / "t-0" / "partition.metadata").write_text("")
    empty = compare(cluster, [read_data_directory(disk)])
    assert (newer.answer, newer.answer.exit_code) == (Answer.UNDECIDED, 3)
    assert (empty.answer, empty.findings[0].reason) == (Answer.MISMATCH, "it is empty")


def test_a_topic_that_zookeeper_holds_garbage_of_leaves_the_others_compared(tmp_path):
    bad = Topic("bad", "", {}, problem="its node holds no JSON but “{”")
    found = check_one(tmp_path, zookeeper(bad, topic("t", Y, (1,))), {"bad-0": X, "t-0": X})
    assert states(found) == {IdState.DIFFERENT: 1, IdState.UNREADABLE: 1}
    assert found.gaps == ("Topic bad cannot be read in ZooKeeper: its node holds no JSON but “{”.",)


def test_disks_that_were_not_seen_are_named_and_leave_it_undecided(tmp_path):
    found = check_one(tmp_path, zookeeper(topic("t", X, (1, 2), (2, 1), (1, 3))), {"t-0": X, "t-2": X})
    assert found.gaps == (
        "The disks of broker 2 were not seen: 2 replicas.",
        "The disks of broker 3 were not seen: 1 replica.",
        "Broker 1 has no directory for 1 replica in what was named: t-1.",
    )
    assert found.answer is Answer.UNDECIDED
    assert sentence(found) == "Undecided: nothing in 2 directories differs, and 3 things could not be looked at."


def test_disks_of_another_cluster_are_refused(tmp_path):
    disk = read_data_directory(broker_disk(tmp_path / "d", 1, ["t-0"], cluster="c2"))
    with pytest.raises(HarnessError, match="belongs to cluster c2, and ZooKeeper at zk:2181 to c1"):
        compare(zookeeper(), [disk])


def test_a_disk_that_is_named_twice_is_refused_and_two_brokers_may_have_one_path(tmp_path):
    disk = read_data_directory(broker_disk(tmp_path / "d", 1, ["t-0"]))
    with pytest.raises(HarnessError, match="is there twice"):
        compare(zookeeper(topic("t", X, (1, 2))), [disk, disk])
    both = compare(zookeeper(topic("t", X, (1, 2))), [disk, replace(disk, broker=2)])
    assert both.answer is Answer.HEALTHY


@given(st.sets(st.integers(0, 60)))
def test_ranges_name_every_number_once(numbers):
    read = set()
    for part in filter(None, ranges(sorted(numbers)).split(", ")):
        first, _, last = part.partition("-")
        read |= set(range(int(first), int(last or first) + 1))
    assert read == numbers


# What is shown


def test_the_record_survives_json_and_the_page_shows_hostile_names_as_they_are(tmp_path):
    hostile = "<script>alert(1)</script>\x1b[31m"
    cluster = replace(zookeeper(topic("t", Y, (1,))), source=hostile)
    found = check_one(tmp_path, cluster, {"t-0": X, "gone-0": X})
    page = render_topic_ids(found)
    assert from_json(TopicIdCheck, to_json(found)) == found
    assert "<script>alert" not in page
    assert "\x1b" not in page
    assert "default-src 'none'" in page
    assert page == render_topic_ids(found)
