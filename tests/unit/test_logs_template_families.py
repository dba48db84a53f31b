"""What is compared of a template: all but the insides of brackets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.logs.compare.template_families import _ends, family, insides


@pytest.mark.parametrize(
    ("template", "compared"),
    [
        (
            "[RaftManager id=<n>] Completed transition to Leader(key=Key(id=<n>), votes={}) from Candidate(id=<n>)",
            "[RaftManager id=<n>] Completed transition to Leader(…) from Candidate(…)",
        ),
        ("Connection to node <n> (<addr> (id: <n> rack: null)) failed", "Connection to node <n> (…) failed"),
        ("Removed fetcher for partitions Set(a-<n>, b-<n>)", "Removed fetcher for partitions Set(…)"),
        ("[Broker id=<n>] state {a=[<n>]} of [x]", "[Broker id=<n>] state {…} of […]"),
        ("Nothing() here []", "Nothing() here []"),
        ("An open ( stays (a) so", "An open ( stays (…) so"),
        ("crossed ([)] stays", "crossed ([)] stays"),
    ],
)
def test_brackets_lose_their_insides_and_the_log_context_stays(template, compared):
    assert family(template) == compared


@given(st.text(alphabet="a (){}[],", max_size=40))
def test_whatever_the_brackets_what_stands_outside_of_them_stays(text):
    once = family(text)
    assert len(once) <= len(text)
    assert family(once) == once


def test_brackets_that_none_closes_cost_no_more_than_the_text_is_long():
    text = "(" * 200_000
    assert family(text) == text
    assert list(insides(text)) == []


def end_of_bracket(text, start):
    """Return the place after what closes a bracket, 0 for none, as a reader would find it."""
    awaited = []
    for at in range(start, len(text)):
        if text[at] in "([{":
            awaited.append(")]}"["([{".index(text[at])])
        elif text[at] in ")]}":
            if text[at] != awaited.pop():
                return 0
            if not awaited:
                return at + 1
    return 0


@given(st.text(alphabet="a ()[]{}", max_size=30))
def test_brackets_are_matched_in_one_pass_as_one_by_one(text):
    wanted = {at: end for at, each in enumerate(text) if each in "([{" and (end := end_of_bracket(text, at))}
    assert _ends(text) == wanted
