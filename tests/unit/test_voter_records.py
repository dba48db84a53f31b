"""VotersRecords of a metadata log, from bytes that Kafka wrote and from such as it would not."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from harness.cluster.metadata_log.voter_records import voters_in

SEGMENT = Path(__file__).parent / "metadata-log" / "1" / "00000000000000000000.log"  # three voters of Kafka 3.9.1
DATA = SEGMENT.read_bytes()


def test_who_votes_is_read_from_the_record_at_its_offset():
    assert voters_in(DATA) == {2: frozenset({0, 1, 2})}


@given(st.integers(0, len(DATA)))
def test_a_segment_that_ends_anywhere_is_read_as_far_as_it_goes(size):
    assert voters_in(DATA[:size]).items() <= voters_in(DATA).items()


@given(st.integers(0, 600), st.binary(min_size=1, max_size=8))
def test_no_damage_is_too_odd_to_be_read(at, noise):
    voters_in(DATA[:at] + noise + DATA[at + len(noise) :])
