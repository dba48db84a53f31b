"""Logs that are JSON documents: each tool's own shape is read as if it had been printed one object a line."""

import gzip
import io
import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from examples import costly
from hypothesis import given
from hypothesis import strategies as st
from log_forms import EVENTS, OBJECTS, around, nanoseconds, plain
from test_logs_carriers import an_event, as_kafka_writes, counted

from harness.logs.read import documents
from harness.logs.read.documents import entries, one_a_line
from harness.logs.read.layout_detection import detect
from harness.logs.read.newest_first import is_newest_first

LINES = [(event.at, line) for event in EVENTS for line in plain([event])]


def gcloud(at, line):
    """https://cloud.google.com/logging/docs/reference/v2/rest/v2/LogEntry, keys in the order of the alphabet."""
    return {
        "insertId": "3xk9", "labels": {"k8s-pod/app": "kafka"}, "logName": "projects/p/logs/stdout",
        "receiveTimestamp": nanoseconds(at + timedelta(seconds=1)),
        "resource": {"labels": {"pod_name": "kafka-0", "container_name": "kafka"}, "type": "k8s_container"},
        "severity": "INFO", "textPayload": f"{line}\n", "timestamp": nanoseconds(at),
    }  # fmt: skip


def gcloud_of_objects(event):
    """What GKE makes of a line that is a JSON object: `jsonPayload`, without the time and the severity."""
    payload = {"message": event.message, "logger_name": event.logger, "thread_name": "main"}
    thrown = {"stack_trace": "\n".join(event.thrown)} if event.thrown else {}
    severity = event.level.replace("WARN", "WARNING")
    return {"insertId": "3", "jsonPayload": payload | thrown, "severity": severity, "timestamp": nanoseconds(event.at)}


def cloudwatch(at, line):
    """https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_FilterLogEvents.html."""
    times = {"timestamp": int(at.timestamp() * 1000), "ingestionTime": int(at.timestamp() * 1000) + 900}
    return {"logStreamName": "kafka/0", "timestamp": times["timestamp"], "message": line} | times | {"eventId": "377"}


def journal(at, line):
    """https://systemd.io/JOURNAL_EXPORT_FORMATS: all values are texts, or numbers of bytes."""
    fields = {"_HOSTNAME": "h", "__REALTIME_TIMESTAMP": str(int(at.timestamp() * 1e6)), "PRIORITY": "6"}
    return fields | {"MESSAGE": list(line.encode()) if "\t" in line else line, "_UDEV_DEVLINK": ["a", "b"]}


def hit(at, source):
    return {"_index": "logs", "_id": nanoseconds(at), "_score": None, "_source": source, "sort": [1]}


def found(hits):
    shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
    total = {"total": {"value": len(hits), "relation": "eq"}, "max_score": None}
    return {"took": 5, "timed_out": False, "_shards": shards, "hits": total | {"hits": hits}}


def loki(*streams):
    """https://grafana.com/docs/loki/latest/reference/loki-http-api/: times are nanoseconds, as texts."""
    result = [
        {
            "stream": {"pod": f"kafka-{n}"},
            "values": [[str(int(at.timestamp() * 1e3) * 10**6), line] for at, line in each],
        }
        for n, each in enumerate(streams)
    ]
    return {"status": "success", "data": {"resultType": "streams", "result": result, "stats": {"summary": {"n": 1}}}}


# What each tool prints, as one value or several, of lines or of events; and how its entries are carried.
SHAPES = {
    "gcloud logging read --format=json": ([[gcloud(*each) for each in LINES]], "gcloud"),
    "gcloud, of JSON objects": ([list(map(gcloud_of_objects, EVENTS))], "json"),
    "entries.list of Cloud Logging": ([{"entries": [gcloud(*each) for each in LINES], "nextPageToken": "x"}], "gcloud"),
    "aws logs filter-log-events": (
        [{"events": [cloudwatch(*each) for each in LINES], "searchedLogStreams": []}], "beats",
    ),
    "aws logs get-log-events, page after page": (
        [{"nextForwardToken": "f/1", "events": [cloudwatch(*each)], "nextBackwardToken": "b/1"} for each in LINES],
        "beats",
    ),
    "journalctl -o json-pretty": ([journal(*each) for each in LINES], "journal"),
    "Elasticsearch, of Filebeat's lines": (
        [found([hit(at, {"@timestamp": nanoseconds(at), "message": line}) for at, line in LINES])], "beats",
    ),
    "Elasticsearch, of events": ([found([hit(event.at, OBJECTS["ECS"](event)) for event in EVENTS])], "json"),
    "Loki": ([loki(LINES)], "loki"),
    "Grafana's download": (
        [[{"line": line, "timestamp": nanoseconds(at), "labels": {"pod": "k"}} for at, line in LINES]], "loki",
    ),
    "log4j 2's JsonLayout, complete": ([[OBJECTS["JsonLayout"](event) for event in EVENTS]], "json"),
}  # fmt: skip
PRETTY = {
    "two blanks": lambda value: json.dumps(value, indent=2),
    "tabs, as journalctl": lambda value: json.dumps(value, indent="\t", separators=(",", " : ")),
    "from Windows": lambda value: json.dumps(value, indent=4, ensure_ascii=False).replace("\n", "\r\n"),
}


def copied(folder: Path, content: bytes, name="export.json", **options):
    """Return the lines of a log's copy, or why it has none; nothing may stay behind."""
    log, out = folder / name, folder / "out"
    out.mkdir(exist_ok=True)
    log.write_bytes(content)
    with one_a_line([str(log)], {}, out, **options) as found_:
        copy = found_.copies.get(str(log))
        lines = Path(copy).read_text().splitlines() if copy else None
    assert list(out.iterdir()) == []
    return lines, found_.refused.get(str(log), "")


@pytest.mark.parametrize(("values", "carrier"), SHAPES.values(), ids=SHAPES)
def test_a_document_is_read_as_its_lines_are_whoever_wrote_it(tmp_path, values, carrier):
    lines, *others = (copied(tmp_path, "\n".join(map(pretty, values)).encode())[0] for pretty in PRETTY.values())
    assert others == [lines] * len(others)
    layout = detect(lines)
    assert layout is not None
    assert layout.carriers == (carrier,)
    assert counted(layout, lines) == as_kafka_writes(EVENTS)


@pytest.mark.parametrize("shape", [name for name, (values, _) in SHAPES.items() if name[:4] not in ("jour", "aws ")])
def test_a_document_may_be_one_line(tmp_path, shape):
    values = SHAPES[shape][0]
    lines, _ = copied(tmp_path, "".join(map(json.dumps, values)).encode())
    assert lines == copied(tmp_path, "".join(map(PRETTY["two blanks"], values)).encode())[0]


def test_a_packed_document_is_read_too(tmp_path):
    content = PRETTY["two blanks"](SHAPES["Loki"][0][0]).encode()
    assert copied(tmp_path, gzip.compress(content)) == copied(tmp_path, content)


@pytest.mark.parametrize(
    "content",
    [
        "\n".join(plain(EVENTS)),
        "\n".join(json.dumps(OBJECTS["ECS"](event)) for event in EVENTS),
        "\n".join(around(EVENTS, lambda at, line: json.dumps(gcloud(at, line)))),
        '{"log":"[2026 torn\n{"log":"x"}\n',
        '{"time":"2026-11-21T14:28:58Z","level":"INFO","events":[{"a":1}]}\n',
        "[]",
        "{}\n",
        "",
        "--- a banner ---\n" + "\n".join(plain(EVENTS)),
        "---\n" + "\n".join(plain(EVENTS)),
    ],
)
def test_what_is_no_document_is_left_alone(tmp_path, content):
    assert copied(tmp_path, content.encode()) == (None, "")


def test_newest_first_is_known_of_a_document_too(tmp_path):
    values = [gcloud(*each) for each in LINES]
    lines, _ = copied(tmp_path, json.dumps(values[::-1], indent=2).encode())
    assert is_newest_first(detect(lines), lines)
    assert counted(detect(lines), lines[::-1]) == as_kafka_writes(EVENTS)


def test_yaml_is_refused_with_what_to_ask_for(tmp_path):
    entry = "---\ninsertId: 3xk9\nlabels:\n  app: kafka\n- x\ntextPayload: '[2026-11-21 14:28:58,949] INFO x (a.B)'\n"
    assert copied(tmp_path, (entry * 9).encode())[1].endswith("gcloud logging read --format=json")
    assert copied(tmp_path, entry.encode())[1].endswith("gcloud logging read --format=json")


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('[\n  {"a": 1},\n  {"a": ', "line 3: no whole value begins there"),
        ('[\n  {"a": 1}\n', "line 3: it ends there"),
        ('[\n  {"a": 1} {"a": 2}]', r"line 2: '{' stands where ',' is due"),
        ('[{"a": 1}, 5]', "5 is no entry"),
        ('{\n"a": 1}\n[2026-11-21 14:28:58,949] INFO x (a.B)\n', "2026 is no entry"),
        ('{\n"a": 1}\nOpenJDK 64-Bit Server VM warning\n', "line 3: 'O' stands where ',' is due"),
        (f'[{{"a": {DEEP}', "nested too deeply"),
        ('{\n"a": {"a":' * 10_000, "no whole value|nested too deeply"),
        ('[{"stream": {}, "values": [5]}]', "5 is no entry"),
        ('[{"a": ' + "9" * 5000 + "}]", "could not be read|no whole value"),
    ],
)
def test_what_is_torn_or_none_is_told_with_its_line(tmp_path, content, why):
    lines, said = copied(tmp_path, content.encode())
    assert lines is None
    assert said.startswith("it is a JSON document that could not be read (")
    assert re.search(why, said)


def test_a_document_of_too_much_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "LONGEST", 1000)
    monkeypatch.setattr(documents, "_AT_ONCE", 100)
    monkeypatch.setattr(documents, "_LOOKED_AT", 200)
    assert "more than 100 bytes" in copied(tmp_path, json.dumps([{"a": "x" * 200}] * 9, indent=1).encode(), most=100)[1]
    content = json.dumps([{"a": 1}, {"a": "x" * 5000}], indent=1).encode()
    assert "line 5: what begins there has more than 1000 characters" in copied(tmp_path, content)[1]


def test_an_event_with_a_list_of_its_own_is_one_entry():
    event = {"timestamp": 1795271338949, "message": "x", "events": [{"a": 1}]}
    assert list(entries(io.BytesIO(json.dumps(event, indent=1).encode()))) == [event]


a_value = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
an_entry = st.dictionaries(st.sampled_from(["message", "a", "time", "é"]), a_value, min_size=1, max_size=4)


@given(
    st.lists(an_entry, min_size=1, max_size=6),
    st.sampled_from(["array", "events", "entries", "hits", "objects"]),
    st.sampled_from([None, 1, "\t"]),
    st.integers(1, 90),
)
def test_any_entries_are_given_back_wherever_pieces_end(written, shape, indent, piece):
    values = {
        "array": [written], "events": [{"x": [1], "events": written, "y": {"events": [{}]}}], "objects": written,
        "entries": [{"entries": written}] * 2, "hits": [found([hit(EVENTS[0].at, each) for each in written])],
    }[shape]  # fmt: skip
    content = "\ufeff" + ",\n".join(json.dumps(value, indent=indent, ensure_ascii=False) for value in values)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(documents, "_AT_ONCE", piece)
        assert list(entries(io.BytesIO(content.encode()))) == written * (1 + (shape == "entries"))


@costly
@given(st.lists(an_event, max_size=5), st.sampled_from([gcloud, cloudwatch, journal]))
def test_any_events_in_a_document_are_given_back(tmp_path_factory, events, put):
    events = [*EVENTS, *events]
    values = [put(event.at, line) for event in events for line in plain([event])]
    lines, _ = copied(tmp_path_factory.mktemp("logs"), json.dumps(values, indent=2).encode())
    layout = detect(lines)
    assert layout is not None
    assert counted(layout, lines) == as_kafka_writes(events)
