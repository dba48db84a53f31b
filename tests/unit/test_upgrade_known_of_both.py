"""What can be known of only one of two Kafkas is no difference between them, and is said."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from upgrade_sample import BASE

from harness.kafka.distribution import Distribution
from harness.toolbox.lockfile import Artifact, Lock, Purpose
from harness.upgrade import known_of_both
from harness.upgrade.known_of_both import libraries_not_compared, lines_not_compared, same_libraries

LOCKED = Distribution("3.9.1", (), Path("kafka-raft-3.9.1.jar"), "Kafka 3.9.1, the locked release", is_locked=True)
UNPACKED = Distribution("4.2.1", (), Path("kafka-raft-4.2.1.jar"), "Kafka 4.2.1 unpacked in x")


def libraries(kafkas, *named):
    found = same_libraries(kafkas, [replace(BASE, libraries=each) for each in named])
    return [each.libraries for each in found]


def test_of_a_locked_release_beside_an_unpacked_kafka_the_libraries_that_nodes_need_are_compared():
    of_nodes, of_all = {"jackson": "2.16", "zkclient": "3"}, {"jackson": "2.19", "jetty": "9", "rocksdbjni": "7"}
    compared = [of_nodes, {"jackson": "2.19"}]
    assert libraries([LOCKED, UNPACKED], of_nodes, of_all) == compared
    assert libraries([UNPACKED, LOCKED], of_all, of_nodes) == compared[::-1]
    (gap,) = libraries_not_compared([LOCKED, UNPACKED])
    assert "of Kafka 3.9.1, the locked release no others are there" in gap


@pytest.mark.parametrize("kafkas", [(LOCKED, LOCKED), (UNPACKED, UNPACKED)])
def test_between_two_of_one_form_every_library_is_compared(kafkas):
    both = {"jackson": "2.16"}, {"jetty": "9"}
    assert libraries(kafkas, *both) == [*both]
    assert libraries_not_compared(kafkas) == []


@pytest.fixture
def kafka(monkeypatch, tmp_path):
    """Return a function that makes a Kafka of jars, by name and content; those of the release hold `apache`."""
    names = ("kafka-raft", "kafka-server", "kafka-storage", "kafka-group", "kafka-clients", "jackson")
    digest = hashlib.sha256(b"apache").hexdigest()
    pinned = [Artifact(f"org:{name}:jar:3.9.1", digest, 6, Purpose.RUNTIME) for name in names]
    known = {"3.9.1"}
    monkeypatch.setattr(known_of_both, "read_lock", lambda version: Lock(version, tuple(pinned)))
    monkeypatch.setattr(known_of_both, "locked_versions", lambda: [*known])
    monkeypatch.setattr(known_of_both, "whose_statements", lambda v: v if v in known else "3.9.1")

    def made(version, **content):
        jars = []
        for name in names:
            jars.append(tmp_path / f"{name}-{version}.jar")
            jars[-1].write_text(content.get(name.partition("-")[2], "apache"))
        return Distribution(version, tuple(jars), jars[0], f"Kafka {version}")

    return SimpleNamespace(made=made, known=known)


def test_log_lines_of_a_jar_that_is_not_the_releases_are_named_as_taken_from_the_releases_sources(kafka):
    assert lines_not_compared([kafka.made("3.9.1")]) == []
    (gap,) = lines_not_compared([kafka.made("3.9.1", raft="patched")])
    assert gap == (
        "Log lines of kafka-raft-3.9.1.jar of Kafka 3.9.1 are taken to be those of the sources of 3.9.1: what was "
        "changed in these jars is not compared."
    )


def test_of_a_vendors_kafka_all_its_own_jars_are_unless_its_own_statements_are_known(kafka):
    others = dict.fromkeys(("raft", "server", "storage", "group", "clients"), "acme")
    (gap,) = lines_not_compared([kafka.made("3.9.1-acme", **others)])
    assert "kafka-raft-3.9.1-acme.jar, kafka-server-3.9.1-acme.jar, kafka-storage-3.9.1-acme.jar and 2 more" in gap
    kafka.known.add("3.9.1-acme")
    assert lines_not_compared([kafka.made("3.9.1-acme")]) == []
