"""Logs as they can be read: what is in archives, each node's lines by themselves, and why others stay as they are."""

import io
import tarfile
from pathlib import Path

import pytest
from log_forms import EVENTS, plain

from harness.logs import readable_logs
from harness.logs.read.apart import MOST_NODES
from harness.logs.read.layout import KAFKA_DEFAULT
from harness.logs.read.places import Samples, lines_of
from harness.logs.readable_logs import readable

COMPOSE = [f"{node}  | {line}" for line in plain(EVENTS) for node in ("kafka-0", "kafka-1")]
ADDRESS = "s3a://bucket/all.log"


@pytest.fixture(autouse=True)
def without_spark(monkeypatch):
    """Have first lines read here; at the address is a log of two nodes."""

    def first_lines(_spark, places, number, most=1 << 16):
        heads = {place: text(COMPOSE) if place == ADDRESS else Path(place).read_bytes()[:most] for place in places}
        return Samples({place: lines_of(head, number, most) for place, head in heads.items()}, {})

    monkeypatch.setattr(readable_logs, "first_lines", first_lines)


def text(lines) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def read(tmp_path, *files):
    (tmp_path / "out").mkdir()
    with readable(None, list(map(str, files)), tmp_path / "out") as logs:
        assert all(Path(copy).is_file() for copy in logs.copies.values())
    assert list((tmp_path / "out").iterdir()) == []
    return logs


def test_each_node_of_a_log_is_a_log_with_its_layout(tmp_path):
    (tmp_path / "all.log").write_bytes(text(COMPOSE))
    (tmp_path / "server.log").write_bytes(text(plain(EVENTS)))
    logs = read(tmp_path, tmp_path / "all.log", tmp_path / "server.log")
    nodes = [f"{tmp_path}/all.log[{node}]" for node in ("kafka-0", "kafka-1")]
    assert logs.of_files[f"{tmp_path}/all.log"] == nodes
    assert {logs.layouts[node].pattern for node in nodes} == {f"compose | {KAFKA_DEFAULT}"}
    assert logs.layouts[f"{tmp_path}/server.log"].pattern == KAFKA_DEFAULT
    assert not logs.mixed


def test_each_node_has_the_layout_of_its_own_lines(tmp_path):
    other = ["2026-11-21 14:28:58,949 [main] INFO  a.B - hello"] * 9
    mixed = [f"kafka  | {line}" for line in plain(EVENTS)] + [f"zookeeper  | {line}" for line in other]
    (tmp_path / "all.log").write_bytes(text([*mixed, *(f"init  | {line}" for line in ("wait", "go on"))]))
    logs = read(tmp_path, tmp_path / "all.log")
    assert logs.layouts[f"{tmp_path}/all.log[kafka]"].pattern == f"compose | {KAFKA_DEFAULT}"
    assert logs.layouts[f"{tmp_path}/all.log[zookeeper]"].pattern == "compose | %d [%t] %-5p %c - %m%n"
    assert f"{tmp_path}/all.log[init]" not in logs.layouts


def test_a_log_of_several_nodes_in_an_archive_is_taken_apart(tmp_path):
    with tarfile.open(tmp_path / "logs.tar.gz", "w:gz") as archive:
        entry = tarfile.TarInfo("kafka/all.log")
        entry.size = len(text(COMPOSE))
        archive.addfile(entry, io.BytesIO(text(COMPOSE)))
    logs = read(tmp_path, tmp_path / "logs.tar.gz")
    assert logs.of_files[f"{tmp_path}/logs.tar.gz"] == [
        f"{tmp_path}/logs.tar.gz/kafka/all.log[{node}]" for node in ("kafka-0", "kafka-1")
    ]


def test_logs_that_stay_one_are_named_with_the_reason(tmp_path):
    lines = [f"kafka-{number % (MOST_NODES + 1)}  | {line}" for number, line in enumerate(plain(EVENTS * 50))]
    (tmp_path / "all.log").write_bytes(text(lines))
    logs = read(tmp_path, tmp_path / "all.log", ADDRESS)
    assert logs.mixed == {
        f"{tmp_path}/all.log": f"more than {MOST_NODES} are named",
        ADDRESS: "it is not on this machine",
    }
    assert list(logs.of_files[ADDRESS]) == [ADDRESS]


def test_a_hidden_file_is_refused(tmp_path):
    (tmp_path / ".x.log").write_bytes(text(COMPOSE))
    logs = read(tmp_path, tmp_path / ".x.log")
    assert logs.refused == {f"{tmp_path}/.x.log": "its name begins as hidden files do"}
    assert not logs.layouts
