"""The tests of a release that nobody locked: pinned when they are first asked for, and the same bytes ever after."""

from dataclasses import replace

import pytest

from harness.base.errors import HarnessError
from harness.kafka.release_lines import line_of
from harness.kafka.release_tests import tests_of_release as jars_of
from harness.toolbox.lockfile import Artifact, Purpose

PINS = replace(line_of("3.9.1").lock, tests=("a.b:raft:jar:test:{version}", "c.d:mock:jar:5.1"))


class Repository:
    """A cache and a repository whose files all have the same digest; it notes what is pinned anew."""

    def __init__(self, cache, offline=False):
        self.cache, self.offline, self.pinned = cache, offline, []

    def pin_all(self, wanted):
        made = tuple(Artifact(coordinate, "ab" * 32, 7, purpose) for coordinate, purpose in wanted)
        self.pinned += [each.coordinate for each in made]
        return made

    def fetch_all(self, artifacts):
        return tuple(self.cache / each.name for each in artifacts)


def test_a_releases_tests_are_pinned_once_by_the_coordinates_of_its_line(tmp_path):
    first, again = Repository(tmp_path), Repository(tmp_path, offline=True)
    jars = jars_of("3.9.77", PINS, first)
    assert first.pinned == ["a.b:raft:jar:test:3.9.77", "c.d:mock:jar:5.1"]
    assert [jar.name for jar in jars] == ["raft-3.9.77-test.jar", "mock-5.1.jar"]
    assert jars_of("3.9.77", PINS, again) == jars
    assert again.pinned == []


def test_without_a_network_what_was_never_fetched_is_not_to_be_had(tmp_path):
    with pytest.raises(HarnessError, match="not in the cache and --offline forbids"):
        jars_of("3.9.77", PINS, Repository(tmp_path, offline=True))


def test_a_locked_releases_tests_are_those_of_its_lock(tmp_path):
    repository = Repository(tmp_path, offline=True)
    assert "kafka-raft-3.9.1-test.jar" in [jar.name for jar in jars_of("3.9.1", PINS, repository)]
    assert not (tmp_path / "release-tests").exists()


def test_what_is_pinned_is_for_tests(tmp_path):
    kept = []
    repository = Repository(tmp_path)
    repository.fetch_all = lambda artifacts: kept.extend(artifacts) or ()
    jars_of("3.9.77", PINS, repository)
    assert {each.purpose for each in kept} == {Purpose.TESTS}
