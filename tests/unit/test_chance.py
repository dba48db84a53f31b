"""How likely it is that so much fell to one of two sides by chance."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.chance import chance_of_so_many


@given(st.integers(0, 5), st.integers(1, 5), st.data())
def test_it_is_the_share_of_all_ways_in_which_so_many_or_more_are_mine(of_mine, of_theirs, data):
    mine, theirs = data.draw(st.integers(0, of_mine)), data.draw(st.integers(0, of_theirs))
    ways = [*combinations(range(of_mine + of_theirs), mine + theirs)]
    as_many = [way for way in ways if sum(each < of_mine for each in way) >= mine]
    assert chance_of_so_many(mine, of_mine, theirs, of_theirs) == pytest.approx(len(as_many) / len(ways))
