"""What is read of disks and exports, however odd, damaged, hostile or large; and what a check makes of it."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from disks_sample import V, X, Y, broker_disk

from harness.base.errors import HarnessError
from harness.base.json import from_json, to_json
from harness.model.topic_ids import MOST_FINDINGS, Answer, Finding, IdState, Place, TopicIdCheck
from harness.report.topic_ids_page import render_topic_ids
from harness.stages.topic_ids import Sources, cluster_of, disks_of
from harness.topicids.comparing import compare
from harness.topicids.disks import read_collected, read_data_directory
from harness.topicids.export import read_export, write_export
from harness.topicids.records import ClusterTopics, DataDirectory, PartitionDirectory, Topic
from harness.topicids.sentences import ages, sentence
from harness.topicids.zookeeper_nodes import parse_config, parse_topic

UUID = "0123456789abcdef0123456789abcdef"


def cluster(*topics: Topic, in_zookeeper: bool = True) -> ClusterTopics:
    return ClusterTopics("ZooKeeper at zk:2181", in_zookeeper, "c1", {each.name: each for each in topics})


def topic(name: str, topic_id: str, *replicas: tuple[int, ...]) -> Topic:
    return Topic(name, topic_id, dict(enumerate(replicas)))


# Folders that nobody serves


@pytest.mark.parametrize("name", ["gone-0", f"a-0.{UUID}-delete", f"a-0.{UUID}-stray", f"a-0.{UUID}-future"])
def test_a_file_that_kafka_cannot_read_is_harmful_wherever_kafka_loads_it(tmp_path, name):
    disk = broker_disk(tmp_path / "d", 1, {"t-0": X, name: X})
    healthy = compare(cluster(topic("t", X, (1,))), [read_data_directory(disk)])
    (disk / name / "partition.metadata").write_text("")
    found = compare(cluster(topic("t", X, (1,))), [read_data_directory(disk)])
    assert (healthy.answer, found.answer, found.findings[0].state) == (
        Answer.HEALTHY,
        Answer.MISMATCH,
        IdState.UNREADABLE,
    )
    assert found.findings[0].reason.startswith("it is empty")
    assert sentence(found).endswith("1 directory of 1 topic has a file that Kafka cannot read.")


def test_a_file_that_kafka_cannot_read_is_harmful_though_its_topic_cannot_be_read_either(tmp_path):
    disk = broker_disk(tmp_path / "d", 1, {"bad-0": X})
    (disk / "bad-0" / "partition.metadata").write_text("")
    found = compare(cluster(Topic("bad", "", {}, problem="x")), [read_data_directory(disk)])
    assert found.answer is Answer.MISMATCH


def test_a_folder_that_is_being_moved_is_compared_as_a_partition_and_is_no_replica_s_place(tmp_path):
    disk = broker_disk(tmp_path / "d", 1, {"t-0": X, f"t-0.{UUID}-future": V, f"u-0.{UUID}-future": Y})
    found = compare(cluster(topic("t", X, (1,)), topic("u", Y, (1,))), [read_data_directory(disk)])
    assert (found.answer, dict(found.counts)) == (Answer.MISMATCH, {IdState.DIFFERENT: 1, IdState.EQUAL: 2})
    assert found.gaps == ("Broker 1 has no directory for 1 replica in what was named: u-0.",)


def test_the_id_of_an_orphan_does_not_make_its_topic_one_that_lost_its_id(tmp_path):
    data = [
        DataDirectory("/d", 1, "c1", (PartitionDirectory("t", 0),)),
        DataDirectory("/d", 2, "c1", (PartitionDirectory("t", 0, X),)),
    ]
    found = compare(cluster(topic("t", "", (1,))), data)
    assert (found.answer, dict(found.counts)) == (Answer.HEALTHY, {IdState.ORPHAN: 1, IdState.WITHOUT_ID: 1})


# What is named


def test_a_data_directory_that_is_named_once_more_through_a_link_counts_once(tmp_path):
    disk = broker_disk(tmp_path / "d", 1, ["t-0"])
    (tmp_path / "link").symlink_to(disk)
    config = tmp_path / "server.properties"
    config.write_text(f"zookeeper.connect=zk:1\nlog.dirs={disk},{tmp_path / 'link'},\n")
    found = disks_of(Sources(data=(tmp_path / "link", disk), configs=(config,)))
    assert [(disk.path, bool(disk.settings)) for disk in found] == [(str(disk), True)]


def test_of_copied_files_nobody_knows_when_they_were_written(tmp_path):
    broker_disk(tmp_path / "all" / "broker-2", 2, ["t-0"])
    (collected,) = read_collected(tmp_path / "all")
    assert collected.partitions[0].written == 0.0
    assert read_data_directory(tmp_path / "all" / "broker-2").partitions[0].written > 0.0


def test_both_places_for_the_cluster_s_ids_are_refused():
    with pytest.raises(HarnessError, match="Give one of --zookeeper and --metadata-log, not both"):
        cluster_of(Sources(zookeeper="zk:2181", metadata_log=Path("log")))


def test_nothing_compared_is_no_health(tmp_path):
    empty = compare(cluster(), [read_data_directory(broker_disk(tmp_path / "d", 1))])
    assert (empty.answer, sentence(empty)) == (
        Answer.UNDECIDED,
        "Undecided: nothing was compared, no directory of a partition that ZooKeeper at zk:2181 knows was found.",
    )


def test_a_mismatch_says_what_differs_from_what(tmp_path):
    disk = read_data_directory(broker_disk(tmp_path / "d", 1, {"t-0": X, "u-0": V, "u-1": V}))
    known = cluster(topic("t", Y, (1,)), topic("u", "", (1,), (1,)))
    assert sentence(compare(known, [disk])) == (
        "Mismatch: restart no broker. 1 directory of 1 topic has another id than ZooKeeper; 2 directories of 1 topic "
        "have a topic that has no id in ZooKeeper, and has one on disks."
    )
    in_log = replace(cluster(topic("t", Y, (1,)), in_zookeeper=False), cluster_id="c1")
    assert "1 directory of 1 topic has another id than the metadata log" in sentence(compare(in_log, [disk]))


# Hostile numbers

MANY = "9" * 5000


@pytest.mark.parametrize(
    "data",
    [
        f'{{"partitions":{{"{MANY}":[1]}}}}',
        f'{{"partitions":{{"0":[{MANY}]}}}}',
        '{"partitions":{"٣":[1]}}',
        "[" * 200_000,
        '{"partitions":{"0":[1]},"topic_id":null}',
        "\ufeff{}",
        '{"partitions":{"0":[1]}}\0',
    ],
    ids=["partition", "broker", "digit", "nested", "null", "mark", "zero"],
)
def test_a_node_with_odd_numbers_is_its_topic_s_problem(data):
    assert parse_topic("t", data.encode(), 0.0).problem


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1"])
def test_a_node_that_is_no_utf8_is_its_topic_s_problem(encoding):
    node = '{"partitions":{"0":[1]},"ü":1}'.encode(encoding)
    assert parse_topic("t", node, 0.0).problem.startswith("its node holds no JSON but “")


def test_settings_that_are_no_object_and_brokers_of_many_digits_are_told(tmp_path):
    with pytest.raises(HarnessError, match="its config is no object"):
        parse_config(b'{"config":[]}')
    disk = broker_disk(tmp_path / "d", 1, ["t-0"])
    for number in (MANY, "4294967296", "-3", "x"):
        (disk / "meta.properties").write_text(f"broker.id={number}\n")
        assert read_data_directory(disk).broker == -1
    (disk / "meta.properties").write_text("broker.id=\\u12\n")
    assert "cannot be read" in read_data_directory(disk).problems[0]
    assert parse_topic("t", b'{"partitions":{"0":[1]}}', 0.0).problem == ""


# Exports


@pytest.fixture
def export(tmp_path):
    disk = broker_disk(tmp_path / "d", 1, {"t-0": X, "t-1": None, f"t-0.{UUID}-future": X})
    return write_export(tmp_path / "export.jsonl", [read_data_directory(disk)])


def test_an_export_reads_as_it_was_written(export, tmp_path):
    (found,) = read_export(export)
    assert replace(found, exported=0.0) == read_data_directory(tmp_path / "d")
    assert abs(found.exported - time.time()) < 600


def test_what_is_exported_once_more_is_as_old_as_it_was(export):
    write_export(export, [replace(read_export(export)[0], exported=5.0)])
    assert read_export(export)[0].exported == 5.0


@pytest.mark.parametrize(
    ("now", "ago"),
    [
        (1_700_000_090.0, "1 min 30 s ago"),
        (1_700_000_000.0 + 47 * 3600, "47 hours ago"),
        (1_700_000_000.0 + 49 * 3600, "2 days ago"),
        (1_699_999_999.0, "by a clock that is ahead of this host's"),
    ],
)
def test_how_old_an_export_is_is_said_of_each_broker_by_its_oldest(now, ago):
    at = 1_700_000_000.0
    data = [DataDirectory("/d", 1, "c1", (), exported=each) for each in (at + 5, at)]
    said = f"The disks of broker 1 are as they were exported at 2023-11-14 22:13 UTC, {ago}."
    assert list(ages([*data, DataDirectory("/e", 2, "c1", ())], now)) == [said]


def test_an_export_that_was_cut_off_anywhere_says_so(export):
    content = export.read_bytes()
    starts = [number for number in range(len(content)) if number == 0 or content[number - 1 : number] == b"\n"]
    for end in {*starts, len(content) - 1, *range(1, len(content), 37)}:
        export.write_bytes(content[:end])
        with pytest.raises(HarnessError, match="ends too early: it was cut off"):
            read_export(export)


HEAD = {"kind": "topic ids of a broker", "schema": 4, "data": 1}
DISK = {
    "path": "/d",
    "broker": 1,
    "cluster_id": "c1",
    "passed_over": {},
    "problems": [],
    "settings": {},
    "exported": 5.0,
    "partitions": 1,
}
LINE = ["t", 0, X, "", False, 1.0, False, "", False]


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([{**HEAD, "data": "x"}], "says no number of data"),
        ([{**HEAD, "data": -1}], "says no number of data"),
        ([{**HEAD, "schema": 2}], "it has schema 2, and this harness reads 4"),
        ([HEAD, []], "says no number of partitions"),
        ([HEAD, {"partitions": 1}], "expected the fields of DataDirectory"),
        ([HEAD, {**DISK, "broker": -7}, LINE], "it names broker -7"),
        ([HEAD, {**DISK, "exported": 0.0}, LINE], "does not say when it was written"),
        ([HEAD, {key: each for key, each in DISK.items() if key != "exported"}, LINE], "does not say when"),
        ([HEAD, DISK, 5], "has other fields"),
        ([HEAD, DISK, LINE[:-1]], "has other fields"),
        ([HEAD, DISK, ["t", 0, "NOT AN ID", *LINE[3:]]], "has the id 'NOT AN ID', which is none"),
        ([HEAD, DISK, ["t", 0, X, "it is empty", *LINE[4:]]], "which is none"),
        ([HEAD, DISK, ["../t", *LINE[1:]]], "is no folder of partition 0"),
        ([HEAD, DISK, ["t", -1, *LINE[2:]]], "is no folder of partition -1"),
        ([HEAD, DISK, [*LINE[:-2], "u-0", False]], "is no folder of partition 0 of topic 't'"),
        ([HEAD, DISK, [*LINE[:5], float("nan"), *LINE[6:]]], "Not valid JSON"),
        ([HEAD, DISK, LINE, LINE], "goes on behind its end"),
        ([{**HEAD, "data": 0}, DISK], "goes on behind its end"),
        ([HEAD, {**DISK, "problems": ["x" * 2**20]}, LINE], "a line of more than 1048576 characters"),
    ],
)
def test_an_export_that_somebody_has_damaged_is_a_sentence(tmp_path, lines, says):
    path = tmp_path / "e.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(HarnessError) as error:
        read_export(path)
    assert f"{path} is no export of topic ids: " in error.value.message
    assert says in error.value.message


def test_an_export_that_is_no_text_and_one_that_is_whole_are_told_apart(tmp_path):
    path = tmp_path / "e.jsonl"
    path.write_bytes(b"\xff\xfe\n")
    with pytest.raises(HarnessError, match="it is no UTF-8"):
        read_export(path)
    path.write_text("".join(json.dumps(line) + "\n" for line in [HEAD, DISK, LINE]))
    assert read_export(path)[0].partitions == (PartitionDirectory("t", 0, X, written=1.0),)


# Very many


def test_of_very_many_findings_a_record_has_the_most_harmful():
    places = (Place(1, "/d", (0,)),)
    harmful = [Finding(IdState.DIFFERENT, f"t{number}", Y, X, "", places) for number in range(MOST_FINDINGS + 5)]
    check = TopicIdCheck("zk", True, "c1", (1,), 1, {IdState.DIFFERENT: len(harmful)}, tuple(harmful), ())
    short = check.shortened()
    assert (len(short.findings), short.hidden, short.answer) == (MOST_FINDINGS, 5, check.answer)
    assert (short.shortened(), from_json(TopicIdCheck, to_json(short))) == (short, short)
    assert replace(check, findings=check.findings[:2]).shortened().hidden == 0
    page = render_topic_ids(short)
    assert "5 more findings were left off" in page
    assert f"{MOST_FINDINGS + 5}</span>" in page  # directories in that state
    assert "left off" not in render_topic_ids(replace(short, hidden=0))


MEASURE = """
import base64, re
from harness.base.json import to_json
from harness.report.topic_ids_page import render_topic_ids
from harness.topicids.comparing import compare
from harness.topicids.export import read_export, write_export
from harness.topicids.records import ClusterTopics, DataDirectory, PartitionDirectory, Topic
from pathlib import Path
import sys

N = 100_000
ids = (base64.urlsafe_b64encode(number.to_bytes(16, "big")).decode().rstrip("=") for number in range(1, N + 1))
partitions = (PartitionDirectory(f"t{n // 10}", n % 10, each, written=1.0) for n, each in enumerate(ids))
export = write_export(Path(sys.argv[1]), [DataDirectory("/data", 1, "c1", tuple(partitions))])
topics = {f"t{n}": Topic(f"t{n}", "9ZBgsF2dQGqzrdIIPvmKjA", dict.fromkeys(range(10), (1,))) for n in range(N // 10)}
found = compare(ClusterTopics("zk", True, "c1", topics), read_export(export))
assert len(found.findings) == N
assert len(to_json(found.shortened())) > 1_000_000
assert len(render_topic_ids(found)) > 100_000
# getrusage would count the pages of whoever forked this process as well
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024)
"""


def test_a_hundred_thousand_distinct_ids_stay_below_300_megabytes(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(tmp_path / "e.jsonl")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 300
