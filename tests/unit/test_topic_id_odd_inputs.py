"""Topic ids where somebody's disks, files and clusters look odd: what is asked of each is a sentence, never a guess."""

from dataclasses import replace
from io import StringIO

import pytest
from disks_sample import X, Y, Z, broker_disk
from repair_sample import ALL, WRITTEN, disks, live, planned
from rich.console import Console

from harness.model.topic_ids import Answer, IdState
from harness.report.topic_ids_page import render_topic_ids
from harness.stages.topic_ids import print_check
from harness.topicids.comparing import compare
from harness.topicids.disks import read_collected, read_data_directory
from harness.topicids.planning import plan_repair
from harness.topicids.records import ClusterTopics, DataDirectory, PartitionDirectory, Topic
from harness.topicids.sentences import sentence

# Disks


def test_a_link_that_goes_in_circles_is_no_folder_and_hides_none_of_the_others(tmp_path):
    disk = broker_disk(tmp_path / "d", 1, ["t-0"])
    (disk / "u-0").symlink_to("u-0")
    assert [each.name for each in read_data_directory(disk).partitions] == ["t-0"]


def test_a_collected_broker_without_partitions_is_a_broker_and_no_partition_of_a_topic_so_called(tmp_path):
    broker_disk(tmp_path / "broker-1", 1, {"t-0": X})
    broker_disk(tmp_path / "broker-2", 2)
    found = [(disk.broker, [each.name for each in disk.partitions]) for disk in read_collected(tmp_path)]
    assert found == [(1, ["t-0"]), (2, [])]


# Plans


def test_a_plan_of_what_was_not_all_looked_at_is_refused_though_nothing_seen_differs():
    seen = disks(dict.fromkeys(ALL, (X, X)))
    newer = replace(
        seen[0], partitions=(PartitionDirectory("t", 0, problem="it is of version 1"), seen[0].partitions[1])
    )
    assert planned(X, seen).exit_code == 0
    for data, says in (
        (seen[:2], "Not everything was looked at. The disks of broker 3 were not seen"),
        ([newer, *seen[1:]], "Topic t has directories that cannot be read: it is of version 1."),
    ):
        plan = planned(X, data)
        assert (plan.exit_code, plan.topics) == (3, ())
        assert plan.refusals[0].startswith(says)


def test_a_plan_of_a_cluster_of_which_nothing_was_compared_is_refused():
    cluster = ClusterTopics("ZooKeeper at zk:2181", True, "c1", {})
    data = disks({1: (X,)})
    plan = plan_repair(compare(cluster, data), cluster, data, live(), "zk:2181")
    assert (plan.exit_code, plan.refusals[0][:32]) == (3, "Undecided: nothing was compared,")


# Terminals


@pytest.mark.parametrize("width", [40, 60, 80, 132, 300])
def test_names_and_ids_are_whole_in_a_terminal_however_narrow(width):
    name, other = "a-b.c_d-" * 31, "other-" * 41
    topics = {each: Topic(each, Y, {0: (1,)}) for each in (name, other)}
    data = [DataDirectory("/data", 1, "c1", (PartitionDirectory(name, 0, X), PartitionDirectory(other, 0, Y)))]
    check = compare(ClusterTopics("zk", True, "c1", topics), data)
    console = Console(width=width, file=StringIO())
    print_check(console, check)
    said = console.file.getvalue()
    header = next(line for line in said.splitlines() if "on disk" in line)
    rows = said.split(header)[1].splitlines()
    begin, end = said.splitlines()[0].find("topic,"), header.index("id on disk")
    middle = "".join(line[begin:end].strip() for line in rows)
    assert ("…" in said, X in said, Y in said) == (False, True, True)
    for each in (name, other):
        assert each in middle
    assert max(map(len, said.splitlines())) <= width


# Two topics of one id

_SHARED = IdState.SHARED
SHARING = {
    # name: in ZooKeeper, on disks, the states of t and u
    "both in ZooKeeper": (("t", X), ("u", X), X, X, {"t": _SHARED, "u": _SHARED}),
    "both in ZooKeeper, one without files": (("t", X), ("u", X), X, None, {"t": _SHARED, "u": _SHARED}),
    "a copied file": (("t", X), ("u", Y), X, X, {"u": _SHARED}),
    "both lost in ZooKeeper": (("t", ""), ("u", ""), X, X, {"t": _SHARED, "u": _SHARED}),
    "one lost in ZooKeeper": (("t", X), ("u", ""), X, X, {"u": _SHARED}),
    "both new in ZooKeeper": (("t", Y), ("u", Z), X, X, {"t": _SHARED, "u": _SHARED}),
    "exchanged": (("t", X), ("u", Y), Y, X, {"t": _SHARED, "u": _SHARED}),
    "each its own": (("t", X), ("u", Y), X, Y, {}),
}


@pytest.mark.parametrize(("one", "other", "of_one", "of_other", "states"), SHARING.values(), ids=SHARING)
def test_two_topics_of_one_id_are_a_mismatch_that_no_plan_repairs(one, other, of_one, of_other, states):
    data = [
        replace(disk, partitions=(*disk.partitions, PartitionDirectory("u", 0, of_other or "", written=WRITTEN)))
        for disk in disks(dict.fromkeys(ALL, (of_one,)))
    ]
    topics = {name: Topic(name, topic_id, {0: ALL}) for name, topic_id in (one, other)}
    cluster = ClusterTopics("ZooKeeper at zk:2181", True, "c1", topics)
    check = compare(cluster, data)
    assert {each.topic: each.state for each in check.findings} == states
    assert check.answer is (Answer.MISMATCH if states else Answer.HEALTHY)
    plan = plan_repair(check, cluster, data, live(), "zk:2181")
    assert (plan.exit_code, plan.topics) == (3 if states else 0, ())
    for refusal, topic in zip(plan.refusals, states, strict=True):
        assert refusal.startswith(f"Topic {topic} and another have one id, ")


def test_a_shared_id_is_named_with_the_other_topic_in_the_answer_and_on_the_page():
    topics = {name: Topic(name, X, {0: (1,)}) for name in ("t", "u")}
    data = [DataDirectory("/d", 1, "c1", (PartitionDirectory("t", 0, X), PartitionDirectory("u", 0, X)))]
    check = compare(ClusterTopics("zk", True, "c1", topics), data)
    assert [each.reason for each in check.findings] == ["u has that id too", "t has that id too"]
    assert sentence(check) == (
        "Mismatch: restart no broker. 2 directories of 2 topics have the id that another topic has too."
    )
    assert "id of another topic" in render_topic_ids(check)


def test_a_directory_that_nobody_serves_shares_nothing_with_the_topic_it_was_copied_from():
    topics = {"t": Topic("t", X, {0: (1,)})}
    data = [DataDirectory("/d", 1, "c1", (PartitionDirectory("t", 0, X), PartitionDirectory("copy-of-t", 0, X)))]
    assert compare(ClusterTopics("zk", True, "c1", topics), data).answer is Answer.HEALTHY
