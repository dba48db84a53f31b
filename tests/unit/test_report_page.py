"""Text on a page: long names may be broken behind their dots, and are text all the same; its style is whole."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from harness.base.paths import data_root
from harness.base.text import visible
from harness.report.page import coded, soft

STYLE = data_root() / "reports" / "styles" / "report.css"


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


def test_every_block_of_the_style_ends_where_it_should_since_a_browser_drops_what_follows_a_stray_brace():
    depth, lowest = 0, 0
    for sign in re.findall(r"[{}]", re.sub(r'"[^"]*"', "", STYLE.read_text())):
        depth += 1 if sign == "{" else -1
        lowest = min(lowest, depth)
    assert (depth, lowest) == (0, 0)


def test_commands_in_a_sentence_are_set_as_such_and_nothing_else_becomes_markup():
    assert coded("`harness rollout` tests both.") == Markup("<code>harness rollout</code> tests both.")
    assert coded("`<b>` & a lone ` stay text") == Markup("<code>&lt;b&gt;</code> &amp; a lone ` stay text")
