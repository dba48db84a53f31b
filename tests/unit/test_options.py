"""One declaration of verify's options: a command line becomes a request, and a request the same command line again."""

import random
import sys
from dataclasses import fields, replace
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.cli import app as cli
from harness.model.options import arguments_of, options_of, record_of
from harness.model.proof import TestScope
from harness.model.request import Request, as_typed, located
from harness.model.setup import Profile

NOT_SAID = {"argv", "patches"}  # the command that was given, and what only mutants are made by

text = st.text("ab1 _.@:/'\"=ä$-", min_size=1, max_size=8)
paths = text.map(Path)
names = st.lists(st.text("ab1-_", min_size=1, max_size=5), max_size=3).map(tuple)
maybe = st.none() | paths
requests = st.builds(
    Request,
    jar=maybe,
    base_jar=maybe,
    base_dist=maybe,
    git=st.just("") | text,
    series=st.just("") | text,
    claims=st.sampled_from(["", "none"]) | text,
    sources=maybe,
    tests=st.sampled_from(TestScope),
    coverage=st.booleans(),
    waivers=maybe,
    config=maybe,
    arms=names,
    scenarios=names,
    suite=text,
    repeats=st.integers(1, 99),
    jobs=st.integers(1, 16),
    java_home=maybe,
    builder=text,
    profile=st.sampled_from(Profile),
    kafka_version=st.just("") | text,
    offline=st.booleans(),
)


def shuffled(words, seed, attach):
    """Return a command line that says the same otherwise: options in another order, some with `=`, others between."""
    switches = {"--coverage", "--no-coverage", "--offline"}
    rest, said = iter(words), []
    for word in rest:
        said.append([word] if word in switches else [f"{word}={next(rest)}"] if attach else [word, next(rest)])
    scenarios = [each for each in said if each[0].startswith("--scenario")]
    others = [each for each in said if each not in scenarios]
    random.Random(seed).shuffle(others)
    return ["verify", "--out", "run", *chain(*others, ["--cross-check"], *scenarios)]


@given(requests)
def test_the_words_of_a_request_are_read_as_that_request(request_):
    assert record_of(Request, arguments_of(request_)) == request_


@given(requests, st.integers(), st.booleans())
def test_a_command_line_is_read_whatever_its_order_and_written_in_one(request_, seed, attach):
    typed = shuffled(arguments_of(request_), seed, attach)
    assert arguments_of(record_of(Request, typed)) == arguments_of(request_)


@given(requests)
def test_a_command_makes_of_the_words_what_the_parser_makes_of_them(request_):
    made = []

    def note(_out, _command, request):
        made.append(request)
        raise HarnessError("That is enough.")

    words = arguments_of(request_)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.cli.common.fresh_run_dir", note)
        patch.setattr(sys, "argv", ["harness", "verify", *words])
        cli._run()
    assert made == [located(replace(record_of(Request, words), argv=("verify", *words)))]


@given(requests)
def test_paths_are_short_where_they_lie_below_the_working_folder_and_mean_the_same(request_):
    whole = located(request_)
    assert located(as_typed(whole)) == whole
    assert as_typed(replace(whole, jar=Path.cwd() / "a b.jar")).jar == Path("a b.jar")


def test_every_field_of_a_request_can_be_said():
    assert {each.name for each in fields(Request)} - NOT_SAID == set(options_of(Request))


def test_a_request_that_says_nothing_has_no_words():
    assert arguments_of(Request()) == ()


@pytest.mark.parametrize("words", [["--repeats", "many"], ["--profile=turbo"], ["--jobs"]])
def test_a_value_that_is_none_of_its_options_is_named(words):
    with pytest.raises(HarnessError, match=f"^{words[0][:6]}.* is not an option's value"):
        record_of(Request, words)


@pytest.mark.parametrize("option", ["git", "base_git"])
@pytest.mark.parametrize(
    "address",
    [
        "https://me:secret@git.example.org/kafka@trunk",
        "https://me:secret@git.example.org/kafka",
        "https://me:sec@secret@git.example.org/kafka@trunk",
        "https://me:sec/secret@git.example.org/kafka@trunk",
        "https://secret@git.example.org/kafka@trunk",
        "ssh://me:secret@git.example.org/kafka@trunk",
    ],
)
def test_an_address_with_a_login_is_refused_before_anything_is_written_and_not_repeated(option, address):
    with pytest.raises(HarnessError, match="holds a login") as caught:
        located(replace(Request(), **{option: address}))
    assert "secret" not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize(
    "address",
    ["https://git.example.org:8443/kafka@3.9.1", "ssh://git@git.example.org/kafka@3.9.1", "git@a.org:kafka@trunk"],
)
def test_an_address_without_a_login_is_kept(address):
    assert located(Request(git=address)).git == address
