"""The bad link: when packets arrive, and which are lost; without a network."""

import json
import socket

from hypothesis import given
from hypothesis import strategies as st

from harness.cluster.runtime.forwarder import Link, links_of
from harness.cluster.runtime.links import Quality
from harness.cluster.runtime.network import AGAIN_SECONDS

SIZES = st.lists(st.integers(20, 1500), min_size=1, max_size=50)


def test_a_packet_on_a_slow_link_arrives_that_much_later():
    assert Link(0.1, 0.0, 0.0, "").departure(5.0, 1000) == 5.1


@given(SIZES)
def test_packets_on_a_narrow_link_follow_each_other_at_its_rate(sizes):
    link = Link(0.0, 0.0, 8e6, "")
    arrived = [link.departure(0.0, size) for size in sizes]
    assert arrived == sorted(arrived)
    assert abs(arrived[-1] - sum(sizes) / 1e6) < 1e-9


def test_what_finds_the_queue_full_is_lost_and_the_queue_drains():
    link = Link(0.0, 0.0, 8000.0, "")
    assert [link.departure(0.0, 600) for _ in range(3)] == [0.6, 1.2, None]
    assert link.departure(0.5, 600) == 1.2 + 0.6


@given(st.text(), st.floats(0.0, 0.99), SIZES)
def test_the_same_packets_are_lost_with_the_same_seed(seed, loss, sizes):
    one, other = (Link(0.0, loss, 0.0, seed) for _ in range(2))
    assert [one.departure(0.0, size) for size in sizes] == [other.departure(0.0, size) for size in sizes]


def said_of(*links, loss=0.5, bits_per_second=0, seed=0):
    """What the program is told of links that are alike."""
    alike = {"delay": 0, "loss": loss, "bits_per_second": bits_per_second, "seed": seed}
    return json.dumps([{"source": source, "target": target, **alike} for source, target in links]).encode()


def lost_of(source, target, seed):
    (link,) = links_of(said_of((source, target), seed=seed), {}).values()
    return [link.departure(0.0, 100) is None for _ in range(64)]


def test_every_link_and_direction_loses_other_packets_and_so_it_does_with_another_seed():
    one, other = "192.0.2.10", "192.0.2.11"
    found = [lost_of(one, other, 1), lost_of(other, one, 1), lost_of(one, "192.0.2.12", 1), lost_of(one, other, 2)]
    assert len({tuple(lost) for lost in found}) == len(found)
    assert lost_of(one, other, 1) == found[0]


ONE, OTHER, THIRD = "192.0.2.10", "192.0.2.11", "192.0.2.12"


def test_a_link_that_stays_bad_loses_what_it_would_have_lost_whatever_becomes_of_others():
    whole = lost_of(ONE, OTHER, 0)
    known = links_of(said_of((ONE, OTHER), (ONE, THIRD)), {})
    first, second = known.values()
    lost = [first.departure(0.0, 100) is None for _ in range(32)]
    left = links_of(said_of((ONE, OTHER)), known)
    assert list(left.values()) == [first]
    assert lost + [first.departure(0.0, 100) is None for _ in range(32)] == whole
    assert second not in links_of(said_of((ONE, OTHER), (ONE, THIRD)), left).values()


def test_a_link_keeps_its_queue_until_it_is_made_otherwise():
    narrow = said_of((ONE, OTHER), loss=0, bits_per_second=8000)
    known = links_of(narrow, {})
    (link,) = known.values()
    assert link.departure(0.0, 600) == 0.6
    (same,) = links_of(narrow, known).values()
    (wider,) = links_of(said_of((ONE, OTHER), loss=0, bits_per_second=16000), known).values()
    assert (same.departure(0.0, 600), wider.departure(0.0, 600)) == (1.2, 0.3)


def test_about_the_share_that_was_asked_for_is_lost():
    link = Link(0.0, 0.1, 0.0, "7")
    assert 60 < [link.departure(0.0, 100) for _ in range(1000)].count(None) < 140


def test_links_are_known_by_the_addresses_in_a_packet():
    said = {"source": "192.0.2.10", "target": "192.0.2.11", "delay": 0.2, "loss": 0, "bits_per_second": 0, "seed": 0}
    links = links_of(json.dumps([said]).encode(), {})
    assert links[socket.inet_aton("192.0.2.10") + socket.inet_aton("192.0.2.11")].departure(0.0, 1) == 0.2
    assert len(links) == 1


@given(st.floats(0.0, 1.0), st.floats(0.01, 0.9))
def test_silence_on_a_bad_link_lasts_no_longer_than_it_says_but_by_a_wonder(delay, loss):
    seconds = Quality(delay, loss).seen_within
    assert loss ** ((seconds - delay) / AGAIN_SECONDS) < 1.01e-6


def test_a_narrow_link_may_be_silent_for_as_long_as_its_queue_is():
    assert Quality(bits_per_second=1e6).seen_within > 1.0
