"""Which release a version string is of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.kafka.distribution import version_in_manifest
from harness.kafka.release_lines import same_line
from harness.kafka.versions import is_version, release_of

number = st.integers(0, 99).map(str)
release = st.tuples(st.integers(1, 99).map(str), number, number).map(".".join)
suffix = st.from_regex(r"[.+_-][A-Za-z][A-Za-z0-9.+_-]{0,12}", fullmatch=True)


@given(release, suffix)
def test_whatever_a_vendor_adds_the_release_stays(version, added):
    assert release_of(version + added) == release_of(version) == version


@given(release, st.integers(0, 9))
def test_a_longer_number_is_another_release(version, digit):
    assert release_of(f"{version}{digit}") != version


@given(st.text(max_size=30))
def test_any_text_is_answered_and_a_release_is_of_itself(text):
    assert release_of(release_of(text)) == release_of(text)


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("3.9.1", "3.9.1"),
        ("3.9.1-p1", "3.9.1"),
        ("3.9.1.redhat-00003", "3.9.1"),
        ("3.4.1.7.2.18.0-641", "3.4.1"),
        ("3.9.1rc2", "3.9.1"),
        ("0.10.2.1", "0.10.2.1"),
        ("0.10.2.1-p1", "0.10.2.1"),
        ("3.9", "3.9"),
        ("trunk", "trunk"),
        ("", ""),
    ],
)
def test_versions_that_are_seen(version, expected):
    assert release_of(version) == expected


def test_what_begins_with_no_release_is_no_version():
    assert not any(map(is_version, ("", "unknown", "3.9", "@version@", "v3.9.1", "3.9.1/../x", "3.9.1 x")))
    assert all(map(is_version, ("3.9.1", "3.9.1-p1", "0.10.2.1")))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("3.9.1", "3.9.2", True),
        ("3.9.1-p1", "3.9.0.redhat-1", True),
        ("3.9.1", "3.10.0", False),
        ("3.9.1", "4.0.0", False),
        ("4.7.0-p1", "4.7.0", True),  # one release, of whichever line
        ("4.7.0", "4.7.1", False),  # nobody described their line
    ],
)
def test_builds_of_one_line(one, other, same):
    assert same_line(one, other) is same_line(other, one) is same


def test_a_manifest_names_a_version_by_either_attribute():
    assert version_in_manifest("Manifest-Version: 1.0\r\nVersion: 3.9.1-ccs\r\n") == "3.9.1-ccs"
    assert version_in_manifest("Manifest-Version: 1.0\nimplementation-version:  3.9.1 \n") == "3.9.1"
    assert version_in_manifest("Manifest-Version: 1.0\nX-Version: 3.9.1\n") == ""


def test_what_is_too_long_for_the_name_of_a_file_is_no_version():
    assert is_version("3.9.1-" + "a" * 60)
    assert not is_version("3.9.1-" + "a" * 300)
