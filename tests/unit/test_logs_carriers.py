"""Logs as people have them: behind kubectl, the kubelet, docker, journald, compose, or anything else."""

import json

import polars as pl
import pyarrow as pa
import pytest

from harness.logs.read.blocks import LogFile, whole
from harness.logs.read.carriers import CARRIERS, carried_by
from harness.logs.read.event_counts import WHOLE_LOG, Reading
from harness.logs.read.layout import COMMON, KAFKA_DEFAULT, compile_layout
from harness.logs.read.layout_detection import detect

LOG = (
    '[2026-11-21 14:28:58,949] INFO Node 0 says "x" (a.B)',
    "[2026-11-21 14:28:59,001] ERROR it broke (a.B)",
    "java.io.IOException: gone",
    "\tat a.B.c(B.java:1)",
    "[2026-11-21 14:28:59,100] INFO Leader (a.B)",
)
STAMP = "2026-11-21T14:28:58.949123456Z"
CARRIED = {
    "kubectl --timestamps": ("kubectl", [f"{STAMP} {line}" for line in LOG]),
    "kubectl --prefix": ("kubectl", [f"[pod/kafka-0/kafka] {line}" for line in LOG]),
    "kubectl --prefix --timestamps": ("kubectl", [f"[pod/kafka-0/kafka] {STAMP} {line}" for line in LOG]),
    "docker logs --timestamps": ("kubectl", [f"{STAMP} {line}" for line in LOG]),
    "a file of the kubelet": ("kubelet", [f"2026-11-21T14:28:58.949123456+00:00 stdout F {line}" for line in LOG]),
    "journalctl": ("journald", [f"Nov 21 14:28:58 host-1 kafka[4711]: {line}" for line in LOG]),
    "journalctl -o short-iso": (
        "journald",
        [f"2026-11-21T14:28:58+0000 host kafka-server[4711]: {line}" for line in LOG],
    ),
    "journalctl -o json": ("journal", [json.dumps({"_PID": "4711", "MESSAGE": line}) for line in LOG]),
    "docker compose logs": ("compose", [f"kafka-0  | {line}" for line in LOG]),
    "docker's json-file": (
        "docker",
        [json.dumps({"log": f"{line}\n", "stream": "stdout", "time": STAMP}) for line in LOG],
    ),
}


EVENTS = (
    ("58,949", "INFO", 'Node 0 says "x"', ""),
    ("59,001", "ERROR", "it broke", "java.io.IOException: gone\n\tat a.B.c(B.java:1)\n"),
    ("59,100", "INFO", "Leader", ""),
)
JSON_LAYOUTS = {
    "logstash": ("@timestamp", "level", "logger_name", "message", "stack_trace", "2026-11-21T14:28:{}Z"),
    "elastic": ("@timestamp", "log.level", "log.logger", "message", "error.stack_trace", "2026-11-21T16:28:{}+02:00"),
    "log4j 2, a template": ("timestamp", "level", "logger", "message", "stack_trace", "2026-11-21T14:28:{}Z"),
}


@pytest.mark.parametrize("names", JSON_LAYOUTS.values(), ids=JSON_LAYOUTS)
def test_events_that_are_json_objects_are_read_unasked_with_their_stack_traces(names):
    time, level, logger, message, trace, stamp = names
    lines = [
        json.dumps(
            {time: stamp.format(at.replace(",", ".")), level: severity, logger: "a.B", message: text}
            | ({trace: stack} if stack else {})
        )
        for at, severity, text, stack in EVENTS
    ]
    layout = detect(lines)
    assert layout.pattern == f"json | {KAFKA_DEFAULT}"
    read, wanted = counted(layout, lines), counted(compile_layout(KAFKA_DEFAULT), LOG)
    assert without_lines(read) == without_lines(wanted)


def test_a_json_layout_with_milliseconds_is_read():
    (line,) = ['{"timeMillis":1763735338949,"thread":"main","level":"INFO","loggerName":"a.B","message":"hello"}']
    assert CARRIERS["json"].unwrapped(pl.Series([line])).to_list() == ["[2025-11-21 14:28:58,949] INFO hello (a.B)"]


def without_lines(rows):
    return [{name: value for name, value in row.items() if name not in ("line", "lines")} for row in rows]


def counted(layout, lines):
    """Return what is counted of a whole file, but for its sizes."""
    content = pa.scalar("".join(f"{line}\n" for line in lines).encode(), pa.large_binary())
    rows = whole(content, LogFile("x.log", Reading(layout, (WHOLE_LOG,))))
    return rows.filter(pl.col("part") != "block").drop("bytes", "head_bytes").to_dicts()


@pytest.mark.parametrize(("carrier", "lines"), CARRIED.values(), ids=CARRIED)
def test_a_log_behind_a_carrier_is_read_unasked_as_the_log_itself_is_with_its_stack_traces(carrier, lines):
    layout = detect(lines)
    assert layout is not None
    assert layout.pattern == f"{carrier} | {KAFKA_DEFAULT}"
    assert compile_layout(layout.pattern) == layout
    assert counted(layout, lines) == counted(compile_layout(KAFKA_DEFAULT), LOG)


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("line", [*LOG, "{}", '{"x": 1}', "", '{"log": broken', '{"log": "x" broken}'])
def test_a_line_that_was_not_carried_stays_as_it_is(carrier, line):
    assert CARRIERS[carrier].unwrapped(pl.Series([line])).to_list() == [line]


def test_a_log_that_nothing_carried_has_no_carrier():
    assert carried_by(pl.Series(LOG)) == ()
    assert detect(LOG).pattern == KAFKA_DEFAULT


def test_events_behind_something_unknown_are_found_by_their_own_beginning():
    layout = detect([f"prod7 kafka.stdout {line}" for line in LOG])
    assert layout.pattern == f"%x {KAFKA_DEFAULT}"


def test_a_layout_that_was_named_is_tried_behind_carriers_too():
    pattern = COMMON[6]
    lines = [f"{STAMP} 2026-11-21 14:28:58,949 INFO hello (a.B)"]
    assert detect(lines, (pattern,)).pattern == f"kubectl | {pattern}"
