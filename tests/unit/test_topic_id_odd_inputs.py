"""Topic ids where somebody's disks, files and clusters look odd: what is asked of each is a sentence, never a guess."""

from disks_sample import X, broker_disk

from harness.topicids.disks import read_collected, read_data_directory

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
