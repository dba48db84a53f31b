"""Text that others wrote, made harmless: the same in logs, in the report and in errors."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.base.text import ordinal, visible


@given(st.text())
def test_nothing_hidden_is_left_of_any_text(text):
    shown = visible(text)
    hidden = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    assert not [char for char in shown if char not in "\t\n" and unicodedata.category(char) in hidden]
    assert visible(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m\r", r"\x1b[31mred\x1b[0m\x0d"),
        ("user\u202egnp.exe", r"user\u202egnp.exe"),
        ("\U000e0041 \U0010ffff", r"\U000e0041 \U0010ffff"),
        ("a\tb\nc é … \U0001f600", "a\tb\nc é … \U0001f600"),
        ("file-\udcff", r"file-\udcff"),
    ],
)
def test_hidden_characters_are_shown_as_escapes(text, shown):
    assert visible(text) == shown


def test_an_error_shows_what_it_quotes():
    error = HarnessError("The jar said \x1b]0;owned\x07.", "Ask \u202eits maker.")
    assert (error.message, error.hint) == (r"The jar said \x1b]0;owned\x07.", r"Ask \u202eits maker.")
    assert str(error) == f"{error.message} {error.hint}"
    assert error.args == (error.message,)


def test_ordinals_are_words_up_to_ten_and_figures_with_their_ending_from_there():
    shown = [ordinal(number) for number in (1, 2, 3, 10, 11, 12, 20, 21, 22, 23, 111)]
    assert shown == ["first", "second", "third", "tenth", "11th", "12th", "20th", "21st", "22nd", "23rd", "111th"]
