"""Topic ids where somebody's disks, files and clusters look odd: what is asked of each is a sentence, never a guess."""

from dataclasses import replace

from disks_sample import X, broker_disk
from repair_sample import ALL, disks, live, planned

from harness.topicids.comparing import compare
from harness.topicids.disks import read_collected, read_data_directory
from harness.topicids.planning import plan_repair
from harness.topicids.records import ClusterTopics, PartitionDirectory

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
