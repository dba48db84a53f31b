"""What is compared with what, from the words of the command line alone."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.model.request import DEFAULT_KAFKA, NO_CLAIMS, NO_SERIES, Request
from harness.model.sides import Side, sides_of

HERE, THERE = Path("/opt/here"), Path("/opt/there.tgz")
RELEASES = {HERE: "3.9.1", THERE: "3.9.2"}


def sides(**words):
    return sides_of(Request(**words), RELEASES.__getitem__)


def test_without_a_word_the_series_is_held_against_apaches_release():
    found = sides()
    assert found.base == Side(None, DEFAULT_KAFKA)
    assert found.candidate == Side(None, DEFAULT_KAFKA, built=True)
    assert (found.base_name, found.candidate_name) == ("stock", "patched")


def test_a_version_alone_is_that_of_base_and_of_the_series():
    assert {sides(kafka_version="3.9.2").base.version, sides(kafka_version="3.9.2").candidate.version} == {"3.9.2"}


def test_beside_a_base_of_another_version_it_is_the_candidates():
    found = sides(base_kafka="3.9.1", kafka_version="3.9.2")
    assert (found.base, found.candidate) == (Side(None, "3.9.1"), Side(None, "3.9.2"))
    assert (found.base_name, found.candidate_name) == ("stock", "kafka")


def test_a_release_can_be_held_against_itself():
    found = sides(base_kafka="3.9.1", kafka_version="3.9.1")
    assert found.base == found.candidate == Side(None, "3.9.1")


def test_a_series_of_another_version_goes_into_that_version():
    found = sides(base_kafka="3.9.1", kafka_version="3.9.2", series="mine")
    assert found.base == Side(None, "3.9.1")
    assert found.candidate == Side(None, "3.9.2", built=True, series="mine")


def test_an_unpacked_base_keeps_the_series_of_its_release_and_the_version_may_say_so():
    for words in ({}, {"kafka_version": "3.9.1", "series": "mine"}):
        found = sides(base_dist=HERE, **words)
        assert found.base == Side(HERE, "3.9.1")
        assert found.candidate == Side(HERE, "3.9.1", built=True, series=words.get("series", ""))
        assert found.base_name == "base"


def test_from_a_vendors_kafka_back_to_apaches_of_the_same_release():
    found = sides(base_dist=HERE, kafka_version="3.9.1")
    assert (found.base, found.candidate) == (Side(HERE, "3.9.1"), Side(None, "3.9.1"))


@pytest.mark.parametrize(
    "words",
    [
        {"base_dist": HERE, "kafka_version": "3.9.1-acme"},
        {"base_dist": HERE, "base_kafka": "3.9.1-acme"},
        {"dist": HERE, "kafka_version": "3.9.1-acme", "base_dist": HERE},
    ],
)
def test_a_kafka_at_a_place_is_of_its_release_whatever_its_maker_adds(words):
    assert {side.version for side in (sides(**words).base, sides(**words).candidate)} == {"3.9.1"}


def test_a_version_that_an_unpacked_base_is_not_of_is_apaches_release():
    found = sides(base_dist=HERE, kafka_version="3.9.2")
    assert (found.base, found.candidate) == (Side(HERE, "3.9.1"), Side(None, "3.9.2"))


def test_a_whole_kafka_is_held_against_apaches_release_of_its_version_if_nothing_else_is_named():
    found = sides(dist=THERE)
    assert (found.base, found.candidate) == (Side(None, "3.9.2"), Side(THERE, "3.9.2"))
    assert found.candidate_name == "kafka"


def test_two_whole_kafkas_are_held_against_each_other():
    found = sides(dist=THERE, base_dist=HERE)
    assert (found.base, found.candidate) == (Side(HERE, "3.9.1"), Side(THERE, "3.9.2"))


def test_a_finished_jar_goes_into_bases_kafka_or_into_the_candidates_own():
    jar = Path("x.jar")
    assert sides(jar=jar, base_dist=HERE).candidate == Side(HERE, "3.9.1", jar)
    assert sides(jar=jar, dist=THERE, base_dist=HERE).candidate == Side(THERE, "3.9.2", jar)
    assert sides(jar=jar, series="mine").candidate == Side(None, DEFAULT_KAFKA, jar, series="mine")


def test_base_can_be_built_too_and_has_no_series_unless_one_is_named():
    found = sides(base_git="url@main", base_kafka="3.9.1", kafka_version="3.9.1", git="url@topic", series=NO_SERIES)
    assert found.base == Side(None, "3.9.1", built=True, git="url@main", series=NO_SERIES)
    assert found.candidate == Side(None, "3.9.1", built=True, git="url@topic", series=NO_SERIES)
    assert (found.base_name, found.candidate_name) == ("base", "built")
    assert sides(base_series="older").base == Side(None, DEFAULT_KAFKA, built=True, series="older")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"dist": THERE, "kafka_version": "3.9.1"}, r"there\.tgz is Kafka 3\.9\.2, not 3\.9\.1\. Leave out --kafka"),
        ({"base_dist": HERE, "base_kafka": "3.9.2"}, r"here is Kafka 3\.9\.1, not 3\.9\.2\. Leave out --base-kafka"),
        ({"jar": Path("x"), "git": "u@r"}, "--jar is a finished jar, and --git builds one"),
        ({"base_jar": Path("x"), "base_git": "u@r"}, "--base-jar is a finished jar, and --base-git builds one"),
        ({"base_jar": Path("x"), "base_series": "s"}, "--base-jar is a finished jar, and --base-series builds one"),
    ],
)
def test_words_that_contradict_each_other_are_refused(words, sentence):
    with pytest.raises(HarnessError, match=sentence):
        sides(**words)


def test_3_9_10_is_no_build_of_3_9_1():
    with pytest.raises(HarnessError, match=r"is Kafka 3\.9\.1, not 3\.9\.10"):
        sides(base_dist=HERE, base_kafka="3.9.10")


places, versions = st.sampled_from([None, HERE, THERE]), st.sampled_from(["", "3.9.1", "3.9.2"])


@given(places, versions, places, versions, st.sampled_from([None, Path("x.jar")]))
def test_every_request_that_is_taken_names_a_version_for_both_sides(dist, kafka, base_dist, base_kafka, jar):
    try:
        found = sides(dist=dist, kafka_version=kafka, base_dist=base_dist, base_kafka=base_kafka, jar=jar)
    except HarnessError:
        return
    for side, place in ((found.base, base_dist), (found.candidate, dist or found.candidate.place)):
        assert side.version == (RELEASES[side.place] if side.place else side.version) != ""
        assert side.place == place
    if not dist and not base_kafka and not base_dist:
        assert (found.base.place, found.base.version) == (found.candidate.place, found.candidate.version)


@pytest.mark.parametrize("arm", ["base", "stock"])
def test_base_alone_of_which_nothing_is_claimed_needs_no_series(arm):
    found = sides(kafka_version="2.8.2", arms=(arm,), claims=NO_CLAIMS)
    assert found.base == found.candidate == Side(None, "2.8.2")


def test_base_alone_is_still_held_against_claims_where_nothing_says_otherwise():
    assert sides(arms=("base",)).candidate.built
    assert sides(arms=("base", "on"), claims=NO_CLAIMS).candidate.built


def test_another_release_of_a_side_is_named_by_the_option_that_counts_for_it():
    git = {"base_git": "/src/kafka@4.3"}
    for words, option in (
        ({}, "--kafka"),
        ({"kafka_version": "3.9.2"}, "--kafka"),
        ({"base_kafka": "3.9.1"}, "--base-kafka"),
        ({"base_kafka": "3.9.1", "kafka_version": "3.9.2"}, "--base-kafka"),
        ({"dist": THERE}, "--base-kafka"),
    ):
        found = sides(**git, **words)
        assert (found.base.option, found.candidate.option) == (option, "--kafka")
