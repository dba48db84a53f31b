"""Sharding: everything runs exactly once, evenly, and a grown matrix moves little."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.model.request import Request
from harness.model.setup import Profile
from harness.nightly.shards import assign, estimate, parse_shard

SECONDS = st.dictionaries(st.text("abcxyz_.-", min_size=1), st.floats(1, 5000), max_size=40)


@given(SECONDS, st.integers(1, 9))
def test_every_verification_has_one_shard_of_those_there_are(seconds, shards):
    placed = assign(seconds, shards)
    assert placed.keys() == seconds.keys()
    assert set(placed.values()) <= set(range(1, shards + 1))


@given(SECONDS, st.integers(1, 9), st.randoms())
def test_the_order_in_the_matrix_does_not_matter(seconds, shards, chance):
    shuffled = list(seconds.items())
    chance.shuffle(shuffled)
    assert assign(dict(shuffled), shards) == assign(seconds, shards)


def _nights():
    for seed in range(30):
        chance = random.Random(seed)
        yield {f"v{seed}-{each}": chance.choice([120, 200, 400, 700]) * 1.0 for each in range(40)}


@pytest.mark.parametrize(("shards", "moved"), [(2, 0.05), (4, 0.10), (8, 0.20)])
def test_one_more_verification_moves_few_others(shards, moved):
    shares = []
    for night in _nights():
        before, after = assign(night, shards), assign({**night, "one-more": 400.0}, shards)
        shares.append(sum(before[name] != after[name] for name in night) / len(night))
    assert sum(shares) / len(shares) < moved


@pytest.mark.parametrize("shards", [2, 4, 8])
def test_no_shard_takes_much_more_than_its_part(shards):
    for night in _nights():
        placed = assign(night, shards)
        loads = [sum(night[name] for name in night if placed[name] == shard) for shard in range(1, shards + 1)]
        assert max(loads) < 1.35 * sum(loads) / shards


def test_a_night_that_takes_a_little_longer_moves_nothing():
    night = {f"v{each}": 300.0 for each in range(20)}
    assert assign(night, 4) == assign({name: seconds * 1.03 for name, seconds in night.items()}, 4)


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/", "-1/2", "1/2/3", "1/1001"])
def test_a_part_that_does_not_exist_is_refused(text):
    with pytest.raises(HarnessError, match="is not one of the parts"):
        parse_shard(text)


def test_a_shard_is_read():
    assert parse_shard("2/4") == (2, 4)


def test_more_repeats_scenarios_arms_and_a_slower_profile_are_taken_to_last_longer():
    usual = estimate(Request(suite="bootstrap"), {"bootstrap": 3})
    assert estimate(Request(suite="bootstrap", repeats=2), {"bootstrap": 3}) > usual
    assert estimate(Request(suite="bootstrap", profile=Profile.PRODUCTION), {"bootstrap": 3}) > usual
    assert estimate(Request(suite="bootstrap", soak="10m"), {"bootstrap": 3}) == usual + 9 * 600 / 2
    assert estimate(Request(suite="bootstrap", simulate="10m"), {"bootstrap": 3}) == usual + 600
    assert estimate(Request(scenarios=("turn1",)), {"bootstrap": 3}) < usual
    assert estimate(Request(suite="bootstrap", arms=("base", "on")), {"bootstrap": 3}) < usual
