"""Segments on disk: their batches, replicas that differ, and what a power failure leaves."""

import struct
from types import SimpleNamespace

import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from harness.cluster import partitions
from harness.cluster.metadata_log.batches import Batch, read_batches
from harness.cluster.segments import (
    Replica,
    Writer,
    disagreement,
    recovery_points,
    shortcoming,
    unflushed_from,
    writers,
)
from harness.scenario.actions.lose_unflushed import lose_unflushed, put_back
from harness.scenario.conditions.replicas_agree import replicas_agree
from harness.scenario.refs import fixed
from harness.scenario.world import ActionFailed

COUNTS = st.lists(st.integers(1, 5), max_size=8)


def batch(first, count=1, epoch=0, payload=b"records", producer=(-1, -1, -1)):
    covered = struct.pack(">hiqqqhii", 0, count - 1, 0, 0, *producer, count) + payload
    body = struct.pack(">ibI", epoch, 2, crc32c(covered)) + covered
    return struct.pack(">qi", first, len(body)) + body


def log(counts, **more):
    first, written = 0, b""
    for count in counts:
        written += batch(first, count, **more)
        first += count
    return written


@given(COUNTS.filter(bool), st.integers(0, 45))
def test_what_was_never_flushed_begins_with_the_batch_that_holds_the_recovery_point(counts, point):
    segment = log(counts)
    kept = read_batches(segment[: unflushed_from(segment, point)]).batches
    assert kept == tuple(each for each in read_batches(segment).batches if each.last_offset < point)


def replica(*crcs, first=0):
    return Replica(tuple(Batch(first + at, first + at, 0, crc) for at, crc in enumerate(crcs)))


def test_replicas_agree_on_what_all_of_them_hold_however_far_each_is():
    assert disagreement({0: replica(1, 2, 3), 1: replica(1, 2), 2: replica(2, 3, first=1)}) == ""
    assert disagreement({0: replica(1, 2), 1: Replica(())}) == ""


def test_replicas_that_hold_other_bytes_at_an_offset_disagree_from_there():
    said = disagreement({0: replica(1, 2, 3, 4), 1: replica(1, 2, 9, 4), 2: replica(1, 2, 3, 4)})
    assert said == "nodes 0 and 1 differ from offset 2 on, of 0 to 3"


def test_a_replica_whose_bytes_are_damaged_is_named():
    assert disagreement({0: replica(1), 1: Replica((), "no batch begins there")}) == "on node 1, no batch begins there"


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.lists(st.integers(0, 3), min_size=1, max_size=6))
def test_two_replicas_disagree_just_where_a_common_offset_has_another_checksum(one, other):
    differ = any(a != b for a, b in zip(one, other, strict=False))
    assert bool(disagreement({0: replica(*one), 1: replica(*other)})) is differ


def partition(folder, content, active="00000000000000000000"):
    folder.mkdir(parents=True)
    (folder / f"{active}.log").write_bytes(content)
    (folder / f"{active}.index").write_bytes(b"index")
    return folder / f"{active}.log"


def test_what_was_never_flushed_is_gone_and_what_was_is_there(tmp_path):
    content = log([2, 2, 2])
    some, none, every = (partition(tmp_path / f"t-{number}", content) for number in range(3))
    rolled = partition(tmp_path / "t-3", batch(0))
    (tmp_path / "t-3" / "00000000000000000001.log").write_bytes(batch(1))
    metadata = partition(tmp_path / "__cluster_metadata-0", content)
    (tmp_path / "recovery-point-offset-checkpoint").write_text("0\n2\nt 0 4\nt 2 6\n")
    lost = put_back(tmp_path)
    third = len(content) // 3
    assert lost == {"t-0": third, "t-1": 3 * third, "t-3": len(batch(1))}
    assert (some.read_bytes(), none.read_bytes(), every.read_bytes()) == (content[: 2 * third], b"", content)
    assert (rolled.read_bytes(), metadata.read_bytes()) == (batch(0), content)
    assert not some.with_suffix(".index").exists()
    assert every.with_suffix(".index").exists()


def test_a_checkpoint_that_was_not_written_yet_covers_nothing():
    assert recovery_points("") == {}


@pytest.mark.parametrize("text", ["1\n0\n", "0\n2\nt 0 1\n"])
def test_a_checkpoint_of_another_form_is_refused(text):
    with pytest.raises(ValueError, match="a checkpoint of version"):
        recovery_points(text)


def world_of(tmp_path, *, is_alive=False):
    nodes = {
        number: SimpleNamespace(id=number, is_alive=is_alive, data_dir=tmp_path / str(number)) for number in range(2)
    }
    written = []
    return SimpleNamespace(cluster=SimpleNamespace(nodes=nodes), write=written.append), written


def test_a_node_that_runs_loses_nothing(tmp_path):
    with pytest.raises(ActionFailed, match="node 0 runs: kill it first"):
        lose_unflushed(fixed(0, "the node")).perform(world_of(tmp_path, is_alive=True)[0])


def test_a_node_that_has_flushed_all_has_nothing_to_lose_which_is_no_fault_at_all(tmp_path):
    (tmp_path / "0").mkdir()
    with pytest.raises(ActionFailed, match="nothing to lose"):
        lose_unflushed(fixed(0, "the node")).perform(world_of(tmp_path)[0])


def test_the_loss_is_journaled_in_bytes(tmp_path):
    world, written = world_of(tmp_path)
    partition(tmp_path / "0" / "t-0", log([1]))
    lose_unflushed(fixed(0, "the node")).perform(world)
    assert written[0].proof == f"{len(log([1]))} bytes of 1 partitions are gone"


def test_a_replica_that_is_missing_empty_or_behind_is_named():
    held = {0: replica(1, 2, 3), 1: replica(1, 2), 2: Replica(())}
    assert shortcoming(held, (0, 1), 1) == ""
    assert shortcoming(held, (0, 1), 2) == "the replica of node 1 ends at offset 1, of 2"
    assert shortcoming(held, (0, 2), 0) == "the replica of node 2 ends at offset -1, of 0"
    assert shortcoming(held, (0, 3), 0) == "node 3 has no replica"


def test_a_replica_that_lacks_its_beginning_or_what_lies_between_is_named():
    whole, later = replica(1, 2, 3, 4), replica(3, 4, first=2)
    assert shortcoming({0: whole, 1: later}, (0, 1), 3) == "the replica of node 1 begins at offset 2, and another at 0"
    assert shortcoming({0: later, 1: later}, (0, 1), 3) == ""  # where nobody has more it may have been deleted
    gap = Replica((*replica(1, 2).batches, *replica(5, first=4).batches))
    assert shortcoming({0: gap, 1: gap}, (0, 1), 4) == "the replica of node 0 lacks offset 2"


@pytest.fixture
def compared(tmp_path, monkeypatch):
    """A world in which both nodes are to have both partitions of the topic t."""
    world, _ = world_of(tmp_path)
    world.cluster.brokers, world.cluster.wire = {0: "the broker"}, None
    world.reached, world.step_began = {}, 1.0
    assigned = {"t": {0: (0, 1), 1: (0, 1)}}
    monkeypatch.setattr(partitions, "replicas_of", lambda _wire, _at, topic: assigned.get(topic, {}))
    return world


def written_to(tmp_path, *, others):
    """Both partitions of t on both nodes, those of node 1 with `others` batches of three."""
    for node, count in enumerate((3, others)):
        for number in range(2):
            folder = tmp_path / str(node) / f"t-{number}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "00000000000000000000.log").write_bytes(log([1] * count))


@pytest.mark.parametrize("others", [0, 2])
def test_replicas_agree_only_when_each_is_as_far_as_any_was_at_the_first_look(tmp_path, compared, others):
    written_to(tmp_path, others=others)
    looked = replicas_agree("t").sample(compared)
    assert (looked.ok, looked.testable) == (False, True)
    assert looked.problem.startswith(f"t-0: the replica of node 1 ends at offset {others - 1}, of 2; t-1: ")
    written_to(tmp_path, others=3)
    (tmp_path / "0" / "t-0" / "00000000000000000003.log").write_bytes(batch(3))  # written since
    assert replicas_agree("t").sample(compared).ok
    compared.step_began = 2.0
    assert not replicas_agree("t").sample(compared).ok


def test_a_tail_that_was_cut_off_since_the_first_look_is_not_waited_for(tmp_path, compared):
    written_to(tmp_path, others=4)
    assert not replicas_agree("t").sample(compared).ok
    written_to(tmp_path, others=3)
    assert replicas_agree("t").sample(compared).ok


def test_replicas_do_not_agree_while_a_node_has_no_folder_of_one(tmp_path, compared):
    partition(tmp_path / "0" / "t-0", log([1]))
    partition(tmp_path / "0" / "t-1", log([1]))
    partition(tmp_path / "1" / "t-0", log([1]))
    assert replicas_agree("t").sample(compared).problem == "t-1: node 1 has no replica"


def test_replicas_cannot_be_compared_while_no_broker_says_who_has_them(tmp_path, compared):
    compared.cluster.brokers = {}
    assert not replicas_agree("t").sample(compared).testable


def test_the_condition_reads_every_replica_and_names_the_partition_that_differs(tmp_path, compared):
    world = compared
    assert not replicas_agree("t-1").sample(world).testable
    for node in range(2):
        partition(tmp_path / str(node) / "t-0", log([2, 1]))
        partition(tmp_path / str(node) / "t-1", log([2], payload=b"%d" % node))
        partition(tmp_path / str(node) / "t-other-0", log([2], payload=b"%d" % node))
    looked = replicas_agree("t").sample(world)
    assert (looked.ok, looked.problem) == (False, "t-1: nodes 0 and 1 differ from offset 0 on, of 0 to 1")


def test_who_wrote_a_record_stands_in_its_batch_and_each_record_has_a_number_of_its_own(tmp_path):
    (tmp_path / f"{0:020}.log").write_bytes(batch(0, 3, producer=(7, 1, 40)) + batch(3, producer=(7, 2, 0)))
    (tmp_path / f"{9:020}.log").write_bytes(batch(9, producer=(8, 0, 5)) + batch(10, producer=(8, 0, 6))[:-1])
    known = writers(tmp_path, [0, 2, 3, 4, 9, 10])
    assert known == {0: Writer(7, 1, 40), 2: Writer(7, 1, 42), 3: Writer(7, 2, 0), 9: Writer(8, 0, 5)}
