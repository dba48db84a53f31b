"""Control records of a metadata log, from bytes that Kafka wrote and from such as it would not."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from harness.cluster.metadata_log.control_records import ControlRecords, Voter, alike, control_records

KEPT = Path(__file__).parent / "metadata-log"
DATA = (KEPT / "1" / "00000000000000000000.log").read_bytes()  # three voters of Kafka 3.9.1
FORMATTED = (KEPT / "formatted.checkpoint").read_bytes()  # what its StorageTool writes for --initial-controllers


def at(node, directory, port):
    return Voter(node, directory, frozenset({("CONTROLLER", "127.0.0.1", port)}))


VOTERS = frozenset(
    {
        at(0, "caf0ewGuRrCe1i3yhKVg0g", 26671),
        at(1, "HMKb2RM0TAq0g6Tsexuh1A", 19186),
        at(2, "Ps2TubkTS_-nEtZHXASlmw", 31544),
    }
)


def test_who_votes_where_each_listens_and_the_kraft_version_are_read_from_the_records_at_their_offsets():
    assert control_records(DATA) == ControlRecords({2: VOTERS}, {1: 1})


def test_a_snapshot_numbers_its_records_from_0_on():
    found = control_records(FORMATTED)
    assert (found.versions, [*found.voters]) == ({1: 1}, [2])
    assert at(0, "LFKajTejQ3mqRSUzJ_xgTw", 30773) in found.voters[2]


@given(st.integers(0, len(DATA)))
def test_a_segment_that_ends_anywhere_is_read_as_far_as_it_goes(size):
    assert control_records(DATA[:size]).voters.items() <= control_records(DATA).voters.items()


@given(st.integers(0, 600), st.binary(min_size=1, max_size=8))
def test_no_damage_is_too_odd_to_be_read(position, noise):
    control_records(DATA[:position] + noise + DATA[position + len(noise) :])


def test_sets_of_voters_differ_by_directory_port_and_host_unless_a_host_cannot_be_told():
    here, there, unknown = (Voter(1, "d", frozenset({("C", host, 9)})) for host in ("h", "g", ""))
    elsewhere, other = Voter(1, "d", frozenset({("C", "h", 8)})), Voter(1, "e", here.endpoints)
    assert alike(frozenset({here}), frozenset({unknown}))
    assert not any(alike(frozenset({here}), frozenset({each})) for each in (there, elsewhere, other))
    assert not alike(frozenset({unknown}), frozenset({elsewhere}))
    assert not alike(frozenset({here}), frozenset({here, there}))
