"""The live proof: every jar that a process holds open, by digest, against what was installed and against base."""

import hashlib
import os
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cluster import observed_arm, probes
from harness.cluster.install import Install
from harness.cluster.observed_arm import ObservedArm, apart_from_base, mismatch, prove


def digest(content):
    return hashlib.sha256(content).hexdigest()


RAFT, CLIENTS, LZ4 = b"raft", b"clients", b"lz4"
INSTALL = Install(
    "kafka",
    Path("kafka-raft-3.9.2.jar"),
    digest(RAFT),
    "absent",
    beside={"kafka-clients-3.9.2.jar": digest(CLIENTS), "lz4.jar": digest(LZ4)},
)
SEEN = ObservedArm(
    1,
    "/x/kafka-raft-3.9.2.jar",
    digest(RAFT),
    "absent",
    (("kafka-clients-3.9.2.jar", digest(CLIENTS)), ("kafka-raft-3.9.2.jar", digest(RAFT)), ("lz4.jar", digest(LZ4))),
)


@pytest.fixture
def node(tmp_path, monkeypatch):
    """Return what is seen of this process after it has opened files of these names."""
    monkeypatch.setattr(probes, "broker_config", lambda *_: {"node.id": "1"})
    with ExitStack() as held:

        def seen(files):
            for name, content in files.items():
                (tmp_path / name).write_bytes(content)
                held.enter_context((tmp_path / name).open("rb"))
            return prove(None, os.getpid(), 1, None, "kafka-raft-3.9.2.jar", "")

        yield seen


def test_a_live_process_shows_the_digest_of_every_jar_that_it_holds_open(node, tmp_path):
    found = node({"kafka-clients-3.9.2.jar": CLIENTS, "kafka-raft-3.9.2.jar": RAFT, "lz4.jar": LZ4, "node.log": b"no"})
    assert (found.jar, found.sha256) == (str(tmp_path / "kafka-raft-3.9.2.jar"), digest(RAFT))
    assert found.jars == SEEN.jars
    assert mismatch(found, INSTALL) == ""


def test_the_open_file_counts_and_not_what_took_its_place(node, tmp_path):
    node({"kafka-raft-3.9.2.jar": RAFT, "lz4.jar": LZ4})
    (tmp_path / "lz4.jar").unlink()
    (tmp_path / "lz4.jar").write_bytes(b"newer")
    assert dict(node({}).jars)["lz4.jar"] == digest(LZ4)


def test_a_file_that_is_written_to_is_read_again(node, tmp_path):
    first = node({"kafka-raft-3.9.2.jar": RAFT, "lz4.jar": LZ4})
    os.utime(tmp_path / "lz4.jar", ns=(0, 0))
    (tmp_path / "lz4.jar").write_bytes(b"zzz")
    assert (dict(first.jars)["lz4.jar"], dict(node({}).jars)["lz4.jar"]) == (digest(LZ4), digest(b"zzz"))


def test_a_jar_that_all_nodes_share_is_read_once(node):
    node({"kafka-raft-3.9.2.jar": RAFT})
    before = observed_arm._digest.cache_info().misses
    node({})
    assert observed_arm._digest.cache_info().misses == before


def test_a_jar_that_is_not_of_the_nodes_own_kafka_is_named():
    other = replace(SEEN, jars=(*SEEN.jars[:2], ("lz4.jar", "f" * 64)))
    assert mismatch(other, INSTALL) == f"does not run the lz4.jar of its Kafka ({digest(LZ4)[:12]})"
    assert "lz4.jar" in mismatch(replace(SEEN, jars=SEEN.jars[:2]), INSTALL)
    assert mismatch(replace(SEEN, jars=()), replace(INSTALL, beside={})) == ""  # nobody knows what else it is to run


def test_what_base_does_not_run_is_named_and_nothing_else():
    base = {"kafka-clients-3.9.1.jar": "c" * 64, "kafka-raft-3.9.1.jar": "d" * 64, "lz4-java.jar": digest(LZ4)}
    assert apart_from_base(SEEN, base) == (
        f"kafka-clients-3.9.2.jar {digest(CLIENTS)[:12]}",
        f"kafka-raft-3.9.2.jar {digest(RAFT)[:12]}",
    )
    assert apart_from_base(SEEN, dict(SEEN.jars)) == ()


def test_a_jar_that_only_begins_as_the_raft_module_does_is_another(node, tmp_path):
    found = node({"kafka-raft-3.9.2.jar": RAFT, "kafka-raft-extras-1.0.jar": LZ4})
    assert (found.jar, found.sha256) == (str(tmp_path / "kafka-raft-3.9.2.jar"), digest(RAFT))
