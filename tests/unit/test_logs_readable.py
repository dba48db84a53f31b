"""Logs as they can be read: what is in archives, each node's lines by themselves, and why others stay as they are."""

import gzip
import io
import json
import lzma
import os
import re
import tarfile
import tracemalloc
from pathlib import Path

import pytest
from log_forms import AROUND, EVENTS, around, objects, plain

from harness.base.errors import HarnessError
from harness.logs import readable_logs
from harness.logs.folders import Folder, not_read_sentences, nothing_fits, read_files
from harness.logs.read.apart import MOST_NODES
from harness.logs.read.layout import KAFKA_DEFAULT
from harness.logs.read.layout_fit import COLLECTED, HOLE, TIMELESS
from harness.logs.read.newest_first import turned
from harness.logs.read.places import Samples, lines_of
from harness.logs.read.unpacking import opened
from harness.logs.readable_logs import readable
from harness.rundir.parts import LogsFolder

COMPOSE = [f"{node}  | {line}" for line in plain(EVENTS) for node in ("kafka-0", "kafka-1")]
ADDRESS = "s3a://bucket/all.log"


@pytest.fixture(autouse=True)
def without_spark(monkeypatch):
    """Have first lines read here; at the address is a log of two nodes."""

    def first_lines(_spark, places, number, most=1 << 16):
        heads = {place: text(COMPOSE) if place == ADDRESS else head(place, most) for place in places}
        return Samples({place: lines_of(head, number, most) for place, head in heads.items()}, {})

    monkeypatch.setattr(readable_logs, "first_lines", first_lines)


def head(place, most):
    with opened(place) as file:
        return file.read(most)


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


ODD = [
    b"kafka-0-2026-11-21T14:28:58.log",
    b"kafka-0-2026-11-21T14:28:58.log.gz",
    b"caf\xe9.log",
    b"caf\xe9/server.log",
    b"[a] {b}*?:.log",
    b"14:28/[a].log",
    b"14:28 {a}/server.log",
]


@pytest.mark.parametrize("name", ODD)
def test_a_log_whose_name_spark_cannot_say_is_read_by_a_link_and_keeps_its_name(tmp_path, name):
    log = tmp_path / "logs" / os.fsdecode(name)
    log.parent.mkdir(parents=True)
    log.write_bytes(gzip.compress(text(plain(EVENTS))) if name.endswith(b".gz") else text(plain(EVENTS)))
    logs = read(tmp_path, log)
    ((shown,),) = logs.of_files.values()
    assert shown == str(tmp_path / "logs") + "/" + name.decode(errors="backslashreplace")
    assert re.fullmatch(r"[\w./-]+\.(?:log|gz)", logs.copies[shown])
    assert Path(logs.copies[shown]).suffix == Path(shown).suffix
    assert list(logs.layouts) == [shown]


def test_a_log_whose_name_has_a_colon_may_hold_several_nodes(tmp_path):
    (tmp_path / "all-14:28.log").write_bytes(text(COMPOSE))
    logs = read(tmp_path, tmp_path / "all-14:28.log")
    assert list(logs.layouts) == [f"{tmp_path}/all-14:28.log[{node}]" for node in ("kafka-0", "kafka-1")]


def test_the_logs_of_an_archive_are_read_whatever_its_name_and_theirs(tmp_path):
    with tarfile.open(tmp_path / "14:28.tar", "w", format=tarfile.GNU_FORMAT, encoding="latin-1") as archive:
        entry = tarfile.TarInfo("caf\xe9:1.log")
        entry.size = len(text(plain(EVENTS)))
        archive.addfile(entry, io.BytesIO(text(plain(EVENTS))))
    logs = read(tmp_path, tmp_path / "14:28.tar")
    assert list(logs.layouts) == [f"{tmp_path}/14:28.tar/caf\\xe9:1.log"]


def test_an_address_that_spark_cannot_say_is_refused_and_the_rest_is_read(tmp_path):
    (tmp_path / "server.log").write_bytes(text(plain(EVENTS)))
    logs = read(tmp_path, tmp_path / "server.log", "s3a://bucket/a:b.log")
    assert logs.refused == {"s3a://bucket/a:b.log": "Spark cannot name it: it has a colon, or bytes that are not UTF-8"}
    assert list(logs.layouts) == [f"{tmp_path}/server.log"]


def test_a_document_that_was_exported_newest_first_is_read_from_its_end(tmp_path):
    put = AROUND["gcloud logging read"][1]
    printed = [json.loads(line) for line in around([event for event in EVENTS for _ in range(9)], put)]
    (tmp_path / "export:1.json").write_text(json.dumps(printed[::-1], indent=2))
    (tmp_path / "out").mkdir()
    with readable(None, [f"{tmp_path}/export:1.json"], tmp_path / "out") as logs:
        (copy,) = logs.copies.values()
        assert [json.loads(line) for line in Path(copy).read_text().splitlines()] == printed
    assert logs.layouts[f"{tmp_path}/export:1.json"].pattern == f"gcloud | {KAFKA_DEFAULT}"
    assert logs.notes == (f"{tmp_path}/export:1.json is newest first: it was read from its end.",)


def test_the_streams_of_a_document_are_logs_of_their_own(tmp_path):
    events = [{"logStreamName": f"kafka/{node}", "message": line} for line in plain(EVENTS) for node in range(2)]
    (tmp_path / "export.json").write_text(json.dumps({"events": events, "searchedLogStreams": []}, indent=4))
    assert list(read(tmp_path, tmp_path / "export.json").layouts) == [
        f"{tmp_path}/export.json[kafka/{node}]" for node in range(2)
    ]


TORN = json.dumps(
    [json.loads(AROUND["gcloud logging read"][1](EVENTS[0].at, line)) for line in plain(EVENTS)], indent=2
)
YAML = "---\ninsertId: 3xk9\ntextPayload: '[2026-11-21 14:28:58,949] INFO x (a.B)'\n" * 9


@pytest.mark.parametrize(("content", "why"), [(TORN[:-9], "no whole value begins there"), (YAML, "--format=json")])
def test_a_document_that_cannot_be_read_is_left_out_with_the_reason(tmp_path, content, why):
    (tmp_path / "server.log").write_bytes(text(plain(EVENTS)))
    (tmp_path / "export.json").write_text(content)
    logs = read(tmp_path, tmp_path / "server.log", tmp_path / "export.json")
    assert list(logs.layouts) == [f"{tmp_path}/server.log"]
    assert why in logs.refused[f"{tmp_path}/export.json"]
    assert why in nothing_fits(Folder("a", 1, (f"{tmp_path}/export.json",)), "", logs.samples, logs.refused).message


def test_objects_that_are_events_are_read_though_the_document_is_torn(tmp_path):
    pretty = [json.dumps(json.loads(each), indent=2) for each in objects(EVENTS, "ECS")]
    (tmp_path / "server.log").write_text("\n".join([*pretty, "OpenJDK 64-Bit Server VM warning", *pretty])[:-9])
    logs = read(tmp_path, tmp_path / "server.log")
    assert logs.layouts[f"{tmp_path}/server.log"].pattern == f"pretty | {KAFKA_DEFAULT}"
    assert (logs.copies, logs.refused) == ({}, {})


COLLECTOR = [
    "[2026-11-21T14:28:58.949+0000][gc,init] CardTable entry size: 512",
    "[2026-11-21T14:28:58.951+0000][gc     ] Using G1",
    "[2026-11-21T14:28:59.002+0000][safepoint] Entering safepoint region",
]
OF_JAVA_8 = [
    "OpenJDK 64-Bit Server VM (25.382-b05) for linux-amd64 JRE",
    "2026-11-21T14:28:58.949+0000: 0.512: [GC pause (G1 Evacuation Pause) (young), 0.0123 secs]",
    "   [Parallel Time: 4.4 ms, GC Workers: 2]",
    "2026-11-21T14:28:59.949+0000: 1.512: [Full GC (Allocation Failure), 0.0123 secs]",
]


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        (COLLECTOR, COLLECTED),
        (OF_JAVA_8, COLLECTED),
        (["OpenJDK 64-Bit Server VM warning: Option UseCMS was deprecated"], TIMELESS),
        (["14:28:58 INFO hello (kafka.server.KafkaServer)"], None),
        (["2026-11-21 14:28:58 hello"], None),
        ([*COLLECTOR, *["14:28:58 INFO hello (kafka.server.KafkaServer)"] * 9], None),
    ],
)
def test_a_file_without_a_programs_events_is_told_from_a_log_whose_layout_nobody_knows(tmp_path, lines, what):
    (tmp_path / "server.log").write_bytes(text(plain(EVENTS)))
    (tmp_path / "other.log").write_bytes(text(lines))
    logs = read(tmp_path, tmp_path / "server.log", tmp_path / "other.log")
    assert f"{tmp_path}/other.log" not in logs.layouts
    assert logs.eventless.get(f"{tmp_path}/other.log") == what


def test_a_log_that_begins_with_a_hole_of_many_megabytes_is_not_passed_over(tmp_path):
    (tmp_path / "server.log").write_bytes(text(plain(EVENTS)))
    (tmp_path / "holed.log").write_bytes(bytes(5 << 20) + text(plain(EVENTS)))
    logs, holed = read(tmp_path, tmp_path / "server.log", tmp_path / "holed.log"), f"{tmp_path}/holed.log"
    assert holed not in (logs.layouts.keys() | logs.eventless.keys())
    assert logs.refused[holed] == HOLE
    (said,) = not_read_sentences([holed], [], logs)
    assert said == f"{holed} was not read: {HOLE}."


def test_files_of_an_archive_that_are_not_named_as_logs_are_told(tmp_path):
    with tarfile.open(tmp_path / "logs.tar", "w") as archive:
        for name in ("server.log", "kafka-0.txt"):
            entry = tarfile.TarInfo(name)
            entry.size = len(text(plain(EVENTS)))
            archive.addfile(entry, io.BytesIO(text(plain(EVENTS))))
    logs = read(tmp_path, tmp_path / "logs.tar")
    assert logs.others == [f"{tmp_path}/logs.tar/kafka-0.txt"]


def test_what_was_not_read_is_told_in_sentences_that_do_not_grow_with_the_number_of_files(tmp_path):
    for number in range(5):
        (tmp_path / f"gc.log.{number}").write_bytes(text(COLLECTOR))
    (tmp_path / "odd.log").write_bytes(text(["14:28:58 INFO hello"]))
    logs = read(tmp_path, *sorted(tmp_path.glob("*.log*")))
    said = [*not_read_sentences(sorted(map(str, tmp_path.glob("*.log*"))), ["a.txt", "b.txt", "c.txt", "d.txt"], logs)]
    assert len(said) == 3
    assert said[0].startswith(
        f"{tmp_path}/odd.log was not read: it fits no log layout, and its first line is '14:28:58"
    )
    assert said[1].endswith(f"gc.log.2 and 2 more files were not read: {COLLECTED}.")
    assert said[2].startswith("a.txt, b.txt, c.txt and 1 more file are not named as logs are, and were not looked at.")


def test_what_was_exported_newest_first_is_read_from_its_end(tmp_path):
    lines = [
        each for number in range(9) for each in (dated(number), "java.io.IOException: gone", "\tat a.B.c(B.java:1)")
    ]
    for name, content in (
        ("raw.log", text(reversed(lines))),
        ("forward.log", text(lines)),
        ("few.log", text(reversed(lines[:9]))),
    ):
        (tmp_path / name).write_bytes(content)
    (tmp_path / "out").mkdir()
    with readable(
        None, [str(tmp_path / name) for name in ("raw.log", "forward.log", "few.log")], tmp_path / "out"
    ) as logs:
        assert {Path(log).name: Path(copy).read_bytes() for log, copy in logs.copies.items()} == {
            "raw.log": text(lines)
        }
        assert logs.notes == (f"{tmp_path}/raw.log is newest first: it was read from its end.",)


def test_what_is_too_large_to_be_turned_is_read_as_it_is_and_that_is_said(tmp_path):
    (log := tmp_path / "a.log").write_bytes(text([dated(1)] * 9))
    with turned([str(log)], {}, tmp_path, most=100) as found:
        assert found.copies == {}
        assert found.notes[0].startswith(f"{log} is newest first and was read so (it has more than 100 bytes)")


def test_a_side_whose_packed_logs_are_all_empty_is_refused(tmp_path):
    (log := tmp_path / "server.log.xz").write_bytes(lzma.compress(b""))
    with pytest.raises(HarnessError, match=r"server\.log\.xz and all other logs of before are empty"):
        read_files(None, [Folder("before", 1, (str(log),))], LogsFolder(tmp_path / "out"))


def dated(number: int) -> str:
    return f"[2026-11-21 14:28:{10 + number},949] ERROR it broke (a.B)"


def test_a_log_of_very_many_short_lines_is_turned_without_a_list_of_them(tmp_path):
    (log := tmp_path / "a.log").write_bytes(b"2\n1\n" * 300_000)
    tracemalloc.start()
    with turned([str(log)], {}, tmp_path, most=2_000_000) as found:
        _, most = tracemalloc.get_traced_memory()
        assert Path(found.copies[str(log)]).read_bytes() == b"1\n2\n" * 300_000
    tracemalloc.stop()
    assert most < 5_000_000


@pytest.mark.parametrize("text", [b"", b"\n", b"a", b"a\nb", b"a\n\nb\n", b"\na\n\n"])
def test_lines_are_turned_whole(tmp_path, text):
    (log := tmp_path / "a.log").write_bytes(text)
    with turned([str(log)], {}, tmp_path) as found:
        lines = text.removesuffix(b"\n").split(b"\n")
        assert Path(found.copies[str(log)]).read_bytes() == b"".join(line + b"\n" for line in reversed(lines))
