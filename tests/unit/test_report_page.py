"""Text on a page: long names may be broken behind their dots, and are text all the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from harness.base.text import visible
from harness.report.page import soft


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("org.apache.kafka", "org.<wbr>apache.<wbr>kafka"),
        ("observer_recovers", "observer_<wbr>recovers"),
        ("An end. Another", "An end. Another"),
        ("<script>a.b", "&lt;script&gt;a.<wbr>b"),
        ("\x1b[2J", r"\x1b[2J"),
    ],
)
def test_a_long_name_may_be_broken_behind_its_dots(text, shown):
    assert soft(text) == Markup(shown)


@given(st.text())
def test_nothing_is_lost_and_nothing_becomes_markup(text):
    assert soft(text).replace("<wbr>", "").unescape() == visible(text)
    assert "<" not in soft(text).replace("<wbr>", "")
